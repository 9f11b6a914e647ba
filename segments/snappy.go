package segments

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"
)

// snappySource inflates what Kafka's clients call snappy: blocks in the framing of snappy-java ("xerial"), or one bare
// block. A block's format lets it refer back as far as its beginning, and one known encoder makes use of that, so the
// history is kept up to windowBytesMax; a stream that reaches further back is refused.
type snappySource struct {
	in      []byte // compressed bytes that are not read yet, of all blocks
	framed  bool
	block   []byte // compressed bytes of the current block that are not read yet
	left    int64  // inflated bytes that the current block still owes
	history []byte // inflated bytes of the current block
	slid    bool   // history does not reach back to the block's beginning
}

var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const (
	xerialHeader = 16 // magic, version, compatible version
	historyMost  = windowBytesMax + 4<<20
)

var snappies = sync.Pool{New: func() any { return new(snappySource) }}

//fuzz:parser class=inflate FuzzInflate
func openSnappy(b []byte) source {
	s := snappies.Get().(*snappySource)
	s.in, s.framed = b, false
	if len(b) >= xerialHeader && bytes.Equal(b[:8], xerialMagic) {
		s.in, s.framed = b[xerialHeader:], true
	}
	return s
}

func (s *snappySource) close() {
	if cap(s.history) > historyMost {
		s.history = nil
	}
	*s = snappySource{history: s.history[:0]}
	snappies.Put(s)
	<-inflating
}

func (s *snappySource) next() ([]byte, error) {
	for range emptyChunksMost {
		if s.left == 0 {
			if err := s.nextBlock(); err != nil {
				return nil, err
			}
		}
		s.slide()
		from := len(s.history)
		for s.left > 0 && len(s.history)-from < chunkBytes {
			if err := s.element(); err != nil {
				return nil, err
			}
		}
		if s.left == 0 && len(s.block) > 0 {
			return nil, refuse(Undecodable, "snappy block is longer than it says")
		}
		if len(s.history) > from {
			return s.history[from:], nil
		}
	}
	return nil, refuse(Undecodable, "the stream gives nothing")
}

// slide forgets history that is further back than the window.
func (s *snappySource) slide() {
	if len(s.history) > historyMost-2*chunkBytes {
		n := copy(s.history, s.history[len(s.history)-windowBytesMax:])
		s.history, s.slid = s.history[:n], true
	}
}

// grow makes room for n more bytes, doubling.
func (s *snappySource) grow(n int) {
	if need := len(s.history) + n; need > cap(s.history) {
		room := max(need, min(2*cap(s.history), historyMost), chunkBytes)
		s.history = append(make([]byte, 0, room), s.history...)
	}
}

// nextBlock starts the next block; io.EOF when there is none.
func (s *snappySource) nextBlock() error {
	if len(s.in) == 0 {
		return io.EOF
	}
	s.block, s.in = s.in, nil
	if s.framed {
		b := s.block
		if len(b) < 4 {
			return refuse(Undecodable, "snappy frame ends early")
		}
		size := binary.BigEndian.Uint32(b)
		if int64(size) > int64(len(b)-4) {
			return refuse(Undecodable, "snappy frame of %d bytes ends early", size)
		}
		s.block, s.in = b[4:4+size], b[4+size:]
	}
	size, n := binary.Uvarint(s.block)
	if n <= 0 || n > 5 || size > 1<<32-1 {
		return refuse(Undecodable, "snappy block has no length")
	}
	s.block, s.left, s.history, s.slid = s.block[n:], int64(size), s.history[:0], false
	return nil
}

var errSnappy = &CheckError{Reason: Undecodable, Detail: "snappy block is corrupt"}

// element inflates one literal or copy.
func (s *snappySource) element() error {
	b := s.block
	if len(b) == 0 {
		return errSnappy
	}
	tag := b[0]
	switch tag & 3 {
	case 0:
		return s.literal(tag)
	case 1:
		if len(b) < 2 {
			return errSnappy
		}
		s.block = b[2:]
		return s.copyBack(int(tag>>5)<<8|int(b[1]), 4+int(tag>>2&7))
	case 2:
		if len(b) < 3 {
			return errSnappy
		}
		s.block = b[3:]
		return s.copyBack(int(binary.LittleEndian.Uint16(b[1:])), 1+int(tag>>2))
	}
	if len(b) < 5 {
		return errSnappy
	}
	s.block = b[5:]
	return s.copyBack(int(binary.LittleEndian.Uint32(b[1:])), 1+int(tag>>2))
}

func (s *snappySource) literal(tag byte) error {
	b, n := s.block[1:], int64(tag>>2)
	if extra := int(n) - 59; extra > 0 {
		if len(b) < extra {
			return errSnappy
		}
		n = 0
		for i := extra - 1; i >= 0; i-- {
			n = n<<8 | int64(b[i])
		}
		b = b[extra:]
	}
	n++
	if n > int64(len(b)) || n > s.left {
		return errSnappy
	}
	s.grow(int(n))
	s.history = append(s.history, b[:n]...)
	s.block = b[n:]
	s.left -= n
	return nil
}

func (s *snappySource) copyBack(offset, n int) error {
	if offset > len(s.history) && s.slid {
		return refuse(InflateLimit, "snappy copy from %d bytes back", offset)
	}
	if offset == 0 || offset > len(s.history) || int64(n) > s.left {
		return errSnappy
	}
	s.left -= int64(n)
	s.grow(n)
	for n > 0 { // a copy may overlap what it writes: at most offset bytes at a time are there
		from := len(s.history) - offset
		step := min(n, offset)
		s.history = append(s.history, s.history[from:from+step]...)
		n -= step
	}
	return nil
}
