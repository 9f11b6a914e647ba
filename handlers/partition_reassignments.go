package handlers

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// AlterPartitionAssignments (key 45; Kafka calls it AlterPartitionReassignments), v0-v1 (KIP-455): gives partitions other
// replicas.
//
//	v1  the number of replicas may be held to what it is (KIP-860)
//
// The one broker is all that a partition can be on, and is what it is on: such a reassignment is done at once and changes
// nothing. replicas = null cancels a reassignment; there is none. An authorizer asks for ALTER on the cluster.
func (b *Broker) alterPartitionReassignments(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AlterPartitionAssignmentsRequest)
	room := answerRoom(maxAnswerBytes)
	for _, t := range req.Topics {
		if !room.takePartitions(t.Topic, len(t.Partitions)) {
			return nil, errAnswerTooLarge
		}
	}
	resp := respond[*kmsg.AlterPartitionAssignmentsResponse](r)
	resp.AllowReplicationFactorChange = req.AllowReplicationFactorChange
	switch {
	case len(req.Topics) == 0: // Kafka answers before it looks at anything, with the fields as they are by default
		resp.AllowReplicationFactorChange, resp.ErrorMessage = true, text("")
		return resp, nil
	case req.TimeoutMillis <= 0:
		return reassignNone(req, resp), nil
	}
	state, _ := b.view()
	for _, asked := range req.Topics {
		topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		topic.Topic = asked.Topic
		for _, p := range asked.Partitions {
			done := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			done.Partition = p.Partition
			if no := b.reassignmentRefused(state.Topics.Named(asked.Topic), asked.Topic, p); no != nil {
				done.ErrorCode, done.ErrorMessage = no.code, no.message
			}
			topic.Partitions = append(topic.Partitions, done)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp, nil
}

// reassignNone is the answer to a request that has run out of time before it began.
func reassignNone(req *kmsg.AlterPartitionAssignmentsRequest, resp *kmsg.AlterPartitionAssignmentsResponse) *kmsg.AlterPartitionAssignmentsResponse {
	resp.ErrorCode, resp.AllowReplicationFactorChange = requestTimedOut, true
	for _, asked := range req.Topics {
		topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		topic.Topic = asked.Topic
		for _, p := range asked.Partitions {
			done := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			done.Partition, done.ErrorCode = p.Partition, requestTimedOut
			topic.Partitions = append(topic.Partitions, done)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// reassignmentRefused says why a partition cannot have the replicas; nil when they are what it has.
func (b *Broker) reassignmentRefused(t *projections.Topic, name string, asked kmsg.AlterPartitionAssignmentsRequestTopicPartition) *refusal {
	switch {
	case t == nil:
		return refuse(unknownTopicOrPartition, "Unable to find a topic named "+name+".")
	case asked.Partition < 0 || asked.Partition >= t.Partitions:
		return refuse(unknownTopicOrPartition, fmt.Sprintf("Unable to find partition %s:%d.", name, asked.Partition))
	case asked.Replicas == nil:
		return &refusal{code: noReassignmentInProgress}
	case len(asked.Replicas) == 0:
		return refuse(invalidReplicaAssignment, "The manual partition assignment includes an empty replica list.")
	}
	return b.replicasRefused(asked.Replicas)
}

// replicasRefused says which of the replicas, in the order of their numbers, cannot be one.
func (b *Broker) replicasRefused(replicas []int32) *refusal {
	before := int32(-1)
	for i, id := range slices.Sorted(slices.Values(replicas)) {
		switch {
		case id != b.nodeID:
			return refuse(invalidReplicaAssignment, fmt.Sprintf("The manual partition assignment includes broker %d, but no such broker is registered.", id))
		case i > 0 && id == before:
			return refuse(invalidReplicaAssignment, fmt.Sprintf("The manual partition assignment includes the broker %d more than once.", id))
		}
		before = id
	}
	return nil
}

// ListPartitionReassignments (key 46), v0 (KIP-455): the reassignments that are under way. With one broker there are none,
// of whatever is asked for. An authorizer asks for DESCRIBE on the cluster.
func (b *Broker) listPartitionReassignments(_ context.Context, r *wire.Request) (wire.Reply, error) {
	return respond[*kmsg.ListPartitionReassignmentsResponse](r), nil
}
