package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// streamsOffsetScenarios show offsets of streams groups, and what other APIs make of such a group.
func streamsOffsetScenarios() []Scenario {
	return inStreamsPart([]Scenario{
		{
			Name:  "streams-offset-commit",
			Claim: "A member commits from v9 on with its epoch, or with an older one while it has had the task since; a newer epoch, or a task that it has not, is STALE_MEMBER_EPOCH, below v9 a member is UNSUPPORTED_VERSION; from outside one commits when the group is Empty.",
			Run:   runStreamsOffsetCommit,
		},
		{
			Name:  "streams-offset-fetch",
			Claim: "OffsetFetch with a member id is held against the member's epoch; without one it is answered.",
			Run:   runStreamsOffsetFetch,
		},
		{
			Name:  "streams-txn-offsets",
			Claim: "TxnOffsetCommit of a member is held against its epoch, without a member it is taken.",
			Run:   runStreamsTxnOffsets,
		},
		{
			Name:  "streams-offset-delete",
			Claim: "OffsetDelete of a topic that the topology reads is GROUP_SUBSCRIBED_TO_TOPIC while there are members; a group with members is not deleted.",
			Run:   runStreamsOffsetDelete,
		},
		{
			Name:  "streams-other-apis",
			Claim: "What the APIs of other groups say of a streams group with members, and of one without: JoinGroup takes an Empty one over.",
			Run:   runStreamsOtherAPIs,
		},
		{
			Name:  "streams-other-groups",
			Claim: "StreamsGroupHeartbeat of a group of another type is GROUP_ID_NOT_FOUND, but a classic one that is Empty is taken over with its offsets.",
			Run:   runStreamsOtherGroups,
		},
		{
			Name:  "streams-list",
			Claim: "ListGroups shows streams groups with their states and finds them by type and state.",
			Fresh: true,
			Run:   runStreamsList,
		},
		{
			Name:  "streams-version",
			Claim: "At streams.version 0 both APIs are UNSUPPORTED_VERSION; the level can be changed both ways and ApiVersions tells it.",
			Fresh: true,
			Run:   runStreamsVersion,
		},
	})
}

// memberCommit is a commit of a member of a streams group.
func memberCommit(group, member string, epoch int32, topic string, offsets ...int64) *kmsg.OffsetCommitRequest {
	req := commitRequest(group, topic, offsets...)
	req.MemberID, req.Generation = member, epoch
	return req
}

func runStreamsOffsetCommit(c *C) {
	const group = "streams-offset-commit"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.streamsTopic(group+"-other", 1)
	a.join("join")
	first := a.epoch
	for _, v := range []int16{7, 8, 9} {
		a.Do("commit at "+vn(v), v, memberCommit(group, "a", a.epoch, group, 1, 2))
	}
	a.Do("from outside", 9, commitRequest(group, group, 1))
	a.Do("an unknown member", 9, memberCommit(group, "x", a.epoch, group, 1))
	a.Do("an unknown member at v8", 8, memberCommit(group, "x", a.epoch, group, 1))
	a.Do("a member without epoch", 9, memberCommit(group, "a", -1, group, 1))
	a.Do("a newer epoch", 9, memberCommit(group, "a", a.epoch+1, group, 1))
	a.Do("a topic that it does not read", 9, memberCommit(group, "a", a.epoch, group+"-other", 1))
	b.join("a second member joins")
	a.owns("the first is to give back")
	a.Do("a task that it is to give back", 9, memberCommit(group, "a", a.epoch, group, 3, 4))
	a.owns("it has given back")
	a.Do("an older epoch: one it has had since, one it has not", 9, memberCommit(group, "a", first, group, 5, 6))
	a.Do("an older epoch and another topic", 9, memberCommit(group, "a", first, group+"-other", 1))
	a.Do("an older epoch than the task's", 9, memberCommit(group, "a", first-1, group, 5))
	a.Do("its epoch: also what it has not", 9, memberCommit(group, "a", a.epoch, group, 5, 6))
	b.beat("the second is given")
	b.Do("the second with an epoch before it had the task", 9, memberCommit(group, "b", b.epoch-1, group, 7, 8))
	a.Do("what came of it", 8, fetchAllRequest(group))
	a.leave("leave")
	b.leave("the second leaves")
	a.Do("from outside when Empty", 8, commitRequest(group, group, 9))
	a.Do("a member when Empty", 9, memberCommit(group, "a", 1, group, 9))
	a.Do("what came of that", 8, fetchAllRequest(group))
}

