package shares

import "slices"

// settle moves the start over what is done and forgets the batches before it.
func (p *Partition) settle() {
	if !p.startIsDone() {
		return
	}
	last, done := p.lastDone()
	switch {
	case last < 0:
		return
	case last == p.lastBatch().last:
		p.start, p.end, p.complete, p.batches = last+1, last+1, 0, nil
		return
	}
	at := p.floor(last)
	keep := at
	if p.batches[at].last == last {
		keep = at + 1
		p.start = max(p.start, p.batches[keep].first)
		if p.gapOpen() {
			p.start = min(p.gap.start, p.start)
		}
	} else {
		p.start = max(p.start, last+1)
	}
	p.complete -= done
	p.batches = slices.Delete(p.batches, 0, keep)
}

// startIsDone says whether what lies at the start offset is done. An offset at the start that nobody acquired is not.
func (p *Partition) startIsDone() bool {
	at := p.floor(p.start)
	if at < 0 {
		return false
	}
	b := &p.batches[at]
	if !b.byOffset {
		return b.state().done()
	}
	done := false
	b.find(p.start, p.start, func(r run) bool { done = r.state.done(); return false })
	return done
}

// lastDone is the last offset before the first one that is not done, -1 when there is none, and how many of those from the
// start on there are.
func (p *Partition) lastDone() (last int64, done int32) {
	last = -1
	for i := range p.batches {
		b := &p.batches[i]
		if p.gapOpen() && b.last >= p.gap.start {
			return last, done
		}
		for _, r := range b.runs {
			if !r.state.done() {
				return last, done
			}
			last = r.last
			done += p.fromStart(r.first, r.last)
		}
	}
	return last, done
}
