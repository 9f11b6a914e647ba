package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// streamsSet are the properties of brokers for scripts of streams groups: one coordinator, assignments at once.
var streamsSet = streamsSetWith()

// streamsSetWith is streamsSet and further properties: name, value, name, value.
func streamsSetWith(more ...string) map[string]string {
	return groupSetWith(append([]string{
		"group.streams.initial.rebalance.delay.ms", "0", "group.streams.assignment.interval.ms", "0",
		"group.streams.heartbeat.interval.ms", "5000", "group.streams.min.heartbeat.interval.ms", "5000",
		"group.consumer.heartbeat.interval.ms", "5000",
	}, more...)...)
}

// shortStreams let sessions and rebalances end while a script waits.
var shortStreams = streamsSetWith("group.streams.min.session.timeout.ms", "100", "group.streams.session.timeout.ms", "3000",
	"group.streams.min.heartbeat.interval.ms", "100", "group.streams.heartbeat.interval.ms", "1000")

type subtopology = kmsg.StreamsGroupHeartbeatRequestTopologySubtopology

// subtopologyOf reads topics and writes nothing.
func subtopologyOf(id string, sources ...string) subtopology {
	s := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
	s.SubtopologyID, s.SourceTopics = id, sources
	return s
}

// internal is a topic of a subtopology that the coordinator makes; configs are name, value, name, value.
func internal(name string, partitions int32, configs ...string) kmsg.TopicInfo {
	t := kmsg.NewTopicInfo()
	t.Topic, t.NumPartitions = name, partitions
	for i := 0; i+1 < len(configs); i += 2 {
		c := kmsg.NewTopicInfoConfig()
		c.Key, c.Value = configs[i], configs[i+1]
		t.Configs = append(t.Configs, c)
	}
	return t
}

// topologyOf is the topology of the given epoch.
func topologyOf(epoch int32, subtopologies ...subtopology) *kmsg.StreamsGroupHeartbeatRequestTopology {
	t := kmsg.NewStreamsGroupHeartbeatRequestTopology()
	t.Epoch, t.Subtopologies = epoch, subtopologies
	return &t
}

// tasksOf are tasks of subtopology "0" by partition; without any an empty list, which is not null.
func tasksOf(partitions ...int32) []kmsg.TaskIDs { return tasksIn("0", partitions...) }

func tasksIn(id string, partitions ...int32) []kmsg.TaskIDs {
	if len(partitions) == 0 {
		return []kmsg.TaskIDs{}
	}
	return []kmsg.TaskIDs{{SubtopologyID: id, Partitions: partitions}}
}

// streamsJoin is the first heartbeat of a member.
func streamsJoin(group, member string, topology *kmsg.StreamsGroupHeartbeatRequestTopology) *kmsg.StreamsGroupHeartbeatRequest {
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.Topology = group, member, 120_000, topology
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	req.ProcessID = kmsg.StringPtr("process-" + member)
	req.ClientTags = []kmsg.StreamsGroupHeartbeatRequestClientTag{}
	return req
}

// streamsHeartbeat says that the member is there, and nothing else.
func streamsHeartbeat(group, member string, epoch int32) *kmsg.StreamsGroupHeartbeatRequest {
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = group, member, epoch
	return req
}

func describeStreams(groups ...string) *kmsg.StreamsGroupDescribeRequest {
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = groups
	return req
}

// streamsMember is a member of a streams group.
type streamsMember struct {
	*Conn
	group, id string
	topology  *kmsg.StreamsGroupHeartbeatRequestTopology
	epoch     int32
	endpoints int32
	process   string
	host      string                              // of its endpoint; empty: it has none
	has       *kmsg.StreamsGroupHeartbeatResponse // the last answer with tasks
}

// streamsMember is a member that has not joined; its id and process are named after the connection.
func (c *C) streamsMember(conn, group string, topology *kmsg.StreamsGroupHeartbeatRequestTopology) *streamsMember {
	return &streamsMember{Conn: c.Conn(conn), group: group, id: conn, process: "process-" + conn, topology: topology}
}

