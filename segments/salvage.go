package segments

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"doze/disk"
)

// salvage goes through a partition's segments and tells the batches that can be read from the places that cannot.
type salvage struct {
	fs      disk.FS
	dir     string
	forgive bool // power was lost: only what was vouched for counts as lost
	row     *row // of the checkpoint; nil: none
	// take is called with each batch that can be read: its segment's base, its place, and its index entry or nil.
	take func(base int64, h *Header, at int64, e *entry) error

	lists *verifyAborted // nil: lists of aborted transactions are not looked at

	lost       []Loss
	start, end int64 // first and next offset
}

// settle looks at the directory as a start would make it.
func (s *salvage) settle() (err error) {
	if info, serr := s.fs.Stat(s.dir); serr != nil || !info.IsDir() {
		return nil // missing, or no directory: found out next
	}
	s.fs, err = asSettled(s.fs, s.dir)
	return err
}

func (s *salvage) run() error {
	if err := s.settle(); err != nil {
		return err
	}
	if s.lists != nil {
		s.lists.fs, s.lists.dir = s.fs, s.dir
	}
	all, err := listFiles(s.fs, s.dir)
	found := all.segments
	if damage := (*Damage)(nil); errors.As(err, &damage) {
		s.lose(Loss{File: damage.File, First: damage.Offset, Next: -1, Reason: damage.Detail})
		found, err = nil, nil
	}
	if err != nil {
		return err
	}
	missing := orphans(found, s.forgive)
	logs := slices.DeleteFunc(found, func(f segmentFiles) bool { return !f.log })
	missing = s.before(logs, missing)
	for i, f := range logs {
		switch {
		case i == 0:
			s.start, s.end = f.base, f.base
		case f.base != s.end:
			s.gap(f.base)
		}
		if err := s.segment(f.base, i+1 == len(logs)); err != nil {
			return err
		}
	}
	s.behind(logs, missing)
	return nil
}

// before notes the missing logs that lie before the first that is there, and returns the others.
func (s *salvage) before(logs, missing []segmentFiles) []segmentFiles {
	for len(missing) > 0 && len(logs) > 0 && missing[0].base < logs[0].base {
		s.loseLog(missing[0].base, logs[0].base, "the file is missing; "+missing[0].proof())
		missing = missing[1:]
	}
	return missing
}

// behind notes what is missing behind the last log. Without any log the partition goes on where it is known to have
// ended.
func (s *salvage) behind(logs, missing []segmentFiles) {
	known := s.end
	for _, f := range missing {
		if len(logs) == 0 || f.base > logs[len(logs)-1].base {
			end := orphanEnd(s.fs, s.dir, f.base)
			s.loseLog(s.end, end, "the file is missing; "+f.proof())
			known = max(known, end)
		}
	}
	if s.row != nil && s.row.end > s.end {
		known = max(known, s.row.end)
		s.lose(Loss{File: path.Join(s.dir, segmentName(s.row.base, "log")), First: s.end, Next: known,
			Reason: fmt.Sprintf("the log ends at offset %d, at the last clean stop it ended at %d", s.end, s.row.end)})
	}
	if len(logs) == 0 {
		s.start, s.end = known, known
	}
}

func (s *salvage) loseLog(base, next int64, reason string) {
	s.lose(Loss{File: path.Join(s.dir, segmentName(base, "log")), First: base, Next: next, Reason: reason})
}

