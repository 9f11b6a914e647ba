package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/wire"
)

// CreatePartitions (key 37), v0-v3: raises the partition counts of topics (KIP-195). A timeout that leaves
// no time times out before anything is looked at.
func (b *Broker) createPartitions(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.CreatePartitionsRequest)
	resp := respond[*kmsg.CreatePartitionsResponse](r)
	once, twice := namedOnce(req.Topics, func(t kmsg.CreatePartitionsRequestTopic) string { return t.Topic })
	answer := func(name string, no *refusal) {
		topic := kmsg.NewCreatePartitionsResponseTopic()
		topic.Topic = name
		if no != nil {
			topic.ErrorCode, topic.ErrorMessage = no.code, no.message
		}
		resp.Topics = append(resp.Topics, topic)
	}
	if len(once) > 0 && req.TimeoutMillis <= 0 {
		for _, asked := range req.Topics {
			answer(asked.Topic, &refusal{code: requestTimedOut})
		}
		return resp, nil
	}
	once, hidden := permitted(b.access(r), acls.Alter, acls.Topic, once, func(t kmsg.CreatePartitionsRequestTopic) string { return t.Topic })
	charge, wait := b.mutations(r, req.Version >= 3)
	decide := func(tx *tx) {
		resp.Topics = nil
		for _, name := range twice {
			answer(name, refuse(invalidRequest, "Duplicate topic name."))
		}
		for _, asked := range hidden {
			answer(asked.Topic, &refusal{code: topicAuthorizationFailed})
		}
		for _, asked := range once {
			answer(asked.Topic, b.decideCreatePartitions(tx, asked, charge))
		}
	}
	if err := b.decide(ctx, r, req.ValidateOnly, decide); err != nil {
		resp.Topics = nil
		for _, asked := range req.Topics {
			answer(asked.Topic, storageRefusal(err))
		}
	}
	resp.ThrottleMillis = wait()
	return resp, nil
}

func (b *Broker) decideCreatePartitions(tx *tx, asked kmsg.CreatePartitionsRequestTopic, charge mutationCharge) *refusal {
	topic := tx.State.Topics.Named(asked.Topic)
	if topic == nil {
		return &refusal{code: unknownTopicOrPartition}
	}
	more := int64(asked.Count) - int64(topic.Partitions)
	switch {
	case more == 0:
		return refuse(invalidPartitions, fmt.Sprintf("Topic already has %d partition(s).", topic.Partitions))
	case more < 0:
		return refuse(invalidPartitions, fmt.Sprintf("The topic %s currently has %d partition(s); %d would not be an increase.",
			topic.Name, topic.Partitions, asked.Count))
	case asked.Assignment != nil && int64(len(asked.Assignment)) != more:
		return refuse(invalidReplicaAssignment, fmt.Sprintf("Attempted to add %d additional partition(s), but only %d assignment(s) were specified.",
			more, len(asked.Assignment)))
	}
	for _, a := range asked.Assignment {
		if no := b.checkAssignment(a.Replicas, 1); no != nil {
			return no
		}
	}
	if more > maxRecordsPerRequest {
		return &refusal{code: unknownServerError} // so many fail Kafka, too
	}
	if no := b.checkPartitionLimits(tx.State, more); no != nil {
		return no
	}
	if no := charge(int32(more)); no != nil {
		return no
	}
	tx.Emit(&journal.PartitionsAdded{ID: topic.ID, Total: asked.Count})
	return nil
}
