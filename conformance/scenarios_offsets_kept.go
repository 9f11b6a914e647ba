package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// keptOffsetScenarios show how long committed offsets are there: until they are deleted, their topic is, or their time is over.
func keptOffsetScenarios() []Scenario {
	return withGroupSet([]Scenario{
		{
			Name:  "offset-delete",
			Claim: "OffsetDelete takes an offset away; of a topic that members read GROUP_SUBSCRIBED_TO_TOPIC, of other topics not; unknown partitions UNKNOWN_TOPIC_OR_PARTITION; a second time is no error.",
			Run:   runOffsetDelete,
		},
		{
			Name:  "offset-delete-other-type",
			Claim: "OffsetDelete of a group with members that are no consumers is NON_EMPTY_GROUP, of consumers whose subscription cannot be read GROUP_SUBSCRIBED_TO_TOPIC for every topic.",
			Run:   runOffsetDeleteOtherType,
		},
		{
			Name:  "offset-topic-deleted",
			Claim: "With a topic its committed offsets go, a group of nothing else stays; a new topic of the name has none.",
			Run:   runOffsetTopicDeleted,
		},
		{
			Name:  "offset-restart",
			Claim: "Committed offsets survive a clean stop and a kill, with metadata and leader epoch, and so does their deletion.",
			Fresh: true,
			Run:   runOffsetRestart,
		},
		{
			Name:  "offset-retention",
			Claim: "A retention time of OffsetCommit v2 to v4 is kept to, -1 is the broker's; offsets of an Empty or commit-only group expire offsets.retention.minutes after, those of a topic that members read do not.",
			Set:   groupSetWith("offsets.retention.check.interval.ms", "200"),
			Run:   runOffsetRetention,
		},
	})
}

func runOffsetDelete(c *C) {
	const group = "offset-delete"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 2)
	n.offsetsTopic(group+"-2", 1)
	n.Do("unknown group", 0, offsetDeleteRequest(group, group, 0))
	a := c.groupMember("a", group, subscription("range", group))
	a.alone()
	a.Do("commit", 9, a.commit(group, 1, 2))
	a.Do("commit", 9, a.commit(group+"-2", 3))
	n.Do("of a topic that is read", 0, offsetDeleteRequest(group, group, 0, 5))
	n.Do("of a topic that is not read", 0, offsetDeleteRequest(group, group+"-2", 0))
	n.Do("of that again", 0, offsetDeleteRequest(group, group+"-2", 0))
	n.Do("offsets", 9, fetchAllRequest(group))
	a.Do("leave", 5, leaveRequest(group, a.id))
	req := offsetDeleteRequest(group, group, 0, 1, 2, -1, 0)
	req.Topics = append(req.Topics, offsetDeleteRequest(group, group+"-none", 0).Topics...)
	req.Topics[0].Partitions = req.Topics[0].Partitions[:]
	for range 2 {
		n.Do("of an Empty group, unknown partitions too", 0, req)
		n.Do("offsets", 9, fetchAllRequest(group))
	}
	n.Do("nothing", 0, func() *kmsg.OffsetDeleteRequest { r := offsetDeleteRequest(group, group); r.Topics = nil; return r }())
	n.Do("describe: the group stays", 5, describeGroupsRequest(group))
}

func runOffsetDeleteOtherType(c *C) {
	const group = "offset-delete-other-type"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	connect := joinRequest(group, "", "range:a")
	connect.ProtocolType = "connect"
	r := Ask[*kmsg.JoinGroupResponse](n, "join", 3, connect)
	n.Do("in the sync phase of a group of another type", 0, offsetDeleteRequest(group, group, 0))
	n.Do("leave", 5, leaveRequest(group, r.MemberID))
	n.Do("when it is Empty", 0, offsetDeleteRequest(group, group, 0))
	a := c.groupMember("a", group+"-2", "range:none")
	a.joined(a.join("join"))
	n.Do("in the sync phase of a group of consumers that cannot be read", 0, offsetDeleteRequest(group+"-2", group, 0))
	a.sync("sync", a.id+":x").Await()
	a.Do("commit", 9, a.commit(group, 1))
	n.Do("when it is Stable", 0, offsetDeleteRequest(group+"-2", group, 0))
	b := c.groupMember("b", group+"-3", subscription("range", "other"))
	b.joined(b.join("join"))
	n.Do("in the sync phase of a group that reads another topic", 0, offsetDeleteRequest(group+"-3", group, 0))
}

