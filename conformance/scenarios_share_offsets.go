package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareOffsetScenarios show what administrators do to offsets of share groups, what becomes of them with their topics, and
// the requests that only brokers send.
func shareOffsetScenarios() []Scenario {
	return inSharePart([]Scenario{
		{
			Name:  "share-offsets-describe",
			Claim: "DescribeShareGroupOffsets tells start offsets, leader epochs and from v1 lags: of all that a group reads, or of what is named; -1 of what it does not read; unknown groups and topics are no error.",
			Run:   runShareOffsetsDescribe,
		},
		{
			Name:  "share-offsets-alter",
			Claim: "AlterShareGroupOffsets sets where a group without members goes on, and makes the group; with members it is NON_EMPTY_GROUP; unknown topics and partitions are UNKNOWN_TOPIC_OR_PARTITION each.",
			Run:   runShareOffsetsAlter,
		},
		{
			Name:  "share-offsets-delete",
			Claim: "DeleteShareGroupOffsets forgets topics of a group without members; what it does not read is UNKNOWN_TOPIC_OR_PARTITION with a text, an unknown group GROUP_ID_NOT_FOUND, one with members NON_EMPTY_GROUP; again there is nothing to delete.",
			Run:   runShareOffsetsDelete,
		},
		{
			Name:  "share-offsets-of-classic",
			Claim: "Offsets of a classic group cannot be altered or deleted as those of a share group: GROUP_ID_NOT_FOUND with a text; described they are unknown.",
			Fresh: true,
			Run:   runShareOffsetsOfClassic,
		},
		{
			Name:  "share-topic-deleted",
			Claim: "With its topic the offsets of a share group go; the topic made anew is read from where a new one is; a fetch of the old id has an error.",
			Run:   runShareTopicDeleted,
		},
		{
			Name:  "share-topic-grows",
			Claim: "New partitions of a topic are assigned with the group's next epochs, and read.",
			Run:   runShareTopicGrows,
		},
		{
			Name:  "share-state-apis",
			Claim: "The requests by which brokers keep share state are answered to a client too: states are initialized, written, read, summarised and deleted; what is not initialized is INVALID_REQUEST with a text.",
			Run:   runShareStateAPIs,
		},
	})
}

func alterShareOffsets(group, topic string, offsets ...int64) *kmsg.AlterShareGroupOffsetsRequest {
	req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	req.GroupID = group
	t := kmsg.AlterShareGroupOffsetsRequestTopic{Topic: topic}
	for i, offset := range offsets {
		t.Partitions = append(t.Partitions, kmsg.AlterShareGroupOffsetsRequestTopicPartition{Partition: int32(i), StartOffset: offset})
	}
	req.Topics = append(req.Topics, t)
	return req
}

func deleteShareOffsets(group string, topics ...string) *kmsg.DeleteShareGroupOffsetsRequest {
	req := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
	req.GroupID = group
	for _, name := range topics {
		req.Topics = append(req.Topics, kmsg.DeleteShareGroupOffsetsRequestTopic{Topic: name})
	}
	return req
}

