package handlers

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// streamsCommand is a StreamsGroupHeartbeat as the state machine sees it, and what came of it.
type streamsCommand struct {
	req        *kmsg.StreamsGroupHeartbeatRequest
	clientID   string
	clientHost string

	resp   *kmsg.StreamsGroupHeartbeatResponse
	create []kmsg.CreateTopicsRequestTopic
}

// streamsBeat is a heartbeat on its way through the steps of the decision.
type streamsBeat struct {
	*streamsCommand
	joins  bool
	found  bool // the group was there, whatever its type
	fresh  bool // it comes into being, or becomes a streams group
	empty  bool // it had no members
	says   bool // the member says something else of itself than before
	before *projections.StreamsMember
	soft   *streamsSoft

	configured *configuredTopology
	standbys   int32
	statuses   []kmsg.StreamsGroupHeartbeatResponseStatus
}

// streamsHeartbeat decides a heartbeat. A refusal may come after events: the caller drops them then, as Kafka drops its records.
func (d *groupDecision) streamsHeartbeat(c *streamsCommand) *refusal {
	if c.req.MemberEpoch == leavingEpoch {
		return d.streamsLeave(c)
	}
	b := &streamsBeat{streamsCommand: c, joins: c.req.MemberEpoch == joiningEpoch, standbys: d.groupInt(c.req.Group, "streams.num.standby.replicas")}
	for _, step := range []func(*streamsBeat) *refusal{
		d.findStreamsGroup, d.findStreamsMember, d.enterStreamsGroup, d.updateTopology, d.configureStreams,
	} {
		if no := step(b); no != nil {
			return no
		}
	}
	d.bumpStreams(b)
	d.delayStreams(b)
	epoch, target := d.streamsTarget(b)
	moved := d.reconcileStreams(c.req.Group, c.req.MemberID, epoch, target, ownedTasks(c.req))
	d.keepStreamsSession(b)
	return d.answerStreams(b, moved)
}

// findStreamsGroup finds the group, or says which it would be.
func (d *groupDecision) findStreamsGroup(b *streamsBeat) *refusal {
	id := b.req.Group
	g := d.group(id)
	b.found = g != nil
	switch {
	case g == nil && !b.joins:
		return refuse(groupIDNotFound, fmt.Sprintf("Streams group %s not found.", id))
	case g == nil, b.joins && g.Type == journal.GroupClassic && g.State == projections.Empty:
		b.fresh, b.empty, b.soft = true, true, &streamsSoft{}
		return d.roomForStreams(b, g)
	case g.Type != journal.GroupStreams:
		return refuse(groupIDNotFound, fmt.Sprintf("Group %s is not a streams group.", id))
	}
	b.empty, b.soft = g.Size() == 0, d.streams.of(id)
	if most := d.configs.Int("group.streams.max.size"); b.joins && int64(g.Size()) >= most {
		return refuse(groupMaxSizeReached, fmt.Sprintf("The streams group has reached its maximum capacity of %d members.", most))
	}
	if b.joins {
		return d.roomForStreams(b, g)
	}
	return nil
}

// roomForStreams applies doze's own bounds (docs/limits.md) to a join.
func (d *groupDecision) roomForStreams(b *streamsBeat, g *projections.Group) *refusal {
	limits, now := &d.settings.limits, int64(0)
	more := int64(len(b.req.Group)) + 1024 + topologyOf(b.req.Topology).Bytes()
	if g != nil {
		now = g.Bytes()
	}
	if g == nil && d.state.Groups.Len() >= limits.groups || g != nil && g.Size() >= limits.members || !d.roomForGroup(now, more) {
		return refuse(groupMaxSizeReached, "There is no room for more members of groups.")
	}
	return nil
}