func runOffsetTopicDeleted(c *C) {
	const group = "offset-topic-deleted"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	n.Do("commit", 9, commitRequest(group, group, 5))
	for range 2 {
		del := kmsg.NewPtrDeleteTopicsRequest()
		del.TopicNames, del.TimeoutMillis = []string{group}, 10_000
		n.Do("delete the topic", 3, del)
		AskUntil(n, "offsets until they are gone", 9, fetchAllRequest(group), func(r *kmsg.OffsetFetchResponse) bool {
			return len(r.Groups[0].Topics) == 0
		})
		n.Do("describe: the group is still there", 5, describeGroupsRequest(group))
		AskUntil(n, "create it again", 4, createTopic(group, 1), func(r *kmsg.CreateTopicsResponse) bool { return r.Topics[0].ErrorCode == 0 })
		n.AwaitTopic(group, 1)
		n.Do("offsets of the new topic", 7, fetchRequest(group, group, 0))
		n.Do("commit", 9, commitRequest(group, group, 6))
	}
}

func runOffsetRestart(c *C) {
	const group = "offset-restart"
	c.Conn("n").AwaitGroupCoordinator(group)
	c.Conn("n").offsetsTopic(group, 3)
	req := commitRequest(group, group, 1, 2, 3)
	req.Topics[0].Partitions[0].LeaderEpoch = 0
	req.Topics[0].Partitions[1].Metadata = kmsg.StringPtr("with metadata")
	c.Conn("n").Do("commit", 9, req)
	for i, again := range []func(){c.Restart, c.Kill} {
		again()
		n := c.Conn("n")
		n.AwaitGroupCoordinator(group)
		n.Do("offsets", 9, fetchAllRequest(group))
		n.Do("describe", 5, describeGroupsRequest(group))
		AskUntil(n, "delete an offset", 0, offsetDeleteRequest(group, group, int32(i)), func(r *kmsg.OffsetDeleteResponse) bool {
			return r.Topics[0].Partitions[0].ErrorCode == 0
		})
	}
	c.Conn("n").Do("delete the group", 2, deleteGroupsRequest(group))
	c.Restart()
	c.Conn("n").AwaitGroupCoordinator(group)
	c.Conn("n").Do("describe", 6, describeGroupsRequest(group))
	c.Conn("n").Do("offsets", 9, fetchAllRequest(group))
}

func runOffsetRetention(c *C) {
	const group = "offset-retention"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 3)
	// Static members join at once: an id that is given out leaves a moment in which the group may expire.
	a := c.staticMember("a", group+"-live", subscription("range", group)).alone()
	live := a.commit(group, 9)
	live.RetentionTimeMillis = 1
	a.Do("commit of a member that reads the topic, 1 ms", 4, live)
	b := c.staticMember("b", group+"-other", subscription("range", "another")).alone()
	other := b.commit(group, 9)
	other.RetentionTimeMillis = 1
	b.Do("commit of a member that does not read the topic, 1 ms", 4, other)
	kept := commitRequest(group, group, 1)
	n.Do("commit with -1", 2, kept)
	for v := int16(2); v <= 4; v++ {
		short := commitRequest(group, group, 2)
		short.Topics[0].Partitions[0].Partition = 1
		short.RetentionTimeMillis = 1
		n.Do("commit with 1 ms", v, short)
		AskUntil(n, "offsets until one is gone", 9, fetchAllRequest(group), func(r *kmsg.OffsetFetchResponse) bool {
			return len(r.Groups[0].Topics) == 1 && len(r.Groups[0].Topics[0].Partitions) == 1
		})
	}
	AskUntil(n, "offsets of who does not read the topic, until they are gone", 9, fetchAllRequest(group+"-other"), func(r *kmsg.OffsetFetchResponse) bool {
		return len(r.Groups[0].Topics) == 0
	})
	n.Do("offsets of who reads the topic", 9, fetchAllRequest(group+"-live"))
	zero := commitRequest(group+"-gone", group, 2)
	zero.RetentionTimeMillis = 0
	n.Do("commit with 0 ms", 2, zero)
	AskUntil(n, "describe until the group is gone", 6, describeGroupsRequest(group+"-gone"), func(r *kmsg.DescribeGroupsResponse) bool {
		return r.Groups[0].ErrorCode != 0
	})
}
