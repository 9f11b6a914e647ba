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

// DescribeGroups (key 15), v0-v6: classic groups with their members. Metadata is told of a Stable group only.
//
//	v3  authorised operations (KIP-430)     v4  group instance ids (KIP-345)
//	v6  an unknown group is GROUP_ID_NOT_FOUND with a text (KIP-1043); before, it is Dead without an error
func (b *Broker) describeGroups(_ context.Context, r *wire.Request) (wire.Reply, error) {
	if resp := b.groups.describeGroups(r.Body.(*kmsg.DescribeGroupsRequest), b.access(r)); resp != nil {
		return resp, nil
	}
	return nil, errAnswerTooLarge
}

// describeGroups answers nil when that is too much for an answer.
func (c *coordinator) describeGroups(req *kmsg.DescribeGroupsRequest, may access) *kmsg.DescribeGroupsResponse {
	resp := kmsg.NewPtrDescribeGroupsResponse()
	state, room := c.view(), answerRoom(maxAnswerBytes)
	groups, hidden := permitted(may, acls.Describe, acls.Group, req.Groups, itself)
	for _, id := range hidden {
		if !room.takeGroup(id, nil, 1) {
			return nil
		}
		out := kmsg.NewDescribeGroupsResponseGroup()
		out.Group, out.ErrorCode = id, groupAuthorizationFailed
		resp.Groups = append(resp.Groups, out)
	}
	for _, id := range groups {
		g := state.Groups.Get(id)
		if !room.takeGroup(id, g, 1) {
			return nil
		}
		out := describeGroup(g, id, req.Version)
		if req.IncludeAuthorizedOperations && out.ErrorCode == none {
			out.AuthorizedOperations = may.operations(acls.Group, id)
		}
		resp.Groups = append(resp.Groups, out)
	}
	return resp
}

func describeGroup(g *projections.Group, id string, version int16) kmsg.DescribeGroupsResponseGroup {
	out := kmsg.NewDescribeGroupsResponseGroup()
	out.Group = id
	if len(id) > maxName {
		out.ErrorCode = invalidGroupID
		return out
	}
	if g == nil || g.Type != journal.GroupClassic {
		out.State = "Dead"
		if version >= 6 {
			message := fmt.Sprintf("Group %s not found.", id)
			if g != nil {
				message = fmt.Sprintf("Group %s is not a classic group.", id)
			}
			out.ErrorCode, out.ErrorMessage = groupIDNotFound, &message
		}
		return out
	}
	out.State, out.ProtocolType = g.State.String(), g.ProtocolType
	if g.State == projections.Stable {
		out.Protocol = g.Protocol
	}
	out.Members = make([]kmsg.DescribeGroupsResponseGroupMember, len(g.Members))
	for i, m := range g.Members {
		out.Members[i] = describeMember(g, m)
	}
	return out
}

func describeMember(g *projections.Group, m *projections.Member) kmsg.DescribeGroupsResponseGroupMember {
	out := kmsg.NewDescribeGroupsResponseGroupMember()
	out.MemberID, out.ClientID, out.ClientHost, out.MemberAssignment = m.ID, m.ClientID, m.ClientHost, m.Assignment
	if m.Static {
		out.InstanceID = &m.InstanceID
	}
	if g.State == projections.Stable {
		out.ProtocolMetadata = m.Metadata(g.Protocol)
	}
	return out
}
