package conformance

import (
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicRef names a topic as every version can: by name and by id.
type topicRef struct {
	name string
	id   [16]byte
}

// NewTopic creates a topic, waits until it answers and finds its id. Unlike MakeTopic it leaves the topic's configs out of
// the recording.
func (n *Conn) NewTopic(name string, partitions int32, configs ...string) topicRef {
	resp := Ask[*kmsg.CreateTopicsResponse](n, "create "+name, 4, createTopic(name, partitions, configs...))
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 {
		n.c.Fatalf("create %s: %+v", name, resp.Topics)
	}
	n.AwaitTopic(name, partitions)
	about := Ask[*kmsg.MetadataResponse](n, "id of "+name, 12, metadataFor(name))
	return topicRef{name, about.Topics[0].TopicID}
}

// produceTo sends the bytes to partitions of a topic: the first to partition 0 and so on.
func produceTo(t topicRef, acks int16, records ...[]byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 10_000
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.TopicID = t.name, t.id
	for i, raw := range records {
		topic.Partitions = append(topic.Partitions, produced(int32(i), raw))
	}
	req.Topics = append(req.Topics, topic)
	return req
}

func produced(number int32, raw []byte) kmsg.ProduceRequestTopicPartition {
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = number, raw
	return p
}

// Store appends a batch to partition 0, and it must be taken.
func (n *Conn) Store(step string, t topicRef, b Batch) int64 {
	return n.storeIn(step, t, 0, b)
}

func (n *Conn) storeIn(step string, t topicRef, number int32, b Batch) int64 {
	req := produceTo(t, -1, b.Bytes())
	req.Topics[0].Partitions[0].Partition = number
	r := Ask[*kmsg.ProduceResponse](n, step, 9, req)
	if p := r.Topics[0].Partitions[0]; p.ErrorCode != 0 {
		n.c.Fatalf("step %s: error %d", step, p.ErrorCode)
	}
	return r.Topics[0].Partitions[0].BaseOffset
}

// fetchFrom asks for partitions of a topic outside of a session and without waiting: from the first offset in partition 0
// and so on.
func fetchFrom(t topicRef, offsets ...int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 0, 1, 1<<20
	req.SessionEpoch = -1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = t.name, t.id
	for i, offset := range offsets {
		topic.Partitions = append(topic.Partitions, fetched(int32(i), offset))
	}
	req.Topics = append(req.Topics, topic)
	return req
}

func fetched(number int32, offset int64) kmsg.FetchRequestTopicPartition {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = number, offset, 1<<20
	return p
}

// listOffsets asks for one offset of partition 0 by time.
func listOffsets(t topicRef, timestamp int64) *kmsg.ListOffsetsRequest {
	req := endOffsets(t.name, 1)
	req.Topics[0].Partitions[0].Timestamp = timestamp
	return req
}

// End shows the latest offset of partition 0.
func (n *Conn) End(step string, t topicRef) { n.Do(step, 5, listOffsets(t, latest)) }

// Special timestamps of ListOffsets.
const (
	latest          = -1
	earliest        = -2
	largest         = -3
	earliestLocal   = -4
	latestTiered    = -5
	earliestPending = -6
)

// deleteBefore asks to delete the records of partition 0 below an offset.
func deleteBefore(t topicRef, offset int64) *kmsg.DeleteRecordsRequest {
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = t.name
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Offset = offset
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	return req
}

// describeProducers asks who has produced to partition 0.
func describeProducers(topics ...string) *kmsg.DescribeProducersRequest {
	req := kmsg.NewPtrDescribeProducersRequest()
	for _, name := range topics {
		topic := kmsg.NewDescribeProducersRequestTopic()
		topic.Topic, topic.Partitions = name, []int32{0}
		req.Topics = append(req.Topics, topic)
	}
	return req
}

// epochEnd asks where a leader epoch ends in partition 0.
func epochEnd(t topicRef, epoch int32) *kmsg.OffsetForLeaderEpochRequest {
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.ReplicaID = -2
	topic := kmsg.NewOffsetForLeaderEpochRequestTopic()
	topic.Topic = t.name
	p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	p.CurrentLeaderEpoch, p.LeaderEpoch = -1, epoch
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	return req
}

// sequenced is a batch of an idempotent producer of epoch 0: values v1, v2... from a sequence on. Brokers take any
// producer id, so scripts use fixed ones.
func sequenced(id int64, sequence int32, records int) Batch {
	var values []string
	for i := range records {
		values = append(values, fmt.Sprintf("v%d", int(sequence)+i))
	}
	b := Values(values...)
	b.Idempotent, b.ProducerID, b.Sequence = true, id, sequence
	return b
}

// timed is a batch of records with these times, in milliseconds after DayOne.
func timed(times ...int64) Batch {
	var b Batch
	for _, t := range times {
		b.Records = append(b.Records, Record{NullKey: true, Value: fmt.Sprintf("at%d", t), Time: t})
	}
	return b
}

func vn(v int16) string     { return fmt.Sprintf("v%d", v) }
func number(n int64) string { return strconv.FormatInt(n, 10) }

// ieee is the checksum of the old message formats.
func ieee(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
