package conformance

// classicRefusalScenarios show what bad requests to classic groups are answered, by the state of the group.
func classicRefusalScenarios() []Scenario {
	return grid("group-refused", "classic groups", 1, txnSet(), []gridState{
		{name: "unknown", is: "there is no such group", enter: classicTarget},
		{name: "empty", is: "the group is Empty", enter: func(c *C, group string) target {
			t, a := enterClassicStable(c, group)
			a.Do("leave", 5, leaveRequest(group, a.id))
			return t
		}},
		{name: "offsets", is: "the group has offsets and never had members", enter: func(c *C, group string) target {
			t := classicTarget(c, group)
			c.Conn("n").Do("commit", 8, commitRequest(group, group, 1))
			return t
		}},
		{name: "stable", is: "the group is Stable", enter: func(c *C, group string) target {
			t, _ := enterClassicStable(c, group)
			return t
		}},
		{name: "completing", is: "the group waits for the leader's assignments", enter: func(c *C, group string) target {
			t := classicTarget(c, group)
			a := c.groupMember("a", group)
			a.joined(a.join("join"))
			t.member, t.epoch = a.id, a.generation
			return t
		}},
		{name: "rebalancing", is: "the group waits for its member to join again", enter: func(c *C, group string) target {
			t, a := enterClassicStable(c, group)
			t.waits = c.groupMember("b", group).join("a second member joins")
			a.awaitRebalance()
			return t
		}},
		{name: "left", is: "the member has left and others stay", enter: func(c *C, group string) target {
			t, a := enterClassicStable(c, group)
			b := c.groupMember("b", group).joinsAfter(a)
			t.member, t.epoch = b.id, b.generation
			b.Do("the second leaves", 5, leaveRequest(group, b.id))
			a.awaitRebalance()
			a.joined(a.join("the first joins again"))
			a.sync("sync", a.id+":x").Await()
			return t
		}},
		{name: "consumer", is: "the group is a consumer group", enter: func(c *C, group string) target {
			t := classicTarget(c, group)
			c.consumer("k", group, group).join("a member of the consumer protocol joins")
			return t
		}},
	}, badClassicRequests)
}

// badClassicRequests are bad requests of classic groups, and what classic groups do not take.
func badClassicRequests(t target) []badRequest {
	list := append(badMembership(t), badOffsets(t)...)
	list = append(list, badConsumerHeartbeats(t)...)
	return append(list,
		badRequest{"ConsumerGroupDescribe: unknown group", 1, describeConsumers(nogroup)},
		badRequest{"StreamsGroupDescribe: the group itself", 0, describeStreams(t.group)},
		badRequest{"ShareGroupDescribe: the group itself", 1, describeShareGroups(t.group)},
	)
}

// classicTarget has a topic and a transaction, and no group.
func classicTarget(c *C, group string) target {
	topic := c.Conn("n").NewTopic(group, 1)
	return target{group: group, member: "a-member", epoch: 1, session: 1, topic: topic}.inTransaction(c)
}

func enterClassicStable(c *C, group string) (target, *groupMember) {
	t := classicTarget(c, group)
	a := c.groupMember("a", group).alone()
	t.member, t.epoch = a.id, a.generation
	return t, a
}
