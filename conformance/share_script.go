package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareSet are the properties of brokers for scripts of share groups: one coordinator for all share partitions, members that
// heartbeat every second, locks and sessions that end while a script waits, assignments that are not delayed.
func shareSet(more ...string) map[string]string {
	set := groupSetWith(
		"share.coordinator.state.topic.num.partitions", "1",
		"group.share.min.heartbeat.interval.ms", "1000", "group.share.heartbeat.interval.ms", "1000",
		"group.share.min.session.timeout.ms", "1000", "group.share.min.record.lock.duration.ms", "1000",
		"group.share.assignment.interval.ms", "0",
	)
	for i := 0; i+1 < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// inSharePart gives scenarios the part and the properties that those of share groups have.
func inSharePart(list []Scenario) []Scenario {
	for i := range list {
		list[i].Part = 3
		if list[i].Set == nil {
			list[i].Set = shareSet()
		}
	}
	return list
}

// Types of acknowledgements.
const (
	ackGap     int8 = 0
	ackAccept  int8 = 1
	ackRelease int8 = 2
	ackReject  int8 = 3
	ackRenew   int8 = 4
)

// acks are acknowledgements of a range of offsets: one type for all, or one each.
type acks struct {
	first, last int64
	types       []int8
}

func ack(first, last int64, types ...int8) acks { return acks{first, last, types} }

// shareMember is a member of a share group, on a connection of its own.
type shareMember struct {
	*Conn
	group, id string
	epoch     int32
	session   int32 // epoch of the share session's next request
}

func (c *C) shareMember(conn, group string) *shareMember {
	return &shareMember{Conn: c.Conn(conn), group: group, id: "member-" + conn}
}

func (m *shareMember) beat(epoch int32, topics ...string) *kmsg.ShareGroupHeartbeatRequest {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.MemberEpoch, req.SubscribedTopicNames = m.group, m.id, epoch, topics
	return req
}

// joins brings the member into the group, and then until it has partitions assigned.
func (m *shareMember) joins(topics ...string) *shareMember {
	r := AskUntil(m.Conn, "join", 1, m.beat(0, topics...), func(r *kmsg.ShareGroupHeartbeatResponse) bool {
		return r.ErrorCode != 14 && r.ErrorCode != 15 && r.ErrorCode != 16
	})
	if r.ErrorCode != 0 {
		m.c.Fatalf("join of %s: error %d", m.id, r.ErrorCode)
	}
	m.epoch = r.MemberEpoch
	if r.Assignment != nil && len(r.Assignment.TopicPartitions) > 0 { // of topics that are the group's already
		return m
	}
	return m.awaitAssignment("heartbeat until assigned")
}

func (m *shareMember) awaitAssignment(step string) *shareMember {
	r := AskUntil(m.Conn, step, 1, m.beat(m.epoch), func(r *kmsg.ShareGroupHeartbeatResponse) bool {
		return r.ErrorCode != 0 || r.Assignment != nil && len(r.Assignment.TopicPartitions) > 0
	})
	if r.ErrorCode != 0 {
		m.c.Fatalf("%s of %s: error %d", step, m.id, r.ErrorCode)
	}
	m.epoch = r.MemberEpoch
	return m
}

// heartbeat shows the answer to a heartbeat with nothing new.
func (m *shareMember) heartbeat(step string) {
	r := Ask[*kmsg.ShareGroupHeartbeatResponse](m.Conn, step, 1, m.beat(m.epoch))
	if r.ErrorCode == 0 {
		m.epoch = r.MemberEpoch
	}
}

// fetching asks for partition 0 of topics in the session, and for many records; it waits for one.
func (m *shareMember) fetching(topics ...topicRef) *kmsg.ShareFetchRequest {
	req := kmsg.NewPtrShareFetchRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &m.group, &m.id, m.session
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.MaxRecords, req.BatchSize = 5_000, 1, 1<<20, 500, 500
	for _, t := range topics {
		req.Topics = append(req.Topics, kmsg.ShareFetchRequestTopic{
			TopicID: t.id, Partitions: []kmsg.ShareFetchRequestTopicPartition{{PartitionMaxBytes: 1 << 20}},
		})
	}
	return req
}

// with piggy-backs acknowledgements for partition 0 of a topic.
func with(req *kmsg.ShareFetchRequest, t topicRef, all ...acks) *kmsg.ShareFetchRequest {
	topic := kmsg.ShareFetchRequestTopic{TopicID: t.id, Partitions: []kmsg.ShareFetchRequestTopicPartition{{PartitionMaxBytes: 1 << 20}}}
	for _, a := range all {
		topic.Partitions[0].AcknowledgementBatches = append(topic.Partitions[0].AcknowledgementBatches,
			kmsg.ShareFetchRequestTopicPartitionAcknowledgementBatch{FirstOffset: a.first, LastOffset: a.last, AcknowledgeTypes: a.types})
	}
	req.Topics = append(req.Topics, topic)
	return req
}

// briefly does not wait for records.
func briefly(req *kmsg.ShareFetchRequest) *kmsg.ShareFetchRequest {
	req.MaxWaitMillis = 300
	return req
}

// fetches shows the answer to a fetch, which is the session's next.
func (m *shareMember) fetches(step string, req *kmsg.ShareFetchRequest) *kmsg.ShareFetchResponse {
	r := Ask[*kmsg.ShareFetchResponse](m.Conn, step, 2, req)
	if r.ErrorCode == 0 {
		m.session = nextShareEpoch(req.ShareSessionEpoch)
	}
	return r
}

func nextShareEpoch(epoch int32) int32 {
	if epoch < 0 {
		return 0
	}
	return epoch + 1
}

// acknowledging asks to acknowledge records of partition 0 of a topic.
func (m *shareMember) acknowledging(t topicRef, all ...acks) *kmsg.ShareAcknowledgeRequest {
	req := kmsg.NewPtrShareAcknowledgeRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &m.group, &m.id, m.session
	topic := kmsg.ShareAcknowledgeRequestTopic{TopicID: t.id, Partitions: []kmsg.ShareAcknowledgeRequestTopicPartition{{}}}
	for _, a := range all {
		topic.Partitions[0].AcknowledgementBatches = append(topic.Partitions[0].AcknowledgementBatches,
			kmsg.ShareAcknowledgeRequestTopicPartitionAcknowledgementBatch{FirstOffset: a.first, LastOffset: a.last, AcknowledgeTypes: a.types})
	}
	req.Topics = append(req.Topics, topic)
	return req
}

// acknowledges shows the answer to acknowledgements, the session's next request.
func (m *shareMember) acknowledges(step string, t topicRef, all ...acks) {
	m.asks(step, m.acknowledging(t, all...))
}

func (m *shareMember) asks(step string, req *kmsg.ShareAcknowledgeRequest) {
	r := Ask[*kmsg.ShareAcknowledgeResponse](m.Conn, step, 2, req)
	if r.ErrorCode == 0 {
		m.session = nextShareEpoch(req.ShareSessionEpoch)
	}
}

// shareOffsets asks for the offsets of groups: of all their topics, or of one.
func shareOffsets(group string, topics ...string) *kmsg.DescribeShareGroupOffsetsRequest {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	g.GroupID = group
	for _, name := range topics {
		g.Topics = append(g.Topics, kmsg.DescribeShareGroupOffsetsRequestGroupTopic{Topic: name, Partitions: []int32{0}})
	}
	req.Groups = append(req.Groups, g)
	return req
}

// Offsets shows where the group stands.
func (n *Conn) ShareOffsets(step, group string) { n.Do(step, 1, shareOffsets(group)) }

func describeShareGroups(groups ...string) *kmsg.ShareGroupDescribeRequest {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs = groups
	return req
}

const groupResource = 32

// GroupConfig sets a config of a group, and waits until it is told.
func (n *Conn) GroupConfig(group string, set ...string) {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = groupResource, group
	ask := kmsg.NewPtrDescribeConfigsRequest()
	d := kmsg.NewDescribeConfigsRequestResource()
	d.ResourceType, d.ResourceName = groupResource, group
	for i := 0; i+1 < len(set); i += 2 {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = set[i], &set[i+1]
		r.Configs = append(r.Configs, c)
		d.ConfigNames = append(d.ConfigNames, set[i])
	}
	req.Resources, ask.Resources = append(req.Resources, r), append(ask.Resources, d)
	n.Do("set configs of "+group, 1, req)
	AskUntil(n, "configs of "+group, 4, ask, func(r *kmsg.DescribeConfigsResponse) bool {
		for _, c := range r.Resources[0].Configs {
			for i := 0; i+1 < len(set); i += 2 {
				if c.Name == set[i] && (c.Value == nil || *c.Value != set[i+1]) {
					return false
				}
			}
		}
		return len(r.Resources[0].Configs) == len(set)/2
	})
}

// shareTopic makes a topic and a group that reads it from its beginning, with one member that is assigned to it.
func (c *C) shareTopic(name string, more ...string) (*shareMember, topicRef) {
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	t := n.NewTopic(name, 1)
	n.GroupConfig(name, append([]string{"share.auto.offset.reset", "earliest"}, more...)...)
	return c.shareMember("a", name).joins(name), t
}
