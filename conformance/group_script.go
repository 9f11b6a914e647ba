package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupSet are the properties of brokers for scripts of groups: the first member does not wait for others, and all groups
// have one coordinator, which is there when the first of them is.
var groupSet = map[string]string{"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}

// groupSetWith is groupSet and further properties: name, value, name, value.
func groupSetWith(more ...string) map[string]string {
	set := map[string]string{}
	for name, value := range groupSet {
		set[name] = value
	}
	for i := 0; i+1 < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// Error codes that scripts wait for.
const (
	codeRebalanceInProgress = 27
	codeMemberIDRequired    = 79
)

// joinRequest is for a member of a group of consumers; protocols are "name" or "name:metadata", most wanted first.
func joinRequest(group, member string, protocols ...string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 60_000, 120_000
	for _, p := range protocols {
		to := kmsg.NewJoinGroupRequestProtocol()
		name, metadata, _ := strings.Cut(p, ":")
		to.Name, to.Metadata = name, []byte(metadata)
		req.Protocols = append(req.Protocols, to)
	}
	return req
}

// subscription is a protocol of joinRequest whose metadata says which topics the member reads.
func subscription(protocol string, topics ...string) string {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = topics
	return protocol + ":" + string(m.AppendTo(nil))
}

// syncRequest assigns "member:assignment" each; a follower assigns nothing.
func syncRequest(group, member string, generation int32, assignments ...string) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for _, a := range assignments {
		to := kmsg.NewSyncGroupRequestGroupAssignment()
		id, assignment, _ := strings.Cut(a, ":")
		to.MemberID, to.MemberAssignment = id, []byte(assignment)
		req.GroupAssignment = append(req.GroupAssignment, to)
	}
	return req
}

func heartbeatRequest(group, member string, generation int32) *kmsg.HeartbeatRequest {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	return req
}

// leaveRequest names members as "id" or "id/instance", "/instance" for an instance alone.
func leaveRequest(group string, members ...string) *kmsg.LeaveGroupRequest {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = group
	for _, name := range members {
		m := kmsg.NewLeaveGroupRequestMember()
		id, instance, static := strings.Cut(name, "/")
		m.MemberID = id
		if static {
			m.InstanceID = &instance
		}
		req.Members = append(req.Members, m)
	}
	return req
}

func describeGroupsRequest(groups ...string) *kmsg.DescribeGroupsRequest {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = groups
	return req
}

func deleteGroupsRequest(groups ...string) *kmsg.DeleteGroupsRequest {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = groups
	return req
}

// groupMember is a member of a group of consumers with the protocol range, on a connection of its own.
type groupMember struct {
	*Conn
	group, id  string
	protocols  []string // as joinRequest takes them
	instance   *string
	generation int32
}

// groupMember brings a member to where it has its id, but has not joined. Without protocols it supports range, and its
// metadata is its connection's name.
func (c *C) groupMember(conn, group string, protocols ...string) *groupMember {
	if len(protocols) == 0 {
		protocols = []string{"range:" + conn}
	}
	m := &groupMember{Conn: c.Conn(conn), group: group, protocols: protocols}
	resp := Ask[*kmsg.JoinGroupResponse](m.Conn, "ask for an id", 9, joinRequest(group, "", m.protocols...))
	if resp.ErrorCode != codeMemberIDRequired {
		c.Fatalf("member %s of %s is given no id: %+v", conn, group, resp)
	}
	m.id = resp.MemberID
	return m
}

// staticMember is a member with an instance id after its connection's name; it gets its id when it joins.
func (c *C) staticMember(conn, group string, protocols ...string) *groupMember {
	if len(protocols) == 0 {
		protocols = []string{"range:" + conn}
	}
	return &groupMember{Conn: c.Conn(conn), group: group, protocols: protocols, instance: kmsg.StringPtr("instance-" + conn)}
}

func (m *groupMember) joinRequest() *kmsg.JoinGroupRequest {
	req := joinRequest(m.group, m.id, m.protocols...)
	req.InstanceID = m.instance
	return req
}

// join sends a JoinGroup; joined awaits its answer.
func (m *groupMember) join(step string) *Pending { return m.Send(step, 9, m.joinRequest()) }

func (m *groupMember) joined(p *Pending) *kmsg.JoinGroupResponse {
	resp := AwaitAs[*kmsg.JoinGroupResponse](p)
	if resp.ErrorCode == 0 {
		m.id, m.generation = resp.MemberID, resp.Generation
	}
	return resp
}

// sync sends a SyncGroup with assignments, "member:assignment" each.
func (m *groupMember) sync(step string, assignments ...string) *Pending {
	req := syncRequest(m.group, m.id, m.generation, assignments...)
	req.InstanceID = m.instance
	return m.Send(step, 5, req)
}

func (m *groupMember) heartbeat(step string) *kmsg.HeartbeatResponse {
	req := heartbeatRequest(m.group, m.id, m.generation)
	req.InstanceID = m.instance
	return Ask[*kmsg.HeartbeatResponse](m.Conn, step, 4, req)
}

// awaitRebalance waits until a heartbeat tells the member to join again.
func (m *groupMember) awaitRebalance() {
	req := heartbeatRequest(m.group, m.id, m.generation)
	req.InstanceID = m.instance
	AskUntil(m.Conn, "heartbeat until there is a rebalance", 4, req, func(r *kmsg.HeartbeatResponse) bool {
		return r.ErrorCode == codeRebalanceInProgress
	})
}

// commit is a commit of the member: partition i of the topic gets the offset of that index.
func (m *groupMember) commit(topic string, offsets ...int64) *kmsg.OffsetCommitRequest {
	req := commitRequest(m.group, topic, offsets...)
	req.MemberID, req.Generation, req.InstanceID = m.id, m.generation, m.instance
	return req
}

// alone brings a member into a Stable group of its own.
func (m *groupMember) alone() *groupMember {
	m.joined(m.join("join"))
	m.sync("sync", m.id+":for "+m.name).Await()
	return m
}

// groupOfTwo brings two members into a Stable group; a leads. Both have been in the group's first generation or come
// into its second.
func (c *C) groupOfTwo(group string) (a, b *groupMember) {
	c.Conn("a").AwaitGroupCoordinator(group)
	a = c.groupMember("a", group).alone()
	b = c.groupMember("b", group)
	return a, b.joinsAfter(a)
}

// joinsAfter brings a further member into the Stable group that a leads; the group is Stable again after it.
func (m *groupMember) joinsAfter(a *groupMember) *groupMember {
	p := m.join("join")
	a.awaitRebalance()
	again := a.join("join again")
	a.joined(again)
	m.joined(p)
	a.sync("sync", a.id+":for "+a.name, m.id+":for "+m.name).Await()
	m.sync("sync").Await()
	return m
}

// rebalances has the member, who leads, join again, and the others after it.
func (m *groupMember) rebalances(others ...*groupMember) {
	first := m.join("join again: it leads, so there is a rebalance")
	joins := make([]*Pending, len(others))
	for i, o := range others {
		o.awaitRebalance()
		joins[i] = o.join("join again")
	}
	m.joined(first)
	for i, o := range others {
		o.joined(joins[i])
	}
}

// offsetsTopic creates a topic at a version that says nothing of its configs, and waits until it answers.
func (n *Conn) offsetsTopic(name string, partitions int32) {
	n.Do("create "+name, 4, createTopic(name, partitions))
	n.AwaitTopic(name, partitions)
}

// topicID asks for the id of a topic.
func (n *Conn) topicID(name string) [16]byte {
	return Ask[*kmsg.MetadataResponse](n, "id of "+name, 12, metadataFor(name)).Topics[0].TopicID
}

// commitRequest is a commit without a member: partition i of the topic gets the offset of that index.
func commitRequest(group, topic string, offsets ...int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.RetentionTimeMillis = group, -1, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	for i, offset := range offsets {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = int32(i), offset, -1, kmsg.StringPtr("")
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// fetchRequest asks for partitions of one topic, up to version 7.
func fetchRequest(group, topic string, partitions ...int32) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: partitions}}
	return req
}

// fetchAllRequest asks for all offsets of groups, from version 8 on.
func fetchAllRequest(groups ...string) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	for _, id := range groups {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.MemberEpoch = id, -1
		req.Groups = append(req.Groups, g)
	}
	return req
}

func offsetDeleteRequest(group, topic string, partitions ...int32) *kmsg.OffsetDeleteRequest {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	t := kmsg.NewOffsetDeleteRequestTopic()
	t.Topic = topic
	for _, n := range partitions {
		p := kmsg.NewOffsetDeleteRequestTopicPartition()
		p.Partition = n
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}
