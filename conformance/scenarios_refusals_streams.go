package conformance

// streamsRefusalScenarios show what bad requests to streams groups are answered, by the state of the group.
func streamsRefusalScenarios() []Scenario {
	set := streamsSetWith("transaction.state.log.num.partitions", "1")
	return grid("streams-refused", "streams groups", 3, set, []gridState{
		{name: "unknown", is: "there is no such group", enter: streamsTarget},
		{name: "empty", is: "the group is Empty", enter: func(c *C, group string) target {
			t, a := enterStreamsStable(c, group)
			a.leave("leave")
			return t
		}},
		{name: "stable", is: "the group is Stable", enter: func(c *C, group string) target {
			t, _ := enterStreamsStable(c, group)
			return t
		}},
		{name: "reconciling", is: "the member is to give tasks back", enter: func(c *C, group string) target {
			t, a := enterStreamsStable(c, group)
			c.streamsMember("b", group, a.topology).join("a second member joins")
			a.owns("the first is to give back")
			return t
		}},
		{name: "left", is: "the member has left and others stay", enter: func(c *C, group string) target {
			t, a := enterStreamsStable(c, group)
			b := c.streamsMember("b", group, a.topology)
			b.join("a second member joins")
			b.leave("it leaves")
			t.member, t.epoch = b.id, b.epoch
			return t
		}},
		{name: "classic", is: "the group is a classic one", enter: func(c *C, group string) target {
			t := streamsTarget(c, group)
			c.groupMember("k", group).alone()
			return t
		}},
	}, badStreamsRequests)
}

// streamsTarget has a topic and a transaction, and no group.
func streamsTarget(c *C, group string) target {
	n := c.Conn("n")
	n.streamsTopic(group, 2)
	topic := topicRef{name: group, id: n.topicID(group)}
	return target{group: group, member: "a", epoch: 2, session: 1, topic: topic}.inTransaction(c)
}

func enterStreamsStable(c *C, group string) (target, *streamsMember) {
	t := streamsTarget(c, group)
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.join("join")
	t.epoch = a.epoch
	return t, a
}
