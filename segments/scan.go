package segments

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"doze/disk"
)

// A scan reads ever more at once: most logs that a crash left have one batch to read, and then space that was reserved.
const (
	scanBytes      = 256 << 10
	scanBytesFirst = 32 << 10
)

// scanner reads batches one after the other out of a log file, with one buffer whatever their size.
type scanner struct {
	f    disk.File
	size int64 // of the file
	pos  int64 // of the next batch
	buf  []byte
	at   int64 // position of buf in the file
	step int64 // how much is read next

	whole *[scanBytes]byte // what buf is part of
}

var scanBuffers = sync.Pool{New: func() any { return new([scanBytes]byte) }}

func newScanner(f disk.File, pos int64) (*scanner, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return &scanner{f: f, size: size, pos: pos, step: scanBytesFirst}, nil
}

// view returns the bytes from pos on, at least one and at most n, from the buffer.
func (s *scanner) view(pos int64, n int) ([]byte, error) {
	if pos < s.at || pos+int64(n) > s.at+int64(len(s.buf)) {
		if err := s.load(pos, n); err != nil {
			return nil, err
		}
	}
	b := s.buf[pos-s.at:]
	return b[:min(n, len(b))], nil
}

func (s *scanner) load(pos int64, n int) error {
	want := min(s.size-pos, max(s.step, int64(n)), scanBytes)
	s.step = min(4*s.step, scanBytes)
	if want <= 0 {
		return io.EOF
	}
	if s.whole == nil {
		s.whole = scanBuffers.Get().(*[scanBytes]byte)
	}
	n, err := s.f.ReadAt(s.whole[:want], pos)
	s.buf, s.at = s.whole[:n], pos
	if int64(n) < want {
		if err == nil || err == io.EOF {
			return fmt.Errorf("read log at %d: file is shorter than it was", pos)
		}
		return fmt.Errorf("read log at %d: %w", pos, err)
	}
	return nil
}

// close gives the buffer back.
func (s *scanner) close() {
	if s.whole != nil {
		scanBuffers.Put(s.whole)
		s.whole, s.buf = nil, nil
	}
}

// batch reads the batch at pos. ok is false when there is none that is whole and right: the end, space that was
// reserved and not written, a write that did not finish, or damage. The error is the disk's.
//
//fuzz:parser class=segment FuzzScan
func (s *scanner) batch(pos, offset int64) (h Header, ok bool, err error) {
	if s.size-pos < headerBytes {
		return Header{}, false, nil
	}
	b, err := s.view(pos, headerBytes)
	if err != nil {
		return Header{}, false, err
	}
	h = parseHeader(b)
	if !h.sane() || h.BaseOffset < offset || int64(h.Size) > s.size-pos {
		return Header{}, false, nil
	}
	crc, err := s.crc(pos+atAttributes, pos+int64(h.Size))
	if err != nil || crc != h.CRC || !h.Control() || h.Records == 0 {
		return h, err == nil && crc == h.CRC, err
	}
	if b, err = s.view(pos+headerBytes, int(min(int64(h.Size)-headerBytes, markerMost))); err != nil {
		return Header{}, false, err
	}
	h.Marker, ok = parseMarker(b)
	return h, ok, nil
}

func (s *scanner) crc(from, to int64) (uint32, error) {
	crc := uint32(0)
	for from < to {
		b, err := s.view(from, int(min(to-from, scanBytes)))
		if err != nil {
			return 0, err
		}
		crc = crc32.Update(crc, castagnoli, b)
		from += int64(len(b))
	}
	return crc, nil
}

// next reads the batch at s.pos and steps over it.
func (s *scanner) next(offset int64) (h Header, ok bool, err error) {
	if h, ok, err = s.batch(s.pos, offset); ok {
		s.pos += int64(h.Size)
	}
	return h, ok, err
}

// lastNonZero returns the position behind the last byte from pos on that is not zero, pos when all are.
func (s *scanner) lastNonZero(pos int64) (int64, error) {
	end := pos
	first, err := s.f.NextData(pos)
	if err != nil {
		return 0, fmt.Errorf("look for data in log from %d on: %w", pos, err)
	}
	for at := first; at < s.size; {
		n := s.at + int64(len(s.buf)) - at // what is read already
		if at < s.at || n <= 0 {
			n = scanBytes
		}
		b, err := s.view(at, int(n))
		if err != nil {
			return 0, err
		}
		if n := len(trimZeros(b)); n > 0 {
			end = at + int64(n)
		}
		at += int64(len(b))
	}
	return end, nil
}

// trimZeros drops zeros from the end, a word at a time.
func trimZeros(b []byte) []byte {
	for len(b) >= 8 && binary.NativeEndian.Uint64(b[len(b)-8:]) == 0 {
		b = b[:len(b)-8]
	}
	return bytes.TrimRight(b, "\x00")
}

// laterBatch looks behind a bad place for a whole batch with a later offset: with one, the place is not a write that a
// crash cut short. What it reads is bounded: beyond budget bytes of checksums the answer is yes, which refuses the
// partition rather than cut it.
func (s *scanner) laterBatch(pos, offset, end int64, epoch int32) (at int64, found bool, err error) {
	budget := 4*(end-pos) + scanBytes
	for at = pos + 1; at+headerBytes <= end; {
		b, err := s.view(at, scanBytes)
		if err != nil {
			return 0, false, err
		}
		n := min(int64(len(b)), end-at) - headerBytes + 1
		for i := range n {
			if !likely(b[i:i+headerBytes], offset, epoch) {
				continue
			}
			h, ok, err := s.batch(at+i, offset+1)
			if err != nil {
				return 0, false, err
			}
			if budget -= int64(h.Size); ok || budget < 0 {
				return at + i, true, nil
			}
			if b, err = s.reload(at); err != nil { // the checksum may have moved the buffer
				return 0, false, err
			}
		}
		at += n
	}
	return 0, false, nil
}

func (s *scanner) reload(at int64) ([]byte, error) {
	if s.at != at {
		if err := s.load(at, scanBytes); err != nil {
			return nil, err
		}
	}
	return s.buf, nil
}

// likely is a quick look whether a batch may begin here, before its checksum is computed.
func likely(b []byte, offset int64, epoch int32) bool {
	if b[atMagic] != 2 {
		return false
	}
	base := int64(binary.BigEndian.Uint64(b))
	length := int32(binary.BigEndian.Uint32(b[atLength:]))
	return base > offset && base-offset < 1<<31 && length >= headerBytes-logOverhead &&
		int32(binary.BigEndian.Uint32(b[atLeaderEpoch:])) >= epoch
}
