package shares

// Release gives back all that the member has acquired: its session is over.
func (p *Partition) Release(member string, l Limits) Write {
	return p.giveBack(l, func(r *run) bool { return r.member == member })
}

// Expire gives back what was acquired and whose lock has ended at now.
func (p *Partition) Expire(now int64, l Limits) Write {
	return p.giveBack(l, func(r *run) bool { return r.until <= now })
}

// giveBack releases what fits. Below the start there is nobody to deliver it to: it is archived.
func (p *Partition) giveBack(l Limits, fits func(*run) bool) Write {
	var w Write
	for i := range p.batches {
		b := &p.batches[i]
		if !b.anyAcquired(fits) {
			continue
		}
		b.byOffset = b.byOffset || b.straddles(p.start)
		split := b.last
		if b.straddles(p.start) {
			split = p.start - 1
		}
		give := func(r *run) bool {
			if r.state != Acquired || !fits(r) {
				return true
			}
			to := Available
			if r.last < p.start {
				to = Archived
			}
			r.release(to, l)
			if r.state.done() {
				p.complete += p.fromStart(r.first, r.last)
			}
			p.findNext = p.findNext || r.state == Available
			w.Batches = append(w.Batches, r.written())
			return true
		}
		b.each(b.first, split, give)
		if split < b.last {
			b.each(p.start, b.last, give)
		}
	}
	return p.written(w)
}

func (b *batch) anyAcquired(fits func(*run) bool) bool {
	for i := range b.runs {
		if b.runs[i].state == Acquired && fits(&b.runs[i]) {
			return true
		}
	}
	return false
}

// written fills in what goes with a change and then lets the start move. Nothing changed, nothing moves.
func (p *Partition) written(w Write) Write {
	if w.Empty() {
		return w
	}
	w.Start, w.Complete = p.start, p.complete
	p.settle()
	return w
}
