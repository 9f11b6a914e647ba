package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// consumerCommitter says what stands against a commit to a consumer group. A member commits at its epoch, or at an earlier one
// for partitions that it has had since then. Who is no member may commit to a group without members.
func consumerCommitter(c *projections.ConsumerGroup, member string, epoch int32, offsets []journal.CommittedOffset, version int16) int16 {
	if epoch < 0 && len(c.Members) == 0 {
		return none
	}
	m := c.Member(member)
	switch {
	case m == nil:
		return unknownMemberID
	case !m.Classic && version < 9:
		return unsupportedVersion
	}
	return checkCommitEpoch(m, epoch, offsets)
}

func checkCommitEpoch(m *projections.ConsumerMember, epoch int32, offsets []journal.CommittedOffset) int16 {
	stale := staleMemberEpoch
	if m.Classic {
		stale = illegalGeneration
	}
	switch {
	case epoch == m.Epoch:
		return none
	case epoch > m.Epoch:
		return stale
	}
	for i := range offsets {
		at, has := m.AssignedAt(offsets[i].TopicID, offsets[i].Partition)
		if !has || epoch < at {
			return stale
		}
	}
	return none
}

// transactionalConsumerCommitter is consumerCommitter for a transaction: a commit that says nothing of a member is taken.
func transactionalConsumerCommitter(c *projections.ConsumerGroup, req *kmsg.TxnOffsetCommitRequest, offsets []journal.CommittedOffset) int16 {
	if req.Generation < 0 && len(c.Members) == 0 || req.Generation == -1 && req.MemberID == "" && req.InstanceID == nil {
		return none
	}
	m := c.Member(req.MemberID)
	if m == nil {
		return unknownMemberID
	}
	if checkCommitEpoch(m, req.Generation, offsets) != none {
		return illegalGeneration
	}
	return none
}

// checkOffsetFetch says what stands against a fetch of a group's offsets: who says which member it is must be one.
func checkOffsetFetch(g *projections.Group, req *kmsg.OffsetFetchRequestGroup) int16 {
	if g != nil && g.Streams != nil {
		return checkStreamsFetch(g.Streams, req)
	}
	if g == nil || g.Consumer == nil || req.MemberID == nil && req.MemberEpoch < 0 {
		return none
	}
	if req.MemberID == nil { // Kafka looks for the member without an id, and fails
		return unknownServerError
	}
	m := g.Consumer.Member(*req.MemberID)
	switch {
	case m == nil:
		return unknownMemberID
	case m.Epoch == req.MemberEpoch:
		return none
	case m.Classic:
		return illegalGeneration
	}
	return staleMemberEpoch
}
