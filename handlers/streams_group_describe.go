package handlers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// StreamsGroupDescribe (key 89), v0 (KIP-1071): streams groups with their topology, members and tasks. The empty id is answered
// first. While the topics of the topology are as they must be, internal topics have the numbers of partitions that they came to;
// else those that the application gave. After a restart that is so from the next heartbeat on.
func (b *Broker) streamsGroupDescribe(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.StreamsGroupDescribeRequest), respond[*kmsg.StreamsGroupDescribeResponse](r)
	state, room := b.groups.view(), answerRoom(maxAnswerBytes)
	serves := b.groups.streamsProtocol(state)
	may, groups, hidden := b.access(r), req.Groups, []string(nil)
	if serves {
		groups, hidden = permitted(may, acls.Describe, acls.Group, groups, itself)
	}
	for _, id := range hidden {
		if !room.takeGroup(id, nil, 1) {
			return nil, errAnswerTooLarge
		}
		out := kmsg.NewStreamsGroupDescribeResponseGroup()
		out.Group, out.ErrorCode = id, groupAuthorizationFailed
		resp.Groups = append(resp.Groups, out)
	}
	for _, id := range emptyFirst(groups) {
		g := state.Groups.Get(id)
		if !room.takeGroup(id, g, 2) {
			return nil, errAnswerTooLarge
		}
		out := kmsg.NewStreamsGroupDescribeResponseGroup()
		out.Group = id
		switch {
		case !serves:
			out.ErrorCode = unsupportedVersion
		case id == "" || len(id) > maxName:
			out.ErrorCode = invalidGroupID
		case g == nil:
			out.ErrorCode, out.ErrorMessage = groupIDNotFound, text(fmt.Sprintf("Group %s not found.", id))
		case g.Type != journal.GroupStreams:
			out.ErrorCode, out.ErrorMessage = groupIDNotFound, text(fmt.Sprintf("Group %s is not a streams group.", id))
		default:
			describeStreamsGroup(g, b.groups.streams.of(id).configured.Load(), &out)
			if req.IncludeAuthorizedOperations {
				out.AuthorizedOperations = may.operations(acls.Group, id)
			}
			if may.guarded() && g.Streams.Topology != nil && hasHidden(may, g.Streams.Topology) {
				out = kmsg.NewStreamsGroupDescribeResponseGroup()
				out.Group, out.ErrorCode = id, topicAuthorizationFailed
				out.ErrorMessage = text("The described group uses topics that the client is not authorized to describe.")
			}
		}
		resp.Groups = append(resp.Groups, out)
	}
	return resp, nil
}

// emptyFirst puts empty ids first.
func emptyFirst(ids []string) []string {
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(min(len(a), 1), min(len(b), 1)) })
	return ids
}

func describeStreamsGroup(g *projections.Group, configured *configuredTopology, out *kmsg.StreamsGroupDescribeResponseGroup) {
	s := g.Streams
	out.State, out.Epoch, out.AssignmentEpoch = g.State.String(), s.Epoch, s.Assigned
	if s.Topology != nil {
		out.Topology = describeTopology(s.Topology, configured)
	}
	out.Members = make([]kmsg.StreamsGroupDescribeResponseGroupMember, 0, s.Len())
	s.Each(func(m *projections.StreamsMember) bool {
		out.Members = append(out.Members, describeStreamsMember(m))
		return true
	})
}

func describeTopology(t *projections.StreamsTopology, configured *configuredTopology) *kmsg.StreamsGroupDescribeResponseGroupTopology {
	out := kmsg.NewStreamsGroupDescribeResponseGroupTopology()
	out.Epoch = t.Epoch
	out.Subtopologies = make([]kmsg.StreamsGroupDescribeResponseGroupTopologySubtopology, len(t.Subtopologies))
	for i := range t.Subtopologies {
		s, to := &t.Subtopologies[i], &out.Subtopologies[i]
		var part *configuredSubtopology
		if configured != nil && configured.ready() {
			part = configured.part(s.ID)
		}
		to.SubtopologyID = s.ID
		to.SourceTopics, to.RepartitionSinkTopics = slices.Sorted(slices.Values(s.Sources)), slices.Sorted(slices.Values(s.Sinks))
		if part != nil {
			to.SourceTopics, to.RepartitionSinkTopics = slices.Compact(to.SourceTopics), slices.Compact(to.RepartitionSinkTopics)
		}
		to.RepartitionSourceTopics, to.StateChangelogTopics = describeInternal(s.Repartitions, part), describeInternal(s.Changelogs, part)
	}
	return &out
}

func describeInternal(topics []journal.StreamsTopic, part *configuredSubtopology) []kmsg.TopicInfo {
	out := make([]kmsg.TopicInfo, len(topics))
	for i, t := range topics {
		out[i] = kmsg.TopicInfo{Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: t.Replication, Configs: []kmsg.TopicInfoConfig{}}
		if part != nil {
			out[i].NumPartitions = part.internal[t.Name]
		}
		for _, c := range t.Configs {
			out[i].Configs = append(out[i].Configs, kmsg.TopicInfoConfig{Key: c.Name, Value: c.Value})
		}
	}
	slices.SortStableFunc(out, func(a, b kmsg.TopicInfo) int { return cmp.Compare(a.Topic, b.Topic) })
	return out
}

func describeStreamsMember(m *projections.StreamsMember) kmsg.StreamsGroupDescribeResponseGroupMember {
	out := kmsg.NewStreamsGroupDescribeResponseGroupMember()
	out.MemberID, out.MemberEpoch, out.RackID, out.ClientID, out.ClientHost = m.ID, m.Epoch, m.Rack, m.ClientID, m.ClientHost
	out.TopologyEpoch, out.ProcessID = m.TopologyEpoch, m.Process
	if m.Endpoint != nil {
		out.UserEndpoint = &kmsg.StreamsGroupDescribeResponseGroupMemberUserEndpoint{Host: m.Endpoint.Host, Port: m.Endpoint.Port}
	}
	for _, tag := range m.Tags {
		out.ClientTags = append(out.ClientTags, kmsg.StreamsGroupDescribeResponseGroupMemberClientTag{Key: tag.Key, Value: tag.Value})
	}
	out.Assignment.ActiveTasks, out.Assignment.StandbyTasks = taskIDs(m.Has.Active), taskIDs(m.Has.Standby)
	out.TargetAssignment.ActiveTasks, out.TargetAssignment.StandbyTasks = taskIDs(m.Target.Active), taskIDs(m.Target.Standby)
	return out
}
