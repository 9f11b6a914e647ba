package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// consumerMigrationScenarios show groups that members of the classic and of the consumer protocol share, and groups that
// become of the other type.
func consumerMigrationScenarios() []Scenario {
	return withConsumerSet([]Scenario{
		{
			Name:  "consumer-upgrade",
			Claim: "A ConsumerGroupHeartbeat to a classic group of consumers makes it a consumer group: its members go on with JoinGroup, SyncGroup and Heartbeat at their generation and keep what they have until they are told; when the last of the consumer protocol leaves, it is a classic group in a rebalance.",
			Run:   runConsumerUpgrade,
		},
		{
			Name:  "consumer-classic-refusals",
			Claim: "The classic protocol in a consumer group: other protocols are INCONSISTENT_GROUP_PROTOCOL, other generations ILLEGAL_GENERATION, members of the consumer protocol UNKNOWN_MEMBER_ID; an id of the client's own is good; metadata that cannot be read is UNKNOWN_SERVER_ERROR.",
			Run:   runConsumerClassicRefusals,
		},
		{
			Name:  "consumer-upgrade-refused",
			Claim: "A classic group of another protocol type, of an assignor with user data, or whose metadata cannot be read is no consumer group: GROUP_ID_NOT_FOUND with the reason, each time; so is a heartbeat that does not join, and ConsumerGroupDescribe.",
			Run:   runConsumerUpgradeRefused,
		},
		{
			Name:  "consumer-migration-disabled",
			Claim: "With group.consumer.migration.policy disabled neither protocol is let into a group of the other, unless it is empty.",
			Set:   consumerSet("group.consumer.migration.policy", "disabled"),
			Run:   runConsumerMigrationDisabled,
		},
		{
			Name:  "consumer-static-migrates",
			Claim: "A static member changes its protocol without a rebalance: the new process takes the old one's place in both directions, and the group its type when it was the last.",
			Run:   runConsumerStaticMigrates,
		},
		{
			Name:  "consumer-txn-offsets",
			Claim: "TxnOffsetCommit to a consumer group: a member commits at its epoch, or an earlier one for what it has had since, else it is ILLEGAL_GENERATION; who is no member is UNKNOWN_MEMBER_ID; a commit that names no member is taken.",
			Run:   runConsumerTxnOffsets,
		},
		{
			Name:  "consumer-empty-converts",
			Claim: "An empty group becomes one of the type that joins, and keeps its offsets; so back.",
			Run:   runConsumerEmptyConverts,
		},
	})
}

// leaderGives is what a leader gives of one topic.
func leaderGives(topic string, partitions ...int32) string {
	a := kmsg.NewConsumerMemberAssignment()
	a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: partitions}}
	return string(a.AppendTo(nil))
}

// reader is a member of a classic group that reads a topic, alone in it with all of its partitions.
func (c *C) reader(conn, group, topic string, partitions ...int32) *groupMember {
	m := c.groupMember(conn, group, subscription("range", topic))
	m.joined(m.join("join"))
	m.sync("sync", m.id+":"+leaderGives(topic, partitions...)).Await()
	return m
}

func runConsumerUpgrade(c *C) {
	const group = "consumer-upgrade"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").MakeTopic(group, 2)
	a := c.reader("a", group, group, 0, 1)
	b := c.consumer("b", group, group)
	admin := c.Conn("admin")
	describe := func() {
		admin.Do("describe", 1, describeConsumers(group))
		admin.Do("describe as a classic group", 6, describeGroupsRequest(group))
	}
	for _, again := range []string{"", ", again"} {
		b.join("join by the consumer protocol" + again)
		describe()
		a.heartbeat("heartbeat: join again" + again)
		a.sync("sync: join again" + again).Await()
		a.Do("commit"+again, 9, a.commit(group, 7))
		b.beat("heartbeat: nothing is free yet" + again)
		a.joined(a.join("join: give up a partition" + again))
		a.sync("sync" + again).Await()
		describe()
		a.heartbeat("heartbeat: join again without it" + again)
		a.protocols = []string{owning("range", group, 0)}
		a.joined(a.join("join without it" + again))
		a.sync("sync" + again).Await()
		a.heartbeat("heartbeat" + again)
		b.beat("heartbeat: a partition" + again)
		b.has("heartbeat with it" + again)
		describe()
		a.Do("commit"+again, 9, a.commit(group, 8))
		b.leaves("leave: a classic group again"+again, -1)
		describe()
		b.beat("heartbeat of who left" + again)
		a.heartbeat("heartbeat: join again" + again)
		a.joined(a.join("join" + again))
		a.sync("sync"+again, a.id+":"+leaderGives(group, 0, 1)).Await()
		a.heartbeat("heartbeat" + again)
		describe()
	}
	admin.Do("offsets are there", 8, fetchAllRequest(group))
}

// owning is a protocol of joinRequest whose metadata says what the member reads, and what it has of it.
func owning(protocol, topic string, partitions ...int32) string {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics = 1, []string{topic}
	m.OwnedPartitions = []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: topic, Partitions: partitions}}
	return protocol + ":" + string(m.AppendTo(nil))
}

