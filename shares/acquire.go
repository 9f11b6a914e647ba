package shares

import "slices"

// LogBatch is a record batch of the log: its first and last offset.
type LogBatch struct{ Base, Last int64 }

// Fetched asks to acquire what was read from the log.
type Fetched struct {
	Member     string
	From       int64      // what was read from: NextFetchOffset
	Batches    []LogBatch // what was read, in order
	Aborted    []LogBatch // those of them whose transaction was aborted, for a group that reads committed records
	MaxRecords int
	BatchSize  int  // new offsets are kept in batches of about that many
	Exact      bool // never more than MaxRecords (record_limit); else whole record batches (batch_optimized)
	Now        int64
}

// Range is a range of offsets that was acquired, all of them delivered as often.
type Range struct {
	First, Last   int64
	DeliveryCount int16
}

// acquiring is one Acquire under way.
type acquiring struct {
	*Partition
	Fetched
	limits Limits
	until  int64
	last   int64 // the last offset that may be acquired
	room   int64 // how many may be
	count  int64 // how many were
	ranges []Range
}

// Acquire gives what may be delivered of the fetched to the member, until the lock's end.
func (p *Partition) Acquire(f Fetched, l Limits) []Range {
	if f.MaxRecords <= 0 || len(f.Batches) == 0 || f.Batches[len(f.Batches)-1].Last < p.start {
		return nil
	}
	a := acquiring{Partition: p, Fetched: f, limits: l, until: f.Now + l.LockMs}
	if !a.bound() {
		return nil
	}
	p.archiveGone(f.From, f.Batches[0].Base)
	a.fill()
	a.dropAborted()
	return a.ranges
}

// bound sets what may be acquired at most; false: nothing. Without room for more there is only what is in flight already.
func (a *acquiring) bound() bool {
	a.last = a.Batches[len(a.Batches)-1].Last
	a.room = min(int64(a.MaxRecords), int64(a.limits.MaxInFlight)-a.InFlight())
	if a.room <= 0 && a.From <= a.end {
		a.room = min(int64(a.MaxRecords), a.end-a.From+1)
		a.last = min(a.last, a.end)
	}
	return a.room > 0
}

// archiveGone puts away what is in flight before the first batch that was read: it is not in the log any more.
func (p *Partition) archiveGone(from, base int64) {
	if len(p.batches) == 0 || from >= base {
		return
	}
	if p.archive(from, base-1, Available, true) {
		p.findNext = true
	}
}

func (a *acquiring) fill() {
	first := a.Batches[0].Base
	base := first
	if at := a.floor(base); at >= 0 && a.batches[at].last >= base {
		base = a.batches[at].first
	} else {
		base = max(base, a.start)
	}
	at := a.ceiling(min(first, base))
	if at == len(a.batches) || a.batches[at].first > a.last {
		a.take(base, a.last, a.room)
		return
	}
	behind := a.inFlight(at, first, base)
	if a.count < a.room && behind <= a.last {
		a.take(behind, a.last, a.room-a.count)
	}
	if n := len(a.ranges); n > 0 {
		a.moveGap(a.ranges[n-1].Last + 1)
	}
}

// inFlight acquires from the batches in flight, from index at on, and what lies between them when that may be unknown. It
// gives the offset behind the last of them.
func (a *acquiring) inFlight(at int, first, unknown int64) (behind int64) {
	for ; at < len(a.batches) && a.batches[at].first <= a.last; at++ {
		behind = a.batches[at].last + 1
		if a.count >= a.room {
			continue
		}
		if a.gapOpen() {
			if next := a.batches[at].first; unknown < next {
				before := len(a.batches)
				a.take(unknown, next-1, a.room-a.count)
				at += len(a.batches) - before
			}
			unknown = behind
			if a.count >= a.room {
				continue
			}
		}
		a.again(&a.batches[at], first)
	}
	return behind
}

// again acquires from one batch in flight.
func (a *acquiring) again(b *batch, first int64) {
	left := a.room - a.count
	throttled := a.throttles(b, first)
	if throttled && a.count > 0 {
		a.room = 0
		return
	}
	part := !b.within(first, a.last) || b.byOffset || throttled || a.Exact && b.last-b.first+1 > left
	if part {
		a.some(b, first, left, throttled)
		return
	}
	if b.state() != Available {
		return
	}
	b.each(b.first, b.last, func(r *run) bool {
		r.acquire(a.Member, a.until)
		a.ranges = append(a.ranges, Range{r.first, r.last, r.count})
		a.count += r.len()
		return true
	})
}

// some acquires offsets of a batch. What was delivered often is delivered in ever smaller portions, and alone the last time.
func (a *acquiring) some(b *batch, first, left int64, throttled bool) {
	if !b.byOffset && b.state() != Available {
		return
	}
	b.byOffset = true
	s := portion{acquiring: a, size: b.last - b.first + 1, left: left}
	b.each(first, a.last, s.take)
	a.ranges = append(a.ranges, joined(s.ranges)...)
	a.count += s.count
	if throttled && s.count > 0 {
		a.room = 0
	}
}

// portion is what one batch gives.
type portion struct {
	*acquiring
	size, left int64
	count      int64
	most       int64 // 0: not throttled
	ranges     []Range
}

