package console

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata asks the broker for topics, all of them when none is named: a client of Kafka keeps what it heard, and a page must show
// what was made a moment ago.
func (k *kafka) metadata(ctx context.Context, topics ...string) (kadm.Metadata, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	return k.askMetadata(ctx, req)
}

// brokers asks for the brokers alone.
func (k *kafka) brokers(ctx context.Context) (kadm.Metadata, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	return k.askMetadata(ctx, req)
}

func (k *kafka) askMetadata(ctx context.Context, req *kmsg.MetadataRequest) (kadm.Metadata, error) {
	resp, err := req.RequestWith(ctx, k.client)
	if err != nil {
		return kadm.Metadata{}, err
	}
	meta := kadm.Metadata{Cluster: deref(resp.ClusterID), Controller: resp.ControllerID, Topics: make(kadm.TopicDetails, len(resp.Topics))}
	for _, b := range resp.Brokers {
		meta.Brokers = append(meta.Brokers, kadm.BrokerDetail{NodeID: b.NodeID, Host: b.Host, Port: b.Port, Rack: b.Rack})
	}
	slices.SortFunc(meta.Brokers, func(a, b kadm.BrokerDetail) int { return int(a.NodeID) - int(b.NodeID) })
	for _, t := range resp.Topics {
		if name := deref(t.Topic); name != "" {
			meta.Topics[name] = topicDetail(name, t)
		}
	}
	return meta, nil
}

func topicDetail(name string, t kmsg.MetadataResponseTopic) kadm.TopicDetail {
	out := kadm.TopicDetail{Topic: name, ID: t.TopicID, IsInternal: t.IsInternal, Err: kerr.ErrorForCode(t.ErrorCode), Partitions: make(kadm.PartitionDetails, len(t.Partitions))}
	for _, p := range t.Partitions {
		out.Partitions[p.Partition] = kadm.PartitionDetail{
			Topic: name, Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR,
			OfflineReplicas: p.OfflineReplicas, Err: kerr.ErrorForCode(p.ErrorCode),
		}
	}
	return out
}
