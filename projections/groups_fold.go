package projections

import "doze/journal"

// applyOfGroup folds an event of groups and their committed offsets; known is false when it is none.
func (s *State) applyOfGroup(seq uint64, at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.OffsetsCommitted:
		return true, s.applyOffsetsCommitted(seq, e)
	case *journal.OffsetsDeleted:
		return true, s.applyOffsetsDeleted(e)
	case *journal.OffsetsExpired:
		return true, s.applyOffsetsRemoved(e.Group, e.Partitions)
	case *journal.GroupCreated:
		return true, s.applyGroupCreated(at, e)
	case *journal.GroupDeleted:
		return true, s.applyGroupDeleted(e)
	case *journal.GroupConverted:
		return true, s.applyGroupConverted(at, e)
	}
	// Each type of groups has events of its own.
	for _, apply := range []func(*State, uint64, int64, journal.Event) (bool, error){
		(*State).applyOfClassicGroup, (*State).applyOfConsumerGroup, (*State).applyOfShareGroup, (*State).applyOfStreamsGroup,
	} {
		if known, err = apply(s, seq, at, event); known {
			return true, err
		}
	}
	return false, nil
}

func (s *State) applyOfClassicGroup(seq uint64, at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.MemberIDAssigned:
		return true, s.applyMemberIDAssigned(seq, e)
	case *journal.MemberJoined:
		return true, s.applyMemberJoined(seq, e)
	case *journal.MemberRejoined:
		return true, s.applyMemberRejoined(e)
	case *journal.StaticMemberReplaced:
		return true, s.applyStaticMemberReplaced(seq, e)
	case *journal.MemberRemoved:
		return true, s.applyMemberRemoved(e)
	case *journal.RebalanceStarted:
		return true, s.applyRebalanceStarted(seq, at, e)
	case *journal.RebalanceExtended:
		return true, s.applyRebalanceExtended(seq, e)
	case *journal.RebalanceInterrupted:
		return true, s.applyRebalanceInterrupted(e)
	case *journal.GenerationStarted:
		return true, s.applyGenerationStarted(seq, at, e)
	case *journal.GroupEmptied:
		return true, s.applyGroupEmptied(at, e)
	case *journal.MemberSynced:
		return true, s.applyMemberSynced(e)
	case *journal.AssignmentsMade:
		return true, s.applyAssignmentsMade(seq, at, e)
	}
	return false, nil
}