func runShareOffsetsDescribe(c *C) {
	const name = "share-offsets-describe"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.ShareOffsets("unknown group", name)
	n.Do("unknown group and a topic", 1, shareOffsets(name, name))
	t := n.NewTopic(name, 2)
	AskUntil(n, "unknown group, a topic that is there", 1, shareOffsets(name, name), func(r *kmsg.DescribeShareGroupOffsetsResponse) bool {
		return r.Groups[0].Topics[0].TopicID != [16]byte{}
	})
	n.GroupConfig(name, "share.auto.offset.reset", "earliest")
	a := c.shareMember("a", name).joins(name)
	for _, v := range []int16{0, 1} {
		n.Do("of all", v, shareOffsets(name))
		n.Do("of one, and of one that is not there", v, shareOffsets(name, name, name+"-none"))
	}
	n.Store("store", t, Values("1", "2", "3"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("accept the second", t, ack(1, 1, ackAccept))
	for _, v := range []int16{0, 1} {
		n.Do("of all", v, shareOffsets(name))
		n.Do("of one", v, shareOffsets(name, name))
	}
	two := shareOffsets(name, name)
	two.Groups[0].Topics[0].Partitions = []int32{1, 0}
	n.Do("partitions in any order", 1, two)
	none := shareOffsets(name)
	none.Groups[0].Topics = []kmsg.DescribeShareGroupOffsetsRequestGroupTopic{}
	n.Do("no topics", 1, none)
	several := shareOffsets(name)
	several.Groups = append(several.Groups, shareOffsets(name + "-none").Groups[0], shareOffsets("").Groups[0], several.Groups[0])
	n.Do("several groups, one twice", 1, several)
	other := n.NewTopic(name+"-2", 1)
	n.Do("a topic that the group does not read", 1, shareOffsets(name, other.name))
}

func runShareOffsetsAlter(c *C) {
	const name = "share-offsets-alter"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	t := n.NewTopic(name, 1)
	n.Store("store", t, Values("1", "2", "3"))
	n.Do("make the group", 0, alterShareOffsets(name, name, 1))
	n.ShareOffsets("offsets", name)
	n.Do("describe", 1, describeShareGroups(name))
	n.Do("again, and a partition and a topic that are not there", 0, func() *kmsg.AlterShareGroupOffsetsRequest {
		req := alterShareOffsets(name, name, 2, 0)
		req.Topics = append(req.Topics, alterShareOffsets(name, name+"-none", 0).Topics...)
		return req
	}())
	n.ShareOffsets("offsets", name)
	a := c.shareMember("a", name).joins(name)
	a.fetches("fetch goes on there", a.fetching(t))
	n.Do("with a member", 0, alterShareOffsets(name, name, 0))
	a.Do("leave", 1, a.beat(-1))
	end := briefly(a.fetching())
	end.ShareSessionEpoch = -1
	a.fetches("end the session", end)
	n.Do("back to the beginning", 0, alterShareOffsets(name, name, 0))
	n.ShareOffsets("offsets", name)
	n.Do("before the beginning", 0, alterShareOffsets(name, name, -1))
	n.ShareOffsets("offsets", name)
	n.Do("behind the end", 0, alterShareOffsets(name, name, 100))
	n.ShareOffsets("offsets", name)
	n.Do("no group id", 0, alterShareOffsets("", name, 0))
	n.Do("no topics", 0, func() *kmsg.AlterShareGroupOffsetsRequest {
		req := alterShareOffsets(name+"-2", name)
		req.Topics = nil
		return req
	}())
	n.Do("describe a group made by no topics", 1, describeShareGroups(name+"-2"))
	n.Do("back to the beginning once more", 0, alterShareOffsets(name, name, 0))
	a.Close()
	b := c.shareMember("b", name).joins(name)
	b.fetches("fetch from the beginning", b.fetching(t))
}

func runShareOffsetsDelete(c *C) {
	const name = "share-offsets-delete"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	two := n.NewTopic(name+"-2", 1)
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("accept one", t, ack(0, 0, ackAccept))
	n.Do("with a member", 0, deleteShareOffsets(name, name))
	n.Do("unknown group", 0, deleteShareOffsets(name+"-none", name))
	n.Do("no group id", 0, deleteShareOffsets("", name))
	a.Do("leave", 1, a.beat(-1))
	n.Do("one that it reads, one that it does not, one that is not there", 0, deleteShareOffsets(name, name, two.name, name+"-3"))
	n.ShareOffsets("offsets", name)
	n.Do("again", 0, deleteShareOffsets(name, name))
	n.Do("no topics", 0, deleteShareOffsets(name))
	n.Do("describe", 1, describeShareGroups(name))
	a.acknowledges("acknowledge what was forgotten", t, ack(1, 1, ackAccept))
	a.fetches("fetch what was forgotten", briefly(a.fetching()))
	a.Close()
	b := c.shareMember("b", name).joins(name)
	b.fetches("fetch from the beginning", b.fetching(t))
}

func runShareOffsetsOfClassic(c *C) {
	const name = "share-offsets-of-classic"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1)
	n.Do("commit", 9, commitRequest(name, name, 1))
	n.ShareOffsets("describe", name)
	n.Do("describe one", 1, shareOffsets(name, name))
	n.Do("alter", 0, alterShareOffsets(name, name, 0))
	n.Do("delete", 0, deleteShareOffsets(name, name))
	c.groupMember("k", name+"-member").alone()
	n.Do("alter of a group with a member", 0, alterShareOffsets(name+"-member", name, 0))
	n.Do("delete of a group with a member", 0, deleteShareOffsets(name+"-member", name))
}

func runShareTopicDeleted(c *C) {
	const name = "share-topic-deleted"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("accept one", t, ack(0, 0, ackAccept))
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.TimeoutMillis = 10_000
	del.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr(name)}}
	n.Do("delete the topic", 6, del)
	AskUntil(n, "wait until it is gone", 12, metadataFor(name), func(r *kmsg.MetadataResponse) bool { return r.Topics[0].ErrorCode != 0 })
	a.fetches("fetch of the deleted topic", briefly(a.fetching()))
	a.acknowledges("acknowledge in the deleted topic", t, ack(1, 1, ackAccept))
	AskUntil(n, "offsets", 1, shareOffsets(name), func(r *kmsg.DescribeShareGroupOffsetsResponse) bool { return len(r.Groups[0].Topics) == 0 })
	again := n.NewTopic(name, 1)
	n.Store("store", again, Values("3"))
	a.awaitTopic(name)
	n.Do("describe", 1, describeShareGroups(name))
	a.fetches("fetch of the new topic", a.fetching(again))
	n.ShareOffsets("offsets of the new topic", name)
}

