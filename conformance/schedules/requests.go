package schedules

import (
	"time"

	"doze/conformance"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Protocol is one of the two protocols of transactions.
type Protocol int

// The protocols.
const (
	V1 Protocol = 1 // partitions are added by requests of their own, the epoch stays
	V2 Protocol = 2 // partitions are added by Produce, the epoch rises with each transaction
)

// versions of requests by protocol.
func (p Protocol) versions() (produce, offset, end int16) {
	if p == V2 {
		return 12, 5, 5
	}
	return 11, 4, 4
}

func addRequest(p *producer, topic string, partition int32) kmsg.Request {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = p.txn, p.id, p.epoch
	t := kmsg.NewAddPartitionsToTxnRequestTopic()
	t.Topic, t.Partitions = topic, []int32{partition}
	req.Topics = append(req.Topics, t)
	return req
}

func addOffsetsRequest(p *producer) kmsg.Request {
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = p.txn, p.id, p.epoch, p.group()
	return req
}

const isTransactional = 1 << 4

func produceRequest(p *producer, topic string, partition int32, value string) kmsg.Request {
	b := conformance.Values(value)
	b.Idempotent, b.ProducerID, b.ProdEpoch, b.Sequence = true, p.id, p.epoch, p.next[partition]
	b.Attributes, b.Start = isTransactional, time.Now().UnixMilli()
	req := kmsg.NewPtrProduceRequest()
	req.TransactionID, req.Acks, req.TimeoutMillis = &p.txn, -1, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, b.Bytes()
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}

func offsetRequest(p *producer, topic string, offset int64) kmsg.Request {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = p.txn, p.id, p.epoch, p.group()
	req.Generation = -1
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	t.Topic = topic
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Offset, part.Metadata = offset, kmsg.StringPtr("")
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}

func endRequest(p *producer, commit bool) kmsg.Request {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = p.txn, p.id, p.epoch, commit
	return req
}

func initRequest(p *producer) kmsg.Request {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &p.txn, 600_000
	req.ProducerID, req.ProducerEpoch = -1, -1
	return req
}

func describeRequest(txn string) kmsg.Request {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{txn}
	return req
}

func offsetFetchRequest(p *producer, topic string) kmsg.Request {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = p.group()
	t := kmsg.NewOffsetFetchRequestTopic()
	t.Topic, t.Partitions = topic, []int32{0}
	req.Topics = append(req.Topics, t)
	return req
}

func createRequest(topic string) kmsg.Request {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
	req.Topics = append(req.Topics, t)
	return req
}

func fetchRequest(topic string, partition int32, offset int64, level int8) kmsg.Request {
	req := kmsg.NewPtrFetchRequest()
	req.MinBytes, req.MaxBytes, req.IsolationLevel, req.SessionEpoch = 1, 8<<20, level, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, offset, 8<<20
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}