func runStreamsOffsetFetch(c *C) {
	const group = "streams-offset-fetch"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	a.join("join")
	a.Do("commit", 9, memberCommit(group, "a", a.epoch, group, 5))
	for _, step := range []struct {
		name   string
		member *string
		epoch  int32
	}{
		{"nobody", nil, -1}, {"the member", kmsg.StringPtr("a"), a.epoch}, {"an older epoch", kmsg.StringPtr("a"), a.epoch - 1},
		{"a newer epoch", kmsg.StringPtr("a"), a.epoch + 1}, {"another member", kmsg.StringPtr("x"), a.epoch},
		{"no member and an epoch", nil, a.epoch}, {"the member without epoch", kmsg.StringPtr("a"), -1}, {"an empty member", kmsg.StringPtr(""), -1},
	} {
		req := fetchAllRequest(group)
		req.Groups[0].MemberID, req.Groups[0].MemberEpoch = step.member, step.epoch
		a.Do(step.name, 9, req)
		req.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: group, Partitions: []int32{0}}}
		a.Do(step.name+", one partition", 9, req)
	}
}

func runStreamsTxnOffsets(c *C) {
	const group = "streams-txn-offsets"
	n := c.Conn("p")
	t := n.NewTopic(group, 1)
	n.AwaitGroupCoordinator(group)
	p := c.txnProducer("p", group)
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.join("join")
	ask := func(step, member string, epoch int32) {
		for _, v := range []int16{3, 5} {
			req := txnOffset(p, group, t, 5)
			req.MemberID, req.Generation = member, epoch
			p.Do(step+", "+vn(v), v, req)
		}
	}
	p.Do("add", 3, addOffsets(p, group))
	ask("the member", "a", a.epoch)
	ask("an older epoch", "a", a.epoch-1)
	ask("a newer epoch", "a", a.epoch+1)
	ask("epoch -1", "a", -1)
	ask("another member", "x", a.epoch)
	ask("no member", "", a.epoch)
	ask("neither", "", -1)
	p.End("commit", endTxnV1, true)
	n.Offset("afterwards", group, t)
}

func runStreamsOffsetDelete(c *C) {
	const group = "streams-offset-delete"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	a.streamsTopic(group+"-other", 1)
	a.join("join")
	a.Do("commit", 9, memberCommit(group, "a", a.epoch, group, 5))
	a.Do("commit of another topic", 9, memberCommit(group, "a", a.epoch, group+"-other", 6))
	a.Do("delete the offset of a topic that is read", 0, offsetDeleteRequest(group, group, 0))
	a.Do("delete the other", 0, offsetDeleteRequest(group, group+"-other", 0))
	a.Do("delete the group", 2, deleteGroupsRequest(group))
	a.leave("leave")
	a.Do("delete the offset when Empty", 0, offsetDeleteRequest(group, group, 0))
	a.Do("delete the group when Empty", 2, deleteGroupsRequest(group))
	a.Do("delete it again", 2, deleteGroupsRequest(group))
}

func runStreamsOtherAPIs(c *C) {
	const group = "streams-other-apis"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	n := c.Conn("n")
	others := func(when string) {
		n.Do("describe "+when, 6, describeGroupsRequest(group))
		n.Do("describe at v5 "+when, 5, describeGroupsRequest(group))
		n.Do("heartbeat "+when, 4, heartbeatRequest(group, "a", a.epoch))
		n.Do("sync "+when, 5, syncRequest(group, "a", a.epoch))
		n.Do("leave as a classic member "+when, 5, leaveRequest(group, "a"))
		beat := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		beat.Group, beat.MemberID, beat.MemberEpoch, beat.RebalanceTimeoutMillis = group, "uuid-member", 0, 1000
		beat.SubscribedTopicNames, beat.Topics = []string{group}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		n.Do("as a consumer "+when, 1, beat)
		share := kmsg.NewPtrShareGroupHeartbeatRequest()
		share.GroupID, share.MemberID, share.MemberEpoch, share.SubscribedTopicNames = group, "AAAAAAAAAAAAAAAAAAAAAQ", 0, []string{group}
		n.Do("as a share consumer "+when, 1, share)
		consumer := kmsg.NewPtrConsumerGroupDescribeRequest()
		consumer.Groups = []string{group}
		n.Do("describe as a consumer group "+when, 1, consumer)
		shares := kmsg.NewPtrShareGroupDescribeRequest()
		shares.GroupIDs = []string{group}
		n.Do("describe as a share group "+when, 1, shares)
	}
	a.join("join")
	others("with a member")
	n.Do("join as a classic member", 9, joinRequest(group, "", "range:a"))
	n.Do("join as a classic member with an id", 9, joinRequest(group, "a", "range:a"))
	a.Do("commit", 9, memberCommit(group, "a", a.epoch, group, 5))
	a.leave("leave")
	others("without")
	m := c.groupMember("m", group, "range:m")
	m.joined(m.join("join as a classic member, Empty"))
	m.sync("sync", m.id+":x").Await()
	a.describeStreams("describe: it is a classic group now", group)
	n.Do("describe the classic group", 6, describeGroupsRequest(group))
	n.Do("its offsets", 8, fetchAllRequest(group))
	a.join("join when it has a classic member")
}

