package projections

import (
	"fmt"

	"doze/journal"
)

func eachShareState(s *State, yield func(row) bool) {
	s.ShareStates.byGroup.Ascend(func(st *ShareState) bool { return yield(st) })
}

func (s *ShareState) encode(w *rowWriter) {
	w.string(s.Group)
	w.id(s.Topic)
	w.int(int64(s.Partition))
	w.int(int64(s.StateEpoch))
	w.int(int64(s.LeaderEpoch))
	w.int(s.Start)
	w.int(int64(s.Complete))
	w.uint(uint64(len(s.Batches)))
	for _, b := range s.Batches {
		w.int(b.First)
		w.int(b.Last)
		w.uint(uint64(b.State))
		w.int(int64(b.DeliveryCount))
	}
}

var shareStateNames = map[uint8]string{0: "available", 2: "accepted", 4: "archived"}

// Fields shows batches as "first-last state deliveries".
func (s *ShareState) Fields() []Field {
	batches := make([]string, len(s.Batches))
	for i, b := range s.Batches {
		batches[i] = fmt.Sprintf("%d-%d %s %d", b.First, b.Last, shareStateNames[b.State], b.DeliveryCount)
	}
	return []Field{
		{"group", s.Group}, {"topic", s.Topic.String()}, {"partition", int64(s.Partition)}, {"start", s.Start}, {"done", int64(s.Complete)},
		{"state-epoch", int64(s.StateEpoch)}, {"leader-epoch", int64(s.LeaderEpoch)}, {"batches", batches},
	}
}

func loadShareState(s *State, r *rowReader) {
	st := &ShareState{
		Group: r.string(), Topic: r.id(), Partition: r.int32(), StateEpoch: r.int32(), LeaderEpoch: r.int32(),
		Start: r.int(), Complete: r.int32(),
	}
	for range r.count() {
		st.Batches = append(st.Batches, journal.ShareStateBatch{First: r.int(), Last: r.int(), State: r.small(), DeliveryCount: r.int16()})
	}
	s.ShareStates.put(st)
}
