package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"doze/disk"
)

// Report is something for people: what was found and done at the open of a partition, or that its storage failed.
type Report struct {
	Partition ID
	File      string
	Position  int64  // where File was cut
	Bytes     int64  // how many bytes were cut off
	Kept      string // the file that has them now
	Damage    *Damage
	Failure   error // the first of its Cause
	Cause     Cause
}

// recover rebuilds what the partition knows from the newest state that is vouched for, the index entries behind it and
// the batches behind those.
func (o *opening) recover() error {
	err := o.recoverFrom(true)
	if errors.Is(err, errNoPrefix) {
		*o = opening{p: o.p, row: o.row, segments: o.segments, touched: true, producers: producers{}, cleaned: o.cleaned}
		err = o.recoverFrom(false)
	}
	return err
}

// errNoPrefix: the index does not have the entries that the checkpoint builds on.
var errNoPrefix = errors.New("index is not what it was at the last clean stop")

func (o *opening) recoverFrom(checkpoint bool) error {
	first, known, err := o.base(checkpoint)
	if err != nil {
		return err
	}
	before := len(o.segments)
	if err := o.checkJoins(first); err != nil {
		return err
	}
	first -= before - len(o.segments)
	for i := first; i < len(o.segments); i++ { // a recovery may shorten the list
		s := o.segments[i]
		r := recovery{opening: o, s: s, later: o.segments[i+1:]}
		if i == first {
			r.from = known
		}
		if err := r.run(); err != nil {
			return err
		}
	}
	return nil
}

// known is a place in a segment up to which the log is on disk and its state is loaded.
type known struct {
	size    int64
	entries int
}

// base loads the newest state: the clean checkpoint's or a snapshot's, and returns the segment that it belongs to.
func (o *opening) base(checkpoint bool) (int, known, error) {
	row, haveRow := o.row, checkpoint && o.row != nil && !o.rowReplaced()
	for i := len(o.segments) - 1; i >= 0; i-- {
		s := o.segments[i]
		if haveRow && row.base == s.base && s.flushed >= row.entries {
			o.end, o.epochs, o.producers, o.open = row.end, row.epochs, row.producers, row.producers.openTxns()
			return i, known{row.size, row.entries}, nil
		}
		l, t, err := o.p.readSnapshot(s.base)
		if err == nil {
			o.end, o.epochs, o.producers, o.open = s.base, l, t, t.openTxns()
			return i, known{}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errBadState) {
			return 0, known{}, err
		}
	}
	o.end = o.segments[0].base
	return 0, known{}, nil
}

// recovery is the rebuilding of one segment.
type recovery struct {
	*opening
	s     *segment
	later []*segment
	from  known

	log      disk.File
	index    disk.File
	scan     *scanner
	last     *entry  // the last batch
	entries  int     // how many batches
	old      []byte  // entries of the file that may still be right
	oldAt    int     // index of the first of old
	fileHas  int     // entries in the file
	rebuilt  []byte  // entries to be written
	held     []entry // entries behind those of the file, for which the disk had no space
	vouchEnd int64   // everything in the file below was on disk when it was indexed
}

func (r *recovery) run() error {
	var err error
	if r.log, err = r.s.log.acquire(); err != nil {
		return err
	}
	defer r.s.log.release()
	if r.index, err = r.openIndex(); err != nil {
		return err
	}
	defer r.s.index.release()
	if err := r.readVouched(); err != nil {
		return err
	}
	if err := r.openScan(); err != nil {
		return err
	}
	defer r.scan.close()
	if err := r.readLog(); err != nil {
		return err
	}
	if err := r.writeIndex(); err != nil {
		return err
	}
	if err := r.readTail(); err != nil {
		return err
	}
	r.finish()
	return nil
}

