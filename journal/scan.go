package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"doze/disk"
)

const scanChunk = 256 << 10

// scanner reads the frames of one journal file in order and holds at most one frame, or a chunk, in memory.
type scanner struct {
	file   disk.File
	name   string
	size   int64
	header FileHeader

	pos     int64  // where the next frame begins: the end of what is valid
	seq     uint64 // sequence of the last valid frame
	chain   uint32 // its chain
	vouched uint64 // highest sequence that something valid in this file says was on disk

	buf    []byte // bytes of the file from bufPos on
	bufPos int64
}

// openScanner opens a journal file and reads its header.
func openScanner(fsys disk.FS, name string) (*scanner, error) {
	f, err := fsys.OpenFile(name, readOnly)
	if err != nil {
		return nil, fmt.Errorf("open journal file %s: %w", name, err)
	}
	s := &scanner{file: f, name: name, pos: headerSize}
	if err := s.begin(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return s, nil
}

func (s *scanner) begin() error {
	var err error
	if s.size, err = s.file.Size(); err != nil {
		return fmt.Errorf("size of %s: %w", s.name, err)
	}
	b, err := s.window(0, headerSize)
	if err != nil {
		return err
	}
	s.header, err = parseFileHeader(b)
	if err := headerVerdict(s.name, s.header, err); err != nil {
		return err
	}
	s.seq = s.header.FirstSeq - 1
	s.chain = s.header.Chain
	s.vouched = s.seq // a file is begun after everything before it was synced
	return nil
}

// forget drops what has been read of the file, so that it is read again.
func (s *scanner) forget() { s.buf, s.bufPos = s.buf[:0], 0 }

func (s *scanner) close() { _ = s.file.Close() }

// window returns up to n bytes of the file from off on, fewer only at its end. They are valid until the next call.
func (s *scanner) window(off int64, n int) ([]byte, error) {
	if off < s.bufPos || off+int64(n) > s.bufPos+int64(len(s.buf)) {
		if err := s.fill(off, n); err != nil {
			return nil, err
		}
	}
	b := s.buf[min(off-s.bufPos, int64(len(s.buf))):]
	return b[:min(n, len(b))], nil
}

// fill reads a chunk, or n bytes if that is more, from off on. What the buffer has of them already is kept.
func (s *scanner) fill(off int64, n int) error {
	want := min(int64(max(n, scanChunk)), max(s.size-off, 0))
	have := 0
	if off >= s.bufPos && off < s.bufPos+int64(len(s.buf)) {
		have = copy(s.buf, s.buf[off-s.bufPos:])
	}
	if int64(cap(s.buf)) < want {
		s.buf = append(make([]byte, 0, want), s.buf[:have]...)
	}
	s.bufPos = off
	have = min(have, int(want))
	s.buf = s.buf[:want]
	got, err := s.file.ReadAt(s.buf[have:], off+int64(have))
	s.buf = s.buf[:have+got]
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s at %d: %w", s.name, off, err)
	}
	return nil
}

// badFrame says why the bytes at the scanner's position are not the next frame.
type badFrame struct {
	reason error
}

func (b *badFrame) Error() string { return b.reason.Error() }

// next returns the next frame's head and body; the body is valid until the next call. io.EOF: the file ends here, with
// nothing or only zeros behind. *badFrame: something else is there. Other errors are the disk's.
func (s *scanner) next() (frameHeader, []byte, error) {
	b, err := s.window(s.pos, frameHead)
	if err != nil {
		return frameHeader{}, nil, err
	}
	if len(b) == 0 {
		return frameHeader{}, nil, io.EOF
	}
	h, err := parseFrameHeader(b, s.header.Salt)
	if err != nil {
		return frameHeader{}, nil, s.bad(err)
	}
	if h.Length == 0 && h.Seq == s.seq && h.Durable == s.seq {
		s.vouched = max(s.vouched, h.Durable)
		return frameHeader{}, nil, s.zeros(s.pos+frameHead, errAfterVouch)
	}
	if h.Seq != s.seq+1 || h.Durable >= h.Seq {
		return frameHeader{}, nil, &badFrame{fmt.Errorf("frame of entry %d where entry %d belongs", h.Seq, s.seq+1)}
	}
	total := h.Length + frameOverhead
	frame, err := s.window(s.pos, total)
	if err != nil {
		return frameHeader{}, nil, err
	}
	if len(frame) < total {
		return frameHeader{}, nil, &badFrame{errFrameShort}
	}
	chain, err := checkFrame(frame, s.chain)
	if err != nil {
		return frameHeader{}, nil, &badFrame{err}
	}
	s.pos += int64(total)
	s.seq, s.chain = h.Seq, chain
	s.vouched = max(s.vouched, h.Durable)
	return h, frame[frameHead : total-frameTail], nil
}

