package segments

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"doze/disk"
)

// segmentFiles is what a directory has under one base.
type segmentFiles struct {
	base                 int64
	log, index, snapshot bool
	size                 int64 // of the log
	entries              int   // of the index, by its size
}

// listing is what a partition's directory has.
type listing struct {
	segments []segmentFiles // by base
	noted    bool           // the file "cleaned"
	strays   []string       // files that a compaction was writing
}

// listFiles lists a partition's directory. One that is not there has nothing; what is no directory, or no file where one
// should be, is Damage.
func listFiles(fsys disk.FS, dir string) (listing, error) {
	var all listing
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		if info, serr := fsys.Stat(dir); serr == nil && !info.IsDir() {
			return all, &Damage{File: dir, Detail: "it is no directory"}
		}
		return all, err
	}
	found := map[int64]segmentFiles{}
	for _, e := range entries {
		if name := e.Name(); name == cleanedFile {
			all.noted = true
		} else if path.Ext(name) == cleanedExt {
			all.strays = append(all.strays, name)
		}
		base, ext, ok := parseSegmentName(e.Name())
		if !ok || ext != "log" && ext != "index" && ext != "snapshot" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return all, err
		}
		if !info.Mode().IsRegular() {
			return all, &Damage{File: path.Join(dir, e.Name()), Offset: base, Detail: "it is no regular file"}
		}
		f := found[base]
		f.base = base
		switch ext {
		case "log":
			f.log, f.size = true, info.Size()
		case "index":
			f.index, f.entries = true, int(max(0, info.Size()-indexHeaderBytes)/entryBytes)
		case "snapshot":
			f.snapshot = true
		}
		found[base] = f
	}
	all.segments = slices.SortedFunc(maps.Values(found), func(a, b segmentFiles) int { return cmp.Compare(a.base, b.base) })
	return all, nil
}

// orphans are the bases of which index or snapshot prove that there was a log: both are written behind it, and a removal
// takes them first. A power loss may undo a part of a removal, so then they prove nothing; nor does a snapshot before the
// last log, which may have been written while the segments around it were removed.
func orphans(found []segmentFiles, powerLost bool) (missing []segmentFiles) {
	if powerLost {
		return nil
	}
	last := int64(-1)
	for _, f := range found {
		if f.log {
			last = f.base
		}
	}
	for _, f := range found {
		if !f.log && (f.entries > 0 || f.snapshot && f.base > last) {
			missing = append(missing, f)
		}
	}
	return missing
}

func (f segmentFiles) proof() string {
	if f.entries > 0 {
		return fmt.Sprintf("its index has %d batches of it", f.entries)
	}
	return "its snapshot says that it was there"
}

// checkRow holds the files to what was there at the last clean stop. Segments that were deleted since, from the first one
// on, are not missed, and nothing is when all that the row knows is below the log's start.
func (o *opening) checkRow() error {
	r := o.row
	if r == nil || r.end <= o.p.config.LogStart || o.rowReplaced() && len(o.segments) > 0 {
		return nil
	}
	i := slices.IndexFunc(o.segments, func(s *segment) bool { return s.base >= r.base })
	switch {
	case i >= 0 && o.segments[i].base == r.base:
		if s := o.segments[i]; s.size < r.size {
			return &Damage{File: s.log.name, Position: s.size, Offset: r.end,
				Detail: fmt.Sprintf("the file has %d bytes, at the last clean stop it had %d", s.size, r.size)}
		}
		return nil
	case i == 0 && (!o.p.dir.wasClean || o.segments[0].base <= o.p.config.LogStart):
		return nil // deleted, or so it may be
	}
	return &Damage{File: path.Join(o.p.path, segmentName(r.base, "log")), Offset: r.base,
		Detail: fmt.Sprintf("the file is missing; at the last clean stop it had %d bytes and ended at offset %d", r.size, r.end)}
}

// rowReplaced tells whether the segment that the row describes may have been compacted since: then the row still knows where
// the log ended, but nothing of its files.
func (o *opening) rowReplaced() bool { return o.row != nil && o.row.base < o.cleaned.rewritten }

// checkJoins checks that each of the segments before number n, which were finished, ends where the next one begins. It
// reads one index entry of each.
func (o *opening) checkJoins(n int) error {
	for i := n - 1; i >= 0; i-- {
		s, next := o.segments[i], o.segments[i+1]
		if next.base <= o.p.config.LogStart {
			return nil // this one and those before are deleted next
		}
		end, err := o.endOf(s)
		if err != nil {
			return err
		}
		if end == next.base {
			continue
		}
		if s.flushed == 0 && !o.hasIndex(s) {
			return o.leftovers(i) // their removal had begun
		}
		return &Damage{File: s.log.name, Position: s.size, Offset: end,
			Detail: fmt.Sprintf("the segment ends at offset %d, the next one that is there begins at %d", end, next.base)}
	}
	return nil
}

func (o *opening) hasIndex(s *segment) bool {
	_, err := o.p.dir.fs.Stat(s.index.name)
	return !errors.Is(err, fs.ErrNotExist)
}

// endOf is the next offset of a segment: from its index, or when that does not cover the log, from the log.
func (o *opening) endOf(s *segment) (int64, error) {
	last, ok, err := s.lastEntry()
	if err == nil && ok && last.end() == s.size {
		return last.last() + 1, nil
	}
	if err != nil && !errors.Is(err, errBadEntry) && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	f, err := s.log.acquire()
	if err != nil {
		return 0, err
	}
	defer s.log.release()
	return logEnd(f, s.base)
}

func logEnd(f disk.File, base int64) (int64, error) {
	scan, err := newScanner(f, 0)
	if err != nil {
		return 0, err
	}
	defer scan.close()
	for end := base; ; {
		h, ok, err := scan.next(end)
		if err != nil || !ok {
			return end, err
		}
		end = h.LastOffset() + 1
	}
}

// leftovers sets the segments up to number i aside: a reader had their logs open when they were deleted, and then the
// process was killed.
func (o *opening) leftovers(i int) error {
	for _, s := range o.segments[:i+1] {
		kept := s.log.name + ".0.torn"
		if err := o.p.dir.fs.Rename(s.log.name, kept); err != nil {
			return err
		}
		s.aborted.file.remove()
		s.index.remove()
		_ = o.p.dir.fs.Remove(path.Join(o.p.path, segmentName(s.base, "snapshot")))
		o.p.dir.report(Report{Partition: o.p.id, File: s.log.name, Bytes: s.size, Kept: kept})
	}
	o.segments = o.segments[i+1:]
	return nil
}

// lenient tells whether a power loss may explain what is missing behind the place that was come to: never what was there
// at a clean stop.
func (o *opening) lenient() bool {
	return o.p.dir.powerLost && !o.belowRow()
}

// belowRow tells whether the log was longer at the last clean stop.
func (o *opening) belowRow() bool {
	return o.row != nil && o.row.end > o.end && o.row.end > o.p.config.LogStart
}

// orphanEnd is the next offset that the index of a missing log knows, at least its base.
func orphanEnd(fsys disk.FS, dir string, base int64) int64 {
	k := openKnown(fsys, dir, base)
	defer k.close()
	for i := k.count - 1; i >= 0; i-- {
		if e, err := oneEntry(k.f, i); err == nil {
			return e.last() + 1
		}
	}
	return base
}
