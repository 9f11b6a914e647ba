package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/wire"
)

// DescribeProducers (key 61), v0 (KIP-664): who has produced with an id to a partition, and whether a transaction is open.
func (b *Broker) describeProducers(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeProducersRequest)
	resp := respond[*kmsg.DescribeProducersResponse](r)
	room := answerRoom(maxAnswerBytes)
	may := b.access(r)
	for _, asked := range req.Topics {
		topic := kmsg.NewDescribeProducersResponseTopic()
		topic.Topic = asked.Topic
		for _, number := range asked.Partitions {
			answer := b.producersOf(may, asked.Topic, number)
			if !room.take(int64(100 + 50*len(answer.ActiveProducers))) {
				return nil, errAnswerTooLarge
			}
			topic.Partitions = append(topic.Partitions, answer)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp, nil
}

func (b *Broker) producersOf(may access, name string, number int32) kmsg.DescribeProducersResponseTopicPartition {
	answer := kmsg.NewDescribeProducersResponseTopicPartition()
	answer.Partition = number
	if wrong := invalidTopicName(name); wrong != "" {
		answer.ErrorCode, answer.ErrorMessage = invalidTopicException, text(wrong)
		return answer
	}
	if !may.may(acls.Read, acls.Topic, name) {
		answer.ErrorCode, answer.ErrorMessage = topicAuthorizationFailed, text(topicRefusedText)
		return answer
	}
	state, _ := b.view()
	topic := state.Topics.Named(name)
	if topic == nil { // Kafka has a text for this, and none for a partition that is not there
		answer.ErrorCode, answer.ErrorMessage = unknownTopicOrPartition, text("This server does not host this topic-partition.")
		return answer
	}
	log := b.partition(state, topic, number)
	if log == nil {
		answer.ErrorCode = unknownTopicOrPartition
		return answer
	}
	producers, err := log.Producers()
	if err != nil {
		answer.ErrorCode = storageCode(err)
		return answer
	}
	for _, p := range producers {
		active := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		active.ProducerID, active.ProducerEpoch = p.ID, int32(p.Epoch)
		active.LastSequence, active.LastTimestamp = p.LastSequence(), p.LastTimestamp
		active.CoordinatorEpoch, active.CurrentTxnStartOffset = p.CoordinatorEpoch, p.TxnFirstOffset
		answer.ActiveProducers = append(answer.ActiveProducers, active)
	}
	return answer
}
