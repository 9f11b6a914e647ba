package load

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topic is what a client knows of a topic.
type Topic struct {
	Name       string
	ID         [16]byte
	Partitions int32
}

// CodeError is an error code that a broker answered.
type CodeError int16

func (e CodeError) Error() string { return fmt.Sprintf("broker answered error code %d", int16(e)) }

// code turns an error code into an error, nil for 0.
func code(c int16) error {
	if c == 0 {
		return nil
	}
	return CodeError(c)
}

// Retriable tells whether an answer may change by itself: a partition that a starting broker does not lead yet, a
// coordinator that loads.
func Retriable(err error) bool {
	var c CodeError
	if !errors.As(err, &c) {
		return false
	}
	switch c {
	case 3, 5, 6, 9, 13, 14, 15, 16, 56, 100, 103: // unknown topic, no leader, not leader, replica, network, coordinator (3), storage, topic id (2)
		return true
	}
	return false
}

// CreateTopics creates topics of the same shape in one request and returns them with their ids.
func CreateTopics(c *Conn, names []string, partitions int32, configs map[string]string) ([]Topic, error) {
	req := createTopicsRequest(names, partitions, configs)
	resp, err := c.Request(req)
	if err != nil {
		return nil, err
	}
	var topics []Topic
	for _, t := range resp.(*kmsg.CreateTopicsResponse).Topics {
		if err := code(t.ErrorCode); err != nil {
			return nil, fmt.Errorf("create topic %s: %w", t.Topic, err)
		}
		topics = append(topics, Topic{Name: t.Topic, ID: t.TopicID, Partitions: partitions})
	}
	return topics, nil
}

func createTopicsRequest(names []string, partitions int32, configs map[string]string) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(7)
	req.TimeoutMillis = 60_000
	for _, name := range names {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
		for key, value := range configs {
			t.Configs = append(t.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: key, Value: &value})
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

// DeleteTopicsRequest names topics to delete.
func DeleteTopicsRequest(names []string) *kmsg.DeleteTopicsRequest {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.SetVersion(6)
	req.TimeoutMillis = 60_000
	for _, name := range names {
		req.Topics = append(req.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &name})
	}
	return req
}

// DeleteTopics deletes topics.
func DeleteTopics(c *Conn, names []string) error {
	resp, err := c.Request(DeleteTopicsRequest(names))
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.DeleteTopicsResponse).Topics {
		if err := code(t.ErrorCode); err != nil {
			return fmt.Errorf("delete topic %s: %w", *t.Topic, err)
		}
	}
	return nil
}

// MetadataRequest asks for the brokers and no topic.
func MetadataRequest() *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(12)
	req.Topics = []kmsg.MetadataRequestTopic{}
	return req
}

// ApiVersionsRequest is what every client sends first.
func ApiVersionsRequest() *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.SetVersion(3)
	req.ClientSoftwareName, req.ClientSoftwareVersion = "doze-bench", "1"
	return req
}

// ProduceRequest puts the same batch in each of the partitions.
func ProduceRequest(topic Topic, partitions []int32, batch []byte, acks int16) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(12)
	req.Acks, req.TimeoutMillis = acks, 30_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic.Name
	for _, p := range partitions {
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = p, batch
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// CheckProduce tells whether every partition of the answer took its batch.
func CheckProduce(req *kmsg.ProduceRequest, frame []byte) error {
	resp, err := Decode(req, frame)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.ProduceResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("produce to %s-%d: %w", t.Topic, p.Partition, code(p.ErrorCode))
			}
		}
	}
	return nil
}

// FetchRequest reads partitions of a topic from one offset, as a consumer without a fetch session.
func FetchRequest(topic Topic, partitions []int32, offset int64, partitionMax int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(16)
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 500, 1, 100<<20
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.TopicID = topic.ID
	for _, p := range partitions {
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = p, offset, partitionMax
		rp.CurrentLeaderEpoch = -1
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// FetchedSets calls each with the record set of every partition of the answer. The bytes live as long as the frame.
func FetchedSets(req *kmsg.FetchRequest, frame []byte, each func(partition int32, set []byte) error) error {
	resp, err := Decode(req, frame)
	if err != nil {
		return err
	}
	f := resp.(*kmsg.FetchResponse)
	if f.ErrorCode != 0 {
		return fmt.Errorf("fetch: %w", code(f.ErrorCode))
	}
	for _, t := range f.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("fetch partition %d: %w", p.Partition, code(p.ErrorCode))
			}
			if err := each(p.Partition, p.RecordBatches); err != nil {
				return err
			}
		}
	}
	return nil
}

// ListOffsetsRequest asks for the offset at a time (-1 the end, -2 the start) in each of the partitions.
func ListOffsetsRequest(topic Topic, partitions []int32, at int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.SetVersion(7)
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic.Name
	for _, p := range partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp, rp.CurrentLeaderEpoch = p, at, -1
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// ListOffsets returns the offset of the first partition in the answer, and checks all.
func ListOffsets(c *Conn, req *kmsg.ListOffsetsRequest) (int64, error) {
	resp, err := c.Request(req)
	if err != nil {
		return 0, err
	}
	first := int64(-1)
	for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
		for i, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return 0, fmt.Errorf("list offsets of %s-%d: %w", t.Topic, p.Partition, code(p.ErrorCode))
			}
			if i == 0 {
				first = p.Offset
			}
		}
	}
	return first, nil
}