var errAfterVouch = errors.New("bytes after the end of the journal")

// bad is io.EOF when nothing but zeros is left, else a badFrame with the reason.
func (s *scanner) bad(reason error) error {
	if errors.Is(reason, errFrameSync) || errors.Is(reason, errFrameShort) {
		return s.zeros(s.pos, reason)
	}
	return &badFrame{reason}
}

// zeros is io.EOF when the file holds only zeros from off on (space reserved ahead), else a badFrame with the reason.
func (s *scanner) zeros(off int64, reason error) error {
	for off < s.size {
		b, err := s.window(off, scanChunk)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			break
		}
		if !allZero(b) {
			return &badFrame{reason}
		}
		off += int64(len(b))
	}
	return io.EOF
}

func allZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// rest is what lies behind the last valid frame of a file.
type rest struct {
	end      int64  // after the last byte that is not zero
	later    int64  // offset of the first valid frame head, -1 when there is none
	firstSeq uint64 // its sequence
	lastSeq  uint64 // highest sequence of a valid frame head
	vouched  uint64 // highest sequence that one of them says was on disk
	hole     bool   // part of a disk sector before the first of them was never written
}

// after looks at everything behind the last valid frame.
func (s *scanner) after() (rest, error) {
	r := rest{end: s.pos, later: -1}
	if err := s.nonZero(&r); err != nil {
		return r, err
	}
	err := s.heads(s.pos, func(off int64, h frameHeader) bool {
		s.note(&r, off, h)
		return true
	})
	if err == nil && r.later >= 0 {
		r.hole, err = s.hole(s.pos, r.later)
	}
	return r, err
}

// nonZero finds the last byte that is not zero.
func (s *scanner) nonZero(r *rest) error {
	for off := s.pos; off < s.size; {
		b, err := s.window(off, scanChunk)
		if err != nil || len(b) == 0 {
			return err
		}
		if n := len(bytes.TrimRight(b, "\x00")); n > 0 {
			r.end = off + int64(n)
		}
		off += int64(len(b))
	}
	return nil
}

// heads yields what looks like a frame's head or a vouch from off on, wherever it lies.
func (s *scanner) heads(off int64, yield func(off int64, h frameHeader) bool) error {
	var sync [4]byte
	binary.LittleEndian.PutUint32(sync[:], frameSync)
	for off < s.size {
		b, err := s.window(off, scanChunk)
		if err != nil || len(b) == 0 {
			return err
		}
		for i := 0; ; i++ {
			n := bytes.Index(b[i:], sync[:])
			if n < 0 {
				break
			}
			i += n
			if h, err := parseFrameHeader(b[i:], s.header.Salt); err == nil && !yield(off+int64(i), h) {
				return nil
			}
		}
		if len(b) < frameHead || off+int64(len(b)) >= s.size {
			return nil
		}
		off += int64(len(b)) - frameHead + 1 // a head may lie across two chunks
	}
	return nil
}

// note records a frame head at off, if it is one of an entry that is not read yet, or a vouch for such.
func (s *scanner) note(r *rest, off int64, h frameHeader) {
	if h.Seq <= s.seq {
		return
	}
	r.vouched = max(r.vouched, h.Durable)
	r.lastSeq = max(r.lastSeq, h.Seq)
	own := off == s.pos && h.Seq == s.seq+1 // the head of the bad frame itself
	if h.Length > 0 && !own && r.later < 0 {
		r.later, r.firstSeq = off, h.Seq
	}
}

const sector = 512

// hole says whether something between from and to was never written: the journal only ever writes over zeros (or over a
// vouch), a disk writes whole sectors, so a sector that a power loss kept from the disk is zero from the end of what was
// there before. Damage to written bytes does not look so.
func (s *scanner) hole(from, to int64) (bool, error) {
	head, err := s.window(from, frameHead)
	if err != nil {
		return false, err
	}
	if h, err := parseFrameHeader(head, s.header.Salt); err == nil && h.Length == 0 {
		from += frameHead
	}
	for begin := from; from < to; {
		end := min((from/sector+1)*sector, to)
		b, err := s.window(from, int(end-from))
		if err != nil {
			return false, err
		}
		if (from == begin || len(b) == sector) && allZero(b) {
			return true, nil
		}
		from = end
	}
	return false, nil
}
