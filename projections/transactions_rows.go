package projections

import (
	"fmt"
	"slices"

	"doze/journal"
)

func eachTransaction(s *State, yield func(row) bool) {
	s.Transactions.Each(func(t *Transaction) bool { return yield(t) })
}

func (t *Transaction) encode(w *rowWriter) {
	w.string(t.ID)
	for _, n := range []int64{
		t.ProducerID, t.PrevProducerID, t.NextProducerID, int64(t.Epoch), int64(t.LastEpoch), int64(t.TimeoutMs),
		int64(t.State), int64(t.Version), t.StartAt, t.UpdatedAt,
	} {
		w.int(n)
	}
	w.uint(t.Joined)
	w.uint(uint64(len(t.Partitions)))
	for _, p := range t.Partitions {
		w.id(p.Topic)
		w.int(int64(p.Partition))
	}
	w.uint(uint64(len(t.Gone)))
	for _, g := range t.Gone {
		w.id(g.ID)
		w.string(g.Name)
	}
	w.uint(uint64(len(t.Groups)))
	for _, g := range t.Groups {
		w.int(int64(g))
	}
}

// Fields shows partitions as "topic id/number".
func (t *Transaction) Fields() []Field {
	partitions := make([]string, len(t.Partitions))
	for i, p := range t.Partitions {
		partitions[i] = fmt.Sprintf("%s/%d", ID(p.Topic), p.Partition)
	}
	groups := make([]string, len(t.Groups))
	for i, g := range t.Groups {
		groups[i] = fmt.Sprint(g)
	}
	return []Field{
		{"transactional-id", t.ID}, {"state", t.State.String()}, {"producer-id", t.ProducerID}, {"epoch", int64(t.Epoch)},
		{"previous-producer-id", t.PrevProducerID}, {"next-producer-id", t.NextProducerID}, {"last-epoch", int64(t.LastEpoch)},
		{"timeout-ms", int64(t.TimeoutMs)}, {"version", int64(t.Version)}, {"started-at", t.StartAt}, {"updated-at", t.UpdatedAt},
		{"joined", int64(t.Joined)}, {"partitions", partitions}, {"offsets-partitions", groups},
	}
}

func loadTransaction(s *State, r *rowReader) {
	t := &Transaction{
		ID: r.string(), ProducerID: r.int(), PrevProducerID: r.int(), NextProducerID: r.int(), Epoch: r.int16(), LastEpoch: r.int16(),
		TimeoutMs: r.int32(), State: TxnState(r.int8()), Version: r.int8(), StartAt: r.int(), UpdatedAt: r.int(), Joined: r.uint(),
	}
	for range r.count() {
		t.Partitions = append(t.Partitions, journal.TxnPartition{Topic: r.id(), Partition: r.int32()})
	}
	for range r.count() {
		t.Gone = append(t.Gone, GoneTopic{ID: r.id(), Name: r.string()})
	}
	for range r.count() {
		t.Groups = append(t.Groups, r.int32())
	}
	if r.err == nil && (int(t.State) >= len(txnStateNames) || s.Transactions.Get(t.ID) != nil || s.Transactions.OfProducer(t.ProducerID) != nil) {
		r.fail(fmt.Errorf("transactional id %q: state %d, producer %d", t.ID, t.State, t.ProducerID))
	}
	if r.err == nil {
		s.Transactions.put(t)
	}
}

func eachStaged(s *State, yield func(row) bool) {
	s.Staged.byTxn.Ascend(func(o *StagedOffset) bool { return yield(o) })
}

func (o *StagedOffset) encode(w *rowWriter) {
	w.string(o.ID)
	w.string(o.Group)
	w.string(o.Topic)
	w.id(o.TopicID)
	w.int(int64(o.Partition))
	w.int(o.Offset)
	w.int(int64(o.LeaderEpoch))
	w.string(o.Metadata)
	w.int(o.CommitAt)
	w.uint(o.Seq)
	w.bool(o.Superseded)
}

// Fields shows the topic by name, as groups know it.
func (o *StagedOffset) Fields() []Field {
	return []Field{
		{"transactional-id", o.ID}, {"group", o.Group}, {"topic", o.Topic}, {"partition", int64(o.Partition)}, {"offset", o.Offset},
		{"leader-epoch", int64(o.LeaderEpoch)}, {"metadata", o.Metadata}, {"committed-at", o.CommitAt}, {"entry", int64(o.Seq)},
		{"superseded", o.Superseded},
	}
}