// take acquires a part of a run, shortens it to that, and says whether to go on.
func (s *portion) take(r *run) bool {
	if r.state != Available {
		return true
	}
	limit, count := s.limits.MaxDeliveries, int(r.count)
	if limit > 2 && count == limit-1 && s.count > 0 {
		r.last = r.first - 1
		return false
	}
	if from := throttledFrom(limit); count >= from && s.most == 0 {
		s.most = max(1, s.size>>(count-from+1))
	}
	n, alone := r.len(), limit > 2 && count+1 == limit
	if alone {
		n = 1
	}
	if s.Exact {
		n = min(n, s.left-s.count)
	}
	if s.most > s.count {
		n = min(n, s.most-s.count)
	}
	r.last = r.first + n - 1
	r.acquire(s.Member, s.until)
	s.count += n
	s.ranges = append(s.ranges, Range{r.first, r.last, r.count})
	return !alone && !(s.Exact && s.count == s.left) && !(s.most > 0 && s.count == s.most)
}

// throttles says whether the batch has offsets that were delivered so often that few are to be delivered at once.
func (a *acquiring) throttles(b *batch, first int64) (yes bool) {
	from := throttledFrom(a.limits.MaxDeliveries)
	b.find(first, a.last, func(r run) bool {
		yes = r.state == Available && int(r.count) >= from
		return !yes
	})
	return yes
}

// throttledFrom is the number of deliveries from which on records are delivered in smaller portions.
func throttledFrom(maxDeliveries int) int { return max(2, (maxDeliveries+1)/2) }

// joined makes one range of neighbours that were delivered as often.
func joined(ranges []Range) []Range {
	var out []Range
	for _, r := range ranges {
		if n := len(out); n > 0 && out[n-1].Last+1 == r.First && out[n-1].DeliveryCount == r.DeliveryCount {
			out[n-1].Last = r.Last
			continue
		}
		out = append(out, r)
	}
	return out
}

// take acquires offsets that were never in flight.
func (a *acquiring) take(first, last, most int64) {
	bound := last
	if len(a.batches) == 0 && a.end > first {
		first = a.end
	}
	if most < last-first+1 {
		last = a.endOfBatch(first + most - 1)
		if a.gapOpen() {
			last = min(last, bound)
		}
	}
	if first > last {
		return
	}
	ranges := a.split(first, last)
	for _, r := range ranges {
		a.insert(newBatch(run{r.First, r.Last, Acquired, 1, a.Member, a.until}))
	}
	if a.Exact && last-first+1 > most {
		last = a.leaveRest(first, most)
		ranges[0].Last = last
	}
	if a.batches[0].first == first {
		a.start = first
	}
	a.end = max(a.end, a.lastBatch().last)
	a.ranges = append(a.ranges, ranges...)
	a.count += last - first + 1
	a.moveGap(last + 1)
}

// endOfBatch is the last offset of the record batch that has the offset: batches are acquired whole.
func (a *acquiring) endOfBatch(offset int64) int64 {
	at, found := slices.BinarySearchFunc(a.Batches, offset, func(b LogBatch, offset int64) int {
		switch {
		case b.Last < offset:
			return -1
		case b.Base > offset:
			return 1
		}
		return 0
	})
	if found {
		return a.Batches[at].Last
	}
	return offset
}

// split divides new offsets at the record batches that begin after at least BatchSize of them.
func (a *acquiring) split(first, last int64) []Range {
	if a.Exact || last-first+1 <= int64(a.BatchSize) {
		return []Range{{first, last, 1}}
	}
	var ranges []Range
	for _, b := range a.Batches {
		if b.Base > last {
			break
		}
		if b.Base-first >= int64(a.BatchSize) {
			ranges = append(ranges, Range{first, b.Base - 1, 1})
			first = b.Base
		}
	}
	return append(ranges, Range{first, last, 1})
}

// leaveRest leaves of a batch that was just acquired all but the first most offsets: they were never delivered. It gives
// the last offset that stays acquired.
func (a *acquiring) leaveRest(first, most int64) int64 {
	b := &a.batches[a.floor(first)]
	b.byOffset = true
	b.each(first+most, b.last, func(r *run) bool {
		r.state, r.count, r.member, r.until = Available, 0, "", 0
		return true
	})
	a.findNext = true
	return first + most - 1
}

// dropAborted archives what was acquired of aborted transactions and takes it out of the ranges.
func (a *acquiring) dropAborted() {
	for _, gone := range a.Aborted {
		a.archive(gone.Base, gone.Last, Acquired, true)
		a.ranges = without(a.ranges, gone)
	}
	if len(a.ranges) == 0 && len(a.Aborted) > 0 && a.InFlight() >= int64(a.limits.MaxInFlight) {
		a.settle() // else nothing ever would: there is nothing to acknowledge, and no room
	}
}

func without(ranges []Range, gone LogBatch) []Range {
	var out []Range
	for _, r := range ranges {
		if r.Last < gone.Base || r.First > gone.Last {
			out = append(out, r)
			continue
		}
		if r.First < gone.Base {
			out = append(out, Range{r.First, gone.Base - 1, r.DeliveryCount})
		}
		if r.Last > gone.Last {
			out = append(out, Range{gone.Last + 1, r.Last, r.DeliveryCount})
		}
	}
	return out
}
