package walk

import (
	"fmt"
	"maps"
	"sync"
)

// place is where a record stands in the topic.
type place struct {
	partition int32
	offset    int64
}

// ledger holds what was sent, what arrived, and what is committed. Members write to it from their own goroutines.
type ledger struct {
	mu        sync.Mutex
	traits    Traits
	sent      map[string]Record
	arrived   map[string]map[place]bool
	next      map[int32]int64 // one past the highest offset seen, by partition
	committed map[int32]int64
	faults    []string
}

func newLedger(t Traits) *ledger {
	return &ledger{traits: t, sent: map[string]Record{}, arrived: map[string]map[place]bool{}, next: map[int32]int64{}, committed: map[int32]int64{}}
}

// send notes records before they are produced, so that an early arrival is known.
func (l *ledger) send(records []Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range records {
		l.sent[r.ID()] = r
	}
}

// forget drops a record whose produce failed: it may or may not be in the log.
func (l *ledger) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sent, id)
}

// arrive is every member's sink.
func (l *ledger) arrive(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := place{r.Partition, r.Offset}
	if r.Offset < l.committed[r.Partition] {
		l.faults = append(l.faults, fmt.Sprintf("%s at %v came again, though %d is committed", r.ID(), at, l.committed[r.Partition]))
	}
	if r.Offset > l.next[r.Partition] {
		l.faults = append(l.faults, fmt.Sprintf("%s at %v: %d was due", r.ID(), at, l.next[r.Partition]))
	}
	l.next[r.Partition] = max(l.next[r.Partition], r.Offset+1)
	if l.arrived[r.ID()] == nil {
		l.arrived[r.ID()] = map[place]bool{}
	}
	l.arrived[r.ID()][at] = true
	if sent, ok := l.sent[r.ID()]; ok {
		if d := r.Difference(sent, l.traits); d != "" {
			l.faults = append(l.faults, r.ID()+": "+d)
		}
	}
}

// commit notes the group's committed offsets; it tells whether they are the ends of what arrived.
func (l *ledger) commit(offsets map[int32]int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.committed, offsets)
	return maps.Equal(offsets, l.next)
}

// missing counts the records that were sent and have not arrived.
func (l *ledger) missing() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for id := range l.sent {
		if len(l.arrived[id]) == 0 {
			n++
		}
	}
	return n
}

// total is the number of places seen: the length of the log, when there is no fault.
func (l *ledger) total() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var n int64
	for _, o := range l.next {
		n += o
	}
	return n
}

// check returns the first fault, and counts a record found at two places as one when the producer is idempotent.
func (l *ledger) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.traits.Idempotent {
		for id, places := range l.arrived {
			if len(places) > 1 {
				l.faults = append(l.faults, fmt.Sprintf("%s is in the log %d times: %v", id, len(places), places))
			}
		}
	}
	if len(l.faults) > 0 {
		return fmt.Errorf("%d faults, first: %s", len(l.faults), l.faults[0])
	}
	return nil
}
