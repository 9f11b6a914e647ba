package wire

import (
	"io"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Chunked is an answer's body as a row of parts that are written one after the other, without being copied together.
// Fetch answers with it. The response header is the server's.
type Chunked struct {
	Parts []Part
	// Describe gives what an Observer is shown, without the records. It is called only when there is an Observer, after
	// the answer was written and its sections were released. Nil: nothing is shown.
	Describe func() kmsg.Response
}

// Part is either bytes or a section of a file.
type Part struct {
	Bytes []byte
	File  Section
}

// Section is stored bytes that are to be sent as they are. ReadAt's offsets count from the section's start. An OS method
// beside these, OS() (file *os.File, offset int64), allows sendfile where the system has it; a nil file disallows it.
type Section interface {
	io.ReaderAt
	Size() int64
	// Release is called once, when the answer has been written or given up.
	Release()
}

// Size is the length of the body.
func (c *Chunked) Size() int64 {
	var n int64
	for _, p := range c.Parts {
		n += int64(len(p.Bytes))
		if p.File != nil {
			n += p.File.Size()
		}
	}
	return n
}

// Release lets go of every section. The server calls it; a handler that gives up an answer it has built does too.
func (c *Chunked) Release() {
	for i, p := range c.Parts {
		if p.File != nil {
			p.File.Release()
			c.Parts[i].File = nil
		}
	}
}