func runConsumerClassicRefusals(c *C) {
	const group = "consumer-classic-refusals"
	b := c.consumer("b", group, group)
	b.AwaitGroupCoordinator(group)
	b.MakeTopic(group, 2)
	b.join("join by the consumer protocol")
	a := c.Conn("a")
	good := subscription("range", group)
	for _, again := range []string{"", ", again"} {
		other := joinRequest(group, "", good)
		other.ProtocolType = "connect"
		a.Do("join with another protocol type"+again, 9, other)
		a.Do("join without a protocol"+again, 9, joinRequest(group, ""))
		a.Do("join: metadata that cannot be read"+again, 9, joinRequest(group, "made-up", "range:\x00"))
		a.Do("heartbeat of a member of the consumer protocol"+again, 4, heartbeatRequest(group, b.id, b.epoch))
		a.Do("sync of a member of the consumer protocol"+again, 5, syncRequest(group, b.id, b.epoch))
		a.Do("heartbeat of nobody"+again, 4, heartbeatRequest(group, "nobody", 1))
		a.Do("sync of nobody"+again, 5, syncRequest(group, "nobody", 1))
		a.Do("leave of nobody"+again, 5, leaveRequest(group, "nobody", "/nobody"))
		a.Do("ask for an id"+again, 9, joinRequest(group, "", good))
	}
	m := &groupMember{Conn: a, group: group, id: "consumer-classic-refusals-a", protocols: []string{good, "roundrobin" + good[len("range"):]}}
	m.joined(m.join("join with an id of its own"))
	for _, again := range []string{"", ", again"} {
		a.Do("sync of another generation"+again, 5, syncRequest(group, m.id, m.generation+1))
		wrong := syncRequest(group, m.id, m.generation)
		wrong.Protocol = kmsg.StringPtr("roundrobin")
		a.Do("sync with another protocol"+again, 5, wrong)
		wrong.Protocol, wrong.ProtocolType = kmsg.StringPtr("range"), kmsg.StringPtr("connect")
		a.Do("sync with another protocol type"+again, 5, wrong)
		a.Do("heartbeat of another generation"+again, 4, heartbeatRequest(group, m.id, m.generation-1))
		a.Do("join with a protocol that the other does not have"+again, 9, joinRequest(group, "", "sticky"+good[len("range"):]))
		m.sync("sync" + again).Await()
		m.heartbeat("heartbeat" + again)
		a.Do("heartbeat by the other protocol"+again, 1, heartbeatOf(group, m.id, m.generation+1))
	}
	b.beat("heartbeat: give up a partition")
	b.has("heartbeat: given up")
	m.awaitRebalance()
	m.joined(m.join("join: a partition"))
	m.sync("sync").Await()
	c.Conn("admin").Do("describe", 1, describeConsumers(group))
	a.Do("leave", 5, leaveRequest(group, m.id))
	a.Do("leave again", 5, leaveRequest(group, m.id))
	a.Do("leave of a member of the consumer protocol", 5, leaveRequest(group, b.id))
	b.beat("heartbeat of who was made to leave")
	c.Conn("admin").Do("describe", 1, describeConsumers(group))
}

func runConsumerUpgradeRefused(c *C) {
	const group = "consumer-upgrade-refused"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").MakeTopic(group, 1)
	admin := c.Conn("admin")
	tried := func(of string) {
		b := c.consumer("b", of, group)
		for _, again := range []string{"", ", again"} {
			b.join("join by the consumer protocol" + again)
			b.Do("heartbeat by the consumer protocol"+again, 1, heartbeatOf(of, b.id, 1))
			b.Do("leave by the consumer protocol"+again, 1, heartbeatOf(of, b.id, -1))
			admin.Do("describe"+again, 1, describeConsumers(of))
		}
	}
	other := c.Conn("x")
	req := joinRequest(group+"-type", "", subscription("range", group))
	req.ProtocolType = "connect"
	r := Ask[*kmsg.JoinGroupResponse](other, "join with another protocol type", 3, req)
	sync := syncRequest(group+"-type", r.MemberID, r.Generation, r.MemberID+":x")
	sync.ProtocolType = kmsg.StringPtr("connect")
	other.Do("sync", 5, sync)
	tried(group + "-type")

	user := kmsg.NewConsumerMemberAssignment()
	user.UserData = []byte("mine")
	m := c.groupMember("u", group+"-user", subscription("range", group))
	m.joined(m.join("join"))
	m.sync("sync: an assignor with user data", m.id+":"+string(user.AppendTo(nil))).Await()
	tried(group + "-user")
	m.heartbeat("heartbeat: nothing happened")

	m = c.groupMember("m", group+"-malformed", subscription("range", group))
	m.joined(m.join("join"))
	m.sync("sync: an assignment that cannot be read", m.id+":\x00").Await()
	tried(group + "-malformed")
	m.heartbeat("heartbeat: nothing happened")

	m = c.groupMember("n", group+"-metadata", "range:\x00")
	m.joined(m.join("join: metadata that cannot be read"))
	m.sync("sync", m.id+":"+leaderGives(group, 0)).Await()
	tried(group + "-metadata")
	m.heartbeat("heartbeat: nothing happened")
}

