package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// StreamsGroupHeartbeat (key 88), v0 (KIP-1071): a member of a streams group joins, stays, tells what it has, or leaves, and is
// told what it is to have. A join brings the application's topology; the group keeps the first.
//
// What 4.3.1 does not support yet is refused before anything else: static members, offsets of tasks, warm-up tasks, patterns of
// topics.
func (b *Broker) streamsGroupHeartbeat(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.StreamsGroupHeartbeatRequest)
	if !b.groups.streamsProtocol(b.groups.view()) {
		return refuseStreams(&refusal{code: unsupportedVersion}), nil
	}
	resp, create := b.groups.streamsHeartbeat(ctx, b.callerOf(r), req)
	_, hidden := b.access(r).creatable(create)
	switch {
	case len(hidden) > 0:
		tellBarred(resp, hidden)
	case len(create) > 0:
		b.createInternalTopics(ctx, r, req.Group, resp, create)
	}
	return resp, nil
}

// streamsProtocol says whether the broker serves streams groups: streams.version, group.coordinator.rebalance.protocols.
func (c *coordinator) streamsProtocol(state *projections.State) bool {
	return c.level(state, "streams.version") >= 1 && slices.Contains(c.configs(state).Entries("group.coordinator.rebalance.protocols"), "streams")
}

// refuseStreams is the answer to a refused heartbeat.
func refuseStreams(no *refusal) *kmsg.StreamsGroupHeartbeatResponse {
	resp := kmsg.NewPtrStreamsGroupHeartbeatResponse()
	resp.ErrorCode, resp.ErrorMessage = no.code, no.message
	resp.Status = []kmsg.StreamsGroupHeartbeatResponseStatus{}
	return resp
}

// streamsHeartbeat answers a heartbeat, and says which topics are to be made for its group.
func (c *coordinator) streamsHeartbeat(ctx context.Context, from caller, req *kmsg.StreamsGroupHeartbeatRequest) (*kmsg.StreamsGroupHeartbeatResponse, []kmsg.CreateTopicsRequestTopic) {
	if no := checkStreamsTopics(req); no != nil {
		return refuseStreams(no), nil
	}
	if req.Topology != nil && from.access.hidesAny(topologyNames(req.Topology)) {
		return refuseStreams(&refusal{code: topicAuthorizationFailed}), nil
	}
	if no := checkStreamsHeartbeat(req); no != nil {
		return refuseStreams(no), nil
	}
	cmd := &streamsCommand{req: req, clientID: from.clientID, clientHost: from.clientHost}
	var no *refusal
	err := c.update(ctx, from.cause, func(d *groupDecision) {
		if no = d.streamsHeartbeat(cmd); no != nil {
			d.drop()
		}
	})
	switch {
	case no != nil:
		return refuseStreams(no), nil
	case errors.Is(err, journal.ErrDropped):
		return refuseStreams(&refusal{code: unknownServerError}), nil
	case err != nil:
		return refuseStreams(refuse(notCoordinator, notCoordinatorText)), nil
	}
	return cmd.resp, cmd.create
}

// hasHidden says whether the caller may not describe a topic of a topology.
func hasHidden(may access, t *projections.StreamsTopology) bool {
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		names := slices.Concat(s.Sources, s.Sinks)
		for _, topics := range [...][]journal.StreamsTopic{s.Repartitions, s.Changelogs} {
			for j := range topics {
				names = append(names, topics[j].Name)
			}
		}
		if may.hidesAny(names) {
			return true
		}
	}
	return false
}

// checkStreamsHeartbeat refuses what no state of the group could make good, in Kafka's order.
func checkStreamsHeartbeat(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	for _, check := range []func(*kmsg.StreamsGroupHeartbeatRequest) *refusal{
		checkStreamsFeatures, checkStreamsIDs, checkStreamsJoin, checkStreamsTasks, checkStreamsSizes,
	} {
		if no := check(req); no != nil {
			return no
		}
	}
	return nil
}

// checkStreamsTopics looks at the names of a topology.
func checkStreamsTopics(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	if req.Topology == nil {
		return nil
	}
	var prohibited, invalid []string
	for _, name := range topologyNames(req.Topology) {
		switch {
		case internal(name):
			prohibited = append(prohibited, name)
		case invalidTopicName(name) != "":
			invalid = append(invalid, name)
		}
	}
	switch {
	case len(prohibited) > 0:
		return refuse(streamsInvalidTopology, "Use of Kafka internal topics "+strings.Join(prohibited, ",")+" in a Kafka Streams topology is prohibited.")
	case len(invalid) > 0:
		return refuse(streamsInvalidTopology, "Topic names "+strings.Join(invalid, ",")+" are not valid topic names.")
	}
	return nil
}