func runShareTopicGrows(c *C) {
	const name = "share-topic-grows"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	grow := kmsg.NewPtrCreatePartitionsRequest()
	grow.TimeoutMillis = 10_000
	grow.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: name, Count: 2}}
	n.Do("grow", 3, grow)
	n.AwaitTopic(name, 2)
	a.awaitTopic(name)
	n.Do("describe", 1, describeShareGroups(name))
	n.storeIn("store in the new one", t, 1, Values("1"))
	req := a.fetching(t)
	req.Topics[0].Partitions[0].Partition = 1
	a.fetches("fetch from the new one", req)
}

func runShareStateAPIs(c *C) {
	const name = "share-state-apis"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	t := n.NewTopic(name, 2)
	_ = c.shareMember("a", name+"-other").joins(name)
	read := func(partition int32) *kmsg.ReadShareGroupStateRequest {
		req := kmsg.NewPtrReadShareGroupStateRequest()
		req.GroupID = name
		req.Topics = []kmsg.ReadShareGroupStateRequestTopic{{TopicID: t.id, Partitions: []kmsg.ReadShareGroupStateRequestTopicPartition{{Partition: partition, LeaderEpoch: -1}}}}
		return req
	}
	n.Do("read what is not there", 0, read(0))
	begin := kmsg.NewPtrInitializeShareGroupStateRequest()
	begin.GroupID = name
	begin.Topics = []kmsg.InitializeShareGroupStateRequestTopic{{TopicID: t.id, Partitions: []kmsg.InitializeShareGroupStateRequestTopicPartition{{Partition: 0, StateEpoch: 3, StartOffset: 5}}}}
	n.Do("initialize", 0, begin)
	n.Do("read", 0, read(0))
	write := kmsg.NewPtrWriteShareGroupStateRequest()
	write.GroupID = name
	write.Topics = []kmsg.WriteShareGroupStateRequestTopic{{TopicID: t.id, Partitions: []kmsg.WriteShareGroupStateRequestTopicPartition{{
		Partition: 0, StateEpoch: 3, StartOffset: 6, LeaderEpoch: 0,
		StateBatches: []kmsg.WriteShareGroupStateRequestTopicPartitionStateBatch{{FirstOffset: 7, LastOffset: 9, DeliveryState: 2, DeliveryCount: 1}},
	}}}}
	n.Do("write", 1, write)
	n.Do("read what was written", 0, read(0))
	summary := kmsg.NewPtrReadShareGroupStateSummaryRequest()
	summary.GroupID = name
	summary.Topics = []kmsg.ReadShareGroupStateSummaryRequestTopic{{TopicID: t.id, Partitions: []kmsg.ReadShareGroupStateSummaryRequestTopicPartition{{Partition: 0, LeaderEpoch: -1}}}}
	n.Do("summary", 0, summary)
	n.Do("summary", 1, summary)
	del := kmsg.NewPtrDeleteShareGroupStateRequest()
	del.GroupID = name
	del.Topics = []kmsg.DeleteShareGroupStateRequestTopic{{TopicID: t.id, Partitions: []kmsg.DeleteShareGroupStateRequestTopicPartition{{Partition: 0}}}}
	n.Do("delete", 0, del)
	n.Do("read what was deleted", 0, read(0))
	n.Do("delete again", 0, del)
}
