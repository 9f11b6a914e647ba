package segments

// settled opens the partition when needed, and waits until the owner has looked at the transactions that it was opened
// with: a batch that came before would join one that is about to be ended.
func (p *Partition) settled() error {
	if err := p.ready(); err != nil || !p.unsettled.Load() {
		return err
	}
	<-p.settle
	return nil
}

// tellUnfinished tells the owner, once, which transactions the partition was opened with.
func (p *Partition) tellUnfinished() {
	p.settling.Do(func() {
		p.mu.Lock()
		open := p.openTxnsLocked()
		p.mu.Unlock()
		done := func() {
			p.unsettled.Store(false)
			close(p.settle)
		}
		if len(open) == 0 || !p.dir.inBackground(func() {
			defer done()
			p.dir.opt.Unfinished(p, open)
		}) {
			done()
		}
	})
}

// inBackground starts f unless the directory is closed; Close waits for it.
func (d *Dir) inBackground(f func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		return false
	}
	d.background.Go(f)
	return true
}
