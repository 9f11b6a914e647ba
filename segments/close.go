package segments

import (
	"errors"
	"path"
)

// Close syncs everything, trims the files and writes the clean checkpoint. Nothing may be used any more; handles answer
// ErrRemoved. The error names the partitions that could not be put in order: the next start recovers them as after a
// crash.
func (d *Dir) Close() error {
	d.mu.Lock()
	if d.closed.Load() {
		d.mu.Unlock()
		return nil
	}
	d.closed.Store(true)
	if d.timer != nil {
		d.timer.Stop()
	}
	d.mu.Unlock()
	d.syncing.Lock() // to the end: a timer that has fired finds nothing left to do
	defer d.syncing.Unlock()
	d.syncDirty()
	rows, vouched, err := d.closePartitions()
	err = errors.Join(err, d.files.withRoom(func() error {
		return writeCheckpoint(d.fs, d.root, path.Join(d.root, checkpointName), rows)
	}))
	if err == nil && vouched && !d.doubted.Load() {
		err = d.files.withRoom(d.forgetBoot)
	}
	d.checkpoint.close()
	d.background.Wait()
	return err
}

// closePartitions closes what is open and collects the rows of the checkpoint; those of partitions that were not opened
// are carried over. vouched tells that nothing of any partition is to be recovered.
func (d *Dir) closePartitions() (rows []checkpointRow, vouched bool, err error) {
	var errs []error
	opened := map[ID]bool{}
	vouched = true
	for _, p := range d.opened() {
		opened[p.id] = true
		s, err := p.stop()
		if err != nil {
			errs = append(errs, err)
		}
		if s.row != nil {
			rows = append(rows, checkpointRow{p.id, s.row})
		}
		vouched = vouched && s.vouched
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	for id := range d.atStart {
		if opened[id] {
			continue
		}
		raw, ok := d.checkpoint.raw(id)
		if ok {
			rows = append(rows, checkpointRow{id, raw})
		}
		vouched = vouched && ok && d.wasClean // a row may be older than the files when the last stop was not clean
	}
	return rows, vouched, errors.Join(errs...)
}

// stop ends a partition's use with its files in their final form, and returns its row for the checkpoint: an older one,
// or none, when they cannot be vouched for. Nothing is appended while it holds write, so the row says what is on disk,
// whatever was still under way when Close began.
func (p *Partition) stop() (stopped, error) {
	p.write.Lock()
	defer p.write.Unlock()
	old, _ := p.dir.checkpoint.raw(p.id)
	if p.damage != nil || p.removed {
		return stopped{row: old, vouched: p.removed}, nil
	}
	err := p.syncAndFinish()
	if p.mendLocked(err) {
		err = p.syncAndFinish()
	}
	out := stopped{vouched: true}
	if n := len(p.segments); n > 0 && err == nil {
		out.row, err = p.finalRow(p.segments[n-1])
	}
	if err != nil {
		out, err = stopped{row: old}, p.storage(err)
	}
	for _, s := range p.segments {
		s.log.close()
		s.index.close()
		s.aborted.file.close()
	}
	p.retire()
	return out, err
}

// stopped is what a clean stop has of a partition.
type stopped struct {
	row     []byte // for the checkpoint; nil: none
	vouched bool   // all of its files are as they were meant to be, on disk
}

// finalRow gives the last segment its final form and describes the partition; the caller holds write.
func (p *Partition) finalRow(s *segment) ([]byte, error) {
	if p.touched {
		if err := p.trim(s); err != nil {
			return nil, err
		}
	}
	return appendRow(nil, &row{base: s.base, size: s.size, entries: s.flushed, end: p.end, epochs: p.epochs,
		producers: p.producers}), nil
}

// trim gives the last segment its final form. Its batches are on disk already; the trim and the index are not synced
// here, which would cost two syncs a partition: should the machine lose power before the system writes them, the
// checkpoint does not describe the files and the partition is recovered.
func (p *Partition) trim(s *segment) error {
	f, err := s.log.acquire()
	if err != nil {
		return err
	}
	defer s.log.release()
	if err := f.Truncate(s.size); err != nil {
		return err
	}
	if err := p.flushIndex(s, 0, p.end); err != nil {
		return err
	}
	return p.closeAborted(s)
}
