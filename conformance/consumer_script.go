package conformance

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerSet are the properties of brokers for scripts of consumer groups: assignments are worked out at once, heartbeats
// are to come as often as Kafka has it, and sessions may be short.
func consumerSet(more ...string) map[string]string {
	set := groupSetWith("group.consumer.assignment.interval.ms", "0", "group.consumer.heartbeat.interval.ms", "5000",
		"group.consumer.min.heartbeat.interval.ms", "5000", "group.consumer.min.session.timeout.ms", "6000")
	for i := 0; i+1 < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// withConsumerSet gives the scenarios that ask for no properties those of consumer groups, and the part that they are built in:
// the third, before the rest of it.
func withConsumerSet(list []Scenario) []Scenario {
	for i := range list {
		if list[i].Part = 2; list[i].Set == nil {
			list[i].Set = consumerSet()
		}
	}
	return list
}

// consumer is a member of a consumer group, on a connection of its own. Its id is made of group and connection, so that it
// sorts the same in each run.
type consumer struct {
	*Conn
	group, id string
	epoch     int32
	instance  *string
	names     []string // null: not told
	regex     *string
	assignor  *string
	rebalance int32
	owns      []kmsg.ConsumerGroupHeartbeatRequestTopic
	made      [][16]byte // topics, in the order in which what it owns is told
}

// makes creates a topic.
func (m *consumer) makes(name string, partitions int32) {
	m.made = append(m.made, m.MakeTopic(name, partitions))
}

// consumer is a member that reads the topics, by the range assignor: what it gives to whom hangs on ids alone.
func (c *C) consumer(conn, group string, topics ...string) *consumer {
	return &consumer{
		Conn: c.Conn(conn), group: group, id: group + "-" + conn, names: topics, assignor: kmsg.StringPtr("range"), rebalance: 60_000,
	}
}

// heartbeatOf is a heartbeat that says no more than it must.
func heartbeatOf(group, member string, epoch int32) *kmsg.ConsumerGroupHeartbeatRequest {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = group, member, epoch
	return req
}

// joinRequest says everything, at epoch 0.
func (m *consumer) joinRequest() *kmsg.ConsumerGroupHeartbeatRequest {
	req := heartbeatOf(m.group, m.id, 0)
	req.InstanceID, req.SubscribedTopicNames, req.SubscribedTopicRegex, req.ServerAssignor = m.instance, m.names, m.regex, m.assignor
	req.RebalanceTimeoutMillis, req.Topics = m.rebalance, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	return req
}

// beatRequest says that the member is there.
func (m *consumer) beatRequest() *kmsg.ConsumerGroupHeartbeatRequest {
	req := heartbeatOf(m.group, m.id, m.epoch)
	req.InstanceID = m.instance
	return req
}

// took notes what an answer says.
func (m *consumer) took(r *kmsg.ConsumerGroupHeartbeatResponse) *kmsg.ConsumerGroupHeartbeatResponse {
	if r.ErrorCode != 0 {
		return r
	}
	m.epoch = r.MemberEpoch
	if r.Assignment != nil {
		m.owns = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, t := range r.Assignment.Topics {
			m.owns = append(m.owns, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: t.TopicID, Partitions: slices.Clone(t.Partitions)})
		}
		slices.SortFunc(m.owns, func(a, b kmsg.ConsumerGroupHeartbeatRequestTopic) int {
			return slices.Index(m.made, a.TopicID) - slices.Index(m.made, b.TopicID)
		})
	}
	return r
}

func (m *consumer) ask(step string, req *kmsg.ConsumerGroupHeartbeatRequest) *kmsg.ConsumerGroupHeartbeatResponse {
	return m.took(Ask[*kmsg.ConsumerGroupHeartbeatResponse](m.Conn, step, 1, req))
}

func (m *consumer) join(step string) *kmsg.ConsumerGroupHeartbeatResponse {
	return m.ask(step, m.joinRequest())
}

func (m *consumer) beat(step string) *kmsg.ConsumerGroupHeartbeatResponse {
	return m.ask(step, m.beatRequest())
}

// has sends a heartbeat that says what the member has: all it was given.
func (m *consumer) has(step string) *kmsg.ConsumerGroupHeartbeatResponse {
	req := m.beatRequest()
	req.Topics = m.owns
	return m.ask(step, req)
}

// leaves sends an epoch of those that say that the member goes.
func (m *consumer) leaves(step string, epoch int32) {
	req := m.beatRequest()
	req.MemberEpoch = epoch
	m.Do(step, 1, req)
}

// awaitEpoch sends heartbeats until the member's epoch is another one.
func (m *consumer) awaitEpoch(step string) {
	req, was := m.beatRequest(), m.epoch
	m.took(AskUntil(m.Conn, step, 1, req, func(r *kmsg.ConsumerGroupHeartbeatResponse) bool {
		return r.ErrorCode != 0 || r.MemberEpoch != was
	}))
}

// ownedOf are partitions of a topic as a member names them.
func ownedOf(topic [16]byte, partitions ...int32) []kmsg.ConsumerGroupHeartbeatRequestTopic {
	return []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: topic, Partitions: partitions}}
}

func describeConsumers(groups ...string) *kmsg.ConsumerGroupDescribeRequest {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = groups
	return req
}

// commit commits an offset of one partition as the member, at an epoch.
func (m *consumer) commit(step string, version int16, epoch int32, topic string, id [16]byte, partition int32) {
	req := commitRequest(m.group, topic)
	req.MemberID, req.Generation = m.id, epoch
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: id, Partitions: []kmsg.OffsetCommitRequestTopicPartition{
		{Partition: partition, Offset: 5, LeaderEpoch: -1, Metadata: kmsg.StringPtr("m")},
	}}}
	m.Do(step, version, req)
}

// fetch asks for the group's offset of a partition as a member, at an epoch; nil: as nobody.
func (m *consumer) fetch(step string, version int16, id *string, epoch int32, topic string, topicID [16]byte) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: m.group, MemberID: id, MemberEpoch: epoch, Topics: []kmsg.OffsetFetchRequestGroupTopic{
		{Topic: topic, TopicID: topicID, Partitions: []int32{0}},
	}}}
	m.Do(step, version, req)
}
