package segments

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"

	"doze/disk"
)

// Problem is something that Verify found.
type Problem struct {
	File     string
	Position int64
	Detail   string
	// Harmless: a start puts it right without losing anything that was acknowledged as durable (a torn tail, space that
	// was reserved, an index that is behind its log).
	Harmless bool
}

func (p Problem) String() string {
	return fmt.Sprintf("%s at byte %d: %s", p.File, p.Position, p.Detail)
}

// BatchInfo is a batch as Verify and people see it.
type BatchInfo struct {
	Header
	Segment  int64 // base offset
	Position int64
	Stamp    uint64 // journal sequence; meaningful when Stamped
	Stamped  bool
}

// Verified sums up a partition's directory.
type Verified struct {
	Segments int
	Batches  int64
	Records  int64
	Bytes    int64
	Start    int64 // first offset
	End      int64 // next offset
	Problems []Problem
}

// Damaged tells whether a problem is more than a start puts right.
func (v *Verified) Damaged() bool {
	return slices.ContainsFunc(v.Problems, func(p Problem) bool { return !p.Harmless })
}

// maxProblems bounds what one directory can make us list.
const maxProblems = 1000

// Verify reads a partition's directory without changing it: every batch with its checksum and its records through their
// codec, the index against the log, the snapshots, the lists of aborted transactions, and that the segments join. visit (may be nil) is called with each
// batch. The error is the disk's or visit's; what is wrong with the files is in the result.
func Verify(fsys disk.FS, dir string, visit func(BatchInfo) error) (Verified, error) {
	fsys, err := asSettled(fsys, dir)
	if err != nil {
		return Verified{}, fmt.Errorf("read what was compacted: %w", err)
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return Verified{}, fmt.Errorf("list partition directory: %w", err)
	}
	w := verifier{fs: fsys, dir: dir, visit: visit}
	w.lists = newVerifyAborted(fsys, dir, func(p Problem) { w.problem(p.Harmless, path.Base(p.File), p.Position, "%s", p.Detail) })
	var bases []int64
	for _, e := range entries {
		base, ext, ok := parseSegmentName(e.Name())
		switch {
		case ok && ext == "log":
			bases = append(bases, base)
		case ok && ext == "snapshot":
			w.snapshot(base)
		}
	}
	slices.Sort(bases)
	for i, base := range bases {
		if i == 0 {
			w.out.Start, w.out.End = base, base
		}
		if err := w.segment(base, i+1 == len(bases)); err != nil {
			return w.out, err
		}
	}
	return w.out, nil
}

type verifier struct {
	fs    disk.FS
	dir   string
	visit func(BatchInfo) error
	out   Verified
	epoch int32
	lists *verifyAborted
}

func (w *verifier) problem(harmless bool, file string, pos int64, format string, args ...any) {
	if len(w.out.Problems) < maxProblems {
		w.out.Problems = append(w.out.Problems, Problem{path.Join(w.dir, file), pos, fmt.Sprintf(format, args...), harmless})
	}
}

func (w *verifier) snapshot(base int64) {
	name := segmentName(base, "snapshot")
	b, err := disk.ReadFile(w.fs, path.Join(w.dir, name), snapshotMost)
	if err == nil {
		_, _, err = decodeSnapshot(b, base)
	}
	if err != nil {
		w.problem(true, name, 0, "%v", err)
	}
}

