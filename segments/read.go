package segments

import (
	"errors"
	"io"
	"sort"

	"doze/disk"
)

// Fetch asks for stored bytes from an offset on.
type Fetch struct {
	Offset        int64
	MaxBytes      int
	MinOneBatch   bool // the first batch whole, even above MaxBytes
	ReadCommitted bool // nothing beyond the last stable offset
}

// AbortedTxn is an aborted transaction that overlaps a span, for Fetch's answer.
type AbortedTxn struct {
	ProducerID  int64
	FirstOffset int64
}

// Span is a section of one file with stored batches, from the one that has the offset asked for. As in Kafka the last
// batch may be cut off by MaxBytes, and the first may begin below the offset. It holds the file, whatever becomes of the
// partition, until Release.
type Span struct {
	Offsets
	Aborted []AbortedTxn // ReadCommitted only

	file *file
	f    disk.File
	pos  int64
	n    int
}

// Len is the number of bytes.
func (s *Span) Len() int { return s.n }

// Section gives file and position, for sendfile; the file is nil when Len is 0.
func (s *Span) Section() (f disk.File, pos int64) { return s.f, s.pos }

// ReadAt reads from the span as from a file of Len bytes.
//
//fuzz:not-a-parser it copies stored bytes and looks at none
func (s *Span) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(s.n) {
		return 0, io.EOF
	}
	short := false
	if left := int64(s.n) - off; int64(len(p)) > left {
		p, short = p[:left], true
	}
	n, err := s.f.ReadAt(p, s.pos+off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Release lets go of the file. It may be called again.
func (s *Span) Release() {
	if s.file != nil {
		s.file.release()
		s.file, s.f = nil, nil
	}
}

// Read finds what there is from an offset on. A span of no bytes is no error: there is nothing (for read_committed: not
// yet), or MaxBytes is less than the first batch and MinOneBatch is not set. The offset must lie within the log:
// ErrOffsetOutOfRange; the span's Offsets are right with that error too.
func (p *Partition) Read(q Fetch) (Span, error) {
	if err := p.ready(); err != nil {
		return Span{}, err
	}
	for tries := 0; ; {
		span, err := p.read(q)
		switch {
		case errors.Is(err, errReplaced), errors.Is(err, errRemoved): // compacted or deleted on the way to it
		case err != nil && tries < readTries && (p.mended(err) || p.relisted(err)):
			tries++
		default:
			return span, p.storage(err)
		}
	}
}

// readTries is how often a read begins again behind a reason that the partition put right.
const readTries = 3

// read is one try of Read.
func (p *Partition) read(q Fetch) (Span, error) {
	p.mu.Lock()
	span := Span{Offsets: p.offsetsLocked()}
	if err := p.usable(); err != nil {
		p.mu.Unlock()
		return span, err
	}
	limit := span.HighWatermark
	if q.ReadCommitted {
		limit = span.LastStable
	}
	if q.Offset < p.start || q.Offset > p.end {
		p.mu.Unlock()
		return span, ErrOffsetOutOfRange
	}
	if q.Offset >= limit {
		p.mu.Unlock()
		return span, nil
	}
	err := p.findSpanAndUnlock(&span, q, limit)
	if err != nil {
		span.Release()
		span.n, span.Aborted = 0, nil
	}
	return span, err
}

// findSpanAndUnlock finds the section for the fetch, in the segment that has the offset or, when the offset lies in a gap at its end,
// in the next. It is called with mu held and returns without.
func (p *Partition) findSpanAndUnlock(span *Span, q Fetch, limit int64) error {
	i := max(0, sort.Search(len(p.segments), func(i int) bool { return p.segments[i].base > q.Offset })-1)
	segments := p.segments[i:min(i+2, len(p.segments))]
	for {
		if len(segments) == 0 {
			p.mu.Unlock()
			return nil
		}
		v, err := viewOf(segments[0])
		p.mu.Unlock()
		if err != nil {
			return err
		}
		found, err := v.findSection(p, span, q, limit)
		v.release()
		if found || err != nil {
			return err
		}
		segments = segments[1:]
		p.mu.Lock()
	}
}

// view is a segment as it was at one moment, with its files held.
type view struct {
	s       *segment
	log     disk.File
	index   disk.File
	size    int64
	flushed int
	tail    []entry

	first, maxTime int64 // as in segment
	end            int64
}

// viewOf takes a segment; the caller holds mu.
func viewOf(s *segment) (view, error) {
	if err := s.learn(); err != nil {
		return view{}, err
	}
	v := view{s: s, size: s.size, flushed: s.flushed, tail: s.tail, first: s.first, maxTime: s.maxTime, end: s.end}
	var err error
	if v.log, err = s.log.acquire(); err != nil {
		return view{}, err
	}
	if v.index, err = s.index.acquire(); err != nil {
		s.log.release()
		return view{}, err
	}
	return v, nil
}

func (v *view) release() {
	v.s.log.release()
	v.s.index.release()
}

// findSection finds the section in this segment; found is false when everything in it lies below the offset.
func (v *view) findSection(p *Partition, span *Span, q Fetch, limit int64) (found bool, err error) {
	first, found, err := v.batchWith(q.Offset)
	if err != nil || !found {
		return false, err
	}
	end := v.size
	if limit < span.HighWatermark {
		if end, err = v.positionOf(limit); err != nil {
			return false, err
		}
	}
	most := int64(q.MaxBytes)
	if q.MinOneBatch {
		most = max(most, int64(first.size))
	}
	n := min(end-int64(first.position), most)
	if n <= 0 || most < int64(first.size) {
		return true, nil
	}
	v.s.log.retain()
	span.file, span.f, span.pos, span.n = v.s.log, v.log, int64(first.position), int(n)
	if q.ReadCommitted {
		err = v.addAborted(p, span, &first, q, limit)
	}
	return true, err
}

// guess is where an entry may be when what is looked for grows evenly from the first entry to the last.
func (v *view) guess(value, first, last int64) int {
	if value <= first || last <= first {
		return 0
	}
	share := float64(value-first) / float64(last-first)
	return int(min(share, 1) * float64(v.flushed+len(v.tail)))
}

// place finds the first entry for which holds is true, which is false up to there, and its number; that is the number of
// all entries when there is none.
func (v *view) place(guess int, holds func(*entry) bool) (at int, e entry, err error) {
	if len(v.tail) > 0 && (v.flushed == 0 || !holds(&v.tail[0])) {
		i := sort.Search(len(v.tail), func(i int) bool { return holds(&v.tail[i]) })
		if i < len(v.tail) {
			e = v.tail[i]
		}
		return v.flushed + i, e, nil
	}
	at, e, err = searchEntries(v.index, v.flushed, guess, holds)
	if err != nil {
		return 0, entry{}, &badIndex{v.s, err}
	}
	if at == v.flushed && len(v.tail) > 0 {
		e = v.tail[0]
	}
	return at, e, nil
}

// eachFrom calls f with the entries from the first one on for which holds is true, until f says stop.
func (v *view) eachFrom(guess int, holds func(*entry) bool, f func(*entry) (bool, error)) error {
	at, e, err := v.place(guess, holds)
	if err != nil || at == v.flushed+len(v.tail) {
		return err
	}
	if more, err := f(&e); !more || err != nil { // nearly always
		return err
	}
	return v.eachAfter(at, f)
}

// eachAfter calls f with the entries after entry number at, until f says stop.
func (v *view) eachAfter(at int, f func(*entry) (bool, error)) (err error) {
	var b []byte
	at++
	for at < v.flushed {
		to := min(at+512, v.flushed)
		if b, err = readEntries(v.index, at, to, b); err != nil {
			return &badIndex{v.s, err}
		}
		for i := 0; i < len(b); i += entryBytes {
			e, err := parseEntry(b[i:])
			if err != nil {
				return &badIndex{v.s, err}
			}
			if more, err := f(&e); !more || err != nil {
				return err
			}
		}
		at = to
	}
	for i := at - v.flushed; i < len(v.tail); i++ {
		if more, err := f(&v.tail[i]); !more || err != nil {
			return err
		}
	}
	return nil
}

// batchWith finds the batch that has the offset, or the first one behind it.
func (v *view) batchWith(offset int64) (entry, bool, error) {
	at, e, err := v.place(v.guess(offset, v.s.base, v.end), func(e *entry) bool { return e.last() >= offset })
	return e, at < v.flushed+len(v.tail), err
}

// positionOf is where the batch with that offset begins, the size of the segment when there is none.
func (v *view) positionOf(offset int64) (int64, error) {
	e, found, err := v.batchWith(offset)
	if err != nil || !found {
		return v.size, err
	}
	return int64(e.position), nil
}

// storage marks an error of the disk.
func (p *Partition) storage(err error) error {
	if err == nil || errors.Is(err, ErrStorage) || errors.Is(err, ErrOffsetOutOfRange) || errors.Is(err, ErrRemoved) {
		return err
	}
	return &storageError{p.id, err}
}

type storageError struct {
	id  ID
	err error
}

func (e *storageError) Error() string {
	return "partition " + e.id.String() + ": storage error: " + e.err.Error()
}
func (e *storageError) Unwrap() []error { return []error{ErrStorage, e.err} }
