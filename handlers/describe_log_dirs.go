package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// DescribeLogDirs (key 35), v1-v5: the one data directory with the size of each partition (KIP-113).
//
//	v4  total and usable bytes of the volume (KIP-827)      v5  cordoned or not
//
// topics = null means all; what is not there is simply absent.
func (b *Broker) describeLogDirs(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeLogDirsRequest)
	resp := respond[*kmsg.DescribeLogDirsResponse](r)
	state, _ := b.view()
	dir := kmsg.NewDescribeLogDirsResponseDir()
	dir.Dir = b.dir
	dir.TotalBytes, dir.UsableBytes = b.space()
	if req.Topics == nil {
		state.Topics.Each("", func(t *projections.Topic) bool {
			dir.Topics = appendLogDirTopic(dir.Topics, t.Name, b.partitionSizes(state, t, allPartitions(t)))
			return true
		})
	}
	for _, asked := range mergeLogDirTopics(req.Topics) {
		if t := state.Topics.Named(asked.Topic); t != nil {
			dir.Topics = appendLogDirTopic(dir.Topics, t.Name, b.partitionSizes(state, t, asked.Partitions))
		}
	}
	resp.Dirs = append(resp.Dirs, dir)
	return resp, nil
}

// mergeLogDirTopics makes one mention of a topic of all of them, as Kafka does.
func mergeLogDirTopics(topics []kmsg.DescribeLogDirsRequestTopic) []kmsg.DescribeLogDirsRequestTopic {
	var merged []kmsg.DescribeLogDirsRequestTopic
	at := map[string]int{}
	for _, t := range topics {
		i, again := at[t.Topic]
		if !again {
			i = len(merged)
			at[t.Topic] = i
			merged = append(merged, kmsg.DescribeLogDirsRequestTopic{Topic: t.Topic})
		}
		merged[i].Partitions = append(merged[i].Partitions, t.Partitions...)
	}
	return merged
}

func allPartitions(t *projections.Topic) []int32 {
	all := make([]int32, t.Partitions)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

func appendLogDirTopic(topics []kmsg.DescribeLogDirsResponseDirTopic, name string, sizes []kmsg.DescribeLogDirsResponseDirTopicPartition) []kmsg.DescribeLogDirsResponseDirTopic {
	if len(sizes) == 0 {
		return topics
	}
	topic := kmsg.NewDescribeLogDirsResponseDirTopic()
	topic.Topic, topic.Partitions = name, sizes
	return append(topics, topic)
}

func (b *Broker) partitionSizes(state *projections.State, t *projections.Topic, asked []int32) (sizes []kmsg.DescribeLogDirsResponseDirTopicPartition) {
	seen := map[int32]bool{}
	for _, number := range asked {
		log := b.partition(state, t, number)
		if log == nil || seen[number] {
			continue
		}
		seen[number] = true
		size := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		size.Partition = number
		size.Size, _ = log.Size() // a log that cannot be read has no size to tell
		sizes = append(sizes, size)
	}
	return sizes
}
