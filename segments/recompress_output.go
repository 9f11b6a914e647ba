package segments

import (
	"math"
	"runtime"
	"sync"
)

const (
	keptBytes   = 4 << 20 // a batch up to here waits for no other
	largeAtOnce = 2
)

// Rewriting takes memory for what is written, which a few compressed bytes may make large: so many batches at once are
// between the beginning of their rewriting and Batch.Done, so many of them with an encoder that takes much, and so many
// are large themselves. The rights are taken in the order rewriting, thorough, inflating, large, so that who has a later
// one never waits for who has only an earlier one.
var (
	rewriting = make(chan struct{}, min(max(sourcesAtLeast, sourcesPerCore*runtime.GOMAXPROCS(0)), sourcesAtMost))
	thorough  = make(chan struct{}, 1)
	large     = make(chan struct{}, largeAtOnce)
)

// output is the batch that a rewrite makes.
type output struct {
	bytes []byte
	most  int
	over  bool // it would be larger than it may be
	large bool // has the right to be
	hard  bool // has the right to a thorough encoder
}

func openOutput(most int) *output {
	rewriting <- struct{}{}
	if most <= 0 {
		most = math.MaxInt32
	}
	return &output{most: most}
}

// skip leaves room for n bytes that are written later.
func (o *output) skip(n int) {
	o.grow(n)
	o.bytes = o.bytes[:len(o.bytes)+n]
}

// Write never fails: what is too large is counted as such, and dropped.
func (o *output) Write(p []byte) (int, error) {
	if o.over = o.over || len(o.bytes)+len(p) > o.most; !o.over {
		o.grow(len(p))
		o.bytes = append(o.bytes, p...)
	}
	return len(p), nil
}

func (o *output) grow(n int) {
	need := len(o.bytes) + n
	if need <= cap(o.bytes) {
		return
	}
	pool := &keptOutputs
	if need > keptBytes {
		o.takeLarge()
		pool = &largeOutputs
	}
	more, _ := pool.Get().(*[]byte)
	if more == nil || cap(*more) < need {
		room := make([]byte, 0, max(need, min(4*cap(o.bytes), o.most), chunkBytes))
		more = &room
	}
	was := o.bytes
	o.bytes = append((*more)[:0], was...)
	giveBack(was)
}

// Buffers wait here for the next batch; those that only a large batch may have, apart.
var keptOutputs, largeOutputs sync.Pool // of *[]byte

func giveBack(b []byte) {
	switch {
	case cap(b) > keptBytes:
		largeOutputs.Put(&b)
	case cap(b) > 0:
		keptOutputs.Put(&b)
	}
}

// takeLarge waits for the right to hold more than others.
func (o *output) takeLarge() {
	if !o.large {
		large <- struct{}{}
		o.large = true
	}
}

// takeThorough waits for the right to an encoder that takes some 50 MiB.
func (o *output) takeThorough() {
	thorough <- struct{}{}
	o.hard = true
}

// leaveThorough gives the encoder's right back, which the batch itself does not need.
func (o *output) leaveThorough() {
	if o.hard {
		<-thorough
		o.hard = false
	}
}

func (o *output) done() {
	o.leaveThorough()
	giveBack(o.bytes)
	o.bytes = nil
	if o.large {
		<-large
	}
	<-rewriting
}
