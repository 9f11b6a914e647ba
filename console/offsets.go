package console

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What ListOffsets takes in place of a timestamp.
const (
	atEnd   = -1
	atStart = -2
)

// listOffsets asks the leaders of topics for the first offset at or after a time, for the starts or for the ends; committed: an end is
// where a read_committed consumer stops. It is one request to each leader, where kadm's own asks for metadata each time. A partition
// that failed has its error in the answer, one whose leader does not answer is missing there.
func (k *kafka) listOffsets(ctx context.Context, topics kadm.TopicDetails, at int64, committed bool) (kadm.ListedOffsets, error) {
	listed := kadm.ListedOffsets{}
	answered := 0
	var failed error
	requests := offsetRequests(topics, at, committed)
	for leader, req := range requests {
		resp, err := k.client.Broker(int(leader)).RetriableRequest(ctx, req)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		answered++
		addOffsets(listed, resp.(*kmsg.ListOffsetsResponse))
	}
	if answered > 0 {
		failed = nil
	}
	return listed, failed
}

// offsetRequests are the requests by leader. Partitions without a leader are left out.
func offsetRequests(topics kadm.TopicDetails, at int64, committed bool) map[int32]*kmsg.ListOffsetsRequest {
	requests := map[int32]*kmsg.ListOffsetsRequest{}
	for name, t := range topics {
		for _, p := range t.Partitions {
			if p.Leader < 0 {
				continue
			}
			req := requests[p.Leader]
			if req == nil {
				req = kmsg.NewPtrListOffsetsRequest()
				if committed {
					req.IsolationLevel = 1
				}
				requests[p.Leader] = req
			}
			if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != name {
				topic := kmsg.NewListOffsetsRequestTopic()
				topic.Topic = name
				req.Topics = append(req.Topics, topic)
			}
			part := kmsg.NewListOffsetsRequestTopicPartition()
			part.Partition, part.Timestamp = p.Partition, at
			last := &req.Topics[len(req.Topics)-1]
			last.Partitions = append(last.Partitions, part)
		}
	}
	return requests
}

func addOffsets(listed kadm.ListedOffsets, resp *kmsg.ListOffsetsResponse) {
	for _, t := range resp.Topics {
		if listed[t.Topic] == nil {
			listed[t.Topic] = make(map[int32]kadm.ListedOffset, len(t.Partitions))
		}
		for _, p := range t.Partitions {
			listed[t.Topic][p.Partition] = kadm.ListedOffset{
				Topic: t.Topic, Partition: p.Partition, Timestamp: p.Timestamp, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Err: kerr.ErrorForCode(p.ErrorCode),
			}
		}
	}
}

// logsOf are where the logs of topics begin and end.
func (k *kafka) logsOf(ctx context.Context, topics kadm.TopicDetails, committed bool) (topicLogs, error) {
	start, err := k.listOffsets(ctx, topics, atStart, false)
	if err != nil {
		return topicLogs{}, err
	}
	end, err := k.listOffsets(ctx, topics, atEnd, committed)
	return topicLogs{topics, start, end}, err
}

// empty says that no partition of a topic has a record.
func (l topicLogs) empty(topic string) bool {
	for partition, end := range l.end[topic] {
		if start, there := l.start.Lookup(topic, partition); !there || start.Offset < end.Offset {
			return false
		}
	}
	return true
}

// some are those of the topics that are named.
func some(all kadm.TopicDetails, names []string) kadm.TopicDetails {
	out := make(kadm.TopicDetails, len(names))
	for _, name := range names {
		if t, there := all[name]; there {
			out[name] = t
		}
	}
	return out
}

// committedIn asks for what groups have committed in one topic: a group that reads a thousand others answers for this one only.
func (k *kafka) committedIn(ctx context.Context, topic kadm.TopicDetail, groups []string) (map[string][]kmsg.OffsetFetchResponseGroupTopicPartition, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	for _, name := range groups {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = name
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = topic.Topic, topic.Partitions.Numbers()
		g.Topics = append(g.Topics, t)
		req.Groups = append(req.Groups, g)
	}
	found := map[string][]kmsg.OffsetFetchResponseGroupTopicPartition{}
	for _, shard := range k.client.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, shard.Err
		}
		for _, g := range shard.Resp.(*kmsg.OffsetFetchResponse).Groups {
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					if p.Offset >= 0 || p.ErrorCode != 0 {
						found[g.Group] = append(found[g.Group], p)
					}
				}
			}
		}
	}
	return found, nil
}
