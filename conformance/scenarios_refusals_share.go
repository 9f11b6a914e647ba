package conformance

// shareRefusalScenarios show what bad requests to share groups are answered, by the state of the group.
func shareRefusalScenarios() []Scenario {
	return grid("share-refused", "share groups", 3, shareSet(), []gridState{
		{name: "unknown", is: "there is no such group", enter: func(c *C, group string) target {
			return shareTarget(c, group)
		}},
		{name: "empty", is: "the group is Empty", enter: func(c *C, group string) target {
			t := shareTarget(c, group)
			a := c.shareMember("a", group).joins(group)
			a.Do("leave", 1, a.beat(-1))
			t.epoch = a.epoch
			return t
		}},
		{name: "stable", is: "the group is Stable and its member has no share session", enter: enterShareStable},
		{name: "fetching", is: "its member has a share session and records", enter: func(c *C, group string) target {
			a, topic := c.shareTopic(group)
			c.Conn("n").Store("store", topic, Values("1", "2"))
			a.fetches("fetch", a.fetching(topic))
			return target{group: group, member: a.id, epoch: a.epoch, session: a.session, topic: topic}
		}},
		{name: "left", is: "the member has left and others stay", enter: func(c *C, group string) target {
			t := enterShareStable(c, group)
			b := c.shareMember("b", group).joins(group)
			b.Do("leave", 1, b.beat(-1))
			t.member, t.epoch = b.id, b.epoch
			return t
		}},
		{name: "fenced", is: "the member's epoch is long past", enter: func(c *C, group string) target {
			t := enterShareStable(c, group)
			a := c.shareMember("a", group)
			a.epoch = t.epoch
			b := c.shareMember("b", group).joins(group)
			a.heartbeat("heartbeat: another epoch")
			b.Do("leave", 1, b.beat(-1))
			a.heartbeat("heartbeat: yet another epoch")
			return t
		}},
		{name: "classic", is: "the group is a classic one", enter: func(c *C, group string) target {
			t := shareTarget(c, group)
			c.groupMember("k", group).alone()
			return t
		}},
	}, badShareRequests)
}

func shareTarget(c *C, group string) target {
	return target{group: group, member: "member-a", epoch: 2, session: 1, topic: c.Conn("n").NewTopic(group, 1)}
}

func enterShareStable(c *C, group string) target {
	t := shareTarget(c, group)
	t.epoch = c.shareMember("a", group).joins(group).epoch
	return t
}
