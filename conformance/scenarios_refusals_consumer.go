package conformance

// consumerRefusalScenarios show what bad requests to consumer groups are answered, by the state of the group.
func consumerRefusalScenarios() []Scenario {
	set := consumerSet("transaction.state.log.num.partitions", "1", "group.share.heartbeat.interval.ms", "5000")
	return grid("consumer-refused", "consumer groups", 2, set, []gridState{
		{name: "unknown", is: "there is no such group", enter: func(c *C, group string) target {
			return consumerTarget(c, c.consumer("a", group, group))
		}},
		{name: "empty", is: "the group is Empty", enter: func(c *C, group string) target {
			t, a := enterConsumerStable(c, group)
			a.Do("leave", 1, heartbeatOf(group, a.id, -1))
			return t
		}},
		{name: "stable", is: "the group is Stable", enter: func(c *C, group string) target {
			t, _ := enterConsumerStable(c, group)
			return t
		}},
		{name: "reconciling", is: "the member is to give partitions back", enter: func(c *C, group string) target {
			t, a := enterConsumerStable(c, group)
			c.consumer("b", group, group).join("a second member joins")
			a.beat("the first is to give back")
			return t
		}},
		{name: "left", is: "the member has left and others stay", enter: func(c *C, group string) target {
			t, _ := enterConsumerStable(c, group)
			b := c.consumer("b", group, group)
			b.join("a second member joins")
			b.Do("it leaves", 1, heartbeatOf(group, b.id, -1))
			t.member, t.epoch = b.id, b.epoch
			return t
		}},
		{name: "share", is: "the group is a share group", enter: func(c *C, group string) target {
			t := consumerTarget(c, c.consumer("a", group, group))
			s := c.shareMember("s", group)
			s.Do("a share member joins", 1, s.beat(0, group))
			return t
		}},
	}, badConsumerRequests)
}

// consumerTarget makes the topic that the member reads, and a transaction.
func consumerTarget(c *C, m *consumer) target {
	topic := c.Conn("n").NewTopic(m.group, 2)
	return target{group: m.group, member: m.id, epoch: 1, session: 1, topic: topic}.inTransaction(c)
}

func enterConsumerStable(c *C, group string) (target, *consumer) {
	a := c.consumer("a", group, group)
	t := consumerTarget(c, a)
	a.made = [][16]byte{t.topic.id}
	a.join("join")
	a.has("heartbeat with what it has")
	t.epoch = a.epoch
	return t, a
}
