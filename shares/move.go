package shares

// MoveStart says that the log begins at the offset now. What was to be delivered before it is archived; what is acquired
// stays so until it is acknowledged.
func (p *Partition) MoveStart(logStart int64) {
	switch {
	case logStart <= p.start:
		return
	case len(p.batches) == 0:
		p.start, p.end, p.complete = logStart, logStart, 0
		return
	}
	p.complete -= p.doneBetween(p.start, logStart-1)
	if p.archive(p.start, logStart-1, Available, false) {
		p.findNext = true
	}
	p.start = logStart
	p.gap.start = max(p.gap.start, logStart)
	if p.end < logStart { // the gap, too, is gone
		p.end, p.gap = logStart, gap{}
	}
}

func (p *Partition) doneBetween(first, last int64) (n int32) {
	for i := range p.batches {
		p.batches[i].find(first, last, func(r run) bool {
			if r.state.done() {
				n += int32(r.len())
			}
			return true
		})
	}
	return n
}

// archive puts away what is in the state in the range of offsets, and says whether there was any.
func (p *Partition) archive(first, last int64, from State, counted bool) (any bool) {
	for i := max(p.floor(first), 0); i < len(p.batches) && p.batches[i].first <= last; i++ {
		b := &p.batches[i]
		if !b.byOffset && b.state() != from || b.last < first {
			continue
		}
		b.byOffset = b.byOffset || !b.within(first, last)
		b.each(first, last, func(r *run) bool {
			if r.state != from {
				return true
			}
			r.state, r.member, r.until = Archived, "", 0
			if counted {
				p.complete += int32(r.len())
			}
			any = true
			return true
		})
	}
	return any
}