// findStreamsMember finds the member and holds its epoch against the one it says.
func (d *groupDecision) findStreamsMember(b *streamsBeat) *refusal {
	if !b.fresh {
		b.before = d.group(b.req.Group).Streams.Member(b.req.MemberID)
	}
	if b.joins {
		return nil
	}
	m := b.before
	if m == nil {
		return unknownStreamsMember(b.req)
	}
	switch said := b.req.MemberEpoch; {
	case said > m.Epoch:
		return fencedEpoch("streams", "greater", said, m.Epoch, "")
	case said < m.Epoch && (said != m.Previous || !ownsOnlyItsOwn(b.req, m)):
		// With the epoch before, and nothing that it was not given, it may be that the last answer was lost.
		return fencedEpoch("streams", "smaller", said, m.Epoch, "")
	}
	return nil
}

func unknownStreamsMember(req *kmsg.StreamsGroupHeartbeatRequest) *refusal {
	return refuse(unknownMemberID, fmt.Sprintf("Member %s is not a member of group %s.", req.MemberID, req.Group))
}

// enterStreamsGroup brings the group and the member about, or notes what the member says of itself now.
func (d *groupDecision) enterStreamsGroup(b *streamsBeat) *refusal {
	e, no := b.described()
	if no != nil {
		return no
	}
	switch {
	case b.fresh && b.found:
		d.convertEmpty(d.group(b.req.Group), journal.GroupStreams, 0)
	case b.fresh:
		d.emit(&journal.GroupCreated{Group: b.req.Group, Type: journal.GroupStreams})
	}
	if b.says = b.before == nil || !reflect.DeepEqual(e, saidBy(b.req.Group, b.before)); b.says {
		d.emit(e)
	}
	return nil
}

// described is what the member says of itself: what a heartbeat leaves out is as before.
func (b *streamsBeat) described() (*journal.StreamsMemberSaid, *refusal) {
	req, before := b.req, b.before
	if before == nil {
		before = &projections.StreamsMember{ID: req.MemberID, RebalanceTimeoutMs: -1, TopologyEpoch: -1}
	}
	e := saidBy(req.Group, before)
	e.ClientID, e.ClientHost = b.clientID, b.clientHost
	if req.RackID != nil {
		e.HasRack, e.Rack = true, *req.RackID
	}
	if req.RebalanceTimeoutMillis != -1 {
		e.RebalanceTimeoutMs = req.RebalanceTimeoutMillis
	}
	if req.Topology != nil {
		e.TopologyEpoch = req.Topology.Epoch
	}
	if req.ProcessID != nil {
		e.Process = *req.ProcessID
	}
	if req.UserEndpoint != nil {
		e.HasEndpoint, e.EndpointHost, e.EndpointPort = true, req.UserEndpoint.Host, req.UserEndpoint.Port
	}
	if req.ClientTags == nil {
		return e, nil
	}
	e.Tags = nil
	for _, tag := range req.ClientTags {
		e.Tags = append(e.Tags, journal.StreamsTag{Key: tag.Key, Value: tag.Value})
	}
	slices.SortStableFunc(e.Tags, func(a, b journal.StreamsTag) int { return strings.Compare(a.Key, b.Key) })
	for i := range e.Tags {
		if i > 0 && e.Tags[i-1].Key == e.Tags[i].Key {
			return nil, &refusal{code: unknownServerError} // Kafka stumbles over it
		}
	}
	return e, nil
}

// saidBy is what a member has said so far.
func saidBy(group string, m *projections.StreamsMember) *journal.StreamsMemberSaid {
	e := &journal.StreamsMemberSaid{
		Group: group, Member: m.ID, ClientID: m.ClientID, ClientHost: m.ClientHost, RebalanceTimeoutMs: m.RebalanceTimeoutMs,
		TopologyEpoch: m.TopologyEpoch, Process: m.Process, Tags: m.Tags,
	}
	if m.Rack != nil {
		e.HasRack, e.Rack = true, *m.Rack
	}
	if m.Endpoint != nil {
		e.HasEndpoint, e.EndpointHost, e.EndpointPort = true, m.Endpoint.Host, m.Endpoint.Port
	}
	return e
}

