package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// badOffsets are bad requests about committed offsets, and about groups as a whole.
func badOffsets(t target) []badRequest {
	var list []badRequest
	for _, v := range []int16{8, 9, 10} {
		list = append(list, badCommits(t, v)...)
	}
	for _, v := range []int16{9, 10} {
		list = append(list, badFetches(t, v)...)
	}
	if t.producer != nil {
		for _, v := range []int16{3, offsetCommitV1, offsetCommit} {
			list = append(list, badTxnCommits(t, v)...)
		}
	}
	return append(list, badDeletions(t)...)
}

func badCommits(t target, version int16) []badRequest {
	type R = *kmsg.OffsetCommitRequest
	fresh := func() R {
		req := commitRequest(t.group, t.topic.name, 1)
		req.MemberID, req.Generation, req.Topics[0].TopicID = t.member, t.epoch, t.topic.id
		return req
	}
	return bad("OffsetCommit", version, fresh, []spoil[R]{
		{"unknown member", func(r R) { r.MemberID = nobody }},
		{"no member", func(r R) { r.MemberID = "" }},
		{"unknown group", func(r R) { r.Group = nogroup }},
		{"epoch too high", func(r R) { r.Generation++ }},
		{"epoch far too high", func(r R) { r.Generation = highest }},
		{"epoch -1 of a member", func(r R) { r.Generation = -1 }},
		{"unknown instance", func(r R) { r.InstanceID = kmsg.StringPtr(nobody) }},
		{"unknown topic", func(r R) { r.Topics[0].Topic, r.Topics[0].TopicID = nogroup, [16]byte{1} }},
		{"unknown partition", func(r R) { r.Topics[0].Partitions[0].Partition = 99 }},
		{"metadata too long", func(r R) { r.Topics[0].Partitions[0].Metadata = kmsg.StringPtr(tooLong()) }},
	})
}

func badFetches(t target, version int16) []badRequest {
	type R = *kmsg.OffsetFetchRequest
	fresh := func() R {
		req := fetchAllRequest(t.group)
		req.Groups[0].MemberID, req.Groups[0].MemberEpoch = &t.member, t.epoch
		req.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: t.topic.name, TopicID: t.topic.id, Partitions: []int32{0}}}
		return req
	}
	return bad("OffsetFetch", version, fresh, []spoil[R]{
		{"unknown member", func(r R) { r.Groups[0].MemberID = kmsg.StringPtr(nobody) }},
		{"epoch too high", func(r R) { r.Groups[0].MemberEpoch++ }},
		{"epoch too low", func(r R) { r.Groups[0].MemberEpoch -= 2 }},
	})
}

func badTxnCommits(t target, version int16) []badRequest {
	type R = *kmsg.TxnOffsetCommitRequest
	fresh := func() R {
		req := txnOffset(t.producer, t.group, t.topic, 1)
		req.MemberID, req.Generation = t.member, t.epoch
		return req
	}
	return bad("TxnOffsetCommit", version, fresh, []spoil[R]{
		{"unknown member", func(r R) { r.MemberID = nobody }},
		{"epoch too high", func(r R) { r.Generation++ }},
		{"no group", func(r R) { r.Group = "" }},
		{"unknown instance", func(r R) { r.InstanceID = kmsg.StringPtr(nobody) }},
		{"unknown topic", func(r R) { r.Topics[0].Topic = nogroup }},
		{"another producer id", func(r R) { r.ProducerID += 1000 }},
		{"a later producer epoch", func(r R) { r.ProducerEpoch++ }},
		{"unknown transactional id", func(r R) { r.TransactionalID = nobody }},
		{"no transactional id", func(r R) { r.TransactionalID = "" }},
	})
}

func badDeletions(t target) []badRequest {
	return []badRequest{
		{"OffsetDelete v0: unknown group", 0, offsetDeleteRequest(nogroup, t.topic.name, 0)},
		{"OffsetDelete v0: no group", 0, offsetDeleteRequest("", t.topic.name, 0)},
		{"OffsetDelete v0: unknown topic", 0, offsetDeleteRequest(t.group, nogroup, 0)},
		{"OffsetDelete v0: unknown partition", 0, offsetDeleteRequest(t.group, t.topic.name, 99)},
		{"DeleteGroups v2: unknown group", 2, deleteGroupsRequest(nogroup)},
		{"DeleteGroups v2: no group", 2, deleteGroupsRequest("")},
	}
}

// inTransaction adds the group to a producer's transaction, so that a TxnOffsetCommit is held against the member.
func (t target) inTransaction(c *C) target {
	t.producer = c.txnProducer("p", t.group)
	t.producer.Do("add the group to a transaction", 3, addOffsets(t.producer, t.group))
	return t
}