func runStreamsOtherGroups(c *C) {
	const group = "streams-other-groups"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.streamsTopic(group, 1)
	topology := topologyOf(0, subtopologyOf("0", group))
	n.Do("commit from outside", 8, commitRequest(group, group, 5))
	n.describeStreams("describe the name for offsets", group)
	a := c.streamsMember("a", group, topology)
	a.beat("a heartbeat that is no join")
	n.Do("leave", 0, streamsHeartbeat(group, "a", -1))
	a.join("join: it is taken over")
	a.describeStreams("describe", group)
	n.Do("its offsets", 8, fetchAllRequest(group))
	m := c.groupMember("m", group+"-classic", "range:m")
	m.joined(m.join("join a classic group"))
	b := c.streamsMember("b", group+"-classic", topology)
	b.join("join the classic group")
	n.Do("leave the classic group", 5, leaveRequest(group+"-classic", m.id))
	b.join("join it when Empty")
	beat := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	beat.Group, beat.MemberID, beat.MemberEpoch, beat.RebalanceTimeoutMillis = group+"-consumer", "uuid-member", 0, 1000
	beat.SubscribedTopicNames, beat.Topics = []string{group}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	n.Do("join a consumer group", 1, beat)
	d := c.streamsMember("d", group+"-consumer", topology)
	d.join("join the consumer group")
	d.describeStreams("describe the consumer group", d.group)
	beat.MemberEpoch, beat.RebalanceTimeoutMillis = -1, -1
	beat.SubscribedTopicNames, beat.Topics = nil, nil
	n.Do("leave the consumer group", 1, beat)
	d.join("join it when Empty: no")
}

func runStreamsList(c *C) {
	const group = "streams-list"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.streamsTopic(group, 1)
	stable := c.streamsMember("a", group+"-stable", topologyOf(0, subtopologyOf("0", group)))
	stable.join("join")
	c.streamsMember("a", group+"-not-ready", topologyOf(0, subtopologyOf("0", group+"-missing"))).join("join without the topic")
	empty := c.streamsMember("a", group+"-empty", topologyOf(0, subtopologyOf("0", group)))
	empty.join("join to leave")
	empty.leave("leave")
	reconciling := c.streamsMember("a", group+"-reconciling", topologyOf(0, subtopologyOf("0", group)))
	reconciling.join("join")
	second := c.streamsMember("b", group+"-reconciling", reconciling.topology)
	second.join("join as a second")
	n.Do("commit", 8, commitRequest(group+"-classic", group, 5))
	for _, v := range []int16{3, 4, 5} {
		n.Do("list at "+vn(v), v, kmsg.NewPtrListGroupsRequest())
	}
	for _, states := range [][]string{{"Stable"}, {"NotReady"}, {"notready"}, {"not_ready"}, {"empty"}, {"Assigning", "Reconciling"}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter = states
		n.Do("states", 5, req)
	}
	for _, types := range [][]string{{"streams"}, {"Streams"}, {"classic"}, {"classic", "streams"}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.TypesFilter = types
		n.Do("types", 5, req)
		req.StatesFilter = []string{"Empty"}
		n.Do("types and states", 5, req)
	}
}

const streamsFeature = "streams.version"

func runStreamsVersion(c *C) {
	const group = "streams-version"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	a.join("join")
	n := c.Conn("n")
	n.Do("level 2", 2, updateFeatures(featureUpdate(streamsFeature, 2, upgrade)))
	n.Do("level 0 as an upgrade", 2, updateFeatures(featureUpdate(streamsFeature, 0, upgrade)))
	n.Do("level 0", 2, updateFeatures(featureUpdate(streamsFeature, 0, safeDowngrade)))
	AskUntil(n, "heartbeat until it is not known", 0, streamsHeartbeat(group, "a", a.epoch), func(r *kmsg.StreamsGroupHeartbeatResponse) bool {
		return r.ErrorCode != 0
	})
	a.describeStreams("describe at level 0", group)
	a.join("join at level 0")
	n.Do("list at level 0", 5, kmsg.NewPtrListGroupsRequest())
	n.Do("level 1", 2, updateFeatures(featureUpdate(streamsFeature, 1, upgrade)))
	AskUntil(n, "heartbeat until it is known", 0, streamsHeartbeat(group, "a", a.epoch), func(r *kmsg.StreamsGroupHeartbeatResponse) bool {
		return r.ErrorCode != 35
	})
	n.Do("level 1 again", 2, updateFeatures(featureUpdate(streamsFeature, 1, upgrade)))
	a.describeStreams("describe at level 1", group)
}
