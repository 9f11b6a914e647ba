package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// streamsCommitter says what stands against a commit to a streams group. A member commits at its epoch, or at an earlier one for
// partitions whose tasks it has had since then. Who is no member may commit to a group without members.
func streamsCommitter(g *projections.StreamsGroup, member string, epoch int32, offsets []journal.CommittedOffset, version int16) int16 {
	if epoch < 0 && g.Len() == 0 {
		return none
	}
	m := g.Member(member)
	switch {
	case m == nil:
		return unknownMemberID
	case version < 9:
		return unsupportedVersion
	}
	return checkStreamsCommit(g, m, epoch, offsets)
}

// transactionalStreamsCommitter is streamsCommitter for a transaction: a commit that says nothing of a member is taken.
func transactionalStreamsCommitter(g *projections.StreamsGroup, req *kmsg.TxnOffsetCommitRequest, offsets []journal.CommittedOffset) int16 {
	if req.Generation < 0 && g.Len() == 0 || req.Generation == -1 && req.MemberID == "" && req.InstanceID == nil {
		return none
	}
	m := g.Member(req.MemberID)
	if m == nil {
		return unknownMemberID
	}
	if checkStreamsCommit(g, m, req.Generation, offsets) != none {
		return illegalGeneration
	}
	return none
}

func checkStreamsCommit(g *projections.StreamsGroup, m *projections.StreamsMember, epoch int32, offsets []journal.CommittedOffset) int16 {
	switch {
	case epoch == m.Epoch:
		return none
	case epoch > m.Epoch:
		return staleMemberEpoch
	}
	readers := map[string]*journal.StreamsSubtopology{}
	for i := range offsets {
		o := &offsets[i]
		reader, known := readers[o.Topic]
		if !known && g.Topology != nil {
			reader = g.Topology.SubtopologyOf(o.Topic)
			readers[o.Topic] = reader
		}
		if reader == nil {
			return staleMemberEpoch
		}
		if since, has := m.HasSince(reader.ID, o.Partition); !has || epoch < since {
			return staleMemberEpoch
		}
	}
	return none
}

// checkStreamsFetch says what stands against a fetch of a streams group's offsets: who says which member it is must be one.
func checkStreamsFetch(g *projections.StreamsGroup, req *kmsg.OffsetFetchRequestGroup) int16 {
	switch {
	case req.MemberID == nil && req.MemberEpoch < 0:
		return none
	case req.MemberID == nil: // Kafka stumbles over it
		return unknownServerError
	}
	m := g.Member(*req.MemberID)
	switch {
	case m == nil:
		return unknownMemberID
	case m.Epoch != req.MemberEpoch:
		return staleMemberEpoch
	}
	return none
}
