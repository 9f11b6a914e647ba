package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// Members of consumer groups: static ones, those that are late, and what a group says to who wants to be one.

func runConsumerStatic(c *C) {
	const group = "consumer-static"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	a.instance, b.instance = kmsg.StringPtr("i"), kmsg.StringPtr("i")
	describe := func() { c.Conn("admin").Do("describe", 1, describeConsumers(group)) }
	a.join("join")
	for _, again := range []string{"", ", again"} {
		b.join("another process: not released" + again)
		a.join("the same process: not released either" + again)
	}
	a.has("heartbeat")
	plain := heartbeatOf(group, a.id, a.epoch)
	a.ask("heartbeat without the instance id", plain)
	b.epoch = a.epoch
	b.beat("heartbeat of another member with the instance id")
	b.leaves("leave of another member with the instance id", -1)
	b.leaves("leave for a while of another member with the instance id", -2)
	for _, again := range []string{"", ", again"} {
		a.leaves("leave for a while"+again, -2)
		describe()
		a.beat("heartbeat of who left for a while" + again)
		a, b = b, a
		a.join("another process takes the place" + again)
		describe()
		b.beat("heartbeat of the old id" + again)
		b.leaves("leave of the old id"+again, -1)
		a.has("heartbeat" + again)
	}
	for _, again := range []string{"", ", again"} {
		a.leaves("leave"+again, -1)
		a.beat("heartbeat after that" + again)
		a.leaves("leave for a while after that"+again, -2)
	}
	describe()
	b.join("join anew")
}

func runConsumerSession(c *C) {
	const group = "consumer-session"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	admin := c.Conn("admin")
	alter := func(step, value string) {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: 32, ResourceName: group, Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{
			{Name: "consumer.session.timeout.ms", Value: &value},
		}}}
		admin.Do(step, 1, req)
	}
	alter("a session below the broker's least", "5999")
	alter("a session of six seconds", "6000")
	b.instance = kmsg.StringPtr("i")
	for _, again := range []string{"", ", again"} {
		b.join("join" + again)
		b.leaves("leave for a while"+again, -2)
		AskUntil(admin, "describe until nobody is left"+again, 1, describeConsumers(group), func(r *kmsg.ConsumerGroupDescribeResponse) bool {
			return r.Groups[0].State == "Empty"
		})
		a.join("join" + again)
		AskUntil(admin, "describe until nobody is left"+again, 1, describeConsumers(group), func(r *kmsg.ConsumerGroupDescribeResponse) bool {
			return r.Groups[0].State == "Empty"
		})
		a.beat("heartbeat after its session" + again)
		b.beat("heartbeat after its session" + again)
	}
}

func runConsumerRebalanceTimeout(c *C) {
	const group = "consumer-rebalance-timeout"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	a.rebalance = turnMs
	for _, again := range []string{"", ", again"} {
		a.join("join" + again)
		b.join("join" + again)
		a.beat("heartbeat: give up a partition" + again)
		AskUntil(a.Conn, "heartbeat until it is out"+again, 1, a.beatRequest(), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool {
			return r.ErrorCode != 0
		})
		b.awaitEpoch("heartbeat until it has all" + again)
		b.has("heartbeat" + again)
		b.leaves("leave"+again, -1)
	}
}

func runConsumerInterval(c *C) {
	const group = "consumer-interval"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	a.join("join")
	b.join("join")
	c.Conn("admin").Do("describe", 1, describeConsumers(group))
	b.beat("heartbeat")
	b.awaitEpoch("heartbeat until there is an assignment")
	c.Conn("admin").Do("describe", 1, describeConsumers(group))
	a.beat("heartbeat: give up a partition")
	a.has("heartbeat: given up")
	b.beat("heartbeat: a partition")
}

func runConsumerAssignors(c *C) {
	const group = "consumer-assignors"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	d := c.consumer("d", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 6)
	describe := func() {
		c.Conn("admin").Send("describe", 1, describeConsumers(group)).Only("Groups.AssignorName", "Groups.Epoch", "Groups.AssignmentEpoch").Await()
	}
	a.assignor, b.assignor, d.assignor = nil, kmsg.StringPtr("range"), kmsg.StringPtr("uniform")
	a.join("join without an assignor")
	describe()
	b.join("join with range")
	describe()
	d.join("join with uniform: as many as range")
	describe()
	change := a.beatRequest()
	change.ServerAssignor = kmsg.StringPtr("range")
	a.Do("heartbeat with range", 1, change)
	describe()
	a.Do("heartbeat with range, again", 1, change)
	change.ServerAssignor = kmsg.StringPtr("uniform")
	a.Send("heartbeat with uniform", 1, change).Only("ErrorCode", "MemberEpoch").Await()
	describe()
}

func runConsumerMaxSize(c *C) {
	const group = "consumer-max-size"
	a, b, d := c.consumer("a", group, group), c.consumer("b", group, group), c.consumer("d", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	a.join("join")
	b.join("join")
	for _, again := range []string{"", ", again"} {
		d.join("join: full" + again)
		d.Do("heartbeat of no member: full"+again, 1, heartbeatOf(group, d.id, 1))
		d.Do("leave of no member"+again, 1, heartbeatOf(group, d.id, -1))
		a.beat("heartbeat" + again)
	}
	b.leaves("leave", -1)
	d.join("join: there is room")
	b.join("join: full")
}