// openIndex opens the index file, or makes an empty one when it is missing or not an index of this segment.
func (r *recovery) openIndex() (disk.File, error) {
	f, err := r.s.index.acquire()
	if err == nil {
		b := make([]byte, indexHeaderBytes)
		n, _ := f.ReadAt(b, 0)
		if checkIndexHeader(b[:n], r.s.base) == nil {
			r.fileHas = r.s.flushed
			return f, nil
		}
		r.s.index.release()
		r.s.index.close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if r.from.entries > 0 {
		return nil, errNoPrefix
	}
	r.fileHas = 0
	if err := r.s.createIndex(); err != nil {
		return nil, err
	}
	return r.s.index.acquire()
}

// readVouched applies the entries of the file up to the last one that is vouched for. They are not compared with the
// log: it was on disk when they were written.
func (r *recovery) readVouched() error {
	vouched := r.from.entries
	var prev *entry
	if vouched > 0 {
		e, err := oneEntry(r.index, vouched-1)
		if err != nil {
			return errNoPrefix
		}
		prev = &e
	}
	start := prev
	err := r.eachEntry(vouched, prev, func(i int, e *entry) {
		if e.attributes&entryVouched != 0 {
			vouched = i + 1
		}
	})
	if err != nil {
		return err
	}
	r.last, r.entries = start, r.from.entries
	err = r.eachEntry(r.from.entries, start, func(i int, e *entry) {
		if i < vouched {
			r.take(e)
		}
	})
	if err != nil {
		return err
	}
	if r.last != nil && r.last.end() > r.s.size {
		return &Damage{File: r.s.log.name, Position: r.s.size, Offset: r.last.offset,
			Detail: fmt.Sprintf("the file has %d bytes, its index vouches for %d", r.s.size, r.last.end())}
	}
	if r.last != nil {
		r.vouchEnd = r.last.end()
	}
	return nil
}

// eachEntry calls f with the entries of the file from i on, as long as they are whole and follow each other.
func (r *recovery) eachEntry(i int, prev *entry, f func(i int, e *entry)) error {
	var b []byte
	for i < r.fileHas {
		to := min(i+512, r.fileHas)
		var err error
		if b, err = readEntries(r.index, i, to, b); err != nil {
			return err
		}
		for at := 0; at < len(b); at += entryBytes {
			e, err := parseEntry(b[at:])
			if err != nil || !e.follows(prev, r.s.base) {
				return nil
			}
			f(i, &e)
			prev = &e
			i++
		}
	}
	return nil
}

func (r *recovery) take(e *entry) {
	copied := *e
	r.last = &copied
	r.entries++
	r.apply(e)
}

func (o *opening) apply(e *entry) {
	o.end = e.last() + 1
	o.epochs.assign(e.epoch, e.offset)
	o.producers.apply(e, &o.open)
}

// openScan makes ready to read the log behind the vouched batches.
func (r *recovery) openScan() error {
	pos := int64(0)
	if r.last != nil {
		pos = r.last.end()
	}
	var err error
	r.scan, err = newScanner(r.log, pos)
	return err
}

// readLog reads the batches behind the vouched ones, with their checksums.
func (r *recovery) readLog() error {
	r.oldAt = r.entries
	for {
		at := r.scan.pos
		h, ok, err := r.scan.next(r.end)
		if err != nil || !ok {
			return err
		}
		e := r.entryFor(&h, at)
		r.take(&e)
		if r.rebuilt = appendEntry(r.rebuilt, &e); len(r.rebuilt) >= 512*entryBytes {
			if err := r.writeEntries(); err != nil {
				return err
			}
		}
	}
}

// writeEntries writes what is rebuilt to its place. What the file had there has been read by then.
func (r *recovery) writeEntries() error {
	if len(r.rebuilt) == 0 {
		return nil
	}
	_, err := r.index.WriteAt(r.rebuilt, entryPosition(r.entries-len(r.rebuilt)/entryBytes))
	r.rebuilt = r.rebuilt[:0]
	return err
}

// entryFor returns the file's entry for a batch when there is one, with its stamp, else a new one.
func (r *recovery) entryFor(h *Header, at int64) entry {
	stamp := uint64(0)
	if r.last != nil {
		stamp = r.last.stamp
	}
	if e, ok := r.oldEntry(); ok && e.sameBatch(h, at) && e.follows(r.last, r.s.base) {
		return e
	}
	e := entryOf(h, at, stamp, r.last)
	e.attributes |= entryStampUnknown
	return e
}

// oldEntry reads the file's entry number r.entries.
func (r *recovery) oldEntry() (entry, bool) {
	if r.entries >= r.fileHas {
		return entry{}, false
	}
	at := (r.entries - r.oldAt) * entryBytes
	if at >= len(r.old) {
		b, err := readEntries(r.index, r.entries, min(r.entries+512, r.fileHas), r.old)
		if err != nil {
			return entry{}, false
		}
		r.old, r.oldAt, at = b, r.entries, 0
	}
	e, err := parseEntry(r.old[at:])
	return e, err == nil
}

// writeIndex makes the file say what was found. On a full disk the last entries stay in memory, as those of batches that
// were appended a moment ago: a start on it shows what is there.
func (r *recovery) writeIndex() error {
	held := slices.Clone(r.rebuilt)
	err := r.writeEntries()
	switch {
	case isFull(err):
		r.hold(held)
	case err != nil:
		return err
	}
	size, err := r.index.Size()
	if err != nil {
		return err
	}
	if want := entryPosition(r.entries - len(r.held)); size != want {
		return r.index.Truncate(want)
	}
	return nil
}

// hold keeps entries in memory.
func (r *recovery) hold(b []byte) {
	for at := 0; at < len(b); at += entryBytes {
		if e, err := parseEntry(b[at:]); err == nil { // they were made a moment ago
			r.held = append(r.held, e)
		}
	}
}

// isFull tells whether the disk has no space, for this user or at all.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// readTail judges what lies behind the last whole batch.
func (r *recovery) readTail() error {
	pos := r.scan.pos
	end, err := r.scan.lastNonZero(pos)
	if err != nil {
		return err
	}
	if r.belowRow() && (len(r.later) == 0 || end != pos) {
		return r.damaged(pos, fmt.Sprintf("no whole batch from here on; at the last clean stop the log ended at offset %d", r.row.end))
	}
	if end == pos { // nothing, or space that was reserved
		return r.checkLater(pos)
	}
	epoch := r.epochs.latest()
	at, found, err := r.scan.laterBatch(pos, r.end, end, epoch)
	if err != nil {
		return err
	}
	if found && !r.lenient() {
		return r.damaged(pos, fmt.Sprintf("no whole batch here, but one follows at byte %d", at))
	}
	if err := r.checkLater(pos); err != nil {
		return err
	}
	return r.cut(pos, end)
}

// checkLater judges the segments that follow the end of this one. One that begins elsewhere is a gap. When none of them
// has a batch, they were made just before a power loss, and go. With a batch the gap is damage, unless the machine lost
// power: what was not synced comes back in any order, and nothing behind the gap had been synced. Then the log ends at
// the gap and what follows is kept beside.
func (r *recovery) checkLater(pos int64) error {
	if len(r.later) == 0 || r.later[0].base == r.end {
		return nil
	}
	for _, s := range r.later {
		has, err := s.hasBatch()
		if err != nil {
			return err
		}
		if has && !r.lenient() {
			return r.damaged(pos, fmt.Sprintf("the log ends here, but a segment follows with offset %d", s.base))
		}
	}
	return r.setAside()
}

// setAside takes the later segments away; those that have any content are kept under another name.
func (r *recovery) setAside() error {
	for _, s := range r.later {
		size, err := s.content()
		if err != nil {
			return err
		}
		s.log.close()
		_ = r.p.dir.fs.Remove(path.Join(r.p.path, segmentName(s.base, "snapshot")))
		s.aborted.file.remove()
		s.index.remove()
		if size == 0 {
			s.log.remove()
			continue
		}
		kept := s.log.name + ".0.torn"
		if err := r.p.dir.fs.Rename(s.log.name, kept); err != nil {
			return err
		}
		r.p.dir.report(Report{Partition: r.p.id, File: s.log.name, Bytes: size, Kept: kept})
	}
	r.segments = r.segments[:len(r.segments)-len(r.later)]
	r.later = nil
	return nil
}

// content is the size of a log without reserved space.
func (s *segment) content() (int64, error) {
	f, err := s.log.acquire()
	if err != nil {
		return 0, err
	}
	defer s.log.release()
	scan, err := newScanner(f, 0)
	if err != nil {
		return 0, err
	}
	defer scan.close()
	return scan.lastNonZero(0)
}

// hasBatch tells whether the segment begins with a whole batch.
func (s *segment) hasBatch() (bool, error) {
	f, err := s.log.acquire()
	if err != nil {
		return false, err
	}
	defer s.log.release()
	scan, err := newScanner(f, 0)
	if err != nil {
		return false, err
	}
	defer scan.close()
	_, ok, err := scan.batch(0, s.base)
	return ok, err
}

func (r *recovery) damaged(pos int64, detail string) error {
	return &Damage{File: r.s.log.name, Position: pos, Offset: r.end, Detail: detail}
}

// cut takes the torn tail off, and keeps it beside.
func (r *recovery) cut(pos, end int64) error {
	kept := fmt.Sprintf("%s.%d.torn", r.s.log.name, pos)
	if err := copyRange(r.p.dir.fs, r.log, pos, end, kept); err != nil {
		return fmt.Errorf("keep torn tail: %w", err)
	}
	if err := r.log.Truncate(pos); err != nil {
		return err
	}
	r.s.allocated = pos
	r.p.dir.report(Report{Partition: r.p.id, File: r.s.log.name, Position: pos, Bytes: end - pos, Kept: kept})
	return nil
}

func copyRange(fsys disk.FS, from disk.File, pos, end int64, name string) error {
	to, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	b := make([]byte, scanBytes)
	for at := pos; at < end && err == nil; {
		var n int
		n, err = from.ReadAt(b[:min(int64(len(b)), end-at)], at)
		if n > 0 {
			_, err = to.WriteAt(b[:n], at-pos)
			at += int64(n)
		}
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// finish notes what the segment is now.
func (r *recovery) finish() {
	s := r.s
	s.size, s.flushed, s.tail = r.scan.pos, r.entries-len(r.held), r.held
	s.known = false
	if r.scan.pos > r.vouchEnd {
		r.pending = append(r.pending, s)
		s.log.wrote()
	}
	if len(r.later) > 0 && s.size > 0 {
		if len(r.later) == 1 { // one snapshot is enough for the next recovery
			s.state = encodeState(r.epochs, r.producers)
		}
		r.sealed = append(r.sealed, s)
	}
}
