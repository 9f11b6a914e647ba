package segments

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"doze/disk"
)

// storedBytes is how much of a stored batch is read at once.
const storedBytes = 64 << 10

// batchReader reads a batch in a file, a part at a time; pooled, because every search by time needs one.
type batchReader struct {
	f    disk.File
	pos  int64 // of what was not read yet
	left int64
	buf  [storedBytes]byte
}

var batchReaders = sync.Pool{New: func() any { return new(batchReader) }}

// next makes a batch that is not compressed the source of its records.
func (s *batchReader) next() ([]byte, error) {
	if s.left == 0 {
		return nil, io.EOF
	}
	b := s.buf[:min(s.left, storedBytes)]
	if n, err := s.f.ReadAt(b, s.pos); n < len(b) {
		return nil, fmt.Errorf("read batch at %d: %w", s.pos, inBatch(err))
	}
	s.pos, s.left = s.pos+int64(len(b)), s.left-int64(len(b))
	return b, nil
}

func (s *batchReader) close() {
	s.f = nil
	batchReaders.Put(s)
}

// inBatch is an error of reading, where the end of the file is one.
func inBatch(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// openStored starts a walk over the records of a batch in the log.
func (v *view) openStored(e *entry) (Header, *records, error) {
	s := batchReaders.Get().(*batchReader)
	s.f, s.pos, s.left = v.log, int64(e.position), int64(e.size)
	b, err := s.next()
	if err == nil && len(b) < headerBytes {
		err = fmt.Errorf("read batch at %d: %w", e.position, io.ErrUnexpectedEOF)
	}
	if err != nil {
		s.close()
		return Header{}, nil, err
	}
	h := parseHeader(b)
	if h.Codec() == None {
		return h, &records{chunk: b[headerBytes:], whole: b[headerBytes:], src: s, left: math.MaxInt64, from: -1}, nil
	}
	defer s.close()
	payload := append(make([]byte, 0, e.size), b[headerBytes:]...)
	for err == nil {
		if b, err = s.next(); err == nil {
			payload = append(payload, b...)
		}
	}
	if err != io.EOF {
		return Header{}, nil, err
	}
	w, err := openRecords(&h, payload, math.MaxInt64)
	return h, w, err
}

// eachRecord calls f with the records of a stored batch until it says stop. A batch whose records cannot be read (its CRC
// is right, so that is how it was stored) has none from there on: it is kept, and stepped over.
func (v *view) eachRecord(e *entry, f func(offset, timestamp int64) bool) error {
	err := v.everyRecord(e, f)
	if unreadable := (*CheckError)(nil); errors.As(err, &unreadable) {
		return nil
	}
	return err
}

func (v *view) everyRecord(e *entry, f func(offset, timestamp int64) bool) error {
	h, w, err := v.openStored(e)
	if err != nil {
		return err
	}
	defer w.close()
	for range h.Records {
		var r record
		if err := w.next(&r); err != nil {
			return err
		}
		timestamp := h.BaseTimestamp + r.timestampDelta
		if h.LogAppendTime() {
			timestamp = h.MaxTimestamp
		}
		if !f(h.BaseOffset+int64(r.offsetDelta), timestamp) {
			return nil
		}
	}
	return nil
}
