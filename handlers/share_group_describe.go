package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// ShareGroupDescribe (key 77), v1 (KIP-932): epochs, members and assignments of share groups.
func (b *Broker) shareGroupDescribe(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.ShareGroupDescribeRequest), respond[*kmsg.ShareGroupDescribeResponse](r)
	state, _ := b.view()
	on, room := b.profile.level(state, shareVersion) >= 1, answerRoom(maxAnswerBytes)
	for _, id := range req.GroupIDs {
		g := state.Groups.Get(id)
		if !room.takeGroup(id, g, 1) {
			return nil, errAnswerTooLarge
		}
		resp.Groups = append(resp.Groups, describeShareGroup(state, g, id, on, req.IncludeAuthorizedOperations))
	}
	return resp, nil
}

func describeShareGroup(state *projections.State, g *projections.Group, id string, on, operations bool) kmsg.ShareGroupDescribeResponseGroup {
	out := kmsg.NewShareGroupDescribeResponseGroup()
	out.GroupID = id
	switch {
	case !on:
		out.ErrorCode = unsupportedVersion
		return out
	case id == "":
		out.ErrorCode = invalidGroupID
		return out
	case g == nil:
		out.ErrorCode, out.ErrorMessage = groupIDNotFound, text(fmt.Sprintf("Group %s not found.", id))
		return out
	case g.Type != journal.GroupShare:
		out.ErrorCode, out.ErrorMessage = groupIDNotFound, text(fmt.Sprintf("Group %s is not a share group.", id))
		return out
	}
	out.GroupState, out.GroupEpoch, out.AssignmentEpoch, out.Assignor = g.State.String(), g.Share.Epoch, g.Share.TargetEpoch, "simple"
	if operations {
		out.AuthorizedOperations = groupOperations
	}
	for _, m := range g.Share.Members {
		out.Members = append(out.Members, describeSharer(state, m))
	}
	return out
}

func describeSharer(state *projections.State, m *projections.ShareMember) kmsg.ShareGroupDescribeResponseGroupMember {
	out := kmsg.NewShareGroupDescribeResponseGroupMember()
	out.MemberID, out.MemberEpoch, out.ClientID, out.ClientHost, out.SubscribedTopicNames = m.ID, m.Epoch, m.ClientID, m.ClientHost, m.Topics
	if m.Rack != "" {
		out.RackID = &m.Rack
	}
	for _, p := range m.Assigned {
		if t := state.Topics.WithID(p.TopicID); t != nil {
			to := kmsg.NewShareGroupDescribeResponseGroupMemberAssignmentTopicPartition()
			to.TopicID, to.Topic, to.Partitions = p.TopicID, t.Name, p.Partitions
			out.Assignment.TopicPartitions = append(out.Assignment.TopicPartitions, to)
		}
	}
	return out
}
