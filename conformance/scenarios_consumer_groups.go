package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// consumerGroupScenarios show groups of the consumer protocol (KIP-848).
func consumerGroupScenarios() []Scenario {
	return withConsumerSet([]Scenario{
		{
			Name:  "consumer-refusals",
			Claim: "A ConsumerGroupHeartbeat that says too little, too much or nonsense is INVALID_REQUEST or UNSUPPORTED_ASSIGNOR with a text; to a group that is not there GROUP_ID_NOT_FOUND; each time, and no group comes into being.",
			Run:   runConsumerRefusals,
		},
		{
			Name:  "consumer-lifecycle",
			Claim: "A member joins with epoch 0, has all partitions at once, is heard of without an answer that repeats them, is FENCED_MEMBER_EPOCH at any other epoch, leaves with -1 once, and comes back.",
			Run:   runConsumerLifecycle,
		},
		{
			Name:  "consumer-v0",
			Claim: "At v0 a member without an id is given one; at v1 it must bring one.",
			Run:   runConsumerV0,
		},
		{
			Name:  "consumer-two-members",
			Claim: "A second member gets its partitions when the first has given them up; each step is told once, and the describe shows it; when the second leaves the first has all again.",
			Run:   runConsumerTwoMembers,
		},
		{
			Name:  "consumer-previous-epoch",
			Claim: "A member may repeat its epoch before with no more than it is to have; with anything else, or saying nothing of what it has, it is FENCED_MEMBER_EPOCH; rejoining with 0 it keeps its epoch.",
			Run:   runConsumerPreviousEpoch,
		},
		{
			Name:  "consumer-subscriptions",
			Claim: "Other topics raise the epoch and take away at once what is not read any more; a topic that is not there counts when it is created; the same subscription in another order changes nothing.",
			Run:   runConsumerSubscriptions,
		},
		{
			Name:  "consumer-topics",
			Claim: "A topic that grows, goes, or comes again under its name raises the epoch of who reads it with the next heartbeat.",
			Run:   runConsumerTopics,
		},
		{
			Name:  "consumer-regex",
			Claim: "What a regular expression stands for comes a moment after the heartbeat that brings it; it must match whole names; a bad one is INVALID_REGULAR_EXPRESSION with RE2's text; a topic that is created counts later.",
			Run:   runConsumerRegex,
		},
		{
			Name:  "consumer-static",
			Claim: "An instance id that is in use is UNRELEASED_INSTANCE_ID; after epoch -2 another process takes the place with its partitions and without an epoch of the group, and the old id is FENCED_INSTANCE_ID; after -1 it is unknown.",
			Run:   runConsumerStatic,
		},
		{
			Name:  "consumer-session",
			Claim: "Who is not heard of for consumer.session.timeout.ms, which a group may set, is out; a static member that left for a while likewise.",
			Run:   runConsumerSession,
		},
		{
			Name:  "consumer-rebalance-timeout",
			Claim: "Who does not give up partitions within its rebalance timeout is out, however often it heartbeats.",
			Run:   runConsumerRebalanceTimeout,
		},
		{
			Name:  "consumer-interval",
			Claim: "The assignment is worked out at most once in consumer.assignment.interval.ms: until then a member that joins has nothing, at the epoch of the last one.",
			Set:   consumerSet("group.consumer.assignment.interval.ms", "3000"),
			Run:   runConsumerInterval,
		},
		{
			Name:  "consumer-assignors",
			Claim: "Most members' assignor is the group's; without any it is the first of group.consumer.assignors.",
			Run:   runConsumerAssignors,
		},
		{
			Name:  "consumer-max-size",
			Claim: "Beyond group.consumer.max.size it is GROUP_MAX_SIZE_REACHED, each time, until one leaves; members may always heartbeat.",
			Set:   consumerSet("group.consumer.max.size", "2"),
			Run:   runConsumerMaxSize,
		},
		{
			Name:  "consumer-offsets",
			Claim: "A member commits at its epoch, or an earlier one for what it has had since; at another it is STALE_MEMBER_EPOCH, before OffsetCommit v9 UNSUPPORTED_VERSION; who is no member may commit when there is none; likewise OffsetFetch v9.",
			Run:   runConsumerOffsets,
		},
		{
			Name:  "consumer-admin",
			Fresh: true,
			Claim: "A consumer group with members is NON_EMPTY_GROUP, topics it reads GROUP_SUBSCRIBED_TO_TOPIC; ListGroups filters by consumer and by its states; DescribeGroups calls it Dead.",
			Run:   runConsumerAdmin,
		},
		{
			Name:  "consumer-restart",
			Claim: "Members, epochs and assignments survive a restart and a kill; a revocation under way goes on.",
			Fresh: true,
			Run:   runConsumerRestart,
		},
		{
			Name:  "consumer-group-version",
			Claim: "At group.version 0 ConsumerGroupHeartbeat and ConsumerGroupDescribe are UNSUPPORTED_VERSION; at 1 the members are there again.",
			Fresh: true,
			Run:   runConsumerGroupVersion,
		},
	})
}

