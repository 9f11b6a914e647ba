package projections

import (
	"fmt"
	"slices"

	"doze/journal"
)

// applyOfTxn folds an event of transactions; known is false when it is none.
func (s *State) applyOfTxn(seq uint64, at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.TxnProducerInitialized:
		return true, s.applyTxnProducerInitialized(at, e)
	case *journal.TxnPartitionsAdded:
		return true, s.applyTxnPartitionsAdded(seq, at, e)
	case *journal.TxnGroupAdded:
		return true, s.applyTxnGroupAdded(seq, at, e)
	case *journal.TxnOffsetsStaged:
		return true, s.applyTxnOffsetsStaged(seq, e)
	case *journal.TxnEnding:
		return true, s.applyTxnEnding(at, e)
	case *journal.TxnEnded:
		return true, s.applyTxnEnded(seq, at, e)
	case *journal.TxnMarkersSynced:
		return true, s.applyTxnMarkersSynced(e)
	case *journal.TxnOrphanAborted:
		return true, nil
	case *journal.TransactionalIDExpired:
		return true, s.applyTransactionalIDExpired(e)
	}
	return false, nil
}

// changed is a copy of the transaction to change: whatever happens to it, its producer id from before is remembered.
func (t *Transaction) changed(at int64) *Transaction {
	c := *t
	c.PrevProducerID, c.UpdatedAt = t.ProducerID, at
	return &c
}

func (s *State) applyTxnProducerInitialized(at int64, e *journal.TxnProducerInitialized) error {
	if e.ID == "" || e.Epoch < 0 || e.ProducerID < 0 || e.ProducerID >= s.NextProducerID {
		return fmt.Errorf("transactional id %q: producer %d epoch %d of %d producer ids", e.ID, e.ProducerID, e.Epoch, s.NextProducerID)
	}
	was := s.Transactions.Get(e.ID)
	if other := s.Transactions.OfProducer(e.ProducerID); other != nil && other != was {
		return fmt.Errorf("transactional id %q: producer %d is of %q", e.ID, e.ProducerID, other.ID)
	}
	if was == nil {
		was = &Transaction{ID: e.ID, ProducerID: e.ProducerID, NextProducerID: -1}
	}
	if was.State.Open() {
		return fmt.Errorf("transactional id %q: a new producer in a transaction that is %s", e.ID, was.State)
	}
	t := was.changed(at)
	t.ProducerID, t.Epoch, t.LastEpoch, t.TimeoutMs = e.ProducerID, e.Epoch, e.LastEpoch, e.TimeoutMs
	t.State, t.Partitions, t.Gone, t.Groups, t.StartAt = TxnEmpty, nil, nil, nil, -1
	s.Transactions.put(t)
	return nil
}

// open is a copy of the transaction, begun when it is not open, for what is added to it.
func (s *State) open(seq uint64, at int64, id string, version int8) (*Transaction, error) {
	was := s.Transactions.Get(id)
	if was == nil || was.State.Ending() {
		return nil, fmt.Errorf("transactional id %q cannot have a transaction", id)
	}
	t := was.changed(at)
	if was.State != TxnOngoing {
		t.StartAt = at
	}
	t.State, t.Version, t.Joined = TxnOngoing, version, seq
	return t, nil
}

func (s *State) applyTxnPartitionsAdded(seq uint64, at int64, e *journal.TxnPartitionsAdded) error {
	t, err := s.open(seq, at, e.ID, e.Version)
	if err != nil {
		return err
	}
	if t.Partitions, err = joinPartitions(t.Partitions, e.Partitions); err != nil {
		return fmt.Errorf("transactional id %q: %w", e.ID, err)
	}
	s.Transactions.put(t)
	return nil
}

// joinPartitions merges two lists, the first of them sorted.
func joinPartitions(have, more []journal.TxnPartition) ([]journal.TxnPartition, error) {
	all := slices.Concat(have, more)
	slices.SortFunc(all, ComparePartitions)
	for i, p := range all {
		if p.Partition < 0 || i > 0 && p == all[i-1] {
			return nil, fmt.Errorf("partition %s/%d cannot be added", ID(p.Topic), p.Partition)
		}
	}
	return all, nil
}

func (s *State) applyTxnGroupAdded(seq uint64, at int64, e *journal.TxnGroupAdded) error {
	t, err := s.open(seq, at, e.ID, e.Version)
	if err != nil {
		return err
	}
	if i, found := slices.BinarySearch(t.Groups, e.Partition); !found {
		t.Groups = slices.Insert(slices.Clone(t.Groups), i, e.Partition)
	}
	s.Transactions.put(t)
	return nil
}

