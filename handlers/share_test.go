package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// sharerNamed has a member join a share group.
func sharerNamed(c *testConn, group string, rack *string, topic string) int16 {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.RackID, req.SubscribedTopicNames = group, "sharer", rack, []string{topic}
	return request[*kmsg.ShareGroupHeartbeatResponse](c, req, 1).ErrorCode
}

// shareFrom has a share group begin at an offset of partition 0 of a topic.
func shareFrom(c *testConn, group, topic string, offset int64) int16 {
	req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	req.GroupID = group
	req.Topics = []kmsg.AlterShareGroupOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.AlterShareGroupOffsetsRequestTopicPartition{{StartOffset: offset}}}}
	return request[*kmsg.AlterShareGroupOffsetsResponse](c, req, 0).ErrorCode
}

func topicIDOf(c *testConn, name string) [16]byte {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: &name}}
	return request[*kmsg.MetadataResponse](c, req, 12).Topics[0].TopicID
}

// shareFetch begins a session of a member and acquires what there is in partition 0 of a topic.
func shareFetch(c *testConn, group, member string, topic [16]byte, epoch int32) *kmsg.ShareFetchResponse {
	return request[*kmsg.ShareFetchResponse](c, shareFetchRequest(group, member, topic, epoch), 2)
}

func shareFetchRequest(group, member string, topic [16]byte, epoch int32) *kmsg.ShareFetchRequest {
	req := kmsg.NewPtrShareFetchRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &group, &member, epoch
	req.MinBytes, req.MaxBytes, req.MaxRecords, req.BatchSize = 1, 1<<20, 500, 500
	req.Topics = []kmsg.ShareFetchRequestTopic{{TopicID: topic, Partitions: []kmsg.ShareFetchRequestTopicPartition{{}}}}
	return req
}

// acknowledgeShared acknowledges records of partition 0 of a topic.
func acknowledgeShared(c *testConn, group, member string, topic [16]byte, epoch int32, first, last int64, kind int8) *kmsg.ShareAcknowledgeResponse {
	req := kmsg.NewPtrShareAcknowledgeRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &group, &member, epoch
	req.Topics = []kmsg.ShareAcknowledgeRequestTopic{{TopicID: topic, Partitions: []kmsg.ShareAcknowledgeRequestTopicPartition{{
		AcknowledgementBatches: []kmsg.ShareAcknowledgeRequestTopicPartitionAcknowledgementBatch{{FirstOffset: first, LastOffset: last, AcknowledgeTypes: []int8{kind}}},
	}}}}
	return request[*kmsg.ShareAcknowledgeResponse](c, req, 2)
}

// releaseShared acquires the first records of "orders" and releases them.
func releaseShared(c *testConn) int16 {
	id := topicIDOf(c, "orders")
	shareFetch(c, "sharing", "m", id, 0)
	return acknowledgeShared(c, "sharing", "m", id, 1, 0, 1, 2).Topics[0].Partitions[0].ErrorCode
}

// A request of a share group goes through all of a broker, and the journal of it replays.
func TestRecordsAreSharedOnce(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	id := c.createTopic("orders", 1)
	c.produce("orders", -1, batch(3, day, -1, -1, -1))
	c.produce("orders", -1, batch(2, day, -1, -1, -1))
	if code := shareFrom(c, "g", "orders", 0); code != none {
		t.Fatal(code)
	}
	got := shareFetch(c, "g", "a", id, 0).Topics[0].Partitions[0]
	if len(got.AcquiredRecords) != 1 || got.AcquiredRecords[0].LastOffset != 4 {
		t.Fatalf("acquired %+v", got.AcquiredRecords)
	}
	if r := acknowledgeShared(c, "g", "a", id, 1, 0, 2, 1); r.Topics[0].Partitions[0].ErrorCode != none {
		t.Fatalf("%+v", r)
	}
	other := b.connect()
	if r := shareFetch(other, "g", "b", id, 0); len(r.Topics[0].Partitions) != 1 || len(r.Topics[0].Partitions[0].AcquiredRecords) != 0 {
		t.Fatalf("the other is given %+v", r.Topics)
	}
	if r := acknowledgeShared(other, "g", "b", id, 1, 3, 4, 1); r.Topics[0].Partitions[0].ErrorCode != invalidRecordState {
		t.Fatalf("%+v", r)
	}
	if r := acknowledgeShared(c, "g", "a", id, -1, 3, 3, 3); r.Topics[0].Partitions[0].ErrorCode != none { // the last: the rest is released
		t.Fatalf("%+v", r)
	}
	if p := shareFetch(other, "g", "b", id, 2).Topics[0].Partitions[0]; len(p.AcquiredRecords) != 1 || p.AcquiredRecords[0].FirstOffset != 4 || p.AcquiredRecords[0].DeliveryCount != 2 {
		t.Fatalf("the other is given %+v", p.AcquiredRecords)
	}
}

// A ShareFetch that acknowledges records whose lock has ended is refused that, though it is given the same records again.
func TestLateAcknowledgementInAFetch(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	id := c.createTopic("orders", 1)
	c.produce("orders", -1, batch(1, day, -1, -1, -1))
	if code := shareFrom(c, "g", "orders", 0); code != none {
		t.Fatal(code)
	}
	shareFetch(c, "g", "a", id, 0)
	b.clock.now.Add(31_000)
	p := b.broker.shares.known(sharePartitionKey{"g", sharePlace{id, 0}})
	p.mu.Unlock()
	b.broker.shares.expire(p)
	req := shareFetchRequest("g", "a", id, 1)
	req.Topics[0].Partitions[0].AcknowledgementBatches = []kmsg.ShareFetchRequestTopicPartitionAcknowledgementBatch{
		{FirstOffset: 0, LastOffset: 0, AcknowledgeTypes: []int8{1}},
	}
	got := request[*kmsg.ShareFetchResponse](c, req, 2).Topics[0].Partitions[0]
	if got.AcknowledgeErrorCode != invalidRecordState || len(got.AcquiredRecords) != 1 || got.AcquiredRecords[0].DeliveryCount != 2 {
		t.Fatalf("%+v", got)
	}
	if r := acknowledgeShared(c, "g", "a", id, 2, 0, 0, 1); r.Topics[0].Partitions[0].ErrorCode != none {
		t.Fatalf("%+v", r)
	}
}
