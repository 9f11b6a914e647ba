package projections

import (
	"fmt"

	"doze/journal"
)

// applyOfShareState folds an event of share partitions' states; known is false when it is none.
func (s *State) applyOfShareState(at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.ShareStateInitialized:
		return true, s.applyShareStateInitialized(at, e)
	case *journal.ShareStateLoaded:
		return true, s.changeShareState(e.Group, e.Topic, e.Partition, func(st *ShareState) error {
			st.LeaderEpoch = e.LeaderEpoch
			return nil
		})
	case *journal.ShareStateWritten:
		return true, s.changeShareState(e.Group, e.Topic, e.Partition, func(st *ShareState) error {
			if e.Start < 0 || e.Complete < 0 {
				return fmt.Errorf("start %d, %d done", e.Start, e.Complete)
			}
			st.Start, st.Complete = e.Start, e.Complete
			st.Batches = mergeShareBatches(st.Batches, e.Batches, e.Start)
			return nil
		})
	case *journal.ShareStateDeleted:
		return true, s.applyShareStateDeleted(e)
	}
	return false, nil
}

func (s *State) applyShareStateInitialized(at int64, e *journal.ShareStateInitialized) error {
	topic := s.Topics.WithID(e.Topic)
	if g := s.Groups.Get(e.Group); g == nil || g.Type != journal.GroupShare || topic == nil {
		return fmt.Errorf("share state of group %q and topic id %s: one of them is not there", e.Group, ID(e.Topic))
	}
	for _, p := range e.Partitions {
		if p.Partition < 0 || p.Partition >= topic.Partitions || p.Start < -1 {
			return fmt.Errorf("share state of group %q and %s-%d: start %d", e.Group, topic.Name, p.Partition, p.Start)
		}
		state := &ShareState{Group: e.Group, Topic: e.Topic, Partition: p.Partition, StateEpoch: e.StateEpoch, Start: p.Start}
		if p.Start < 0 {
			state.Complete = -1
		}
		s.ShareStates.put(state)
	}
	return s.changeShareGroup(at, e.Group, func(g *ShareGroup) error { g.Unassigned = true; return nil })
}

func (s *State) changeShareState(group string, topic ID, partition int32, change func(*ShareState) error) error {
	old := s.ShareStates.Get(group, topic, partition)
	if old == nil {
		return fmt.Errorf("share state of group %q, topic id %s and partition %d: there is none", group, topic, partition)
	}
	state := *old
	if err := change(&state); err != nil {
		return fmt.Errorf("share state of group %q, topic id %s and partition %d: %w", group, topic, partition, err)
	}
	s.ShareStates.put(&state)
	return nil
}

func (s *State) applyShareStateDeleted(e *journal.ShareStateDeleted) error {
	var gone []*ShareState
	s.ShareStates.OfTopic(e.Group, e.Topic, func(st *ShareState) bool { gone = append(gone, st); return true })
	if len(gone) == 0 {
		return fmt.Errorf("share state of group %q and topic id %s: there is none", e.Group, ID(e.Topic))
	}
	s.ShareStates.drop(gone)
	return nil
}

// checkShareStates holds the two trees to each other, and every state to its group, its topic and itself.
func (s *State) checkShareStates() (err error) {
	if n := s.ShareStates.byGroup.Len(); n != s.ShareStates.byTopic.Len() {
		return fmt.Errorf("%d share states by group, %d by topic", n, s.ShareStates.byTopic.Len())
	}
	total := int64(0)
	s.ShareStates.byGroup.Ascend(func(st *ShareState) bool {
		total += st.Bytes()
		if other, _ := s.ShareStates.byTopic.Get(st); other != st {
			err = fmt.Errorf("share state of group %q, topic id %s and partition %d: not the same by topic", st.Group, st.Topic, st.Partition)
			return false
		}
		err = s.checkShareState(st)
		return err == nil
	})
	if err == nil && total != s.ShareStates.bytes {
		return fmt.Errorf("bytes counted: share states %d; there are %d", s.ShareStates.bytes, total)
	}
	return err
}

func (s *State) checkShareState(st *ShareState) error {
	topic, group := s.Topics.WithID(st.Topic), s.Groups.Get(st.Group)
	if topic == nil || group == nil || group.Type != journal.GroupShare || st.Partition < 0 || st.Partition >= topic.Partitions {
		return fmt.Errorf("share state of group %q, topic id %s and partition %d: one of them is not there", st.Group, st.Topic, st.Partition)
	}
	last := st.Start - 1
	for i, b := range st.Batches {
		if b.First <= last && i > 0 || b.First < st.Start || b.Last < b.First {
			return fmt.Errorf("share state of group %q and %s-%d: batch %d-%d behind %d", st.Group, topic.Name, st.Partition, b.First, b.Last, last)
		}
		last = b.Last
	}
	if (st.Start < 0) != (st.Complete < 0) || st.Start < 0 && len(st.Batches) > 0 {
		return fmt.Errorf("share state of group %q and %s-%d: start %d, %d done, %d batches", st.Group, topic.Name, st.Partition, st.Start, st.Complete, len(st.Batches))
	}
	return nil
}
