package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// openLocked makes the partition ready; the caller holds write. Damage does not make it fail: it is kept and answered
// from then on. A failure (too many open files, say) leaves the partition closed, to be tried again.
func (p *Partition) openLocked() error {
	if p.opened.Load() {
		return nil
	}
	o := opening{p: p, producers: producers{}, cleaned: cleanState{swap: noSwap}}
	err := o.load()
	if damage := (*Damage)(nil); errors.As(err, &damage) {
		p.dir.report(Report{Partition: p.id, Damage: damage})
		p.mu.Lock()
		p.damage = fmt.Errorf("partition %s: %w: %w", p.id, ErrStorage, damage)
		p.mu.Unlock()
		p.opened.Store(true)
		return nil
	}
	if err != nil {
		p.tell(Opening, err)
		return fmt.Errorf("open partition %s: %w: %w", p.id, ErrStorage, err)
	}
	p.mu.Lock()
	o.install()
	p.opened.Store(true)
	queue := len(p.pending) > 0 && !p.dirty
	p.dirty = p.dirty || queue
	p.mu.Unlock()
	if queue {
		p.dir.queue(p)
	}
	return nil
}

// Damage is what is wrong with a partition's files that no crash explains. The partition is refused as a whole: what it
// acknowledged is not to be lost in silence.
type Damage struct {
	File     string
	Position int64
	Offset   int64 // the first that cannot be read
	Detail   string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("damage in %s at byte %d (offset %d): %s", d.File, d.Position, d.Offset, d.Detail)
}

// opening is a partition that is being opened.
type opening struct {
	p         *Partition
	row       *row // of the checkpoint; nil: none
	segments  []*segment
	end       int64
	epochs    epochs
	producers producers
	open      openTxns
	pending   []*segment // read back, but perhaps only from the page cache
	sealed    []*segment // full, but perhaps not finished
	touched   bool
	cleaned   cleanState
}

func (o *opening) load() error {
	if !o.p.dir.wasAtStart(o.p.id) {
		return nil
	}
	if r, ok := o.p.dir.checkpoint.row(o.p.id); ok {
		o.row = &r
	}
	if err := o.list(); err != nil {
		return err
	}
	if err := o.checkRow(); err != nil || len(o.segments) == 0 {
		return err
	}
	if o.fromCheckpoint() {
		return o.checkJoins(len(o.segments) - 1)
	}
	o.touched = true
	return o.recover()
}

// list finds the segments that the directory has, with the sizes of their files.
func (o *opening) list() error {
	var all listing
	err := o.p.dir.files.withRoom(func() (err error) {
		if all, err = listFiles(o.p.dir.fs, o.p.path); err != nil {
			return err
		}
		changed, err := o.settle(&all)
		if changed && err == nil {
			all, err = listFiles(o.p.dir.fs, o.p.path)
		}
		return err
	})
	if err != nil {
		return err
	}
	now := o.p.dir.opt.Now() // as in Kafka a segment without times is as old as its opening
	found := all.segments
	for _, f := range found {
		if !f.log {
			continue
		}
		s := o.p.newSegment(f.base)
		s.size, s.allocated, s.flushed, s.created = f.size, f.size, f.entries, now
		o.segments = append(o.segments, s)
	}
	if missing := orphans(found, o.p.dir.powerLost); len(missing) > 0 {
		return &Damage{File: path.Join(o.p.path, segmentName(missing[0].base, "log")), Offset: missing[0].base,
			Detail: "the file is missing; " + missing[0].proof()}
	}
	return nil
}

// parseSegmentName takes the name of a segment's file apart.
//
//fuzz:not-a-parser names come from a directory that is ours, and 20 digits and an ending are all that there is to one
func parseSegmentName(name string) (base int64, ext string, ok bool) {
	number, ext, found := strings.Cut(name, ".")
	if !found || len(number) != 20 {
		return 0, "", false
	}
	base, err := strconv.ParseInt(number, 10, 64)
	return base, ext, err == nil && base >= 0 && segmentName(base, ext) == name
}

// fromCheckpoint takes what the clean stop noted, when it still describes the files.
func (o *opening) fromCheckpoint() bool {
	last := o.segments[len(o.segments)-1]
	if r := o.row; r == nil || r.base != last.base || last.size != r.size || last.flushed != r.entries {
		return false
	}
	o.end, o.epochs, o.producers = o.row.end, o.row.epochs, o.row.producers
	return true
}

// install makes what was loaded the partition's; the caller holds both locks.
func (o *opening) install() {
	p := o.p
	p.segments, p.epochs, p.producers, p.end = o.segments, o.epochs, o.producers, o.end
	p.pending, p.sealed, p.touched, p.cleaned = o.pending, o.sealed, o.touched, o.cleaned
	p.newFiles, p.newDir = len(o.pending) > 0, len(o.pending) > 0
	p.start = p.config.LogStart
	p.dropBefore(p.start)
	if len(p.segments) > 0 {
		p.start = max(p.start, p.segments[0].base)
	}
	if p.end < p.start { // a power loss took what was deleted anyway
		p.end = p.start
	}
	p.found = p.end
	if len(p.pending) == 0 {
		p.synced = p.end
	}
	p.epochs.cut(p.start)
	p.epochs.assign(p.config.LeaderEpoch, p.end)
	p.producers.expire(p.dir.opt.Now(), p.dir.producerExpiryMs.Load())
	p.open = p.producers.openTxns()
	if len(p.open) > 0 && p.dir.opt.Unfinished != nil {
		p.settle = make(chan struct{})
		p.unsettled.Store(true)
	}
}

// dropBefore deletes the segments that lie wholly below start: those that another one follows at or below it, and the
// last one when the log ends below it. The caller holds both locks.
func (p *Partition) dropBefore(start int64) {
	n := 0
	for n+1 < len(p.segments) && p.segments[n+1].base <= start {
		n++
	}
	if n+1 == len(p.segments) && p.end < start {
		n++
	}
	if n == 0 {
		return
	}
	for _, s := range p.segments[:n] { // the log last: an index without its log is damage
		_ = p.dir.fs.Remove(path.Join(p.path, segmentName(s.base, "snapshot")))
		s.aborted.file.remove()
		s.index.remove()
		s.log.remove()
	}
	p.segments = slices.Clone(p.segments[n:])
	p.touched = true
	p.newFiles = true
}

// learn reads what only an appender or a search by time needs to know of a segment that was opened without reading.
func (p *Partition) learn(s *segment) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.learn()
}

// learn is called with mu of the partition held; it reads at most two entries, once. The error is a *badIndex when the
// index does not cover the log.
func (s *segment) learn() error {
	if s.known {
		return nil
	}
	last, ok, err := s.lastEntry()
	if errors.Is(err, fs.ErrNotExist) || err == nil && last.end() != s.size {
		return &badIndex{s, errBadEntry}
	}
	if err != nil {
		return err
	}
	if ok {
		s.maxTime, s.stamp, s.end = last.maxSoFar, last.stamp, last.last()+1
		s.aborted.any = last.attributes&entryAborts != 0
		first, err := s.firstEntry()
		if err != nil {
			return err
		}
		s.first = first.maxTime
	}
	if err := s.aborted.load(s.end-1, s.size); err != nil {
		return err
	}
	s.known = true
	return nil
}
