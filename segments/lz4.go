package segments

import (
	"encoding/binary"
	"io"
	"math/bits"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// lz4Source reads an LZ4 frame as Kafka does: one frame, independent blocks only, block checksums checked, the content
// checksum and what follows the frame not.
type lz4Source struct {
	in        []byte
	block     []byte // room for one inflated block
	blockSums bool
	done      bool
}

const (
	lz4Magic      = 0x184D2204
	lz4Stored     = 1 << 31
	lz4BlockSums  = 1 << 4
	lz4HasSize    = 1 << 3
	lz4FlagsFixed = 0xE3 // version, independence and the reserved bits
	lz4FlagsWant  = 0x60 // version 1, independent blocks
)

var lz4Blocks [4]sync.Pool // of *[]byte: 64 KiB, 256 KiB, 1 MiB, 4 MiB

//fuzz:parser class=inflate FuzzInflate
func openLZ4(b []byte) (source, error) {
	if len(b) < 7 || binary.LittleEndian.Uint32(b) != lz4Magic {
		return nil, refuse(Undecodable, "not an LZ4 frame")
	}
	flags, sizes := b[4], b[5]
	if flags&lz4FlagsFixed != lz4FlagsWant || sizes&0x8f != 0 || sizes>>4 < 4 {
		return nil, refuse(Undecodable, "LZ4 frame descriptor %02x %02x is not supported", flags, sizes)
	}
	n := 6
	if flags&lz4HasSize != 0 {
		n += 8
	}
	if len(b) <= n || b[n] != byte(xxhash32(b[4:n])>>8) {
		return nil, refuse(Undecodable, "LZ4 frame descriptor is corrupt")
	}
	return &lz4Source{in: b[n+1:], block: lz4Block(int(sizes >> 4)), blockSums: flags&lz4BlockSums != 0}, nil
}

func lz4Block(code int) []byte {
	if b, ok := lz4Blocks[code-4].Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 1<<(8+2*code))
}

func (s *lz4Source) close() {
	b := s.block
	lz4Blocks[(bits.Len(uint(len(b)))-17)/2].Put(&b)
	<-inflating
}

func (s *lz4Source) next() ([]byte, error) {
	for range emptyChunksMost {
		chunk, err := s.nextBlock()
		if err != nil || len(chunk) > 0 {
			return chunk, err
		}
	}
	return nil, refuse(Undecodable, "the stream gives nothing")
}

func (s *lz4Source) nextBlock() ([]byte, error) {
	if s.done {
		return nil, io.EOF
	}
	if len(s.in) < 4 {
		return nil, refuse(Undecodable, "LZ4 frame ends early")
	}
	size := binary.LittleEndian.Uint32(s.in)
	s.in = s.in[4:]
	stored := size&lz4Stored != 0
	size &^= lz4Stored
	if size == 0 {
		s.done = true
		return nil, io.EOF
	}
	if int64(size) > int64(len(s.block)) || int(size) > len(s.in) {
		return nil, refuse(Undecodable, "LZ4 block of %d bytes is too large", size)
	}
	data := s.in[:size]
	s.in = s.in[size:]
	if err := s.checkSum(data); err != nil {
		return nil, err
	}
	if stored {
		return data, nil
	}
	n, err := lz4.UncompressBlock(data, s.block)
	if err != nil {
		return nil, refuse(Undecodable, "LZ4 block: %v", err)
	}
	return s.block[:n], nil
}

func (s *lz4Source) checkSum(data []byte) error {
	if !s.blockSums {
		return nil
	}
	if len(s.in) < 4 || binary.LittleEndian.Uint32(s.in) != xxhash32(data) {
		return refuse(Undecodable, "LZ4 block checksum does not agree")
	}
	s.in = s.in[4:]
	return nil
}

const (
	xxPrime1 uint32 = 2654435761
	xxPrime2 uint32 = 2246822519
	xxPrime3 uint32 = 3266489917
	xxPrime4 uint32 = 668265263
	xxPrime5 uint32 = 374761393
)

// xxhash32 is xxHash32 with seed 0, which LZ4 frames use.
func xxhash32(b []byte) uint32 {
	n := uint32(len(b))
	h := xxPrime5
	if len(b) >= 16 {
		v1, v2, v3, v4 := xxPrime1, xxPrime2, uint32(0), uint32(0)
		v1 += xxPrime2
		v4 -= xxPrime1
		for ; len(b) >= 16; b = b[16:] {
			v1 = xxRound(v1, b)
			v2 = xxRound(v2, b[4:])
			v3 = xxRound(v3, b[8:])
			v4 = xxRound(v4, b[12:])
		}
		h = bits.RotateLeft32(v1, 1) + bits.RotateLeft32(v2, 7) + bits.RotateLeft32(v3, 12) + bits.RotateLeft32(v4, 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*xxPrime3, 17) * xxPrime4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*xxPrime5, 11) * xxPrime1
	}
	h = (h ^ h>>15) * xxPrime2
	h = (h ^ h>>13) * xxPrime3
	return h ^ h>>16
}

func xxRound(v uint32, b []byte) uint32 {
	return bits.RotateLeft32(v+binary.LittleEndian.Uint32(b)*xxPrime2, 13) * xxPrime1
}
