package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// badStreamsRequests are bad requests of streams groups, and what streams groups do not take.
func badStreamsRequests(t target) []badRequest {
	list := append(badStreamsJoins(t), badStreamsHeartbeats(t)...)
	list = append(append(list, badMembership(t)...), badOffsets(t)...)
	return append(list,
		badRequest{"StreamsGroupDescribe: unknown group", 0, describeStreams(nogroup)},
		badRequest{"StreamsGroupDescribe: no group", 0, describeStreams("")},
		badRequest{"ConsumerGroupDescribe: unknown group", 1, describeConsumers(nogroup)},
		badRequest{"ShareGroupDescribe: unknown group", 1, describeShareGroups(nogroup)},
	)
}

func badStreamsJoins(t target) []badRequest {
	type R = *kmsg.StreamsGroupHeartbeatRequest
	fresh := func() R { return streamsJoin(t.group, t.member, topologyOf(0, subtopologyOf("0", t.topic.name))) }
	return bad("StreamsGroupHeartbeat", 0, fresh, []spoil[R]{
		{"join with an instance id", func(r R) { r.InstanceID = kmsg.StringPtr("i") }},
		{"join with offsets of tasks", func(r R) { r.TaskOffsets = []kmsg.TaskOffset{} }},
		{"join with warm-up tasks", func(r R) { r.WarmupTasks = tasksOf(0) }},
		{"join with active tasks", func(r R) { r.ActiveTasks = tasksOf(0) }},
		{"join with null standby tasks", func(r R) { r.StandbyTasks = nil }},
		{"join with an empty rack", func(r R) { r.RackID = kmsg.StringPtr("") }},
		{"join without member", func(r R) { r.MemberID = "" }},
		{"join without group", func(r R) { r.Group = "" }},
		{"join without rebalance timeout", func(r R) { r.RebalanceTimeoutMillis = -1 }},
		{"join without topology", func(r R) { r.Topology = nil }},
		{"join with a topic of Kafka itself", func(r R) { r.Topology.Subtopologies[0].SourceTopics = []string{"__consumer_offsets"} }},
		{"topology after the join", func(r R) { r.MemberEpoch = 1 }},
	})
}

func badStreamsHeartbeats(t target) []badRequest {
	type R = *kmsg.StreamsGroupHeartbeatRequest
	return bad("StreamsGroupHeartbeat", 0, func() R { return streamsHeartbeat(t.group, t.member, t.epoch) }, []spoil[R]{
		{"unknown group", func(r R) { r.Group = nogroup }},
		{"unknown group is left", func(r R) { r.Group, r.MemberEpoch = nogroup, -1 }},
		{"unknown member", func(r R) { r.MemberID = nobody }},
		{"unknown member leaves", func(r R) { r.MemberID, r.MemberEpoch = nobody, -1 }},
		{"epoch too high", func(r R) { r.MemberEpoch++ }},
		{"epoch far too high", func(r R) { r.MemberEpoch = highest }},
		{"epoch too low", func(r R) { r.MemberEpoch = longPast(r.MemberEpoch) }},
		{"epoch -2", func(r R) { r.MemberEpoch = -2 }},
		{"epoch -3", func(r R) { r.MemberEpoch = -3 }},
		{"active tasks alone", func(r R) { r.ActiveTasks = tasksOf(0) }},
		{"no active tasks beside others", func(r R) { r.StandbyTasks, r.WarmupTasks = tasksOf(), tasksOf() }},
		{"tasks that are not there", func(r R) { r.ActiveTasks, r.StandbyTasks, r.WarmupTasks = tasksIn("x", 7), tasksOf(), tasksOf() }},
	})
}