func (w *verifier) segment(base int64, last bool) error {
	w.out.Segments++
	name := segmentName(base, "log")
	f, err := w.fs.OpenFile(path.Join(w.dir, name), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if base != w.out.End {
		w.problem(false, name, 0, "the segment before ends with offset %d", w.out.End)
		w.out.End = max(w.out.End, base)
	}
	index := w.openIndex(base) // before the log: a broker that runs writes an entry after its batch
	if index != nil {
		defer index.f.Close()
	}
	scan, err := newScanner(f, 0)
	if err != nil {
		return err
	}
	defer scan.close()
	w.lists.begin(base)
	defer func() { w.lists.finish(w.out.End-1, scan.pos) }()
	for {
		at := scan.pos
		h, ok, err := scan.next(w.out.End)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := w.batch(f, name, base, at, &h, index); err != nil {
			return err
		}
	}
	w.out.Bytes += scan.pos
	if index != nil && index.next < index.count {
		w.problem(false, segmentName(base, "index"), entryPosition(index.next), "%d entries for batches that the log does not have",
			index.count-index.next)
	}
	return w.tail(scan, name, last)
}

// tail judges what is behind the last whole batch.
func (w *verifier) tail(scan *scanner, name string, last bool) error {
	pos := scan.pos
	end, err := scan.lastNonZero(pos)
	if err != nil {
		return err
	}
	if end == pos {
		if scan.size > pos {
			w.problem(true, name, pos, "%d bytes of reserved space", scan.size-pos)
		}
		return nil
	}
	at, found, err := scan.laterBatch(pos, w.out.End, end, w.epoch)
	switch {
	case err != nil:
		return err
	case found:
		w.problem(false, name, pos, "no whole batch here (offset %d), but one follows at byte %d", w.out.End, at)
	default:
		w.problem(last, name, pos, "%d bytes behind the last whole batch", end-pos)
	}
	return nil
}

// indexReader reads an index from front to back.
type indexReader struct {
	f           disk.File
	next, count int
	bad         bool
}

func (w *verifier) openIndex(base int64) *indexReader {
	name := segmentName(base, "index")
	f, err := w.fs.OpenFile(path.Join(w.dir, name), os.O_RDONLY)
	if err != nil {
		w.problem(true, name, 0, "%v", err)
		return nil
	}
	header := make([]byte, indexHeaderBytes)
	n, err := f.ReadAt(header, 0)
	if err == nil || errors.Is(err, io.EOF) {
		err = checkIndexHeader(header[:n], base)
	}
	size, serr := f.Size()
	if err = errors.Join(err, serr); err != nil {
		w.problem(true, name, 0, "%v", err)
		f.Close()
		return nil
	}
	return &indexReader{f: f, count: int((size - indexHeaderBytes) / entryBytes)}
}

func (w *verifier) batch(f disk.File, name string, base, at int64, h *Header, index *indexReader) error {
	w.out.Batches++
	w.out.Records += int64(h.Records)
	w.out.End = h.LastOffset() + 1
	w.epoch = h.LeaderEpoch
	w.lists.batch(h, at)
	info := BatchInfo{Header: *h, Segment: base, Position: at}
	if index != nil {
		info.Stamp, info.Stamped = w.entry(index, base, at, h)
	}
	raw := make([]byte, h.Size)
	if _, err := f.ReadAt(raw, at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := walkRecords(h, raw[headerBytes:]); err != nil {
		w.problem(true, name, at, "offset %d: stored so that it cannot be read: %v", h.BaseOffset, err)
	}
	if w.visit != nil {
		return w.visit(info)
	}
	return nil
}

func walkRecords(h *Header, payload []byte) error {
	r, err := openRecords(h, payload, math.MaxInt64)
	if err != nil {
		return err
	}
	defer r.close()
	for range h.Records {
		var rec record
		if err := r.next(&rec); err != nil {
			return err
		}
	}
	return r.end()
}

// entry compares the next index entry with the batch and returns its stamp.
func (w *verifier) entry(index *indexReader, base, at int64, h *Header) (uint64, bool) {
	if index.next >= index.count {
		if !index.bad {
			index.bad = true
			w.problem(true, segmentName(base, "index"), entryPosition(index.next), "no entries from offset %d on", h.BaseOffset)
		}
		return 0, false
	}
	e, err := oneEntry(index.f, index.next)
	index.next++
	if err == nil && !e.sameBatch(h, at) {
		w.problem(false, segmentName(base, "index"), entryPosition(index.next-1), "offset %d: the log has another batch", e.offset)
		return 0, false
	}
	if err != nil {
		w.problem(true, segmentName(base, "index"), entryPosition(index.next-1), "offset %d: %v", h.BaseOffset, err)
		return 0, false
	}
	return e.stamp, e.attributes&entryStampUnknown == 0
}

// VerifyAll verifies every partition below root; report is called with each as it is done.
func VerifyAll(fsys disk.FS, root string, report func(ID, Verified) error) error {
	entries, err := fsys.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list segments directory: %w", err)
	}
	for _, e := range entries {
		id, ok := ParseID(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		v, err := Verify(fsys, path.Join(root, e.Name()), nil)
		if err != nil {
			return err
		}
		if err := report(id, v); err != nil {
			return err
		}
	}
	return nil
}
