package segments

import (
	"fmt"
	"math"
	"os"
	"path"

	"doze/disk"
)

// verifyAborted holds the lists of aborted transactions against the markers in the log. What is wrong with a list is no harm as
// long as whoever opens the segment makes the list anew; a list is believed when it ends with the mark of its segment, and
// then it decides what read_committed sees.
type verifyAborted struct {
	fs        disk.FS
	dir       string
	report    func(Problem)
	producers producers
	open      openTxns
	ended     map[int64]int64 // by producer: where its last transaction ended

	name  string
	f     disk.File // of the segment's list; nil: none
	at    int       // line that is next
	lines int
	wrong string // what was found first, if the list is believed
	line  int    // where
	torn  string // why it is not believed in any case
}

func newVerifyAborted(fsys disk.FS, dir string, report func(Problem)) *verifyAborted {
	return &verifyAborted{fs: fsys, dir: dir, report: report, producers: producers{}, ended: map[int64]int64{}}
}

// begin opens the list of a segment. What was open at its beginning is in its snapshot, as for a broker.
func (w *verifyAborted) begin(base int64) {
	if b, err := disk.ReadFile(w.fs, path.Join(w.dir, segmentName(base, "snapshot")), snapshotMost); err == nil {
		if _, table, err := decodeSnapshot(b, base); err == nil {
			w.producers, w.open = table, table.openTxns()
		}
	}
	w.name, w.f, w.at, w.lines, w.wrong, w.torn = segmentName(base, abortedExt), nil, 0, 0, "", ""
	f, err := w.fs.OpenFile(path.Join(w.dir, w.name), os.O_RDONLY)
	if err != nil {
		return // it is made when it is asked for
	}
	size, err := f.Size()
	if err != nil || size < abortedBytes {
		f.Close()
		return
	}
	w.f, w.lines = f, int(size/abortedBytes)
}

// batch takes the next batch of the segment.
func (w *verifyAborted) batch(h *Header, at int64) {
	e := entryOf(h, at, 0, nil)
	first := w.producers.apply(&e, &w.open)
	if !e.control() || e.records == 0 {
		return
	}
	if e.attributes&entryAbort != 0 && w.f != nil {
		w.aborted(&aborted{e.producerID, first, e.offset, w.open.stable(e.last() + 1)})
	}
	w.ended[e.producerID] = e.offset
}

// aborted compares the marker of an abort with the list; its first is -1 when the transaction has no batches. Compaction may
// have taken some or all of a transaction behind a list that has it: then the list is not wrong.
func (w *verifyAborted) aborted(a *aborted) {
	l, ok := w.next(a.last)
	switch {
	case !ok && a.first >= 0:
		w.note("it lacks the transaction of producer %d from offset %d to %d", a.producer, a.first, a.last)
	case !ok:
	case l.producer != a.producer:
		w.note("offset %d is a marker of producer %d, not of %d", a.last, a.producer, l.producer)
	case a.first >= 0 && (l.first > a.first || l.first <= w.endedAt(a.producer)):
		w.note("the transaction of producer %d begins at offset %d, not at %d", a.producer, a.first, l.first)
	case l.stable > a.stable:
		w.note("behind offset %d all is stable up to %d, not up to %d", a.last, a.stable, l.stable)
	}
}

func (w *verifyAborted) endedAt(producer int64) int64 {
	if at, known := w.ended[producer]; known {
		return at
	}
	return -1
}

// next takes the line of the marker at an offset, if there is one; lines before it are of no marker.
func (w *verifyAborted) next(offset int64) (aborted, bool) {
	for ; w.torn == "" && w.at < w.lines; w.at++ {
		l, err := oneAborted(w.f, w.at)
		switch {
		case err != nil:
			w.torn = err.Error()
			return aborted{}, false
		case l.producer < 0: // a mark
		case l.last > offset:
			return aborted{}, false
		case l.last == offset:
			w.at++
			return l, true
		default:
			w.note("no transaction was aborted at offset %d", l.last)
		}
	}
	return aborted{}, false
}

func (w *verifyAborted) note(format string, args ...any) {
	if w.wrong == "" {
		w.wrong, w.line = fmt.Sprintf(format, args...), min(w.at, w.lines-1)
	}
}

// finish judges the list of a segment that ends at an offset with a size.
func (w *verifyAborted) finish(last, size int64) {
	if w.f == nil {
		return
	}
	defer w.close()
	w.next(math.MaxInt64) // no marker is left
	end, err := oneAborted(w.f, w.lines-1)
	believed := err == nil && end == aborted{producer: -1, first: int64(w.lines - 1), last: last, stable: size}
	switch {
	case w.torn != "":
		w.report(Problem{path.Join(w.dir, w.name), int64(w.at) * abortedBytes, w.torn + "; it is made anew", true})
	case believed && w.wrong != "":
		w.report(Problem{path.Join(w.dir, w.name), int64(w.line) * abortedBytes,
			w.wrong + ": stop the broker and delete this file, it is made anew", false})
	}
}

// close ends a segment without a judgement.
func (w *verifyAborted) close() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
}
