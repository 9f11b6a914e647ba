package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// badConsumerRequests are bad requests of consumer groups, and what consumer groups do not take.
func badConsumerRequests(t target) []badRequest {
	list := append(badConsumerJoins(t), badConsumerHeartbeats(t)...)
	list = append(append(list, badMembership(t)...), badOffsets(t)...)
	return append(list,
		badRequest{"ConsumerGroupDescribe: unknown group", 1, describeConsumers(nogroup)},
		badRequest{"ConsumerGroupDescribe: no group", 1, describeConsumers("")},
		badRequest{"StreamsGroupDescribe: unknown group", 0, describeStreams(nogroup)},
		badRequest{"ShareGroupDescribe: unknown group", 1, describeShareGroups(nogroup)},
	)
}

func badConsumerJoins(t target) []badRequest {
	type R = *kmsg.ConsumerGroupHeartbeatRequest
	fresh := func() R {
		req := heartbeatOf(t.group, t.member, 0)
		req.SubscribedTopicNames, req.RebalanceTimeoutMillis = []string{t.topic.name}, 60_000
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		return req
	}
	return bad("ConsumerGroupHeartbeat", 1, fresh, []spoil[R]{
		{"join without group", func(r R) { r.Group = "" }},
		{"join without member", func(r R) { r.MemberID = "" }},
		{"join without rebalance timeout", func(r R) { r.RebalanceTimeoutMillis = -1 }},
		{"join without partitions", func(r R) { r.Topics = nil }},
		{"join with partitions", func(r R) { r.Topics = ownedOf(t.topic.id, 0) }},
		{"join without topics", func(r R) { r.SubscribedTopicNames = nil }},
		{"join with an empty instance id", func(r R) { r.InstanceID = kmsg.StringPtr("") }},
		{"join with an empty rack", func(r R) { r.RackID = kmsg.StringPtr("") }},
		{"join with an unknown assignor", func(r R) { r.ServerAssignor = kmsg.StringPtr(nobody) }},
		{"join with a bad expression", func(r R) { r.SubscribedTopicRegex = kmsg.StringPtr("(") }},
	})
}

func badConsumerHeartbeats(t target) []badRequest {
	type R = *kmsg.ConsumerGroupHeartbeatRequest
	return bad("ConsumerGroupHeartbeat", 1, func() R { return heartbeatOf(t.group, t.member, t.epoch) }, []spoil[R]{
		{"unknown group", func(r R) { r.Group = nogroup }},
		{"unknown group is left", func(r R) { r.Group, r.MemberEpoch = nogroup, -1 }},
		{"unknown member", func(r R) { r.MemberID = nobody }},
		{"unknown member leaves", func(r R) { r.MemberID, r.MemberEpoch = nobody, -1 }},
		{"unknown instance", func(r R) { r.MemberID, r.InstanceID = nobody, kmsg.StringPtr(nobody) }},
		{"unknown instance leaves", func(r R) { r.MemberID, r.InstanceID, r.MemberEpoch = nobody, kmsg.StringPtr(nobody), -2 }},
		{"epoch too high", func(r R) { r.MemberEpoch++ }},
		{"epoch far too high", func(r R) { r.MemberEpoch = highest }},
		{"epoch too low", func(r R) { r.MemberEpoch = longPast(r.MemberEpoch) }},
		{"epoch -2 without instance", func(r R) { r.MemberEpoch = -2 }},
		{"epoch -3", func(r R) { r.MemberEpoch = -3 }},
	})
}
