package segments

import (
	"fmt"
	"hash/crc32"
	"path"

	"doze/disk"
)

// cleanedExt ends the names of the files that a cleaning writes, until they take the place of what they were made of.
const cleanedExt = ".cleaned"

// cleanedSegment is a segment that a cleaning writes. Its files are named by cleanedExt.
type cleanedSegment struct {
	base       int64
	log, index *file
	lf, xf     disk.File

	buf     []byte    // of batches, not written yet
	entries []byte    // of the index, not written yet
	written int64     // bytes of the log that are in the file
	indexed int64     // bytes of the index that are in the file
	crcs    [2]uint32 // of what is in the files: log, index
	count   int
	last    *entry
	first   int64 // max timestamp of the first batch
}

const cleanedBufferBytes = 1 << 20

func (p *Partition) cleanedName(base int64, ext string) string {
	return path.Join(p.path, segmentName(base, ext)+cleanedExt)
}

// newCleaned makes the files of a segment that is to replace the one with that base, and maybe others behind it.
func (p *Partition) newCleaned(base int64, c *Cleaner) (*cleanedSegment, error) {
	w := &cleanedSegment{base: base, first: -1, buf: c.buf[:0], entries: c.entries[:0],
		log: p.dir.files.file(p.cleanedName(base, "log")), index: p.dir.files.file(p.cleanedName(base, "index"))}
	var err error
	if w.lf, err = w.log.create(); err != nil {
		return nil, err
	}
	if w.xf, err = w.index.create(); err != nil {
		w.log.release()
		w.log.remove()
		return nil, err
	}
	w.entries = append(w.entries, indexHeader(base)...)
	return w, nil
}

// size is how many bytes of batches it has.
func (w *cleanedSegment) size() int64 { return w.written + int64(len(w.buf)) }

// add appends a batch with the journal's stamp of the one that it was made of, and what that said if it was a marker.
func (w *cleanedSegment) add(raw []byte, from *entry, marker StoredMarker) error {
	h := parseHeader(raw)
	h.Marker = marker
	stamp := from.stamp
	if w.last != nil {
		stamp = max(stamp, w.last.stamp)
	}
	e := entryOf(&h, w.size(), stamp, w.last)
	e.attributes |= entryVouched | from.attributes&entryStampUnknown
	if w.count++; w.count == 1 {
		w.first = e.maxTime
	}
	w.last = &e
	w.buf = append(w.buf, raw...)
	w.entries = appendEntry(w.entries, &e)
	if len(w.buf) < cleanedBufferBytes {
		return nil
	}
	return w.flush()
}

// flush writes what is in memory.
func (w *cleanedSegment) flush() error {
	if _, err := w.lf.WriteAt(w.buf, w.written); err != nil {
		return fmt.Errorf("write cleaned segment: %w", err)
	}
	if _, err := w.xf.WriteAt(w.entries, w.indexed); err != nil {
		return fmt.Errorf("write cleaned index: %w", err)
	}
	w.crcs[0], w.crcs[1] = crc32.Update(w.crcs[0], castagnoli, w.buf), crc32.Update(w.crcs[1], castagnoli, w.entries)
	w.written, w.indexed = w.written+int64(len(w.buf)), w.indexed+int64(len(w.entries))
	w.buf, w.entries = w.buf[:0], w.entries[:0]
	return nil
}

// sync puts all of it on disk. The entries vouch for the log, so it comes first; that some were written earlier does no
// harm, because nobody reads either before both are synced.
func (w *cleanedSegment) sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.lf.Sync(); err != nil {
		return fmt.Errorf("sync cleaned segment: %w", err)
	}
	if err := w.xf.Sync(); err != nil {
		return fmt.Errorf("sync cleaned index: %w", err)
	}
	return nil
}

// close lets go of the files, and of the cleaner's buffers.
func (w *cleanedSegment) close(c *Cleaner) {
	w.log.release()
	w.index.release()
	w.log.forget()
	w.index.forget()
	c.buf, c.entries = w.buf[:0], w.entries[:0]
}

// discard removes the files.
func (p *Partition) discardCleaned(base int64) {
	_ = p.dir.fs.Remove(p.cleanedName(base, "index"))
	_ = p.dir.fs.Remove(p.cleanedName(base, "log"))
}

// segment is the cleaned segment as one of the partition.
func (w *cleanedSegment) segment(p *Partition) *segment {
	s := p.newSegment(w.base)
	s.size, s.allocated, s.flushed = w.written, w.written, w.count
	s.aborted.any = w.last.attributes&entryAborts != 0 // its list is made anew when it is asked for
	s.maxTime, s.first, s.stamp, s.end, s.known = w.last.maxSoFar, w.first, w.last.stamp, w.last.last()+1, true
	return s
}
