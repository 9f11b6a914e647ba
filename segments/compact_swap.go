package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// A cleaned segment takes the place of those that it was made of in these steps. Each is on disk before the next begins, so
// that what a crash leaves is one of them; the open of the partition goes on from there (compact_settle.go).
//
//  1. BASE.log.cleaned and BASE.index.cleaned are written, synced, and their names too: a crash leaves files that nobody
//     refers to, and they are removed.
//  2. The file "cleaned" is replaced by one that names the swap. From here on the cleaned segment is the log.
//  3. The two files get the names of the first replaced segment.
//  4. The files of the other replaced segments are removed.
//
// The next swap begins by doing again what is left of steps 3 and 4, so that the file "cleaned" always knows all that is
// not done.

// errNotNow: the segments changed while they were cleaned.
var errNotNow = errors.New("segments were deleted while they were compacted")

// swapIn makes the cleaned segment one of the partition, in the place of group. The segment behind group begins at end.
func (p *Partition) swapIn(group []*segment, w *cleanedSegment, end int64) error {
	p.shape.Lock()
	defer p.shape.Unlock()
	if err := p.stillHas(group); err != nil {
		return err
	}
	if err := p.clearSwap(); err != nil {
		return err
	}
	if err := p.dir.syncDir(p.path); err != nil {
		return err
	}
	p.mu.Lock()
	next := p.cleaned
	p.mu.Unlock()
	next.rewritten = max(next.rewritten, end)
	next.swap = swap{base: w.base, end: end, size: w.written, entries: w.count, logCRC: w.crcs[0], indexCRC: w.crcs[1]}
	if err := p.noteState(next); err != nil {
		return fmt.Errorf("note a compacted segment: %w", err)
	}
	p.install(group, w, next)
	return p.clearSwap()
}

// stillHas tells whether the partition is in use and has the segments of a group side by side.
func (p *Partition) stillHas(group []*segment) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(); err != nil {
		return err
	}
	if p.dir.closed.Load() {
		return ErrRemoved
	}
	if p.failed != nil {
		return p.failed
	}
	i := slices.Index(p.segments, group[0])
	if i < 0 || len(p.segments)-i <= len(group) || !slices.Equal(p.segments[i:i+len(group)], group) {
		return errNotNow
	}
	return nil
}

// install does step 3 and lets readers see the cleaned segment. Who reads one of the others goes on with what it has open.
// When the files cannot be renamed (Windows, with a reader) they keep their names until the next open.
func (p *Partition) install(group []*segment, w *cleanedSegment, next cleanState) {
	p.write.Lock()
	defer p.write.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleaned = next
	if p.removed {
		return
	}
	for _, s := range group {
		s.log.forget()
		s.index.forget()
		s.aborted.file.forget()
	}
	s := w.segment(p)
	s.aborted.file.remove() // of the list that it has no more
	s.aborted.file = p.dir.files.file(s.aborted.file.name)
	for _, f := range []struct {
		to   **file
		from *file
		ext  string
	}{{&s.index, w.index, "index"}, {&s.log, w.log, "log"}} {
		if err := p.dir.fs.Rename(f.from.name, (*f.to).name); err != nil {
			p.stuck = fmt.Errorf("rename a compacted segment: %w", err)
			*f.to = p.dir.files.file(f.from.name)
		}
	}
	i := slices.Index(p.segments, group[0])
	p.segments = slices.Concat(p.segments[:i], []*segment{s}, p.segments[i+len(group):])
	p.touched = true
	for _, old := range group[1:] {
		p.leftover = append(p.leftover, old.base)
	}
	p.swapping = true
}

// clearSwap does what is left of the last swap: its names are synced, what it replaced is removed, and that is synced. The
// caller holds shape.
func (p *Partition) clearSwap() error {
	if p.stuck != nil {
		return p.stuck
	}
	if !p.swapping {
		return nil
	}
	if err := p.dir.syncDir(p.path); err != nil {
		return err
	}
	for _, base := range p.leftover {
		if err := p.removeSegment(base); err != nil {
			return err
		}
	}
	if err := p.dir.syncDir(p.path); err != nil {
		return err
	}
	p.leftover, p.swapping = nil, false
	return nil
}

// removeSegment removes the files of a segment that a cleaned one has replaced, the log last.
func (p *Partition) removeSegment(base int64) error {
	for _, ext := range segmentExts {
		if err := p.dir.fs.Remove(path.Join(p.path, segmentName(base, ext))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// noteClean notes that all below the offset is compacted.
func (p *Partition) noteClean(to int64) error {
	p.shape.Lock()
	defer p.shape.Unlock()
	if err := p.clearSwap(); err != nil {
		return err
	}
	p.mu.Lock()
	next, gone := p.cleaned, p.removed
	p.mu.Unlock()
	if gone {
		return ErrRemoved
	}
	next.clean, next.swap = to, noSwap
	if err := p.noteState(next); err != nil {
		return fmt.Errorf("note what is compacted: %w", err)
	}
	p.mu.Lock()
	p.cleaned = next
	p.mu.Unlock()
	return nil
}

// noteState replaces the file "cleaned". A failure that left the old one in its place, as on a full disk, changed nothing.
// After any other the new one may be on disk or not: only an open can tell.
func (p *Partition) noteState(next cleanState) error {
	err := p.writeCleanState(next)
	if err == nil {
		return nil
	}
	p.mu.Lock()
	old := p.cleaned
	p.mu.Unlock()
	if is, rerr := readCleanState(p.dir.fs, p.path); rerr != nil || is != old {
		p.stuck = err
	}
	return err
}
