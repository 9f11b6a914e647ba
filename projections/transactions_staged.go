package projections

import "cmp"

// StagedOffset is an offset that a group has committed if a transaction is: an immutable value.
type StagedOffset struct {
	ID          string // the transactional id
	Group       string
	Topic       string
	TopicID     ID
	Partition   int32
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	CommitAt    int64
	Seq         uint64 // the entry that staged it
	// Superseded: the group committed an offset for the partition later, which stays even when the transaction is committed.
	Superseded bool
}

// Staged holds the offsets of open transactions.
type Staged struct {
	byTxn   tree[*StagedOffset] // by transactional id, group, topic, partition
	byGroup tree[*StagedOffset] // by group, topic, partition, transactional id
	bytes   int64
	ended   uint64 // the entry of the last TxnEnded: offsets committed in it are the transaction's
}

func newStaged() Staged {
	return Staged{
		byTxn: newTree(func(a, b *StagedOffset) bool {
			return cmp.Or(cmp.Compare(a.ID, b.ID), a.comparePlace(b)) < 0
		}),
		byGroup: newTree(func(a, b *StagedOffset) bool {
			return cmp.Or(a.comparePlace(b), cmp.Compare(a.ID, b.ID)) < 0
		}),
	}
}

func (o *StagedOffset) comparePlace(b *StagedOffset) int {
	return cmp.Or(cmp.Compare(o.Group, b.Group), cmp.Compare(o.Topic, b.Topic), cmp.Compare(o.Partition, b.Partition))
}

func (s *Staged) clone() Staged {
	c := *s
	c.byTxn, c.byGroup = s.byTxn.clone(), s.byGroup.clone()
	return c
}

// Len counts staged offsets.
func (s Staged) Len() int { return s.byTxn.Len() }

// Bytes is what all staged offsets are reckoned to take.
func (s Staged) Bytes() int64 { return s.bytes }

// Bytes is what the staged offset is reckoned to take.
func (o *StagedOffset) Bytes() int64 {
	return stagedBytes + int64(len(o.ID)+len(o.Group)+len(o.Topic)+len(o.Metadata))
}

// OfTxn yields what a transaction has staged, by group, topic and partition.
func (s Staged) OfTxn(id string, yield func(*StagedOffset) bool) {
	s.byTxn.AscendGreaterOrEqual(&StagedOffset{ID: id, Partition: -1}, func(o *StagedOffset) bool {
		return o.ID == id && yield(o)
	})
}

// Get returns what the transaction has staged for the partition, or nil.
func (s Staged) Get(id, group, topic string, partition int32) *StagedOffset {
	found, _ := s.byTxn.Get(&StagedOffset{ID: id, Group: group, Topic: topic, Partition: partition})
	return found
}

// OfGroup yields what is staged for a group, by topic and partition.
func (s Staged) OfGroup(group string, yield func(*StagedOffset) bool) {
	s.byGroup.AscendGreaterOrEqual(&StagedOffset{Group: group, Partition: -1}, func(o *StagedOffset) bool {
		return o.Group == group && yield(o)
	})
}

// HasGroup says whether anything is staged for the group.
func (s Staged) HasGroup(group string) bool {
	found := false
	s.OfGroup(group, func(*StagedOffset) bool { found = true; return false })
	return found
}

// Has says whether anything is staged for the group's offset of the partition: it is not stable.
func (s Staged) Has(group, topic string, partition int32) bool {
	return s.Len() > 0 && len(s.at(group, topic, partition)) > 0
}

// at lists what is staged for the group's offset of the partition.
func (s Staged) at(group, topic string, partition int32) (all []*StagedOffset) {
	key := &StagedOffset{Group: group, Topic: topic, Partition: partition}
	s.byGroup.AscendGreaterOrEqual(key, func(o *StagedOffset) bool {
		same := o.comparePlace(key) == 0
		if same {
			all = append(all, o)
		}
		return same
	})
	return all
}

func (s *Staged) put(o *StagedOffset) {
	if old, had := s.byTxn.ReplaceOrInsert(o); had {
		s.bytes -= old.Bytes()
	}
	s.byGroup.ReplaceOrInsert(o)
	s.bytes += o.Bytes()
}

func (s *Staged) drop(offsets []*StagedOffset) {
	for _, o := range offsets {
		s.byTxn.Delete(o)
		s.byGroup.Delete(o)
		s.bytes -= o.Bytes()
	}
}

// supersede notes that the group's offset of the partition was committed by what was said in the entry seq.
func (s *Staged) supersede(group, topic string, partition int32, seq uint64) {
	if s.Len() == 0 {
		return
	}
	for _, o := range s.at(group, topic, partition) {
		if o.Seq < seq && !o.Superseded {
			later := *o
			later.Superseded = true
			s.put(&later)
		}
	}
}

// dropGroup forgets what is staged for a group that is deleted.
func (s *Staged) dropGroup(group string) {
	if s.Len() == 0 {
		return
	}
	var gone []*StagedOffset
	s.OfGroup(group, func(o *StagedOffset) bool { gone = append(gone, o); return true })
	s.drop(gone)
}

// dropTopic forgets what is staged for a topic that is deleted.
func (s *Staged) dropTopic(id ID) {
	if s.Len() == 0 {
		return
	}
	var gone []*StagedOffset
	s.byTxn.Ascend(func(o *StagedOffset) bool {
		if o.TopicID == id {
			gone = append(gone, o)
		}
		return true
	})
	s.drop(gone)
}