func (s *State) applyTxnOffsetsStaged(seq uint64, e *journal.TxnOffsetsStaged) error {
	if t := s.Transactions.Get(e.ID); t == nil || t.State != TxnOngoing {
		return fmt.Errorf("transactional id %q has no transaction for offsets of group %q", e.ID, e.Group)
	}
	if s.Groups.Get(e.Group) == nil {
		return fmt.Errorf("transactional id %q: offsets of group %q, which is not there", e.ID, e.Group)
	}
	for i := range e.Offsets {
		c := &e.Offsets[i]
		if c.Partition < 0 {
			return fmt.Errorf("group %q: offset of partition %d of topic %q", e.Group, c.Partition, c.Topic)
		}
		s.Staged.put(&StagedOffset{
			ID: e.ID, Group: e.Group, Topic: c.Topic, TopicID: c.TopicID, Partition: c.Partition, Offset: c.Offset,
			LeaderEpoch: c.LeaderEpoch, Metadata: c.Metadata, CommitAt: c.CommitAt, Seq: seq,
		})
	}
	return nil
}

func (s *State) applyTxnEnding(at int64, e *journal.TxnEnding) error {
	was := s.Transactions.Get(e.ID)
	if was == nil || was.State.Ending() || e.Commit && was.State != TxnOngoing || e.Epoch < was.Epoch {
		return fmt.Errorf("transactional id %q has no transaction to end with epoch %d", e.ID, e.Epoch)
	}
	if e.NextProducerID < -1 || e.NextProducerID >= s.NextProducerID {
		return fmt.Errorf("transactional id %q: next producer %d of %d producer ids", e.ID, e.NextProducerID, s.NextProducerID)
	}
	t := was.changed(at)
	if was.State != TxnOngoing { // nothing was in it: Kafka still counts from now
		t.StartAt = at
	}
	t.State = TxnPrepareAbort
	if e.Commit {
		t.State = TxnPrepareCommit
	}
	var err error
	if t.Partitions, err = joinPartitions(t.Partitions, e.Orphans); err != nil {
		return fmt.Errorf("transactional id %q: %w", e.ID, err)
	}
	t.Version, t.Epoch, t.LastEpoch, t.NextProducerID = e.Version, e.Epoch, e.LastEpoch, e.NextProducerID
	s.Transactions.put(t)
	return nil
}

func (s *State) applyTxnEnded(seq uint64, at int64, e *journal.TxnEnded) error {
	was := s.Transactions.Get(e.ID)
	if was == nil || !was.State.Ending() || e.Commit != (was.State == TxnPrepareCommit) {
		return fmt.Errorf("transactional id %q has no such transaction that ends", e.ID)
	}
	for _, m := range e.Markers {
		if s.Topics.WithID(m.Topic) != nil {
			s.Markers.tree.ReplaceOrInsert(UnsyncedMarker{
				Seq: seq, ProducerID: was.ProducerID, Epoch: was.Epoch, Commit: e.Commit, Version: was.Version,
				Topic: m.Topic, Partition: m.Partition, Offset: m.Offset,
			})
		}
	}
	s.endStaged(seq, was.ID, e.Commit)
	t := was.changed(at)
	t.State = TxnCompleteAbort
	if e.Commit {
		t.State = TxnCompleteCommit
	}
	if was.NextProducerID >= 0 {
		t.ProducerID, t.Epoch = was.NextProducerID, 0
	}
	t.NextProducerID, t.Partitions, t.Gone, t.Groups = -1, nil, nil, nil
	s.Transactions.put(t)
	return nil
}

// endStaged forgets what the transaction has staged. What it commits is in the entry too, and counts from when it was
// staged: offsets staged before that, of other transactions, are superseded.
func (s *State) endStaged(seq uint64, id string, commit bool) {
	var gone []*StagedOffset
	s.Staged.OfTxn(id, func(o *StagedOffset) bool { gone = append(gone, o); return true })
	s.Staged.drop(gone)
	s.Staged.ended = seq
	if !commit {
		return
	}
	for _, o := range gone {
		if !o.Superseded {
			s.Staged.supersede(o.Group, o.Topic, o.Partition, o.Seq)
		}
	}
}

func (s *State) applyTransactionalIDExpired(e *journal.TransactionalIDExpired) error {
	t := s.Transactions.Get(e.ID)
	if t == nil || t.State.Open() {
		return fmt.Errorf("transactional id %q cannot be forgotten", e.ID)
	}
	s.Transactions.drop(t)
	return nil
}
