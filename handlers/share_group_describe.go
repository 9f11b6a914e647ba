package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// ShareGroupDescribe (key 77), v1 (KIP-932): epochs, members and assignments of share groups.
func (b *Broker) shareGroupDescribe(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.ShareGroupDescribeRequest), respond[*kmsg.ShareGroupDescribeResponse](r)
	state, _ := b.view()
	on, room := b.profile.level(state, shareVersion) >= 1, answerRoom(maxAnswerBytes)
	may, ids, hidden := b.access(r), req.GroupIDs, []string(nil)
	if on {
		ids, hidden = permitted(may, acls.Describe, acls.Group, ids, itself)
	}
	for _, id := range hidden {
		if !room.takeGroup(id, nil, 1) {
			return nil, errAnswerTooLarge
		}
		out := kmsg.NewShareGroupDescribeResponseGroup()
		out.GroupID, out.ErrorCode = id, groupAuthorizationFailed
		resp.Groups = append(resp.Groups, out)
	}
	for _, id := range ids {
		g := state.Groups.Get(id)
		if !room.takeGroup(id, g, 1) {
			return nil, errAnswerTooLarge
		}
		out := describeShareGroup(state, g, id, on)
		if out.ErrorCode == none && req.IncludeAuthorizedOperations {
			out.AuthorizedOperations = may.operations(acls.Group, id)
		}
		hideShareTopics(&out, may)
		resp.Groups = append(resp.Groups, out)
	}
	return resp, nil
}

// hideShareTopics tells nothing of a group one of whose members has a topic that the caller may not describe.
func hideShareTopics(out *kmsg.ShareGroupDescribeResponseGroup, may access) {
	for _, m := range out.Members {
		for _, p := range m.Assignment.TopicPartitions {
			if may.guarded() && !may.may(acls.Describe, acls.Topic, p.Topic) {
				id := out.GroupID
				*out = kmsg.NewShareGroupDescribeResponseGroup()
				out.GroupID, out.ErrorCode, out.ErrorMessage = id, topicAuthorizationFailed, text(groupTopicsRefusedText)
				return
			}
		}
	}
}

func describeShareGroup(state *projections.State, g *projections.Group, id string, on bool) kmsg.ShareGroupDescribeResponseGroup {
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
