package projections

import (
	"bytes"
	"cmp"
	"slices"

	"doze/journal"
)

// ShareState is what is kept of one partition as one share group reads it: an immutable value. It is what Kafka writes into
// its topic of share states.
type ShareState struct {
	Group       string
	Topic       ID
	Partition   int32
	StateEpoch  int32
	LeaderEpoch int32
	Start       int64 // -1: not decided yet
	Complete    int32 // records from Start on that are done; -1 while Start is not decided
	Batches     []journal.ShareStateBatch
}

// ShareStates holds the states of all share groups' partitions.
type ShareStates struct {
	byGroup tree[*ShareState] // by group, topic id, partition
	byTopic tree[*ShareState] // by topic id, group, partition
	bytes   int64
}

func newShareStates() ShareStates {
	topics := func(a, b *ShareState) int { return bytes.Compare(a.Topic[:], b.Topic[:]) }
	return ShareStates{
		byGroup: newTree(func(a, b *ShareState) bool {
			return cmp.Or(cmp.Compare(a.Group, b.Group), topics(a, b), cmp.Compare(a.Partition, b.Partition)) < 0
		}),
		byTopic: newTree(func(a, b *ShareState) bool {
			return cmp.Or(topics(a, b), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Partition, b.Partition)) < 0
		}),
	}
}

func (s *ShareStates) clone() ShareStates {
	return ShareStates{byGroup: s.byGroup.clone(), byTopic: s.byTopic.clone(), bytes: s.bytes}
}

// Len counts states.
func (s ShareStates) Len() int { return s.byGroup.Len() }

// Bytes is what all states are reckoned to take.
func (s ShareStates) Bytes() int64 { return s.bytes }

// Bytes is what the state is reckoned to take.
func (s *ShareState) Bytes() int64 {
	return shareStateBytes + int64(len(s.Group)) + ShareBatchesBytes(len(s.Batches))
}

// ShareBatchesBytes is what so many batches of states are reckoned to take.
func ShareBatchesBytes(n int) int64 { return shareBatchBytes * int64(n) }

// Get returns the state of a partition, or nil.
func (s ShareStates) Get(group string, topic ID, partition int32) *ShareState {
	found, _ := s.byGroup.Get(&ShareState{Group: group, Topic: topic, Partition: partition})
	return found
}

// OfGroup yields the states of a group, by topic id and partition.
func (s ShareStates) OfGroup(group string, yield func(*ShareState) bool) {
	s.byGroup.AscendGreaterOrEqual(&ShareState{Group: group, Partition: -1}, func(st *ShareState) bool {
		return st.Group == group && yield(st)
	})
}

// OfTopic yields the states that a group has of a topic, by partition.
func (s ShareStates) OfTopic(group string, topic ID, yield func(*ShareState) bool) {
	s.byGroup.AscendGreaterOrEqual(&ShareState{Group: group, Topic: topic, Partition: -1}, func(st *ShareState) bool {
		return st.Group == group && st.Topic == topic && yield(st)
	})
}

func (s *ShareStates) put(state *ShareState) {
	if old, had := s.byGroup.ReplaceOrInsert(state); had {
		s.bytes -= old.Bytes()
	}
	s.byTopic.ReplaceOrInsert(state)
	s.bytes += state.Bytes()
}

func (s *ShareStates) drop(gone []*ShareState) {
	for _, state := range gone {
		s.byGroup.Delete(state)
		s.byTopic.Delete(state)
		s.bytes -= state.Bytes()
	}
}

// dropGroup forgets the states of a group that is deleted.
func (s *ShareStates) dropGroup(group string) {
	if s.Len() == 0 {
		return
	}
	var gone []*ShareState
	s.OfGroup(group, func(st *ShareState) bool { gone = append(gone, st); return true })
	s.drop(gone)
}

// dropTopic forgets the states of a topic that is deleted.
func (s *ShareStates) dropTopic(topic ID) {
	if s.Len() == 0 {
		return
	}
	var gone []*ShareState
	s.byTopic.AscendGreaterOrEqual(&ShareState{Topic: topic, Partition: -1}, func(st *ShareState) bool {
		if st.Topic == topic {
			gone = append(gone, st)
		}
		return st.Topic == topic
	})
	s.drop(gone)
}

// mergeShareBatches lays what was written over what was there: of two states of an offset the one that was delivered more
// often counts, and of as many deliveries the later state. What lies below the start goes. Neighbours that are alike become
// one.
func mergeShareBatches(old, written []journal.ShareStateBatch, start int64) []journal.ShareStateBatch {
	written = slices.Clone(written)
	slices.SortStableFunc(written, func(a, b journal.ShareStateBatch) int { return cmp.Compare(a.First, b.First) })
	m := shareMerge{start: start, out: make([]journal.ShareStateBatch, 0, len(old)+len(written))}
	for _, w := range written {
		for len(old) > 0 && old[0].Last < w.First {
			m.add(old[0])
			old = old[1:]
		}
		for w.First <= w.Last && len(old) > 0 && old[0].First <= w.Last {
			w, old = m.overlap(w, old)
		}
		m.add(w)
	}
	for _, b := range old {
		m.add(b)
	}
	return m.out
}

type shareMerge struct {
	start int64
	out   []journal.ShareStateBatch
}

// overlap takes what lies before the end of the first old batch, or of the written one, and gives what is left of both.
func (m *shareMerge) overlap(w journal.ShareStateBatch, old []journal.ShareStateBatch) (journal.ShareStateBatch, []journal.ShareStateBatch) {
	o := old[0]
	head := func(b journal.ShareStateBatch, before int64) journal.ShareStateBatch {
		b.Last = min(b.Last, before-1)
		return b
	}
	m.add(head(o, w.First))
	m.add(head(w, o.First))
	both := w
	if laterShareState(o, w) {
		both = o
	}
	both.First, both.Last = max(o.First, w.First), min(o.Last, w.Last)
	m.add(both)
	w.First = both.Last + 1
	if o.Last > both.Last {
		o.First = both.Last + 1
		return w, append([]journal.ShareStateBatch{o}, old[1:]...)
	}
	return w, old[1:]
}

func laterShareState(a, b journal.ShareStateBatch) bool {
	return cmp.Or(cmp.Compare(a.DeliveryCount, b.DeliveryCount), cmp.Compare(a.State, b.State)) > 0
}

func (m *shareMerge) add(b journal.ShareStateBatch) {
	b.First = max(b.First, m.start)
	if b.First > b.Last {
		return
	}
	if n := len(m.out); n > 0 {
		last := &m.out[n-1]
		if last.Last+1 == b.First && last.State == b.State && last.DeliveryCount == b.DeliveryCount {
			last.Last = b.Last
			return
		}
	}
	m.out = append(m.out, b)
}