func runConsumerMigrationDisabled(c *C) {
	const group = "consumer-migration-disabled"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").MakeTopic(group, 1)
	a := c.reader("a", group, group, 0)
	b := c.consumer("b", group, group)
	d := c.consumer("d", group+"-2", group)
	d.join("join by the consumer protocol")
	for _, again := range []string{"", ", again"} {
		b.join("join by the consumer protocol: the group is classic" + again)
		c.Conn("e").Do("join by the classic protocol: the group is not"+again, 9, joinRequest(group+"-2", "", subscription("range", group)))
	}
	a.Do("leave", 5, leaveRequest(group, a.id))
	d.leaves("leave", -1)
	b.join("join by the consumer protocol: the group is empty")
	e := c.groupMember("e", group+"-2", subscription("range", group))
	e.joined(e.join("join by the classic protocol: the group is empty"))
}

func runConsumerStaticMigrates(c *C) {
	const group = "consumer-static-migrates"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").MakeTopic(group, 2)
	a := c.staticMember("a", group, subscription("range", group))
	a.joined(a.join("join"))
	a.sync("sync", a.id+":"+leaderGives(group, 0, 1)).Await()
	b := c.consumer("b", group, group)
	b.instance = a.instance
	admin := c.Conn("admin")
	describe := func() {
		admin.Do("describe", 1, describeConsumers(group))
		admin.Do("describe as a classic group", 6, describeGroupsRequest(group))
	}
	for _, again := range []string{"", ", again"} {
		b.join("another process by the consumer protocol" + again)
		describe()
		a.heartbeat("heartbeat of the old id" + again)
		b.has("heartbeat" + again)
		a.id = ""
		a.joined(a.join("another process by the classic protocol" + again))
		describe()
		b.beat("heartbeat of the old id by the consumer protocol" + again)
		a.sync("sync" + again).Await()
		a.heartbeat("heartbeat" + again)
	}
}

func runConsumerTxnOffsets(c *C) {
	const group = "consumer-txn-offsets"
	a := c.consumer("a", group, group)
	a.AwaitGroupCoordinator(group)
	a.AwaitTxnCoordinator()
	t := topicRef{group, a.MakeTopic(group, 1)}
	a.join("join")
	first := a.epoch
	growing := a.beatRequest()
	growing.SubscribedTopicNames = []string{group, group + "-none"}
	a.ask("read a topic that is not there: another epoch", growing)
	a.has("heartbeat")
	p := c.txnProducer("p", group)
	p.Do("add the group", 4, addOffsets(p, group))
	commit := func(step, member string, epoch int32) {
		req := txnOffset(p, group, t, 5)
		req.MemberID, req.Generation = member, epoch
		p.Do(step, 4, req)
	}
	for _, again := range []string{"", ", again"} {
		commit("a greater epoch"+again, a.id, a.epoch+1)
		commit("an epoch before it had the partition"+again, a.id, first-1)
		commit("no member"+again, "nobody", a.epoch)
		commit("no member, without an epoch"+again, "nobody", -1)
		commit("a member without an epoch"+again, a.id, -1)
		commit("the epoch before"+again, a.id, first)
		commit("its epoch"+again, a.id, a.epoch)
		commit("who names no member"+again, "", -1)
	}
	p.End("commit", endTxnV1, true)
	AskUntil(a.Conn, "offsets once they are stable", 7, stableOffset(group, t, true), func(r *kmsg.OffsetFetchResponse) bool {
		return r.Topics[0].Partitions[0].ErrorCode == 0
	})
}

func runConsumerEmptyConverts(c *C) {
	const group = "consumer-empty-converts"
	c.Conn("a").AwaitGroupCoordinator(group)
	topic := c.Conn("a").MakeTopic(group, 1)
	admin := c.Conn("admin")
	admin.Do("commit: a name for offsets", 9, commitRequest(group, group, 3))
	b := c.consumer("b", group, group)
	for _, again := range []string{"", ", again"} {
		b.join("join by the consumer protocol" + again)
		admin.Do("offsets are there"+again, 8, fetchAllRequest(group))
		b.commit("commit"+again, 9, b.epoch, group, topic, 0)
		b.leaves("leave"+again, -1)
		admin.Do("join with an id by the classic protocol"+again, 9, joinRequest(group, "made-up", subscription("range", group)))
		a := c.groupMember("a", group, subscription("range", group))
		admin.Do("describe: a classic group by now"+again, 1, describeConsumers(group))
		a.joined(a.join("join by the classic protocol" + again))
		a.sync("sync"+again, a.id+":"+leaderGives(group, 0)).Await()
		admin.Do("offsets are there still"+again, 8, fetchAllRequest(group))
		a.Do("leave"+again, 5, leaveRequest(group, a.id))
		admin.Do("describe"+again, 6, describeGroupsRequest(group))
	}
}
