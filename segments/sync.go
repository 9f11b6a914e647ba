package segments

import (
	"context"
	"fmt"
	"slices"
)

// SyncTo returns when everything below offset is on disk; an offset above the log's end is ErrOffsetOutOfRange. Who comes while a sync is under way waits for it to end; then
// one of those whose offset it did not cover leads the next, for all of them. After a failed sync the partition takes
// no write until the next start: the system has forgotten which pages were not written, so a second sync that succeeds
// would prove nothing.
func (p *Partition) SyncTo(ctx context.Context, offset int64) error {
	if !p.opened.Load() {
		if err := p.ready(); err != nil {
			return err
		}
	}
	for {
		p.mu.Lock()
		switch {
		case p.damage != nil:
			err := p.damage
			p.mu.Unlock()
			return err
		case p.failed != nil:
			err := p.failed
			p.mu.Unlock()
			return err
		case p.removed:
			p.mu.Unlock()
			return ErrRemoved
		case p.synced >= offset:
			p.mu.Unlock()
			return nil
		case p.end < offset: // no sync gets there
			end := p.end
			p.mu.Unlock()
			return fmt.Errorf("sync partition %s up to offset %d of %d: %w", p.id, offset, end, ErrOffsetOutOfRange)
		}
		round := p.round
		if round == nil {
			if err := p.leadRoundAndUnlock(); err != nil {
				return p.storage(err)
			}
			continue
		}
		p.mu.Unlock()
		select {
		case <-round:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leadRoundAndUnlock syncs what is pending. It is called with mu held and returns without. The error is one that proves
// nothing about the disk, so that the next round may try again; all others are latched.
func (p *Partition) leadRoundAndUnlock() (again error) {
	round := make(chan struct{})
	p.round = round
	target, pending := p.end, p.pending
	p.pending = nil
	newFiles, newDir := p.newFiles, p.newDir
	p.newFiles, p.newDir = false, false
	p.mu.Unlock()

	err := p.syncFiles(pending, newFiles, newDir)
	if tooManyOpen(err) {
		again = err
	}
	if err != nil && again == nil {
		p.fail(Syncing, err)
	}
	p.mu.Lock()
	switch {
	case err == nil:
		p.synced = max(p.synced, target)
	case again != nil:
		p.pendAgain(pending)
		p.newFiles, p.newDir = p.newFiles || newFiles, p.newDir || newDir
	}
	p.round = nil
	p.mu.Unlock()
	close(round)
	return again
}

// pendAgain puts segments back in front of those that were written meanwhile; the caller holds mu.
func (p *Partition) pendAgain(pending []*segment) {
	all := slices.Clone(pending)
	for _, s := range p.pending {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	p.pending = all
}

// syncFiles makes segments and then their names durable.
func (p *Partition) syncFiles(pending []*segment, newFiles, newDir bool) error {
	for _, s := range pending {
		if err := s.log.sync(); err != nil && !p.gone(s) {
			return err
		}
	}
	if newFiles {
		if err := p.dir.syncDir(p.path); err != nil && !p.isRemoved() {
			return err
		}
	}
	if newDir {
		return p.dir.syncDir(p.dir.root)
	}
	return nil
}

// gone tells whether a segment was deleted, so that nobody needs it on disk any more.
func (p *Partition) gone(s *segment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.removed || !slices.Contains(p.segments, s)
}

func (p *Partition) isRemoved() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.removed
}

// coarseSync is the partition's part of a coarse sync. What fails is tried again by the next one, unless it is latched:
// then whoever appends next is told.
func (p *Partition) coarseSync() {
	p.mu.Lock()
	p.dirty = false
	p.mu.Unlock()
	err := p.syncAndFinish()
	if p.mended(err) {
		err = p.syncAndFinish()
	}
	if err == nil {
		return
	}
	p.mu.Lock()
	queue := !p.dirty && !p.removed && p.failed == nil && p.damage == nil
	p.dirty = p.dirty || queue
	p.mu.Unlock()
	if queue {
		p.dir.queue(p)
	}
}

// syncAndFinish puts the data on disk and finishes full segments; the index follows. One at a time: who comes second finds
// nothing left to finish.
func (p *Partition) syncAndFinish() error {
	p.finishing.Lock()
	defer p.finishing.Unlock()
	p.mu.Lock()
	sealed, end := p.sealed, p.end
	p.mu.Unlock()
	if err := p.SyncTo(context.Background(), end); err != nil {
		return err
	}
	var err error
	var done []*segment
	for _, s := range sealed {
		if err = p.finish(s); err != nil { // no room, say
			break
		}
		done = append(done, s)
	}
	active := p.finished(done)
	if active != nil {
		_ = p.flushIndex(active, 0, end) // the entries stay in memory; an append that needs their room will report
	}
	return err
}

// finished takes segments off the list of those to be finished, and returns the one that is written.
func (p *Partition) finished(done []*segment) (active *segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []*segment // by identity: the partition may have been removed by now, or sealed more
	for _, s := range p.sealed {
		if !slices.Contains(done, s) {
			left = append(left, s)
		}
	}
	p.sealed = left
	if n := len(p.segments); n > 0 {
		active = p.segments[n-1]
	}
	return active
}

// finish gives a full segment, whose batches are on disk, its final form: trimmed file, whole index, and behind it the
// snapshot with which the next segment begins. The snapshot comes last: where there is one, all before it is on disk.
func (p *Partition) finish(s *segment) error {
	if p.gone(s) {
		return nil
	}
	if err := p.trimLog(s); err != nil {
		return err
	}
	p.mu.Lock()
	last, _, err := s.lastEntry()
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if err := p.flushIndex(s, 0, last.last()+1); err != nil {
		return err
	}
	if err := p.closeAborted(s); err != nil {
		return err
	}
	if err := s.index.sync(); err != nil {
		return err
	}
	return p.snapshotBehind(s, last.last()+1)
}

// snapshotBehind writes the snapshot behind a full segment, unless its state was let go of.
func (p *Partition) snapshotBehind(s *segment, next int64) error {
	p.mu.Lock()
	state := s.state
	p.mu.Unlock()
	if state == nil {
		return nil
	}
	if err := p.writeSnapshot(next, state); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.state = nil
	return nil
}

// trimLog gives back the space that was reserved behind the batches, durably: where there is a later snapshot, a log's
// size is where its batches end.
func (p *Partition) trimLog(s *segment) error {
	f, err := s.log.acquire()
	if err != nil {
		return err
	}
	defer s.log.release()
	if err := f.Truncate(s.size); err != nil {
		return err
	}
	err = s.log.sync()
	if err != nil && !p.gone(s) {
		p.fail(Syncing, err)
	}
	return err
}
