package wire

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// chunkSize is the buffer that a connection reads into while it has something to read: big enough for the usual request,
// and for several when a client pipelines.
const chunkSize = 16 << 10

// chunk is a read buffer shared by the connection and the frames that lie in it. The last to let go returns it.
type chunk struct {
	refs atomic.Int32
	buf  [chunkSize]byte
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func getChunk() *chunk {
	c := chunks.Get().(*chunk)
	c.refs.Store(1)
	return c
}

func (c *chunk) release() {
	if c.refs.Add(-1) == 0 {
		chunks.Put(c)
	}
}

// Pooled buffers come in powers of two from 1 KiB to 4 MiB; what is larger is left to the garbage collector.
const (
	minClass = 10
	maxClass = 22
)

var classes [maxClass + 1]sync.Pool

// buffer is a byte slice from a pool. The struct goes round with its array so that putting it back allocates nothing.
type buffer struct {
	b     []byte
	class int
}

// getBuffer returns an empty buffer with room for n bytes.
func getBuffer(n int) *buffer {
	class := max(minClass, bits.Len(uint(max(n, 1)-1)))
	if class > maxClass {
		return &buffer{b: make([]byte, 0, n), class: class}
	}
	if b, ok := classes[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{b: make([]byte, 0, 1<<class), class: class}
}

// release puts the buffer back, under the class of the array it has now: an append may have moved it to a larger one.
func (b *buffer) release() {
	class := bits.Len(uint(cap(b.b))) - 1
	if class < minClass || class > maxClass {
		return
	}
	b.b, b.class = b.b[:0], class
	classes[class].Put(b)
}
