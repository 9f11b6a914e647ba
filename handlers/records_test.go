package handlers

import (
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// batch makes a record batch of n records of one byte each at the timestamps 0, 1, 2, ... from first on.
func batch(n int, first int64, producer int64, epoch int16, sequence int32) []byte {
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(n - 1), FirstTimestamp: first, MaxTimestamp: first + int64(n-1),
		ProducerID: producer, ProducerEpoch: epoch, FirstSequence: sequence, NumRecords: int32(n),
	}
	for i := range n {
		r := kmsg.Record{TimestampDelta64: int64(i), OffsetDelta: int32(i), Value: []byte{'v'}}
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		b.Records = r.AppendTo(b.Records)
	}
	b.Length = int32(49 + len(b.Records))
	raw := b.AppendTo(nil)
	b.CRC = int32(crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b.AppendTo(nil)
}

const day = 1_700_000_000_000

func (c *testConn) createTopic(name string, partitions int32) [16]byte {
	c.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 7
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	req.Topics = append(req.Topics, topic)
	resp := ask[*kmsg.CreateTopicsResponse](c, req)
	if resp.Topics[0].ErrorCode != none {
		c.t.Fatalf("create %s: code %d, %v", name, resp.Topics[0].ErrorCode, resp.Topics[0].ErrorMessage)
	}
	return resp.Topics[0].TopicID
}

func produceRequest(topic string, acks int16, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, acks, 1000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = records
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (c *testConn) produce(topic string, acks int16, records []byte) kmsg.ProduceResponseTopicPartition {
	c.t.Helper()
	return ask[*kmsg.ProduceResponse](c, produceRequest(topic, acks, records)).Topics[0].Partitions[0]
}

func fetchRequest(topic string, offset int64, minBytes, wait int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxBytes, req.MinBytes, req.MaxWaitMillis = 12, 1<<20, minBytes, wait
	req.SessionEpoch = finalFetchEpoch
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes = offset, 1<<20
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func TestWhatIsProducedIsFetchedByteForByte(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	first, second := batch(3, day, -1, -1, -1), batch(2, day+10, -1, -1, -1)
	for i, records := range [][]byte{first, second} {
		if p := c.produce("orders", -1, records); p.ErrorCode != none || p.BaseOffset != int64(3*i) {
			t.Fatalf("produced %+v", p)
		}
	}
	read := func(offset int64) kmsg.FetchResponseTopicPartition {
		return ask[*kmsg.FetchResponse](c, fetchRequest("orders", offset, 1, 0)).Topics[0].Partitions[0]
	}
	want := append(stored(first, 0), stored(second, 3)...)
	if p := read(0); string(p.RecordBatches) != string(want) || p.HighWatermark != 5 || p.LastStableOffset != 5 {
		t.Errorf("fetched %+v", p)
	}
	if p := read(4); string(p.RecordBatches) != string(stored(second, 3)) {
		t.Errorf("from the middle of the second batch: %x", p.RecordBatches)
	}
	if p := read(6); p.ErrorCode != offsetOutOfRange || p.HighWatermark != -1 {
		t.Errorf("beyond the end: %+v", p)
	}
	b.restart()
	c = b.connect()
	if p := read(0); string(p.RecordBatches) != string(want) {
		t.Errorf("after a restart: %+v", p)
	}
}

// stored is a batch as the log has it: with its base offset and leader epoch 0.
func stored(records []byte, base byte) []byte {
	s := append([]byte(nil), records...)
	s[7] = base
	copy(s[12:16], []byte{0, 0, 0, 0})
	return s
}

func TestALongPollEndsWhenEnoughIsThere(t *testing.T) {
	b := startTestBroker(t, nil)
	reader, writer := b.connect(), b.connect()
	writer.createTopic("orders", 1)
	req := fetchRequest("orders", 0, 1, 60_000)
	reader.send(req)
	if p := writer.produce("orders", 1, batch(1, day, -1, -1, -1)); p.ErrorCode != none {
		t.Fatalf("produced %+v", p)
	}
	p := reader.receive(req).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if len(p.RecordBatches) == 0 || p.HighWatermark != 1 {
		t.Errorf("fetched %+v", p)
	}
}

func TestALongPollEndsWhenItsTopicGoes(t *testing.T) {
	b := startTestBroker(t, nil)
	reader, admin := b.connect(), b.connect()
	admin.createTopic("orders", 1)
	req := fetchRequest("orders", 0, 1, 60_000)
	reader.send(req)
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Version, remove.TopicNames = 5, []string{"orders"}
	if resp := ask[*kmsg.DeleteTopicsResponse](admin, remove); resp.Topics[0].ErrorCode != none {
		t.Fatalf("deleted %+v", resp)
	}
	if p := reader.receive(req).(*kmsg.FetchResponse).Topics[0].Partitions[0]; p.ErrorCode != unknownTopicOrPartition {
		t.Errorf("fetched %+v", p)
	}
}

func TestAFailingProduceWithoutAnswerClosesTheConnection(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	c.send(produceRequest("orders", 0, batch(1, day, -1, -1, -1)))
	if p := c.produce("orders", 1, batch(1, day, -1, -1, -1)); p.BaseOffset != 1 {
		t.Errorf("after a silent produce: %+v", p)
	}
	c.send(produceRequest("nowhere", 0, batch(1, day, -1, -1, -1)))
	if frame, err := c.frame(); err == nil {
		t.Errorf("answered %x", frame)
	}
}

func TestADuplicateIsAnsweredWithItsOffset(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	init := kmsg.NewPtrInitProducerIDRequest()
	init.Version, init.ProducerID, init.ProducerEpoch = 4, -1, -1
	id := ask[*kmsg.InitProducerIDResponse](c, init).ProducerID
	for i := range int32(7) {
		if p := c.produce("orders", -1, batch(1, day, id, 0, i)); p.ErrorCode != none || p.BaseOffset != int64(i) {
			t.Fatalf("batch %d: %+v", i, p)
		}
	}
	check := func() {
		t.Helper()
		if p := c.produce("orders", -1, batch(1, day, id, 0, 2)); p.ErrorCode != none || p.BaseOffset != 2 {
			t.Errorf("the fifth from last again: %+v", p)
		}
		if p := c.produce("orders", -1, batch(1, day, id, 0, 1)); p.ErrorCode != outOfOrderSequenceNumber {
			t.Errorf("the sixth from last again: %+v", p)
		}
		if p := c.produce("orders", -1, batch(1, day, id, 0, 9)); p.ErrorCode != outOfOrderSequenceNumber {
			t.Errorf("a gap: %+v", p)
		}
	}
	check()
	b.restart()
	c = b.connect()
	check()
}

func TestLogDirsMergeMentionsOfATopic(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 3)
	req := kmsg.NewPtrDescribeLogDirsRequest()
	req.Version = 4
	req.Topics = []kmsg.DescribeLogDirsRequestTopic{
		{Topic: "orders", Partitions: []int32{0, 1}}, {Topic: "nowhere", Partitions: []int32{0}}, {Topic: "orders", Partitions: []int32{1, 2}},
	}
	dirs := ask[*kmsg.DescribeLogDirsResponse](c, req).Dirs
	if len(dirs) != 1 || len(dirs[0].Topics) != 1 || len(dirs[0].Topics[0].Partitions) != 3 {
		t.Errorf("described %+v", dirs)
	}
}