// updateTopology gives the group the topology of its first member, and refuses another one.
func (d *groupDecision) updateTopology(b *streamsBeat) *refusal {
	g := d.group(b.req.Group).Streams
	if b.req.Topology != nil {
		brought := topologyOf(b.req.Topology)
		if brought == nil || brought.Epoch < 0 {
			return &refusal{code: unknownServerError} // Kafka stumbles over a subtopology twice, and over a negative epoch
		}
		switch {
		case g.Topology == nil:
			d.emit(&journal.StreamsTopologySet{Group: b.req.Group, Epoch: brought.Epoch, Subtopologies: brought.Subtopologies})
			return nil
		case g.Topology.Epoch > brought.Epoch:
		case !reflect.DeepEqual(g.Topology, brought):
			return refuse(invalidRequest, "Topology updates are not supported yet.")
		}
	}
	if m := g.Member(b.req.MemberID); m.TopologyEpoch < g.Topology.Epoch {
		b.status(statusStaleTopology, fmt.Sprintf("The member's topology epoch %d is behind the group's topology epoch %d.", m.TopologyEpoch, g.Topology.Epoch))
	}
	return nil
}

func (b *streamsBeat) status(code int8, detail string) {
	b.statuses = append(b.statuses, kmsg.StreamsGroupHeartbeatResponseStatus{StatusCode: code, StatusDetail: detail})
}

// configureStreams works out what the topology comes to with the topics as they are, when they have changed.
func (d *groupDecision) configureStreams(b *streamsBeat) *refusal {
	g := d.group(b.req.Group).Streams
	soft := b.soft
	b.configured = soft.configured.Load()
	if topics := d.state.Topics.Changed(); b.configured == nil || soft.topics != topics {
		hash := topicsHash(d.state, requiredTopics(g.Topology))
		if b.configured == nil || hash != soft.hash {
			configured, no := configureTopology(g.Topology, d.partitionsOf)
			if no != nil {
				return no
			}
			b.configured = configured
			soft.configured.Store(configured)
		}
		soft.topics, soft.hash = topics, hash
	}
	if !b.configured.ready() {
		return nil
	}
	for _, tasks := range [...][]kmsg.TaskIDs{b.req.ActiveTasks, b.req.StandbyTasks} {
		if no := b.configured.checkTasks(tasks); no != nil {
			return no
		}
	}
	return nil
}

func (d *groupDecision) partitionsOf(topic string) (int32, bool) {
	if t := d.state.Topics.Named(topic); t != nil {
		return t.Partitions, true
	}
	return 0, false
}

func (t *configuredTopology) checkTasks(tasks []kmsg.TaskIDs) *refusal {
	for i := range tasks {
		id := tasks[i].SubtopologyID
		part := t.part(id)
		if part == nil {
			return refuse(invalidRequest, "Subtopology "+id+" does not exist in the topology.")
		}
		for _, p := range tasks[i].Partitions {
			if p < 0 || p >= part.tasks {
				return refuse(invalidRequest, fmt.Sprintf("Task %d for subtopology %s is invalid. Number of tasks for this subtopology: %d", p, id, part.tasks))
			}
		}
	}
	return nil
}

// bumpStreams raises the group's epoch when anything changed that tasks depend on.
func (d *groupDecision) bumpStreams(b *streamsBeat) {
	g := d.group(b.req.Group).Streams
	e := &journal.StreamsGroupBumped{
		Group: b.req.Group, Epoch: g.Epoch + 1, Topics: b.soft.hash, Validated: -1, Standbys: b.standbys,
	}
	if b.configured.ready() {
		e.Validated = g.Topology.Epoch
	}
	if b.says || e.Topics != g.Topics || e.Validated != g.Validated || e.Standbys != g.Standbys {
		d.emit(e)
	}
}

// delayStreams begins the initial delay of a group that had no members.
func (d *groupDecision) delayStreams(b *streamsBeat) {
	if !b.empty {
		return
	}
	soft := d.streams.of(b.req.Group)
	delay := d.groupInt(b.req.Group, "streams.initial.rebalance.delay.ms")
	if delay <= 0 || soft.delayed > d.at {
		return
	}
	soft.delayed = d.at + int64(delay)
	d.arm(deadlineKey{kind: deadlineAssign, group: b.req.Group}, delay, d.seq)
}

