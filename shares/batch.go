package shares

// batch is a range of offsets that was acquired as one.
type batch struct {
	first, last int64
	byOffset    bool  // its offsets have states of their own
	runs        []run // cover it; one unless byOffset. Never changed in place: clones share it
}

// run is a range of neighbours that are alike.
type run struct {
	first, last int64
	state       State
	count       int16  // deliveries
	member      string // of an acquired one
	until       int64  // of an acquired one: ms, when its lock ends
}

func newBatch(r run) batch { return batch{first: r.first, last: r.last, runs: []run{r}} }

// like says whether two runs may be one.
func (r *run) like(o *run) bool {
	return r.state == o.state && r.count == o.count && r.member == o.member && r.until == o.until
}

// within says whether the batch lies in the range.
func (b *batch) within(first, last int64) bool { return b.first >= first && b.last <= last }

// straddles says whether the offset lies inside the batch and not at its beginning.
func (b *batch) straddles(offset int64) bool { return b.first < offset && b.last >= offset }

// state is that of a batch that has one state.
func (b *batch) state() State { return b.runs[0].state }

// each calls f with the parts of the batch in the range and puts what f makes of them in their place, until f says stop.
// f may shorten the part: what it leaves comes back as the next part.
func (b *batch) each(first, last int64, f func(r *run) (more bool)) {
	out := make([]run, 0, len(b.runs)+2)
	add := func(r run) {
		if r.first > r.last {
			return
		}
		if n := len(out); n > 0 && out[n-1].last+1 == r.first && out[n-1].like(&r) {
			out[n-1].last = r.last
			return
		}
		out = append(out, r)
	}
	more := true
	for _, r := range b.runs {
		before, after := r, r
		before.last = min(r.last, first-1)
		after.first = max(r.first, last+1)
		add(before)
		for part, next := r, max(r.first, first); more && next <= min(r.last, last); next = part.last + 1 {
			part = r
			part.first, part.last = next, min(r.last, last)
			more = f(&part)
			add(part)
			r.first = part.last + 1
		}
		rest := r
		rest.first, rest.last = max(r.first, first), min(r.last, last)
		add(rest)
		add(after)
	}
	b.runs = out
}

// find yields the parts of the batch in the range as they are, until yield says stop.
func (b *batch) find(first, last int64, yield func(run) bool) {
	for _, r := range b.runs {
		r.first, r.last = max(r.first, first), min(r.last, last)
		if r.first <= r.last && !yield(r) {
			return
		}
	}
}

// release gives an acquired part back: to be delivered again unless that was the last time.
func (r *run) release(to State, l Limits) {
	if to == Available && int(r.count) >= l.MaxDeliveries {
		to = Archived
	}
	r.state, r.member, r.until = to, "", 0
}

func (r *run) acquire(member string, until int64) {
	r.state, r.count, r.member, r.until = Acquired, r.count+1, member, until
}

func (r *run) written() StateBatch {
	return StateBatch{First: r.first, Last: r.last, State: r.state, DeliveryCount: r.count}
}

func (r *run) len() int64 { return r.last - r.first + 1 }
