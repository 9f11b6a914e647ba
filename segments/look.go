package segments

import (
	"os"
	"path"

	"doze/disk"
)

// Looked is what Look found.
type Looked struct {
	Segments   []SegmentInfo
	Start, End int64 // first and next offset
	Bytes      int64
	Producers  []Producer
	EndAsOf    int64 // as (*Partition).EndAsOf
	EndKnown   bool
}

// Look reads what a partition's directory says, without opening the partition and so without changing anything: for
// people who look at the data of a broker that does not run. What a start would find damaged ends it early; see Examine.
func Look(fsys disk.FS, root string, id ID, asOf uint64) (Looked, error) {
	l := looking{fs: fsys, dir: path.Join(root, id.String()), asOf: asOf, producers: producers{}}
	l.out.EndKnown = true
	if info, err := fsys.Stat(l.dir); err == nil && !info.IsDir() {
		return l.out, nil
	}
	var err error
	if l.fs, err = asSettled(fsys, l.dir); err != nil {
		return l.out, err
	}
	bases, err := listBases(l.fs, l.dir, "log")
	if err != nil || len(bases) == 0 {
		return l.out, err
	}
	l.out.Start, l.out.End, l.out.EndAsOf = bases[0], bases[0], bases[0]
	l.base(bases, rowOf(fsys, root, id))
	for i, base := range bases {
		if err := l.segment(base, i+1 == len(bases)); err != nil {
			return l.out, err
		}
	}
	l.out.Producers = l.producers.list()
	return l.out, nil
}

type looking struct {
	fs        disk.FS
	dir       string
	asOf      uint64
	known     int64 // producers below this offset are in producers already
	producers producers
	open      openTxns
	stamp     uint64 // the last one known
	passed    bool   // a later one went by
	out       Looked
}

// base loads the newest state of producers: it remembers those whose batches are deleted by now.
func (l *looking) base(bases []int64, row *row) {
	if row != nil && row.base <= bases[len(bases)-1] {
		l.known, l.producers = row.end, row.producers
		return
	}
	for i := len(bases) - 1; i >= 0; i-- {
		b, err := disk.ReadFile(l.fs, path.Join(l.dir, segmentName(bases[i], "snapshot")), snapshotMost)
		if err != nil {
			continue
		}
		if _, table, err := decodeSnapshot(b, bases[i]); err == nil {
			l.known, l.producers = bases[i], table
			return
		}
	}
}

func (l *looking) segment(base int64, last bool) error {
	f, err := l.fs.OpenFile(path.Join(l.dir, segmentName(base, "log")), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	index := openKnown(l.fs, l.dir, base)
	defer index.close()
	scan, err := newScanner(f, 0)
	if err != nil {
		return err
	}
	defer scan.close()
	info := SegmentInfo{Base: base, End: base, MaxTimestamp: -1, Active: last}
	if l.out.End < base {
		l.out.End = base
	}
	for {
		e, ok, err := nextEntry(scan, index, l.out.End)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		info.End, info.MaxTimestamp = e.last()+1, max(info.MaxTimestamp, e.maxTime)
		l.batch(&e)
	}
	info.Bytes = scan.pos
	l.out.Bytes += scan.pos
	l.out.Segments = append(l.out.Segments, info)
	return nil
}

// nextEntry takes an index entry for the batch that it describes, and reads those that have none.
func nextEntry(scan *scanner, index *knownBatches, end int64) (entry, bool, error) {
	at := scan.pos
	if index.next < index.count {
		e, err := oneEntry(index.f, index.next)
		if err == nil && int64(e.position) == at && e.offset >= end && e.size >= headerBytes && e.delta >= 0 && e.end() <= scan.size {
			index.next++
			scan.pos = e.end()
			return e, true, nil
		}
		index.count = 0 // the log is the truth
	}
	h, ok, err := scan.next(end)
	if !ok || err != nil {
		return entry{}, false, err
	}
	e := entryOf(&h, at, 0, nil)
	e.attributes |= entryStampUnknown
	return e, true, nil
}

func (l *looking) batch(e *entry) {
	l.out.End = e.last() + 1
	if e.offset >= l.known {
		l.producers.apply(e, &l.open)
	}
	l.stamp = max(l.stamp, e.stamp)
	switch {
	case l.stamp <= l.asOf:
		l.out.EndAsOf, l.out.EndKnown = e.last()+1, e.attributes&entryStampUnknown == 0
	case !l.passed:
		l.passed = true
		l.out.EndAsOf, l.out.EndKnown = upTo(e, l.out.EndAsOf, l.out.EndKnown)
	}
}