func runConsumerRefusals(c *C) {
	const group = "consumer-refusals"
	a := c.consumer("a", group, "consumer-refusals")
	a.AwaitGroupCoordinator(group)
	topic := a.MakeTopic("consumer-refusals", 1)
	change := func(f func(*kmsg.ConsumerGroupHeartbeatRequest)) *kmsg.ConsumerGroupHeartbeatRequest {
		req := a.joinRequest()
		f(req)
		return req
	}
	refused := []struct {
		step string
		req  *kmsg.ConsumerGroupHeartbeatRequest
	}{
		{"no member id", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.MemberID = "" })},
		{"a blank member id", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.MemberID = " \t" })},
		{"no group id", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.Group = "" })},
		{"a blank instance id", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.InstanceID = kmsg.StringPtr(" ") })},
		{"an empty rack", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.RackID = kmsg.StringPtr("") })},
		{"join without a rebalance timeout", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.RebalanceTimeoutMillis = -1 })},
		{"join without saying what it has", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.Topics = nil })},
		{"join with partitions", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.Topics = ownedOf(topic, 0) })},
		{"join without a subscription", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.SubscribedTopicNames = nil })},
		{"epoch -3", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.MemberEpoch = -3 })},
		{"epoch -2 without an instance id", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.MemberEpoch = -2 })},
		{"an assignor that is not there", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.ServerAssignor = kmsg.StringPtr("sticky") })},
		{"an empty assignor", change(func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.ServerAssignor = new(string) })},
		{"epoch 1 of a group that is not there", heartbeatOf(group, a.id, 1)},
		{"leave a group that is not there", heartbeatOf(group, a.id, -1)},
		{"no member id, leaving", heartbeatOf(group, "", -1)},
	}
	for _, again := range []string{"", ", again"} {
		for _, r := range refused {
			a.Do(r.step+again, 1, r.req)
		}
	}
	a.Do("describe: there is no such group", 1, describeConsumers(group, ""))
	a.names = []string{}
	a.join("join with an empty subscription")
	a.join("join with an empty subscription, again")
	b := c.consumer("b", group)
	b.names, b.regex = nil, new(string)
	b.join("join with an empty regular expression")
	for _, again := range []string{"", ", again"} {
		a.Do("epoch 1 of a member that is not there"+again, 1, heartbeatOf(group, "nobody", 1))
		a.Do("leave of a member that is not there"+again, 1, heartbeatOf(group, "nobody", -1))
	}
	a.Do("describe", 1, describeConsumers(group))
}

func runConsumerLifecycle(c *C) {
	const group = "consumer-lifecycle"
	a := c.consumer("a", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 3)
	a.join("join")
	a.Do("describe", 1, describeConsumers(group))
	a.beat("heartbeat")
	a.has("heartbeat with what it has")
	a.has("heartbeat with what it has, again")
	full := a.joinRequest()
	full.MemberEpoch, full.Topics = a.epoch, a.owns
	a.ask("heartbeat that says everything", full)
	for _, epoch := range []int32{a.epoch + 1, a.epoch - 1, a.epoch + 1} {
		a.Do("heartbeat at another epoch", 1, heartbeatOf(group, a.id, epoch))
	}
	a.Do("heartbeat with an instance id that nobody has", 1, func() *kmsg.ConsumerGroupHeartbeatRequest {
		req := a.beatRequest()
		req.InstanceID = kmsg.StringPtr("nobody")
		return req
	}())
	rack := a.beatRequest()
	rack.RackID = kmsg.StringPtr("r1")
	a.ask("heartbeat with a rack", rack)
	a.Do("describe at v0", 0, describeConsumers(group))
	for _, step := range []string{"leave", "leave again"} {
		a.leaves(step, -1)
		a.beat("heartbeat of who left")
		a.Do("describe", 1, describeConsumers(group))
	}
	a.join("join again")
	a.join("join again without leaving")
	req := describeConsumers(group, group, "nobody")
	req.IncludeAuthorizedOperations = true
	a.Do("describe twice, with operations", 1, req)
}

