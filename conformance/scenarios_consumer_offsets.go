package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// Consumer groups from outside: offsets, administration, restarts, group.version.

func runConsumerOffsets(c *C) {
	const group = "consumer-offsets"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	topic := a.MakeTopic(group, 2)
	a.join("join")
	b.join("join")
	a.beat("heartbeat: give up a partition")
	a.has("heartbeat: given up")
	b.beat("heartbeat: a partition")
	b.has("heartbeat with it")
	nobody := c.consumer("n", group)
	for _, again := range []string{"", ", again"} {
		a.commit("commit"+again, 9, a.epoch, group, topic, 0)
		a.commit("commit by topic id"+again, 10, a.epoch, group, topic, 0)
		a.commit("commit of a partition of another member"+again, 9, a.epoch, group, topic, 1)
		a.commit("commit at v8"+again, 8, a.epoch, group, topic, 0)
		a.commit("commit at a greater epoch"+again, 9, a.epoch+1, group, topic, 0)
		a.commit("commit at the epoch before"+again, 9, a.epoch-1, group, topic, 0)
		a.commit("commit at the epoch before, of what it has no more"+again, 9, a.epoch-1, group, topic, 1)
		b.commit("commit before it had the partition"+again, 9, b.epoch-1, group, topic, 1)
		a.commit("commit at epoch 0"+again, 9, 0, group, topic, 0)
		a.commit("commit at epoch -1"+again, 9, -1, group, topic, 0)
		nobody.commit("commit of no member"+again, 9, 1, group, topic, 0)
		nobody.commit("commit of no member without an epoch"+again, 9, -1, group, topic, 0)
		a.fetch("fetch as nobody"+again, 9, nil, -1, group, topic)
		a.fetch("fetch as a member"+again, 9, &a.id, a.epoch, group, topic)
		a.fetch("fetch by topic id"+again, 10, &a.id, a.epoch, group, topic)
		a.fetch("fetch at another epoch"+again, 9, &a.id, a.epoch-1, group, topic)
		a.fetch("fetch at a greater epoch"+again, 10, &a.id, a.epoch+1, group, topic)
		a.fetch("fetch as no member"+again, 9, &nobody.id, 1, group, topic)
		a.fetch("fetch with an epoch and no member"+again, 9, nil, 1, group, topic)
		a.fetch("fetch at v8"+again, 8, nil, -1, group, topic)
	}
	b.leaves("leave", -1)
	a.leaves("leave", -1)
	nobody.commit("commit of no member to the empty group", 9, -1, group, topic, 1)
	nobody.commit("commit with an epoch to the empty group", 9, 1, group, topic, 1)
	nobody.fetch("fetch as no member of the empty group", 9, &nobody.id, 1, group, topic)
	nobody.fetch("fetch as nobody", 9, nil, -1, group, topic)
	a.join("join again: the offsets are there")
	a.fetch("fetch as a member", 9, &a.id, a.epoch, group, topic)
}

func runConsumerAdmin(c *C) {
	const group = "consumer-admin"
	a := c.consumer("a", group, group)
	a.AwaitGroupCoordinator(group)
	topic := a.MakeTopic(group, 1)
	a.MakeTopic(group+"-other", 1)
	a.join("join")
	a.commit("commit", 9, a.epoch, group, topic, 0)
	admin := c.Conn("admin")
	list := func(step string, states, types []string) {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = states, types
		admin.Do(step, 5, req)
	}
	for _, state := range []string{"with a member", "empty"} {
		for _, again := range []string{"", ", again"} {
			admin.Do("describe as a classic group: "+state+again, 6, describeGroupsRequest(group))
			admin.Do("describe as a classic group at v5: "+state+again, 5, describeGroupsRequest(group))
			admin.Do("delete offsets: "+state+again, 0, offsetDeleteRequest(group, group, 0))
			admin.Do("delete offsets of a topic that it does not read: "+state+again, 0, offsetDeleteRequest(group, group+"-other", 0))
		}
		list("list consumer groups: "+state, nil, []string{"Consumer"})
		list("list classic groups: "+state, nil, []string{"classic"})
		list("list Stable groups: "+state, []string{"stable"}, []string{"consumer"})
		list("list Empty groups: "+state, []string{"Empty"}, []string{"consumer"})
		list("list Assigning and Reconciling groups: "+state, []string{"Assigning", "Reconciling"}, nil)
		if state == "empty" {
			break
		}
		admin.Do("delete the group with a member", 2, deleteGroupsRequest(group))
		admin.Do("delete the group with a member, again", 2, deleteGroupsRequest(group))
		a.leaves("leave", -1)
	}
	admin.Do("delete the empty group", 2, deleteGroupsRequest(group))
	admin.Do("delete the empty group, again", 2, deleteGroupsRequest(group))
	a.fetch("its offsets are gone", 9, nil, -1, group, topic)
	a.join("join: the group begins anew")
}

func runConsumerRestart(c *C) {
	const group = "consumer-restart"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	a.join("join")
	b.join("join")
	admin := c.Conn("admin")
	describe := func() { admin.Do("describe", 1, describeConsumers(group)) }
	a.beat("heartbeat: give up a partition")
	for i, again := range []func(){c.Restart, c.Kill} {
		again()
		a.Conn, b.Conn, admin = c.Conn("a"), c.Conn("b"), c.Conn("admin")
		a.AwaitGroupCoordinator(group)
		describe()
		if i == 0 {
			b.beat("heartbeat: nothing is free yet")
			a.has("heartbeat: given up")
			b.beat("heartbeat: a partition")
			b.has("heartbeat with it")
		}
		a.has("heartbeat: all is as it was")
		b.has("heartbeat: all is as it was")
		describe()
	}
}

func runConsumerGroupVersion(c *C) {
	const group = "consumer-group-version"
	a := c.consumer("a", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 1)
	a.join("join")
	level := func(step string, to int16, kind int8) {
		req := kmsg.NewPtrUpdateFeaturesRequest()
		req.TimeoutMillis = 30_000
		f := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		f.Feature, f.MaxVersionLevel, f.UpgradeType = "group.version", to, kind
		req.FeatureUpdates = append(req.FeatureUpdates, f)
		c.Conn("admin").Do(step, 1, req)
	}
	level("group.version 2", 2, upgrade)
	level("group.version 0", 0, safeDowngrade)
	level("group.version 0, again", 0, safeDowngrade)
	AskUntil(a.Conn, "heartbeat until it is refused", 1, a.beatRequest(), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.ErrorCode != 0 })
	a.beat("heartbeat")
	a.join("join")
	a.Do("describe", 1, describeConsumers(group))
	level("group.version 1", 1, upgrade)
	AskUntil(a.Conn, "heartbeat until it is taken", 1, a.beatRequest(), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.ErrorCode == 0 })
	a.Do("describe", 1, describeConsumers(group))
}
