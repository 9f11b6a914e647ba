package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// createTopic is a request for one topic of one replica; configs are name, value, name, value.
func createTopic(name string, partitions int32, configs ...string) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = []kmsg.CreateTopicsRequestTopic{topicSpec(name, partitions, 1, configs...)}
	return req
}

func topicSpec(name string, partitions int32, replicas int16, configs ...string) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, replicas
	for i := 0; i+1 < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], kmsg.StringPtr(configs[i+1])
		t.Configs = append(t.Configs, c)
	}
	return t
}

// MakeTopic creates a topic and waits until every partition of it answers; it gives the topic's id.
func (n *Conn) MakeTopic(name string, partitions int32, configs ...string) [16]byte {
	resp := Ask[*kmsg.CreateTopicsResponse](n, "create "+name, 7, createTopic(name, partitions, configs...))
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 {
		n.c.Fatalf("create %s: %+v", name, resp.Topics)
	}
	n.AwaitTopic(name, partitions)
	return resp.Topics[0].TopicID
}

// AwaitTopic waits until every partition of a topic has a leader that answers.
func (n *Conn) AwaitTopic(name string, partitions int32) {
	AskUntil(n, "wait for "+name, 5, endOffsets(name, partitions), func(r *kmsg.ListOffsetsResponse) bool {
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode != 0 {
					return false
				}
			}
		}
		return true
	})
}

func endOffsets(name string, partitions int32) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = name
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = i, -1
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// metadataFor asks for topics by name, without creating them.
func metadataFor(names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

// AwaitGroupCoordinator waits until the group's coordinator is there: Kafka makes its topic of offsets on the first
// request and then loads it.
func (n *Conn) AwaitGroupCoordinator(group string) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey = group
	AskUntil(n, "find the coordinator of "+group, 3, req, func(r *kmsg.FindCoordinatorResponse) bool {
		return r.ErrorCode == 0
	})
	commit := kmsg.NewPtrOffsetFetchRequest()
	commit.Group, commit.Topics = group, []kmsg.OffsetFetchRequestTopic{}
	AskUntil(n, "wait until it has loaded "+group, 5, commit, func(r *kmsg.OffsetFetchResponse) bool {
		const loading, notCoordinator = 14, 16
		return r.ErrorCode != loading && r.ErrorCode != notCoordinator
	})
}

// NewProducer gives a fresh producer id.
func (n *Conn) NewProducer() (id int64, epoch int16) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch = -1, -1
	r := AskUntil(n, "take a producer id", 4, req, func(r *kmsg.InitProducerIDResponse) bool {
		const loading = 14
		return r.ErrorCode != loading
	})
	return r.ProducerID, r.ProducerEpoch
}
