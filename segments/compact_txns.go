package segments

import (
	"cmp"
	"slices"
)

// abortedTxn is a transaction that was aborted, with the offsets of the first batch of it that the log has and of its marker.
type abortedTxn struct {
	producer    int64
	first, last int64
}

// cleanedTxns follows transactions while batches go by in the order of offsets.
type cleanedTxns struct {
	aborted   []abortedTxn // by first offset; those that begin further on
	aborting  map[int64]bool
	committed map[int64]bool // producers of which batches of a committed transaction went by, before its marker
}

// newCleanedTxns is for batches from the offset from on: what was over before says nothing of them.
func newCleanedTxns(aborted []abortedTxn, from int64) cleanedTxns {
	aborted = slices.DeleteFunc(slices.Clone(aborted), func(a abortedTxn) bool { return a.last < from })
	slices.SortFunc(aborted, func(a, b abortedTxn) int { return cmp.Compare(a.first, b.first) })
	return cleanedTxns{aborted: aborted, aborting: map[int64]bool{}, committed: map[int64]bool{}}
}

// read takes the next batch, and tells whether it may go: a batch of an aborted transaction, or a marker when nothing of its
// transaction went by.
func (t *cleanedTxns) read(h *Header) bool {
	for len(t.aborted) > 0 && t.aborted[0].first <= h.LastOffset() {
		if _, open := t.aborting[t.aborted[0].producer]; !open {
			t.aborting[t.aborted[0].producer] = false
		}
		t.aborted = t.aborted[1:]
	}
	switch {
	case h.Control():
		return t.marker(h)
	case !h.Transactional():
		return false
	}
	if _, aborted := t.aborting[h.ProducerID]; aborted {
		t.aborting[h.ProducerID] = true
		return true
	}
	t.committed[h.ProducerID] = true
	return false
}

// marker ends a transaction.
func (t *cleanedTxns) marker(h *Header) bool {
	if h.Records == 0 {
		return true // cleaned before
	}
	seen := t.aborting
	if h.Marker.Commit {
		seen = t.committed
	}
	had := seen[h.ProducerID]
	delete(seen, h.ProducerID)
	return !had
}

// abortedTxns lists the aborted transactions that have batches in the log. It reads the index only.
func (p *Partition) abortedTxns() ([]abortedTxn, error) {
	_, segments, err := p.searchable()
	if err != nil {
		return nil, err
	}
	var aborted []abortedTxn
	open := map[int64]int64{} // first offsets by producer
	for _, s := range segments {
		if err := p.abortedIn(s, open, &aborted); err != nil {
			return nil, err
		}
	}
	return aborted, nil
}

func (p *Partition) abortedIn(s *segment, open map[int64]int64, aborted *[]abortedTxn) error {
	p.mu.Lock()
	v, err := viewOf(s)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	defer v.release()
	return v.eachAfter(-1, func(e *entry) (bool, error) {
		switch {
		case e.control():
			if e.records == 0 { // compacted, after all of its transaction
				return true, nil
			}
			if first, has := open[e.producerID]; has && e.attributes&entryAbort != 0 {
				*aborted = append(*aborted, abortedTxn{e.producerID, first, e.offset})
			}
			delete(open, e.producerID)
		case e.attributes&attrTransactional != 0:
			if _, has := open[e.producerID]; !has {
				open[e.producerID] = e.offset
			}
		}
		return true, nil
	})
}