// topologyNames are all topics that a topology names, each once.
func topologyNames(t *kmsg.StreamsGroupHeartbeatRequestTopology) []string {
	var names []string
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		names = append(append(names, s.SourceTopics...), s.RepartitionSinkTopics...)
		for _, topics := range [...][]kmsg.TopicInfo{s.RepartitionSourceTopics, s.StateChangelogTopics} {
			for j := range topics {
				names = append(names, topics[j].Topic)
			}
		}
	}
	return distinct(names)
}

func checkStreamsFeatures(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	switch {
	case req.InstanceID != nil:
		return refuse(invalidRequest, "Static membership is not yet supported.")
	case req.TaskOffsets != nil:
		return refuse(invalidRequest, "TaskOffsets are not supported yet.")
	case req.TaskEndOffsets != nil:
		return refuse(invalidRequest, "TaskEndOffsets are not supported yet.")
	case len(req.WarmupTasks) > 0:
		return refuse(invalidRequest, "WarmupTasks are not supported yet.")
	case req.Topology == nil:
		return nil
	}
	for i := range req.Topology.Subtopologies {
		if len(req.Topology.Subtopologies[i].SourceTopicRegex) > 0 {
			return refuse(invalidRequest, "Regular expressions for source topics are not supported yet.")
		}
	}
	return nil
}

func checkStreamsIDs(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	switch {
	case isBlank(req.MemberID):
		return refuse(invalidRequest, "MemberId can't be empty.")
	case isBlank(req.Group):
		return refuse(invalidRequest, "GroupId can't be empty.")
	case req.RackID != nil && isBlank(*req.RackID):
		return refuse(invalidRequest, "RackId can't be empty.")
	}
	return nil
}

func checkStreamsJoin(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	switch {
	case req.MemberEpoch == leavingStaticEpoch:
		return refuse(invalidRequest, "InstanceId can't be null.")
	case req.MemberEpoch < leavingStaticEpoch:
		return refuse(invalidRequest, fmt.Sprintf("MemberEpoch is %d, but must be greater than or equal to -2.", req.MemberEpoch))
	case req.MemberEpoch != joiningEpoch:
		return nil
	case req.RebalanceTimeoutMillis == -1:
		return refuse(invalidRequest, "RebalanceTimeoutMs must be provided in first request.")
	case req.ActiveTasks == nil || len(req.ActiveTasks) > 0:
		return refuse(invalidRequest, "ActiveTasks must be empty when (re-)joining.")
	case req.StandbyTasks == nil || len(req.StandbyTasks) > 0:
		return refuse(invalidRequest, "StandbyTasks must be empty when (re-)joining.")
	case req.WarmupTasks == nil || len(req.WarmupTasks) > 0:
		return refuse(invalidRequest, "WarmupTasks must be empty when (re-)joining.")
	case req.Topology == nil:
		return refuse(invalidRequest, "Topology must be non-null when (re-)joining.")
	}
	for i := range req.Topology.Subtopologies {
		for _, c := range req.Topology.Subtopologies[i].StateChangelogTopics {
			if c.NumPartitions != 0 {
				return refuse(streamsInvalidTopology, fmt.Sprintf("Changelog topic %s must have an undefined partition count, but it is set to %d.", c.Topic, c.NumPartitions))
			}
		}
	}
	return nil
}

func checkStreamsTasks(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	given := 0
	for _, tasks := range [...][]kmsg.TaskIDs{req.ActiveTasks, req.StandbyTasks, req.WarmupTasks} {
		if tasks != nil {
			given++
		}
	}
	switch {
	case given > 0 && given < 3:
		return refuse(invalidRequest, "If one task-type is non-null, all must be non-null.")
	case req.MemberEpoch != joiningEpoch && req.Topology != nil:
		return refuse(invalidRequest, "Topology can only be provided when (re-)joining.")
	}
	return nil
}

// What a member may say of itself and of its topology (docs/limits.md).
const (
	maxSubtopologies   = 1_000
	maxTopologyBytes   = 1 << 20
	maxStreamsTagBytes = 1 << 16
)

func checkStreamsSizes(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	tooLong := len(req.Group) > maxName || len(req.MemberID) > maxName || isLong(req.RackID) || isLong(req.ProcessID) ||
		req.UserEndpoint != nil && len(req.UserEndpoint.Host) > maxName
	tags := 0
	for _, tag := range req.ClientTags {
		tags += len(tag.Key) + len(tag.Value) + 64
	}
	if tooLong || tags > maxStreamsTagBytes {
		return refuse(invalidRequest, malformedRequest)
	}
	if req.Topology != nil && (len(req.Topology.Subtopologies) > maxSubtopologies || topologyOf(req.Topology).Bytes() > maxTopologyBytes) {
		return refuse(streamsInvalidTopology, "The topology is too large.")
	}
	return nil
}
