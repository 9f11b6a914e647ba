package segments

import (
	"math"
	"runtime"
)

const (
	keptBytes   = 4 << 20 // a batch up to here waits for no other
	largeAtOnce = 2       // batches above, and encoders that take as much
)

// Rewriting takes memory for what is written, which a few compressed bytes may make large. So many batches at once are
// between the beginning of their rewriting and Batch.Done, and so many of them are large: under 256 MiB in all.
var (
	rewriting = make(chan struct{}, min(max(sourcesAtLeast, sourcesPerCore*runtime.GOMAXPROCS(0)), sourcesAtMost))
	large     = make(chan struct{}, largeAtOnce)
)

// output is the batch that a rewrite makes.
type output struct {
	bytes []byte
	most  int
	over  bool // it would be larger than it may be
	large bool // has the right to be
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
	if need > keptBytes {
		o.takeLarge()
	}
	o.bytes = append(make([]byte, 0, max(need, min(4*cap(o.bytes), o.most), chunkBytes)), o.bytes...)
}

// takeLarge waits for the right to hold more than others.
func (o *output) takeLarge() {
	if !o.large {
		large <- struct{}{}
		o.large = true
	}
}

func (o *output) done() {
	if o.large {
		<-large
	}
	<-rewriting
}
