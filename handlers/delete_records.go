package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/wire"
)

// DeleteRecords (key 21), v0-v2: moves the log start of partitions (KIP-107). Offset -1 means the high watermark; one at or
// below the log start changes nothing; one beyond the high watermark is out of range. The answer's low watermark is the
// log start from now on. The decision is journaled before the log obeys.
//
// A topic that is only compacted refuses it (POLICY_VIOLATION). Of a partition that is named twice the last mention counts.
func (b *Broker) deleteRecords(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DeleteRecordsRequest)
	resp := respond[*kmsg.DeleteRecordsResponse](r)
	may := b.access(r)
	last, room := map[topicPartition]int64{}, answerRoom(maxAnswerBytes)
	for _, asked := range req.Topics {
		for _, p := range asked.Partitions {
			last[topicPartition{asked.Topic, p.Partition}] = p.Offset
			if !room.take(deletionBytes) {
				return nil, errAnswerTooLarge
			}
		}
	}
	at := map[string]int{}
	for _, asked := range req.Topics {
		for _, p := range asked.Partitions {
			offset, open := last[topicPartition{asked.Topic, p.Partition}]
			if !open {
				continue
			}
			delete(last, topicPartition{asked.Topic, p.Partition})
			i, known := at[asked.Topic]
			if !known {
				i, at[asked.Topic] = len(resp.Topics), len(resp.Topics)
				topic := kmsg.NewDeleteRecordsResponseTopic()
				topic.Topic = asked.Topic
				resp.Topics = append(resp.Topics, topic)
			}
			answer := kmsg.NewDeleteRecordsResponseTopicPartition()
			answer.Partition = p.Partition
			answer.LowWatermark, answer.ErrorCode = -1, topicAuthorizationFailed
			if may.may(acls.Delete, acls.Topic, asked.Topic) {
				answer.LowWatermark, answer.ErrorCode = b.deleteBefore(ctx, r, asked.Topic, p.Partition, offset)
			}
			resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, answer)
		}
	}
	return resp, nil
}

// deletionBytes is what a partition is reckoned to take while its request is answered.
const deletionBytes = 200

func (b *Broker) deleteBefore(ctx context.Context, r *wire.Request, name string, number int32, before int64) (lowWatermark int64, code int16) {
	state, _ := b.view()
	topic := state.Topics.Named(name)
	log := b.partition(state, topic, number)
	if log == nil {
		return -1, unknownTopicOrPartition
	}
	if configs := b.settings(state).topic(state, name); configs.Compact && !configs.Delete {
		return -1, policyViolation
	}
	offsets, err := log.Offsets()
	if err != nil {
		return -1, storageCode(err)
	}
	if before == -1 {
		before = offsets.HighWatermark
	}
	switch {
	case before < 0 || before > offsets.HighWatermark:
		return -1, offsetOutOfRange
	case before <= offsets.LogStart:
		return offsets.LogStart, none
	}
	gone := false
	err = b.update(ctx, r, func(tx *tx) {
		gone = tx.State.Topics.WithID(topic.ID) == nil
		if !gone && before > tx.State.LogStarts.Of(topic.ID, number) {
			tx.Emit(&journal.RecordsDeleted{Topic: topic.ID, Partition: number, Before: before})
		}
	})
	switch {
	case err != nil:
		return -1, kafkaStorageError
	case gone:
		return -1, unknownTopicOrPartition
	}
	start, err := log.DeleteRecords(before)
	if err != nil {
		return -1, storageCode(err)
	}
	return start, none
}