func (m *streamsMember) joinRequest() *kmsg.StreamsGroupHeartbeatRequest {
	req := streamsJoin(m.group, m.id, m.topology)
	req.ProcessID = &m.process
	req.EndpointInformationEpoch = m.endpoints
	if m.host != "" {
		e := kmsg.NewStreamsGroupHeartbeatRequestUserEndpoint()
		e.Host, e.Port = m.host, 8080
		req.UserEndpoint = &e
	}
	return req
}

func (m *streamsMember) join(step string) *kmsg.StreamsGroupHeartbeatResponse {
	return m.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](m.Conn, step, 0, m.joinRequest()))
}

// beat is a heartbeat that says nothing of what the member has.
func (m *streamsMember) beat(step string) *kmsg.StreamsGroupHeartbeatResponse {
	req := streamsHeartbeat(m.group, m.id, m.epoch)
	req.EndpointInformationEpoch = m.endpoints
	return m.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](m.Conn, step, 0, req))
}

// owns is a heartbeat that tells what the member has: what it was given last.
func (m *streamsMember) owns(step string) *kmsg.StreamsGroupHeartbeatResponse {
	req := streamsHeartbeat(m.group, m.id, m.epoch)
	req.EndpointInformationEpoch = m.endpoints
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	if m.has != nil {
		req.ActiveTasks, req.StandbyTasks = m.has.ActiveTasks, m.has.StandbyTasks
	}
	return m.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](m.Conn, step, 0, req))
}

// until beats until the member has been given tasks, or has none of the statuses any more.
func (m *streamsMember) until(step string, done func(*kmsg.StreamsGroupHeartbeatResponse) bool) *kmsg.StreamsGroupHeartbeatResponse {
	req := streamsHeartbeat(m.group, m.id, m.epoch)
	req.EndpointInformationEpoch = m.endpoints
	return m.keep(AskUntil(m.Conn, step, 0, req, done))
}

func (m *streamsMember) keep(r *kmsg.StreamsGroupHeartbeatResponse) *kmsg.StreamsGroupHeartbeatResponse {
	if r.ErrorCode == 0 {
		m.epoch, m.endpoints = r.MemberEpoch, r.EndpointInformationEpoch
		if r.ActiveTasks != nil {
			m.has = r
		}
	}
	return r
}

func (m *streamsMember) leave(step string) *kmsg.StreamsGroupHeartbeatResponse {
	return Ask[*kmsg.StreamsGroupHeartbeatResponse](m.Conn, step, 0, streamsHeartbeat(m.group, m.id, -1))
}

// hasStatus says whether an answer has a status whose text contains some words.
func hasStatus(r *kmsg.StreamsGroupHeartbeatResponse, words string) bool {
	for _, s := range r.Status {
		if strings.Contains(s.StatusDetail, words) {
			return true
		}
	}
	return false
}

func noStatus(r *kmsg.StreamsGroupHeartbeatResponse) bool { return len(r.Status) == 0 }

// describe shows the group at the version of 4.3.
func (n *Conn) describeStreams(step, group string) *kmsg.StreamsGroupDescribeResponse {
	return Ask[*kmsg.StreamsGroupDescribeResponse](n, step, 0, describeStreams(group))
}

// streamsTopic creates a topic and waits until the coordinator of groups knows of it, a moment after everybody else does: until a
// group of its own has tasks. Of that group nothing is kept.
func (n *Conn) streamsTopic(name string, partitions int32) {
	n.offsetsTopic(name, partitions)
	const missing = 1
	before, deadline := len(n.c.steps), time.Now().Add(patience)
	for {
		probe := "probe-" + name
		r := Ask[*kmsg.StreamsGroupHeartbeatResponse](n, "probe", 0, streamsJoin(probe, "probe", topologyOf(0, subtopologyOf("0", name))))
		n.Do("leave", 0, streamsHeartbeat(probe, "probe", -1))
		n.Do("delete", 2, deleteGroupsRequest(probe))
		n.c.steps = n.c.steps[:before]
		if !slices.ContainsFunc(r.Status, func(s kmsg.StreamsGroupHeartbeatResponseStatus) bool { return s.StatusCode == missing }) {
			return
		}
		if time.Now().After(deadline) {
			n.c.Fatalf("the coordinator does not know of %s within %s: %+v", name, patience, r)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