func runConsumerV0(c *C) {
	const group = "consumer-v0"
	a := c.consumer("a", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 2)
	req := a.joinRequest()
	req.MemberID = ""
	r := Ask[*kmsg.ConsumerGroupHeartbeatResponse](a.Conn, "join without an id at v0", 0, req)
	a.Do("heartbeat with the id", 0, heartbeatOf(group, *r.MemberID, r.MemberEpoch))
	a.Do("heartbeat without an id", 0, heartbeatOf(group, "", r.MemberEpoch))
	a.Do("leave without an id", 0, heartbeatOf(group, "", -1))
	a.Do("leave", 0, heartbeatOf(group, *r.MemberID, -1))
	a.Do("leave again", 0, heartbeatOf(group, *r.MemberID, -1))
	a.join("join with an id of its own at v1")
	a.Do("describe", 1, describeConsumers(group))
}

func runConsumerTwoMembers(c *C) {
	const group = "consumer-two-members"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 4)
	a.join("join")
	describe := func() { c.Conn("admin").Do("describe", 1, describeConsumers(group)) }
	for _, again := range []string{"", ", again"} {
		b.join("join" + again)
		describe()
		b.beat("heartbeat: nothing is free yet" + again)
		keeps := a.owns
		a.beat("heartbeat: give up partitions" + again)
		a.beat("heartbeat: it was told" + again)
		told := a.owns
		a.owns = keeps
		a.has("heartbeat with all that it had" + again)
		a.owns = told
		describe()
		b.beat("heartbeat: still nothing is free" + again)
		a.has("heartbeat: given up" + again)
		describe()
		b.beat("heartbeat: partitions" + again)
		b.has("heartbeat with what it has" + again)
		describe()
		b.leaves("leave"+again, -1)
		describe()
		a.beat("heartbeat: all partitions" + again)
		a.has("heartbeat with what it has" + again)
		describe()
	}
}

func runConsumerPreviousEpoch(c *C) {
	const group = "consumer-previous-epoch"
	a, b := c.consumer("a", group, group), c.consumer("b", group, group)
	a.AwaitGroupCoordinator(group)
	topic := a.MakeTopic(group, 2)
	a.join("join")
	b.join("join")
	before := a.epoch
	a.beat("heartbeat: give up a partition")
	a.has("heartbeat: given up")
	b.beat("heartbeat: a partition")
	b.has("heartbeat with it")
	old := func(step string, owns []kmsg.ConsumerGroupHeartbeatRequestTopic) {
		req := heartbeatOf(group, a.id, before)
		req.Topics = owns
		a.Do(step, 1, req)
	}
	for _, again := range []string{"", ", again"} {
		old("the epoch before, saying nothing"+again, nil)
		old("the epoch before, with what it gave up"+again, ownedOf(topic, 0, 1))
		old("the epoch before, with a topic that is not there"+again, ownedOf([16]byte{9}, 0))
		old("the epoch before, with what it is to have"+again, a.owns)
		old("the epoch before, with nothing"+again, []kmsg.ConsumerGroupHeartbeatRequestTopic{})
	}
	a.join("join again: it keeps its epoch")
	a.has("heartbeat")
	c.Conn("admin").Do("describe", 1, describeConsumers(group))
}