// streamsLeave takes out a member that goes.
func (d *groupDecision) streamsLeave(c *streamsCommand) *refusal {
	g := d.group(c.req.Group)
	switch {
	case g == nil:
		return refuse(groupIDNotFound, fmt.Sprintf("Group %s not found.", c.req.Group))
	case g.Type != journal.GroupStreams:
		return refuse(groupIDNotFound, fmt.Sprintf("Group %s is not a streams group.", c.req.Group))
	}
	if c.req.ShutdownApplication {
		d.streams.of(g.ID).askShutdown(c.req.MemberID)
	}
	if g.Streams.Member(c.req.MemberID) == nil {
		return unknownStreamsMember(c.req)
	}
	d.removeStreamsMember(g, c.req.MemberID, journal.RemovedLeft)
	c.resp = kmsg.NewPtrStreamsGroupHeartbeatResponse()
	c.resp.MemberID, c.resp.MemberEpoch = c.req.MemberID, c.req.MemberEpoch
	c.resp.Status = []kmsg.StreamsGroupHeartbeatResponseStatus{}
	return nil
}

// askShutdown notes who asked first.
func (s *streamsSoft) askShutdown(member string) {
	if s.shutdown == "" {
		s.shutdown = member
	}
}

// removeStreamsMember takes out a member for a reason.
func (d *groupDecision) removeStreamsMember(g *projections.Group, id string, reason journal.RemovalReason) {
	d.emit(&journal.StreamsMemberRemoved{Group: g.ID, Member: id, Reason: reason, Epoch: g.Streams.Epoch + 1})
	d.disarm(sessionOf(g.ID, id))
	d.disarm(reconcileOf(g.ID, id))
	if d.group(g.ID).Size() == 0 {
		d.streams.of(g.ID).shutdown = ""
	}
}

// topologyOf is a topology as it is kept; nil of none, or when a subtopology stands in it twice.
func topologyOf(t *kmsg.StreamsGroupHeartbeatRequestTopology) *projections.StreamsTopology {
	if t == nil {
		return nil
	}
	out := &projections.StreamsTopology{Epoch: t.Epoch}
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		to := journal.StreamsSubtopology{
			ID: s.SubtopologyID, Sources: namesOf(s.SourceTopics), Sinks: namesOf(s.RepartitionSinkTopics),
			Changelogs: streamsTopics(s.StateChangelogTopics), Repartitions: streamsTopics(s.RepartitionSourceTopics),
		}
		for _, c := range s.CopartitionGroups {
			to.Copartitions = append(to.Copartitions, journal.StreamsCopartition{Sources: placesOf(c.SourceTopics), Repartitions: placesOf(c.RepartitionSourceTopics)})
		}
		out.Subtopologies = append(out.Subtopologies, to)
	}
	slices.SortStableFunc(out.Subtopologies, func(a, b journal.StreamsSubtopology) int { return strings.Compare(a.ID, b.ID) })
	for i := range out.Subtopologies {
		if i > 0 && out.Subtopologies[i-1].ID == out.Subtopologies[i].ID {
			return nil
		}
	}
	return out
}

// namesOf and placesOf are copies in the form in which they come back from the journal: nil when there are none.
func namesOf(names []string) []string { return append([]string(nil), names...) }
func placesOf(places []int16) []int16 { return append([]int16(nil), places...) }

func streamsTopics(topics []kmsg.TopicInfo) (out []journal.StreamsTopic) {
	for _, t := range topics {
		to := journal.StreamsTopic{Name: t.Topic, Partitions: t.NumPartitions, Replication: t.ReplicationFactor}
		for _, c := range t.Configs {
			to.Configs = append(to.Configs, journal.StreamsConfig{Name: c.Key, Value: c.Value})
		}
		out = append(out, to)
	}
	return out
}
