package shares

import "slices"

// State is the state of a record, by Kafka's numbers: they are stored.
type State uint8

// The states of a record in flight.
const (
	Available    State = 0 // may be acquired (again)
	Acquired     State = 1 // by a member, until its lock ends
	Acknowledged State = 2 // accepted
	Archived     State = 4 // rejected, delivered too often, or not in the log any more
)

// done says that the record will not be delivered again.
func (s State) done() bool { return s == Acknowledged || s == Archived }

// StateBatch is a range of offsets with the state that is written down.
type StateBatch struct {
	First, Last   int64
	State         State
	DeliveryCount int16
}

// Write is what changed and has to be written down.
type Write struct {
	Start    int64 // the start offset before what the change brings about: Kafka writes first and moves then
	Complete int32 // offsets from Start on that are done
	Batches  []StateBatch
}

// Empty says that there is nothing to write.
func (w Write) Empty() bool { return len(w.Batches) == 0 }

// Limits are the settings of the group, as they are at the moment.
type Limits struct {
	MaxDeliveries int   // share.delivery.count.limit
	MaxInFlight   int   // share.partition.max.record.locks
	LockMs        int64 // share.record.lock.duration.ms
	Renew         bool  // share.renew.acknowledge.enable
}

// Partition is a share partition. A clone of it changes independently.
type Partition struct {
	start, end int64   // end: the last offset in flight; without any, the next to acquire
	batches    []batch // by offset
	findNext   bool    // the next offset to fetch may lie before end
	complete   int32   // done offsets from start on
	gap        gap
}

// gap is the part of what was loaded that may hold offsets without a state: nobody acquired them before the start.
type gap struct {
	open       bool
	start, end int64
}

// Load is a partition after a start: from the start offset, and the states that were written down in order of offsets.
func Load(start int64, written []StateBatch) *Partition {
	p := &Partition{start: start, end: start}
	gapStart, previous := int64(-1), start-1
	for _, w := range written {
		if w.Last < start {
			continue
		}
		w.First = max(w.First, start)
		if gapStart < 0 && w.First > previous+1 {
			gapStart = previous + 1
		}
		previous = w.Last
		p.batches = append(p.batches, newBatch(run{first: w.First, last: w.Last, state: w.State, count: w.DeliveryCount}))
		if w.State.done() {
			p.complete += int32(w.Last - w.First + 1)
		}
	}
	if len(p.batches) == 0 {
		return p
	}
	p.findNext, p.end = true, p.lastBatch().last
	if gapStart >= 0 {
		p.gap = gap{open: true, start: gapStart, end: p.end}
	}
	p.settle()
	return p
}

// Clone gives a partition that changes independently of p.
func (p *Partition) Clone() *Partition {
	c := *p
	c.batches = slices.Clone(p.batches)
	return &c
}

// Start is the offset below which everything is done.
func (p *Partition) Start() int64 { return p.start }

// Complete counts the offsets from Start on that are done.
func (p *Partition) Complete() int32 { return p.complete }

// InFlight counts the offsets that hold the partition's room: from the start to the last one acquired.
func (p *Partition) InFlight() int64 {
	if len(p.batches) == 0 {
		return 0
	}
	return p.end - p.start + 1
}

// CanAcquire says whether a fetch may find anything: there is something to deliver again, or room for more.
func (p *Partition) CanAcquire(l Limits) bool {
	return p.NextFetchOffset() != p.end+1 || p.InFlight() < int64(l.MaxInFlight)
}

// NextFetchOffset is where a fetch has to read: the first offset that may be acquired.
func (p *Partition) NextFetchOffset() int64 {
	switch {
	case len(p.batches) == 0 || p.start > p.lastBatch().last:
		p.findNext = false
		return p.end
	case !p.findNext:
		return p.end + 1
	}
	gapStart := int64(-1)
	if p.gapOpen() {
		gapStart = p.gap.start
	}
	for i := range p.batches {
		b := &p.batches[i]
		if p.gapOpen() {
			if b.first > gapStart {
				return gapStart
			}
			gapStart = max(b.last+1, gapStart)
		}
		if at := slices.IndexFunc(b.runs, func(r run) bool { return r.state == Available }); at >= 0 {
			return b.runs[at].first
		}
	}
	p.findNext = false
	return p.end + 1
}

// NextLock is when the first lock ends; false: nothing is acquired.
func (p *Partition) NextLock() (until int64, any bool) {
	for i := range p.batches {
		for _, r := range p.batches[i].runs {
			if r.state == Acquired && (!any || r.until < until) {
				until, any = r.until, true
			}
		}
	}
	return until, any
}

// gapOpen says whether the gap of what was loaded still lies before everything that was acquired since.
func (p *Partition) gapOpen() bool { return p.gap.open && p.gap.end == p.end }

// moveGap says that the gap is acquired up to the offset.
func (p *Partition) moveGap(offset int64) {
	if !p.gap.open {
		return
	}
	if p.gapOpen() && offset <= p.gap.end {
		p.gap.start = offset
		return
	}
	p.gap = gap{}
}

func (p *Partition) lastBatch() *batch { return &p.batches[len(p.batches)-1] }

// floor is the index of the last batch that begins at or before the offset, -1 when there is none.
func (p *Partition) floor(offset int64) int {
	at, found := slices.BinarySearchFunc(p.batches, offset, func(b batch, offset int64) int {
		switch {
		case b.first < offset:
			return -1
		case b.first > offset:
			return 1
		}
		return 0
	})
	if found {
		return at
	}
	return at - 1
}

// ceiling is the index of the first batch that begins at or behind the offset.
func (p *Partition) ceiling(offset int64) int {
	at := p.floor(offset)
	if at >= 0 && p.batches[at].first == offset {
		return at
	}
	return at + 1
}

// insert puts a batch in its place.
func (p *Partition) insert(b batch) {
	p.batches = slices.Insert(p.batches, p.ceiling(b.first), b)
}

// fromStart counts the offsets of a range that are not below the start.
func (p *Partition) fromStart(first, last int64) int32 {
	return int32(max(last-max(first, p.start)+1, 0))
}

// InFlightEnd is the last offset that may be in flight.
func (p *Partition) InFlightEnd() int64 { return p.end }