func loadStaged(s *State, r *rowReader) {
	o := &StagedOffset{
		ID: r.string(), Group: r.string(), Topic: r.string(), TopicID: r.id(), Partition: r.int32(), Offset: r.int(),
		LeaderEpoch: r.int32(), Metadata: r.string(), CommitAt: r.int(), Seq: r.uint(), Superseded: r.bool(),
	}
	if r.err == nil {
		s.Staged.put(o)
	}
}

func eachUnsynced(s *State, yield func(row) bool) {
	s.Markers.Each(func(m UnsyncedMarker) bool { return yield(m) })
}

func (m UnsyncedMarker) encode(w *rowWriter) {
	w.uint(m.Seq)
	w.int(m.ProducerID)
	w.int(int64(m.Epoch))
	w.bool(m.Commit)
	w.int(int64(m.Version))
	w.id(m.Topic)
	w.int(int64(m.Partition))
	w.int(m.Offset)
}

// Fields names the topic by its id.
func (m UnsyncedMarker) Fields() []Field {
	return []Field{
		{"entry", int64(m.Seq)}, {"topic", m.Topic.String()}, {"partition", int64(m.Partition)}, {"offset", m.Offset},
		{"producer-id", m.ProducerID}, {"epoch", int64(m.Epoch)}, {"commit", m.Commit}, {"version", int64(m.Version)},
	}
}

func loadUnsynced(s *State, r *rowReader) {
	m := UnsyncedMarker{
		Seq: r.uint(), ProducerID: r.int(), Epoch: r.int16(), Commit: r.bool(), Version: r.int8(),
		Topic: r.id(), Partition: r.int32(), Offset: r.int(),
	}
	if r.err == nil {
		s.Markers.tree.ReplaceOrInsert(m)
	}
}

// checkTransactions holds the three trees of transactional ids against each other, and each against itself.
func (s *State) checkTransactions() (err error) {
	x := s.Transactions
	if x.byID.Len() != x.byProducer.Len() {
		return fmt.Errorf("%d transactional ids, %d producers of them", x.byID.Len(), x.byProducer.Len())
	}
	x.Each(func(t *Transaction) bool {
		if open, _ := x.open.Get(t); t.State.Open() != (open == t) {
			err = fmt.Errorf("transactional id %q: %s, listed among the open: %v", t.ID, t.State, open != nil)
			return false
		}
		switch {
		case x.OfProducer(t.ProducerID) != t:
			err = fmt.Errorf("transactional id %q is not the one of producer %d", t.ID, t.ProducerID)
		case t.ID == "" || t.ProducerID < 0 || t.ProducerID >= s.NextProducerID || t.NextProducerID >= s.NextProducerID || t.Epoch < 0:
			err = fmt.Errorf("transactional id %q: producer %d epoch %d, next %d", t.ID, t.ProducerID, t.Epoch, t.NextProducerID)
		case !t.State.Open() && len(t.Partitions)+len(t.Groups)+len(t.Gone) > 0, t.NextProducerID >= 0 && !t.State.Ending():
			err = fmt.Errorf("transactional id %q: %s with %d partitions, %d groups, next producer %d", t.ID, t.State, len(t.Partitions), len(t.Groups), t.NextProducerID)
		case !slices.IsSortedFunc(t.Partitions, ComparePartitions) || !slices.IsSorted(t.Groups):
			err = fmt.Errorf("transactional id %q: partitions or groups out of order", t.ID)
		}
		return err == nil
	})
	return err
}

// checkStaged says whether what is staged belongs to an open transaction and to a group.
func (s *State) checkStaged() (err error) {
	if s.Staged.byTxn.Len() != s.Staged.byGroup.Len() {
		return fmt.Errorf("%d offsets staged by transactions, %d by groups", s.Staged.byTxn.Len(), s.Staged.byGroup.Len())
	}
	s.Staged.byTxn.Ascend(func(o *StagedOffset) bool {
		t := s.Transactions.Get(o.ID)
		other, _ := s.Staged.byGroup.Get(o)
		if t == nil || !t.State.Open() || s.Groups.Get(o.Group) == nil || other != o || o.Partition < 0 {
			err = fmt.Errorf("offset of group %q for %s-%d, staged by %q", o.Group, o.Topic, o.Partition, o.ID)
		}
		return err == nil
	})
	return err
}

func (s *State) checkMarkers() (err error) {
	s.Markers.Each(func(m UnsyncedMarker) bool {
		topic := s.Topics.WithID(m.Topic)
		if topic == nil || m.Partition < 0 || m.Partition >= topic.Partitions || m.Offset < 0 {
			err = fmt.Errorf("marker of entry %d at %s/%d offset %d", m.Seq, m.Topic, m.Partition, m.Offset)
		}
		return err == nil
	})
	return err
}
