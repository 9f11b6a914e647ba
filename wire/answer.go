package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// appendAnswerHeader begins an answer's frame: a place for the length, the correlation id and, in header v1, no tags.
func appendAnswerHeader(b []byte, r *Request) []byte {
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(r.Correlation))
	if r.flexibleAnswer() {
		b = append(b, 0)
	}
	return b
}

// write sends a reply that is not a Later and not nil. It returns the frame's size without the prefix.
func (c *Conn) write(r *Request, reply Reply) (int, error) {
	c.touch()
	c.writing.Store(true)
	defer c.writing.Store(false)
	switch reply := reply.(type) {
	case kmsg.Response:
		return c.writeResponse(r, reply)
	case *Chunked:
		defer reply.Release()
		return c.writeChunked(r, reply)
	}
	return 0, fmt.Errorf("write answer: a %T is not a reply", reply)
}

func (c *Conn) writeResponse(r *Request, resp kmsg.Response) (int, error) {
	resp.SetVersion(r.Version)
	buf := getBuffer(1)
	defer func() { buf.release() }()
	buf.b = resp.AppendTo(appendAnswerHeader(buf.b, r))
	size := len(buf.b) - 4
	if size > math.MaxInt32 {
		return 0, fmt.Errorf("write answer of %d bytes: larger than a frame can be", size)
	}
	binary.BigEndian.PutUint32(buf.b, uint32(size))
	_, err := c.nc.Write(buf.b)
	return size, err
}

// inlineSection is the size up to which a file section is read into the answer's buffer, for one write in all.
const inlineSection = 64 << 10

// answerHeader is the most that an answer's frame takes before its body.
const answerHeader = 9

// gatherMost is how much of an answer is gathered before it is written.
const gatherMost = 256 << 10

// gathered is how large the buffer of an answer must be at first, so that it does not grow: it would be another one than
// the pool gave, time and again.
func (c *Chunked) gathered() int {
	n := 0
	for _, p := range c.Parts {
		n += len(p.Bytes)
		if p.File != nil && p.File.Size() <= inlineSection {
			n += int(p.File.Size())
		}
	}
	return min(n, gatherMost+inlineSection)
}

// writeChunked sends the parts in order: bytes and short sections are gathered in one buffer, long sections go from the
// file to the socket.
func (c *Conn) writeChunked(r *Request, ch *Chunked) (int, error) {
	buf := getBuffer(answerHeader + ch.gathered())
	defer func() { buf.release() }()
	buf.b = appendAnswerHeader(buf.b, r)
	size := int64(len(buf.b)-4) + ch.Size()
	if size > math.MaxInt32 {
		return 0, fmt.Errorf("write answer of %d bytes: larger than a frame can be", size)
	}
	binary.BigEndian.PutUint32(buf.b, uint32(size))
	for _, p := range ch.Parts {
		if err := c.writePart(buf, p); err != nil {
			return 0, err
		}
		if len(buf.b) >= gatherMost {
			if err := c.flush(buf); err != nil {
				return 0, err
			}
		}
	}
	return int(size), c.flush(buf)
}

func (c *Conn) writePart(buf *buffer, p Part) error {
	if p.File == nil {
		buf.b = append(buf.b, p.Bytes...)
		return nil
	}
	n := p.File.Size()
	if n > inlineSection {
		if err := c.flush(buf); err != nil {
			return err
		}
		return c.sendSection(p.File)
	}
	at := len(buf.b)
	buf.b = slices.Grow(buf.b, int(n))[:at+int(n)]
	if got, err := p.File.ReadAt(buf.b[at:], 0); got < int(n) { // the rest is another answer's
		return fmt.Errorf("read section of %d bytes: %w", n, inside(err))
	}
	return nil
}

func (c *Conn) flush(buf *buffer) error {
	if len(buf.b) == 0 {
		return nil
	}
	_, err := c.nc.Write(buf.b)
	buf.b = buf.b[:0]
	return err
}

// copySection sends a section through a buffer.
func (c *Conn) copySection(s Section) error {
	buf := getBuffer(256 << 10)
	defer buf.release()
	b := buf.b[:cap(buf.b)]
	for at, n := int64(0), s.Size(); at < n; {
		m, err := s.ReadAt(b[:min(int64(len(b)), n-at)], at)
		if m == 0 {
			return fmt.Errorf("read section of %d bytes at %d: %w", n, at, inside(err))
		}
		if _, err := c.nc.Write(b[:m]); err != nil {
			return err
		}
		at += int64(m)
		c.touch()
	}
	return nil
}
