package segments

import (
	"errors"
	"fmt"
	"path"
	"sync"

	"doze/disk"
)

const (
	preallocateLeast = 64 << 10
	preallocateMost  = 16 << 20
	tailMost         = 256 // index entries in memory, a segment
)

// segment is one file of batches with its index. All that changes does so under mu of the partition, and under its write
// lock too: but flushed and tail, which a coarse sync changes as well, what learn finds, until it is known, and state.
type segment struct {
	base  int64
	log   *file
	index *file

	size    int64   // bytes of batches
	flushed int     // index entries in the file
	tail    []entry // the entries after those
	maxTime int64   // the largest timestamp, -1 for none
	first   int64   // max timestamp of the first batch, -1 when not known
	stamp   uint64  // of the last entry
	end     int64   // next offset
	known   bool    // maxTime, first, stamp and end are; a segment that is not used need not know them
	state   []byte  // sealed: producers and epochs at the end, for the snapshot; nil: none is written

	aborted abortedList

	created   int64 // ms, 0 when not known
	allocated int64 // size of the file as far as the appender knows; only the appender's

	flushing sync.Mutex // one flush of the index and the list at a time
}

func segmentName(base int64, ext string) string { return fmt.Sprintf("%020d.%s", base, ext) }

func (p *Partition) newSegment(base int64) *segment {
	return &segment{base: base, maxTime: -1, first: -1,
		log:   p.dir.files.file(path.Join(p.path, segmentName(base, "log"))),
		index: p.dir.files.file(path.Join(p.path, segmentName(base, "index"))),

		aborted: abortedList{file: p.dir.files.file(path.Join(p.path, segmentName(base, abortedExt)))}}
}

// createSegment makes the two files of a segment that begins at base. On failure nothing is left of them.
func (p *Partition) createSegment(base, now int64) (*segment, error) {
	fresh := len(p.segments) == 0
	if fresh {
		if err := p.dir.fs.MkdirAll(p.path); err != nil {
			return nil, err
		}
	}
	s := p.newSegment(base)
	s.created, s.end, s.known, s.aborted.usable = now, base, true, true
	if err := s.create(); err != nil {
		s.log.remove()
		s.index.remove()
		return nil, err
	}
	p.mu.Lock()
	p.newFiles = true
	p.newDir = p.newDir || fresh
	p.mu.Unlock()
	return s, nil
}

func (s *segment) create() error {
	if _, err := s.log.create(); err != nil {
		return err
	}
	defer s.log.release()
	return s.createIndex()
}

func (s *segment) createIndex() error {
	f, err := s.index.create()
	if err != nil {
		return err
	}
	defer s.index.release()
	if _, err := f.WriteAt(indexHeader(s.base), 0); err != nil {
		return fmt.Errorf("write index header: %w", err)
	}
	return nil
}

// reserve makes room in the file ahead of the writes: with it an fdatasync has no size to write and costs half. It
// doubles from 64 KiB in steps of at most 16 MiB. A disk without room for it is no error: the write itself will tell.
func (s *segment) reserve(f disk.File, need, most int64) {
	if s.size+need <= s.allocated {
		return
	}
	step := min(max(s.allocated, preallocateLeast), preallocateMost)
	want := max(min(s.allocated+step, most), s.size+need)
	if err := f.Preallocate(want); err != nil {
		want = s.size + need
	}
	s.allocated = want
}

// put writes bytes behind what the segment has. After an error the file is as it was before; when that cannot be had, or
// a sync failed, the error is an *unclean.
func (s *segment) put(b []byte, most int64) error {
	f, err := s.log.acquire()
	if err != nil {
		return err
	}
	defer s.log.release()
	s.reserve(f, int64(len(b)), most)
	if _, err = f.WriteAt(b, s.size); err == nil {
		if !s.log.wrote() {
			return nil
		}
		if err = s.log.sync(); err == nil {
			return nil
		}
		return &unclean{errors.Join(err, f.Truncate(s.size))}
	}
	s.allocated = s.size
	if terr := f.Truncate(s.size); terr != nil {
		return &unclean{errors.Join(err, terr)}
	}
	return err
}

// unclean is a failed write that may have left a trace.
type unclean struct{ err error }

func (e *unclean) Error() string { return e.err.Error() }
func (e *unclean) Unwrap() error { return e.err }

// lastEntry returns the last entry in memory or of the file; ok is false for an empty segment. The caller holds mu or
// owns the segment.
func (s *segment) lastEntry() (e entry, ok bool, err error) {
	if n := len(s.tail); n > 0 {
		return s.tail[n-1], true, nil
	}
	if s.flushed == 0 {
		return entry{}, false, nil
	}
	f, err := s.index.acquire()
	if err != nil {
		return entry{}, false, err
	}
	defer s.index.release()
	if e, err = oneEntry(f, s.flushed-1); err != nil {
		return entry{}, false, &badIndex{s, err}
	}
	return e, true, nil
}

// firstEntry returns the first entry of a segment that has one.
func (s *segment) firstEntry() (entry, error) {
	if s.flushed == 0 {
		return s.tail[0], nil
	}
	f, err := s.index.acquire()
	if err != nil {
		return entry{}, err
	}
	defer s.index.release()
	e, err := oneEntry(f, 0)
	if err != nil {
		return entry{}, &badIndex{s, err}
	}
	return e, nil
}

// before stands for the last entry, for the one that follows it; the segment is known.
func (s *segment) before() *entry {
	e := entry{maxSoFar: s.maxTime}
	if s.aborted.any {
		e.attributes = entryAborts
	}
	return &e
}

// flushIndex moves entries from memory to the file, all but the last keep, and the list of aborted transactions to its own.
// Entries below synced are vouched for.
func (p *Partition) flushIndex(s *segment, keep int, synced int64) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	if err := p.flushAborted(s, false); err != nil {
		return err
	}
	p.mu.Lock()
	from, n := s.flushed, len(s.tail)-keep
	if n <= 0 {
		p.mu.Unlock()
		return nil
	}
	tail := s.tail[:n]
	p.mu.Unlock()

	f, err := s.index.acquire()
	if err != nil {
		return err
	}
	defer s.index.release()
	b := make([]byte, 0, n*entryBytes)
	for _, e := range tail {
		if e.last() < synced {
			e.attributes |= entryVouched
		}
		b = appendEntry(b, &e)
	}
	if _, err := f.WriteAt(b, entryPosition(from)); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.flushed += n
	s.tail = append([]entry(nil), s.tail[n:]...)
	return nil
}
