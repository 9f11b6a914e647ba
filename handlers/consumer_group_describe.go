package handlers

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// ConsumerGroupDescribe (key 69), v0-v1 (KIP-848): consumer groups with their members, what these have and what they are to
// have. v1 says which protocol a member speaks (KIP-1099).
func (b *Broker) consumerGroupDescribe(_ context.Context, r *wire.Request) (wire.Reply, error) {
	if resp := b.groups.describeConsumers(r.Body.(*kmsg.ConsumerGroupDescribeRequest), b.access(r)); resp != nil {
		return resp, nil
	}
	return nil, errAnswerTooLarge
}

// describeConsumers answers nil when that is too much for an answer.
func (c *coordinator) describeConsumers(req *kmsg.ConsumerGroupDescribeRequest, may access) *kmsg.ConsumerGroupDescribeResponse {
	resp := kmsg.NewPtrConsumerGroupDescribeResponse()
	state, room := c.view(), answerRoom(maxAnswerBytes)
	enabled := c.consumerProtocol(state)
	badID := func(id string) bool { return len(id) > maxName || id == "" }
	groups, hidden := req.Groups, []string(nil)
	if enabled {
		groups, hidden = permitted(may, acls.Describe, acls.Group, groups, itself)
	}
	for _, id := range hidden {
		if !room.takeGroup(id, nil, 1) {
			return nil
		}
		out := kmsg.NewConsumerGroupDescribeResponseGroup()
		out.Group, out.ErrorCode = id, groupAuthorizationFailed
		resp.Groups = append(resp.Groups, out)
	}
	for _, id := range badFirst(groups, badID) {
		g := state.Groups.Get(id)
		if !room.takeGroup(id, g, 2) {
			return nil
		}
		out := kmsg.NewConsumerGroupDescribeResponseGroup()
		out.Group = id
		switch {
		case !enabled:
			out.ErrorCode = unsupportedVersion
		case badID(id):
			out.ErrorCode = invalidGroupID
		case g == nil:
			out.ErrorCode, out.ErrorMessage = groupIDNotFound, text(fmt.Sprintf("Group %s not found.", id))
		case g.Consumer == nil:
			out.ErrorCode, out.ErrorMessage = groupIDNotFound, text(fmt.Sprintf("Group %s is not a consumer group.", id))
		default:
			c.describeConsumerGroup(&out, state, g)
			if req.IncludeAuthorizedOperations {
				out.AuthorizedOperations = may.operations(acls.Group, id)
			}
			hideConsumerTopics(&out, may)
		}
		resp.Groups = append(resp.Groups, out)
	}
	return resp
}

// hideConsumerTopics tells nothing of the members of a group that one of them has a topic in that the caller may not describe.
func hideConsumerTopics(out *kmsg.ConsumerGroupDescribeResponseGroup, may access) {
	hidden := func(p kmsg.AssignmentTopicPartition) bool {
		return !may.may(acls.Describe, acls.Topic, p.Topic)
	}
	if !may.guarded() || !slices.ContainsFunc(out.Members, func(m kmsg.ConsumerGroupDescribeResponseGroupMember) bool {
		return slices.ContainsFunc(m.Assignment.TopicPartitions, hidden) || slices.ContainsFunc(m.TargetAssignment.TopicPartitions, hidden)
	}) {
		return
	}
	group := out.Group
	*out = kmsg.NewConsumerGroupDescribeResponseGroup()
	out.Group, out.ErrorCode, out.ErrorMessage = group, topicAuthorizationFailed, text(groupTopicsRefusedText)
}

// groupTopicsRefusedText is Kafka's.
const groupTopicsRefusedText = "The group has described topic(s) that the client is not authorized to describe."

// badFirst are the ids in the order in which Kafka answers: those that cannot be any group's come first.
func badFirst(ids []string, bad func(string) bool) []string {
	ordered := make([]string, 0, len(ids))
	for _, first := range []bool{true, false} {
		for _, id := range ids {
			if bad(id) == first {
				ordered = append(ordered, id)
			}
		}
	}
	return ordered
}

func (c *coordinator) describeConsumerGroup(out *kmsg.ConsumerGroupDescribeResponseGroup, state *projections.State, g *projections.Group) {
	out.State, out.Epoch, out.AssignmentEpoch = g.State.String(), g.Consumer.Epoch, g.Consumer.TargetEpoch
	out.AssignorName = preferredAssignor(g.Consumer, c.settings.consumer.assignors[0])
	out.Members = make([]kmsg.ConsumerGroupDescribeResponseGroupMember, len(g.Consumer.Members))
	for i, m := range g.Consumer.Members {
		out.Members[i] = describeConsumer(state, m)
	}
}

func describeConsumer(state *projections.State, m *projections.ConsumerMember) kmsg.ConsumerGroupDescribeResponseGroupMember {
	out := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	out.MemberID, out.InstanceID, out.MemberEpoch = m.ID, m.Instance(), m.Epoch
	out.ClientID, out.ClientHost = m.ClientID, m.ClientHost
	out.SubscribedTopics, out.SubscribedTopicRegex = m.Topics, &m.Regex
	if m.Rack != "" {
		out.RackID = &m.Rack
	}
	if out.MemberType = 1; m.Classic {
		out.MemberType = 0
	}
	// It answers for what it has not given up yet, too.
	for _, p := range joinOwned(m.Assigned, m.Revoking) {
		out.Assignment.TopicPartitions = withTopic(out.Assignment.TopicPartitions, state, p.TopicID, p.Partitions)
	}
	for _, p := range m.Target {
		out.TargetAssignment.TopicPartitions = withTopic(out.TargetAssignment.TopicPartitions, state, p.TopicID, p.Partitions)
	}
	return out
}

// withTopic adds partitions of a topic, if it still exists.
func withTopic(list []kmsg.AssignmentTopicPartition, state *projections.State, id [16]byte, partitions []int32) []kmsg.AssignmentTopicPartition {
	t := state.Topics.WithID(id)
	if t == nil {
		return list
	}
	return append(list, kmsg.AssignmentTopicPartition{TopicID: id, Topic: t.Name, Partitions: partitions})
}
