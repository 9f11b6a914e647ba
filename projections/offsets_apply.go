package projections

import (
	"fmt"

	"doze/journal"
)

func (s *State) applyOffsetsCommitted(seq uint64, e *journal.OffsetsCommitted) error {
	staged := s.Staged.ended == seq // the offsets of the transaction that the entry ends
	var t *OffsetsOfTopic
	for i := range e.Offsets {
		c := &e.Offsets[i]
		if c.Partition < 0 {
			return fmt.Errorf("group %q: offset of partition %d of topic %q", e.Group, c.Partition, c.Topic)
		}
		if t == nil || t.Topic != c.Topic || t.ID != ID(c.TopicID) {
			if t = s.openOffsets(e.Group, c.Topic, c.TopicID); t == nil {
				return fmt.Errorf("group %q: offsets of no such group", e.Group)
			}
		}
		s.Offsets.put(t, CommittedOffset{
			Partition: c.Partition, Offset: c.Offset, LeaderEpoch: c.LeaderEpoch, Metadata: c.Metadata, CommitAt: c.CommitAt, ExpireAt: c.ExpireAt,
		})
		if !staged {
			s.Staged.supersede(e.Group, c.Topic, c.Partition, seq)
		}
	}
	return nil
}

// applyOffsetsDeleted takes away what is committed and what transactions have staged: one of the two is there.
func (s *State) applyOffsetsDeleted(e *journal.OffsetsDeleted) error {
	committed := make([]journal.TopicPartition, 0, len(e.Partitions))
	for _, p := range e.Partitions {
		staged := s.Staged.at(e.Group, p.Topic, p.Partition)
		s.Staged.drop(staged)
		_, has := s.Offsets.Get(s.Offsets.Topic(e.Group, p.Topic), p.Partition)
		if has || len(staged) == 0 {
			committed = append(committed, p)
		}
	}
	return s.applyOffsetsRemoved(e.Group, committed)
}

func (s *State) applyOffsetsRemoved(group string, partitions []journal.TopicPartition) error {
	for _, p := range partitions {
		t := s.Offsets.Topic(group, p.Topic)
		if t == nil || !s.Offsets.remove(offsetKey{t.slot, p.Partition}) {
			return fmt.Errorf("group %q: no offset of %s-%d", group, p.Topic, p.Partition)
		}
		s.Offsets.close(t)
	}
	return nil
}

// dropTopic removes what every group committed for a topic that is deleted.
func (o *Offsets) dropTopic(id ID) {
	var gone []*OffsetsOfTopic
	o.byID.AscendGreaterOrEqual(&OffsetsOfTopic{ID: id}, func(t *OffsetsOfTopic) bool {
		if t.ID == id {
			gone = append(gone, t)
		}
		return t.ID == id
	})
	o.drop(gone)
}

func (o *Offsets) dropGroup(group string) {
	var gone []*OffsetsOfTopic
	o.OfGroup(group, func(t *OffsetsOfTopic) bool { gone = append(gone, t); return true })
	o.drop(gone)
}

// openOffsets returns the handle for the group and topic, a new one if need be; nil when there is no such group. Offsets of
// a topic that had the name before are not this topic's: they go.
func (s *State) openOffsets(group, topic string, id ID) *OffsetsOfTopic {
	o := &s.Offsets
	t := o.Topic(group, topic)
	switch {
	case t != nil && t.ID == id:
		return t
	case t != nil:
		o.drop([]*OffsetsOfTopic{t})
	case s.Groups.Get(group) == nil:
		return nil
	}
	o.lastSlot++
	t = &OffsetsOfTopic{Group: group, Topic: topic, ID: id, slot: o.lastSlot}
	o.topics.ReplaceOrInsert(t)
	o.byID.ReplaceOrInsert(t)
	o.bytes += t.bytes()
	return t
}

// close forgets the handle when no offset is left under it.
func (o *Offsets) close(t *OffsetsOfTopic) {
	left := false
	o.blocksOf(t, func(offsetBlock) bool { left = true; return false })
	if !left {
		o.forget(t)
	}
}

func (o *Offsets) drop(topics []*OffsetsOfTopic) {
	for _, t := range topics {
		var keys []offsetKey
		o.OfTopic(t, func(c CommittedOffset) bool { keys = append(keys, offsetKey{t.slot, c.Partition}); return true })
		for _, key := range keys {
			o.remove(key)
		}
		o.forget(t)
	}
}

func (o *Offsets) forget(t *OffsetsOfTopic) {
	o.topics.Delete(t)
	o.byID.Delete(t)
	o.bytes -= t.bytes()
}
