package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/wire"
)

// OffsetForLeaderEpoch (key 23), v2-v4 (KIP-320): the end of a leader epoch's records, by which a consumer notices that its
// log was truncated. An epoch that is not known answers the largest known one below it; one from the future, or -1, answers
// -1 and -1.
func (b *Broker) offsetForLeaderEpoch(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.OffsetForLeaderEpochRequest)
	resp := respond[*kmsg.OffsetForLeaderEpochResponse](r)
	may := b.access(r)
	topics, hidden := req.Topics, []kmsg.OffsetForLeaderEpochRequestTopic(nil)
	if !may.mayCluster(acls.ClusterAction) {
		topics, hidden = permitted(may, acls.Describe, acls.Topic, topics, func(t kmsg.OffsetForLeaderEpochRequestTopic) string { return t.Topic })
	}
	for _, asked := range topics {
		topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
		topic.Topic = asked.Topic
		for _, p := range asked.Partitions {
			topic.Partitions = append(topic.Partitions, b.endOfEpoch(asked.Topic, p))
		}
		resp.Topics = append(resp.Topics, topic)
	}
	for _, asked := range hidden {
		topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
		topic.Topic = asked.Topic
		for _, p := range asked.Partitions {
			topic.Partitions = append(topic.Partitions, noEndOfEpoch(p.Partition, topicAuthorizationFailed))
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp, nil
}

func noEndOfEpoch(partition int32, code int16) kmsg.OffsetForLeaderEpochResponseTopicPartition {
	p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
	p.Partition, p.LeaderEpoch, p.EndOffset, p.ErrorCode = partition, -1, -1, code
	return p
}

func (b *Broker) endOfEpoch(name string, asked kmsg.OffsetForLeaderEpochRequestTopicPartition) kmsg.OffsetForLeaderEpochResponseTopicPartition {
	answer := noEndOfEpoch(asked.Partition, none)
	state, _ := b.view()
	topic := state.Topics.Named(name)
	log := b.partition(state, topic, asked.Partition)
	if log == nil {
		answer.ErrorCode = unknownTopicOrPartition
		return answer
	}
	current := topic.LeaderEpoch(asked.Partition, state.Starts)
	if answer.ErrorCode = checkLeaderEpoch(asked.CurrentLeaderEpoch, current); answer.ErrorCode != none {
		return answer
	}
	epoch, end, err := log.EndOfEpoch(asked.LeaderEpoch)
	if err != nil {
		answer.ErrorCode = storageCode(err)
		return answer
	}
	answer.LeaderEpoch, answer.EndOffset = epoch, end
	return answer
}
