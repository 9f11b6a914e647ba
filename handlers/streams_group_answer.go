package handlers

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// keepStreamsSession begins the member's session, or begins it anew, and notes who asked for a shutdown.
func (d *groupDecision) keepStreamsSession(b *streamsBeat) {
	timeout := d.groupInt(b.req.Group, "streams.session.timeout.ms")
	if b.before == nil {
		d.arm(sessionOf(b.req.Group, b.req.MemberID), timeout, d.seq)
	} else {
		d.putOff(sessionOf(b.req.Group, b.req.MemberID), timeout)
	}
	if b.req.ShutdownApplication {
		b.soft.askShutdown(b.req.MemberID)
	}
}

// answerStreams tells the member its epoch, its tasks when it joined or they changed, and whatever is the matter.
func (d *groupDecision) answerStreams(b *streamsBeat, changed bool) *refusal {
	g := d.group(b.req.Group).Streams
	m := g.Member(b.req.MemberID)
	resp := kmsg.NewPtrStreamsGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch = m.ID, m.Epoch
	resp.HeartbeatIntervalMillis = d.groupInt(b.req.Group, "streams.heartbeat.interval.ms")
	if b.joins || changed {
		resp.ActiveTasks, resp.StandbyTasks, resp.WarmupTasks = taskIDs(m.Has.Active), taskIDs(m.Has.Standby), []kmsg.TaskIDs{}
		if m.Endpoint != nil {
			b.soft.endpoints++
		}
	}
	if b.soft.endpoints != b.req.EndpointInformationEpoch {
		all, ok := d.endpointsOf(g, m, b.configured)
		if !ok {
			return &refusal{code: unknownServerError}
		}
		resp.PartitionsByUserEndpoint = all
	}
	if b.found { // of a group that comes into being Kafka does not keep it
		resp.EndpointInformationEpoch = b.soft.endpoints
	}
	if problem := b.configured.problem; problem != nil {
		b.status(problem.StatusCode, problem.StatusDetail)
		b.create = b.configured.create
	}
	if who := b.soft.shutdown; who != "" {
		b.status(statusShutdown, fmt.Sprintf("Streams group member %s encountered a fatal error and requested a shutdown for the entire application.", who))
	}
	if resp.Status = b.statuses; resp.Status == nil {
		resp.Status = []kmsg.StreamsGroupHeartbeatResponseStatus{}
	}
	b.resp = resp
	return nil
}

func taskIDs(of []journal.StreamsTasks) []kmsg.TaskIDs {
	out := make([]kmsg.TaskIDs, len(of))
	for i, t := range of {
		out[i] = kmsg.TaskIDs{SubtopologyID: t.Subtopology, Partitions: slices.Clone(t.Partitions)}
	}
	return out
}

// endpointsOf tells which partitions the state of each member with an endpoint is made from; the member that asks is the last.
// Without the topics of the topology Kafka stumbles.
func (d *groupDecision) endpointsOf(g *projections.StreamsGroup, asks *projections.StreamsMember, configured *configuredTopology) (all []kmsg.StreamsGroupHeartbeatResponsePartitionsByUserEndpoint, ok bool) {
	all, ok = []kmsg.StreamsGroupHeartbeatResponsePartitionsByUserEndpoint{}, true
	add := func(m *projections.StreamsMember) {
		if m.Endpoint == nil || !ok {
			return
		}
		one := kmsg.NewStreamsGroupHeartbeatResponsePartitionsByUserEndpoint()
		one.UserEndpoint.Host, one.UserEndpoint.Port = m.Endpoint.Host, m.Endpoint.Port
		if configured.parts == nil || !d.readAll(configured, m.Has.Active) || !d.readAll(configured, m.Has.Standby) {
			ok = false
			return
		}
		d.eachRead(configured, m.Has.Active, func(topic string, partitions []int32) {
			one.ActivePartitions = append(one.ActivePartitions, kmsg.StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartition{Topic: topic, Partitions: partitions})
		})
		d.eachRead(configured, m.Has.Standby, func(topic string, partitions []int32) {
			one.StandbyPartitions = append(one.StandbyPartitions, kmsg.StreamsGroupHeartbeatResponsePartitionsByUserEndpointStandbyPartition{Topic: topic, Partitions: partitions})
		})
		all = append(all, one)
	}
	g.Each(func(m *projections.StreamsMember) bool {
		if m.ID != asks.ID {
			add(m)
		}
		return ok
	})
	add(asks)
	return all, ok
}

// readAll says whether all topics that tasks read are there.
func (d *groupDecision) readAll(configured *configuredTopology, of []journal.StreamsTasks) bool {
	all := true
	for _, t := range of {
		for _, topic := range configured.sourcesOf(t.Subtopology) {
			_, exists := d.partitionsOf(topic)
			all = all && exists
		}
	}
	return all
}

// eachRead yields the topics that tasks read, with the partitions. A topic with fewer partitions than there are tasks is told with
// as many of the first tasks, as Kafka has it.
func (d *groupDecision) eachRead(configured *configuredTopology, of []journal.StreamsTasks, yield func(topic string, partitions []int32)) {
	for _, t := range of {
		for _, topic := range configured.sourcesOf(t.Subtopology) {
			n, _ := d.partitionsOf(topic)
			yield(topic, slices.Clone(t.Partitions[:min(int(n), len(t.Partitions))]))
		}
	}
}

// sourcesOf are the topics that a subtopology reads.
func (t *configuredTopology) sourcesOf(subtopology string) []string {
	part := t.part(subtopology)
	if part == nil {
		return nil
	}
	topics := slices.Clone(part.Sources)
	for _, r := range part.Repartitions {
		topics = append(topics, r.Name)
	}
	return distinct(topics)
}
