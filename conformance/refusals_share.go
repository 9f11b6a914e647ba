package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// badShareRequests are bad requests of share groups, and what share groups do not take.
func badShareRequests(t target) []badRequest {
	list := badShareHeartbeats(t)
	for _, v := range []int16{1, 2} {
		list = append(append(list, badShareFetches(t, v)...), badShareAcknowledgements(t, v)...)
	}
	list = append(append(list, badMembership(t)...), badOffsets(t)...)
	return append(list, badShareAdministration(t)...)
}

func (t target) shareMember() *shareMember {
	return &shareMember{group: t.group, id: t.member, epoch: t.epoch, session: t.session}
}

func badShareHeartbeats(t target) []badRequest {
	type R = *kmsg.ShareGroupHeartbeatRequest
	return bad("ShareGroupHeartbeat", 1, func() R { return t.shareMember().beat(t.epoch) }, []spoil[R]{
		{"no group", func(r R) { r.GroupID = "" }},
		{"unknown group", func(r R) { r.GroupID = nogroup }},
		{"unknown group is left", func(r R) { r.GroupID, r.MemberEpoch = nogroup, -1 }},
		{"no member", func(r R) { r.MemberID = "" }},
		{"unknown member", func(r R) { r.MemberID = nobody }},
		{"unknown member leaves", func(r R) { r.MemberID, r.MemberEpoch = nobody, -1 }},
		{"member id too long", func(r R) { r.MemberID = longID }},
		{"empty rack", func(r R) { r.RackID = kmsg.StringPtr("") }},
		{"join without topics", func(r R) { r.MemberEpoch = 0 }},
		{"join with an empty list of topics", func(r R) { r.MemberEpoch, r.SubscribedTopicNames = 0, []string{} }},
		{"epoch -2", func(r R) { r.MemberEpoch = -2 }},
		{"epoch too high", func(r R) { r.MemberEpoch++ }},
		{"epoch far too high", func(r R) { r.MemberEpoch = highest }},
		{"epoch too low", func(r R) { r.MemberEpoch = longPast(r.MemberEpoch) }},
	})
}

func badShareFetches(t target, version int16) []badRequest {
	type R = *kmsg.ShareFetchRequest
	fresh := func() R {
		req := t.shareMember().fetching(t.topic)
		req.MaxWaitMillis = 0
		return req
	}
	return bad("ShareFetch", version, fresh, []spoil[R]{
		{"null group", func(r R) { r.GroupID = nil }},
		{"unknown group", func(r R) { r.GroupID = kmsg.StringPtr(nogroup) }},
		{"null member", func(r R) { r.MemberID = nil }},
		{"empty member", func(r R) { r.MemberID = kmsg.StringPtr("") }},
		{"unknown member", func(r R) { r.MemberID = kmsg.StringPtr(nobody) }},
		{"unknown member ends its session", func(r R) { r.MemberID, r.ShareSessionEpoch = kmsg.StringPtr(nobody), -1 }},
		{"member id too long", func(r R) { r.MemberID = kmsg.StringPtr(longID) }},
		{"session epoch too high", func(r R) { r.ShareSessionEpoch++ }},
		{"session epoch far too high", func(r R) { r.ShareSessionEpoch = highest }},
		{"session epoch -2", func(r R) { r.ShareSessionEpoch = -2 }},
		{"acknowledgements in a first request", func(r R) {
			r.ShareSessionEpoch, r.Topics = 0, nil
			with(r, t.topic, ack(0, 0, ackAccept))
		}},
	})
}

func badShareAcknowledgements(t target, version int16) []badRequest {
	type R = *kmsg.ShareAcknowledgeRequest
	fresh := func() R { return t.shareMember().acknowledging(t.topic, ack(0, 0, ackAccept)) }
	return bad("ShareAcknowledge", version, fresh, []spoil[R]{
		{"null group", func(r R) { r.GroupID = nil }},
		{"unknown group", func(r R) { r.GroupID = kmsg.StringPtr(nogroup) }},
		{"null member", func(r R) { r.MemberID = nil }},
		{"empty member", func(r R) { r.MemberID = kmsg.StringPtr("") }},
		{"unknown member", func(r R) { r.MemberID = kmsg.StringPtr(nobody) }},
		{"member id too long", func(r R) { r.MemberID = kmsg.StringPtr(longID) }},
		{"session epoch 0", func(r R) { r.ShareSessionEpoch = 0 }},
		{"session epoch too high", func(r R) { r.ShareSessionEpoch++ }},
		{"session epoch far too high", func(r R) { r.ShareSessionEpoch = highest }},
		{"session epoch -2", func(r R) { r.ShareSessionEpoch = -2 }},
	})
}

func badShareAdministration(t target) []badRequest {
	return []badRequest{
		{"ShareGroupDescribe: unknown group", 1, describeShareGroups(nogroup)},
		{"ShareGroupDescribe: no group", 1, describeShareGroups("")},
		{"DescribeShareGroupOffsets: unknown group", 1, shareOffsets(nogroup)},
		{"DescribeShareGroupOffsets: no group", 1, shareOffsets("")},
		{"AlterShareGroupOffsets: no group", 0, alterShareOffsets("", t.topic.name, 0)},
		{"DeleteShareGroupOffsets: no group", 0, deleteShareOffsets("", t.topic.name)},
		{"DeleteShareGroupOffsets: unknown group", 0, deleteShareOffsets(nogroup, t.topic.name)},
		{"DeleteShareGroupOffsets: unknown topic", 0, deleteShareOffsets(t.group, nogroup)},
		{"AlterShareGroupOffsets: unknown topic", 0, alterShareOffsets(t.group, nogroup, 0)},
		{"AlterShareGroupOffsets: the group itself", 0, alterShareOffsets(t.group, t.topic.name, 0)},
	}
}