// listBases lists the bases of a partition's files with that ending, rising.
func listBases(fsys disk.FS, dir, wanted string) (bases []int64, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list partition directory: %w", err)
	}
	for _, e := range entries {
		if base, ext, ok := parseSegmentName(e.Name()); ok && ext == wanted {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	return bases, nil
}

// lose notes a loss; one that goes on with the one before belongs to it.
func (s *salvage) lose(l Loss) {
	if n := len(s.lost); n > 0 && s.lost[n-1].First == l.First {
		s.lost[n-1].Next = max(s.lost[n-1].Next, l.Next)
		return
	}
	if len(s.lost) < maxProblems {
		s.lost = append(s.lost, l)
	}
}

// gap judges a segment that does not begin where the one before ends.
func (s *salvage) gap(base int64) {
	file := path.Join(s.dir, segmentName(base, "log"))
	if base > s.end {
		s.lose(Loss{File: file, First: s.end, Next: base, Reason: fmt.Sprintf("the segment before ends at offset %d", s.end)})
		s.end = base
	}
}

func (s *salvage) segment(base int64, last bool) error {
	name := path.Join(s.dir, segmentName(base, "log"))
	f, err := s.fs.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	index := openKnown(s.fs, s.dir, base) // before the log: a broker that runs writes an entry after its batch
	defer index.close()
	scan, err := newScanner(f, 0)
	if err != nil {
		return err
	}
	defer scan.close()
	if s.lists != nil {
		s.lists.begin(base)
		defer s.judgeList(scan)
	}
	for {
		more, err := s.step(f, scan, index, base, name)
		if err != nil {
			return err
		}
		if !more {
			return s.tail(scan, index, name, last)
		}
	}
}

// judgeList ends the look at a segment's list. Behind a loss nobody knows what it should have.
func (s *salvage) judgeList(scan *scanner) {
	if len(s.lost) > 0 {
		s.lists.close()
		return
	}
	s.lists.finish(s.end-1, scan.pos)
}

// step takes the batch at the scanner's place, or steps over what cannot be read.
func (s *salvage) step(f disk.File, scan *scanner, index *knownBatches, base int64, name string) (more bool, err error) {
	at := scan.pos
	h, ok, err := scan.next(s.end)
	if err != nil {
		return false, err
	}
	if !ok {
		return s.stepOver(scan, index, name)
	}
	known, differs := index.of(&h, at)
	if differs { // the checksum does not cover the base offset, the index entry's does
		s.lose(Loss{File: name, Position: at, First: s.end, Next: known.last() + 1, Reason: "the batch is not the one that the index has"})
		return true, nil
	}
	raw := make([]byte, h.Size)
	if _, err := f.ReadAt(raw, at); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if err := walkRecords(&h, raw[headerBytes:]); err != nil {
		s.lose(Loss{File: name, Position: at, First: h.BaseOffset, Next: h.LastOffset() + 1, Reason: err.Error()})
		return true, nil
	}
	s.end = h.LastOffset() + 1
	if s.lists != nil {
		s.lists.batch(&h, at)
	}
	return true, s.take(base, &h, at, known)
}

// stepOver goes to the next batch that the index knows and that can be read.
func (s *salvage) stepOver(scan *scanner, index *knownBatches, name string) (bool, error) {
	for at := scan.pos; ; {
		e, ok := index.after(at)
		if !ok {
			return false, nil
		}
		at = int64(e.position)
		h, whole, err := scan.batch(at, s.end)
		if err != nil {
			return false, err
		}
		if whole && e.sameBatch(&h, at) {
			s.lose(Loss{File: name, Position: scan.pos, First: s.end, Next: h.BaseOffset, Reason: "no whole batch here"})
			scan.pos = at
			return true, nil
		}
	}
}

// tail judges what is behind the last batch of a segment.
func (s *salvage) tail(scan *scanner, index *knownBatches, name string, last bool) error {
	pos := scan.pos
	if e, ok := index.lastVouched(); ok && e.last() >= s.end {
		s.lose(Loss{File: name, Position: pos, First: s.end, Next: e.last() + 1, Reason: fmt.Sprintf("no whole batch here; the index vouches for offsets up to %d", e.last())})
		return nil
	}
	end, err := scan.lastNonZero(pos)
	if err != nil || end == pos || last && s.forgive {
		return err
	}
	if last {
		_, found, err := scan.laterBatch(pos, s.end, end, -1)
		if err != nil || !found {
			return err
		}
	}
	s.lose(Loss{File: name, Position: pos, First: s.end, Next: -1, Reason: fmt.Sprintf("no whole batch in the %d bytes from here on", end-pos)})
	return nil
}

// knownBatches is an index as a list of places where batches may be. Nothing in it is believed before the log agrees.
type knownBatches struct {
	f     disk.File
	count int
	next  int // the entry that of looks at
}

// openKnown opens the index of a segment; one that is missing or foreign knows nothing.
func openKnown(fsys disk.FS, dir string, base int64) *knownBatches {
	f, err := fsys.OpenFile(path.Join(dir, segmentName(base, "index")), os.O_RDONLY)
	if err != nil {
		return &knownBatches{}
	}
	k := &knownBatches{f: f}
	header := make([]byte, indexHeaderBytes)
	n, _ := f.ReadAt(header, 0)
	size, err := f.Size()
	if err == nil && checkIndexHeader(header[:n], base) == nil {
		k.count = int((size - indexHeaderBytes) / entryBytes)
	}
	return k
}

func (k *knownBatches) close() {
	if k.f != nil {
		k.f.Close()
	}
}

// of is the entry of the batch at a place, nil when there is none; differs tells that it is of another batch.
func (k *knownBatches) of(h *Header, at int64) (e *entry, differs bool) {
	for ; k.next < k.count; k.next++ {
		e, err := oneEntry(k.f, k.next)
		switch {
		case err != nil || int64(e.position) < at:
			continue
		case int64(e.position) > at:
			return nil, false
		}
		k.next++
		return &e, !e.sameBatch(h, at)
	}
	return nil, false
}

// after is the first entry behind a place. Places rise from call to call.
func (k *knownBatches) after(at int64) (entry, bool) {
	for ; k.next < k.count; k.next++ {
		if e, err := oneEntry(k.f, k.next); err == nil && int64(e.position) > at {
			return e, true
		}
	}
	return entry{}, false
}

// lastVouched is the last entry whose batch was on disk when it was written.
func (k *knownBatches) lastVouched() (entry, bool) {
	for i := k.count - 1; i >= 0; i-- {
		if e, err := oneEntry(k.f, i); err == nil && e.attributes&entryVouched != 0 {
			return e, true
		}
	}
	return entry{}, false
}

// write makes a directory of what can be read.
func (r *Repair) write(dir string) error {
	if err := r.fs.MkdirAll(dir); err != nil {
		return err
	}
	s := r.salvage()
	if err := s.settle(); err != nil {
		return err
	}
	w := rewriter{fs: s.fs, from: r.dir(), to: dir, base: -1}
	s.take = w.take
	err := s.run()
	if err == nil && w.base < 0 { // nothing is left: the next offset is
		w.base = s.end
		err = w.begin()
	}
	if err = errors.Join(err, w.finish()); err == nil {
		err = w.snapshots(s.lost)
	}
	if err == nil {
		err = r.fs.SyncDir(dir)
	}
	return err
}

// rewriter writes batches as segments that join: one that follows a gap is named by where the one before ends.
type rewriter struct {
	fs       disk.FS
	from, to string

	source     int64 // base of the segment that is read
	in         disk.File
	base       int64 // of the segment that is written; -1: none yet
	log, index disk.File
	size, end  int64
	entries    int
	last       *entry
}

func (w *rewriter) take(base int64, h *Header, at int64, known *entry) error {
	if w.base < 0 || base != w.source {
		if err := w.roll(base); err != nil {
			return err
		}
	}
	raw := make([]byte, h.Size)
	if n, err := w.in.ReadAt(raw, at); n < len(raw) {
		return err
	}
	if _, err := w.log.WriteAt(raw, w.size); err != nil {
		return err
	}
	e := w.entry(h, known)
	if _, err := w.index.WriteAt(appendEntry(nil, &e), entryPosition(w.entries)); err != nil {
		return err
	}
	w.size, w.end, w.entries, w.last = e.end(), e.last()+1, w.entries+1, &e
	return nil
}

// entry is the batch's entry at its new place, with its stamp when that is known. It does not vouch: the directory gets
// its name only when all is on disk, and a start reads the log against it once.
func (w *rewriter) entry(h *Header, known *entry) entry {
	stamp := uint64(0)
	if w.last != nil {
		stamp = w.last.stamp
	}
	if known == nil || known.stamp < stamp {
		e := entryOf(h, w.size, stamp, w.last)
		e.attributes |= entryStampUnknown
		return e
	}
	e := entryOf(h, w.size, known.stamp, w.last)
	e.attributes |= known.attributes & entryStampUnknown
	return e
}

// roll begins the segment that is to have what the segment of that base has.
func (w *rewriter) roll(base int64) error {
	if err := w.finish(); err != nil {
		return err
	}
	w.source, w.base = base, base
	if w.end > 0 {
		w.base = w.end
	}
	w.size, w.entries, w.last = 0, 0, nil
	var err error
	if w.in, err = w.fs.OpenFile(path.Join(w.from, segmentName(base, "log")), os.O_RDONLY); err != nil {
		return err
	}
	return w.begin()
}

// begin makes the files of the segment that is written.
func (w *rewriter) begin() (err error) {
	if w.log, err = w.create("log"); err != nil {
		return err
	}
	if w.index, err = w.create("index"); err != nil {
		return err
	}
	_, err = w.index.WriteAt(indexHeader(w.base), 0)
	return err
}

func (w *rewriter) create(ext string) (disk.File, error) {
	return w.fs.OpenFile(path.Join(w.to, segmentName(w.base, ext)), os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

// finish syncs and closes the segment that is written.
func (w *rewriter) finish() error {
	var errs []error
	for _, f := range []disk.File{w.log, w.index} {
		if f != nil {
			errs = append(errs, f.Sync(), f.Close())
		}
	}
	if w.in != nil {
		errs = append(errs, w.in.Close())
	}
	w.in, w.log, w.index = nil, nil, nil
	return errors.Join(errs...)
}

// snapshots copies those from before the first loss: they remember producers whose batches are deleted by now.
func (w *rewriter) snapshots(lost []Loss) error {
	if info, err := w.fs.Stat(w.from); err != nil || !info.IsDir() {
		return nil
	}
	bases, err := listBases(w.fs, w.from, "snapshot")
	if err != nil {
		return err
	}
	for _, base := range bases {
		if len(lost) > 0 && base > lost[0].First {
			break
		}
		if _, err := w.fs.Stat(path.Join(w.to, segmentName(base, "log"))); err != nil {
			continue // what it says is of a log that there is not
		}
		name := segmentName(base, "snapshot")
		b, err := disk.ReadFile(w.fs, path.Join(w.from, name), snapshotMost)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, _, err := decodeSnapshot(b, base); err != nil {
			continue
		}
		if err := disk.WriteFile(w.fs, w.to, path.Join(w.to, name), b); err != nil {
			return err
		}
	}
	return nil
}