func runConsumerSubscriptions(c *C) {
	const group = "consumer-subscriptions"
	a := c.consumer("a", group, group+"-1")
	a.AwaitGroupCoordinator(group)
	a.makes(group+"-1", 1)
	a.makes(group+"-2", 2)
	describe := func() { c.Conn("admin").Do("describe", 1, describeConsumers(group)) }
	a.join("join")
	reads := func(step string, topics ...string) {
		req := a.beatRequest()
		req.SubscribedTopicNames = topics
		a.ask(step, req)
	}
	reads("read the other topic: give up the first", group+"-2")
	describe()
	reads("read the other topic, again", group+"-2")
	a.has("heartbeat: given up")
	describe()
	a.has("heartbeat")
	reads("read both", group+"-1", group+"-2")
	a.has("heartbeat")
	reads("read both in another order", group+"-2", group+"-1")
	reads("read both, one twice", group+"-2", group+"-1", group+"-2")
	reads("read a topic that is not there, too", group+"-1", group+"-2", group+"-3")
	a.beat("heartbeat")
	describe()
	a.makes(group+"-3", 1)
	a.awaitEpoch("heartbeat until the topic counts")
	a.has("heartbeat")
	describe()
	reads("read nothing")
	req := a.beatRequest()
	req.SubscribedTopicNames = []string{}
	a.ask("read nothing, with an empty list", req)
	a.has("heartbeat: given up")
	describe()
	timeout := a.beatRequest()
	timeout.RebalanceTimeoutMillis = 1
	a.ask("another rebalance timeout", timeout)
	a.ask("another rebalance timeout, again", timeout)
}

func runConsumerTopics(c *C) {
	const group = "consumer-topics"
	a := c.consumer("a", group, group)
	a.AwaitGroupCoordinator(group)
	a.MakeTopic(group, 1)
	a.join("join")
	admin := c.Conn("admin")
	describe := func() { admin.Do("describe", 1, describeConsumers(group)) }
	for _, partitions := range []int32{2, 3} {
		grow := kmsg.NewPtrCreatePartitionsRequest()
		grow.TimeoutMillis = 30_000
		grow.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: group, Count: partitions}}
		admin.Do("grow", 3, grow)
		a.awaitEpoch("heartbeat until it has grown")
		a.has("heartbeat")
		describe()
	}
	for _, again := range []string{"", ", again"} {
		gone := kmsg.NewPtrDeleteTopicsRequest()
		gone.TimeoutMillis, gone.TopicNames = 30_000, []string{group}
		admin.Do("delete"+again, 5, gone)
		AskUntil(a.Conn, "heartbeat until it is gone"+again, 1, a.beatRequest(), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool {
			return r.Assignment != nil
		})
		a.owns = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		a.has("heartbeat: given up" + again)
		describe()
		admin.MakeTopic(group, 2)
		a.awaitEpoch("heartbeat until it is there again" + again)
		a.has("heartbeat" + again)
		describe()
	}
}

func runConsumerRegex(c *C) {
	const group = "consumer-regex"
	a := c.consumer("a", group)
	a.AwaitGroupCoordinator(group)
	a.makes(group+"-1", 1)
	a.makes(group+"-2", 1)
	admin := c.Conn("admin")
	describe := func() { admin.Do("describe", 1, describeConsumers(group)) }
	for _, bad := range []string{"[", "a**", "(a", "a(?=b)", "*", "\\8", "[[:bad:]]", "a{2,1}", "(?P<n", "["} {
		a.names, a.regex = nil, kmsg.StringPtr(bad)
		a.join("join with " + bad)
	}
	describe()
	a.regex = kmsg.StringPtr(group)
	a.join("join: the whole name of no topic")
	a.regex = kmsg.StringPtr(group + "-[12]")
	other := a.beatRequest()
	other.SubscribedTopicRegex = a.regex
	a.ask("another regular expression", other)
	a.awaitEpoch("heartbeat until it is resolved")
	a.has("heartbeat")
	describe()
	a.ask("the same again", func() *kmsg.ConsumerGroupHeartbeatRequest {
		req := a.beatRequest()
		req.SubscribedTopicRegex = a.regex
		return req
	}())
	b := c.consumer("b", group)
	b.names, b.regex = nil, a.regex
	b.join("join with the same, which is resolved")
	bad := b.beatRequest()
	bad.SubscribedTopicRegex = kmsg.StringPtr("(")
	b.ask("change to a bad one", bad)
	b.ask("change to a bad one, again", bad)
	b.leaves("leave", -1)
	a.awaitEpoch("heartbeat until it is alone")
	a.has("heartbeat")
	none := a.beatRequest()
	none.SubscribedTopicRegex = new(string)
	a.ask("no regular expression", none)
	a.has("heartbeat: given up")
	describe()
}
