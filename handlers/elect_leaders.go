package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// Types of elections (KIP-460).
const (
	preferredElection int8 = 0
	uncleanElection   int8 = 1
)

// ElectLeaders (key 43), v0-v2 (KIP-183): moves partitions to the leader that they should have.
//
//	v0  the preferred replica only      v1  unclean elections too (KIP-460)
//
// A partition has one replica, which leads it: no election is ever needed, and none changes anything. topics = null means all
// partitions; those that need no election are then left out, so each topic is answered without partitions. A request that
// fails as a whole says so at every partition that it names. An authorizer asks for ALTER on the cluster.
func (b *Broker) electLeaders(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ElectLeadersRequest)
	room := answerRoom(maxAnswerBytes)
	for _, t := range req.Topics {
		if !room.takePartitions(t.Topic, len(t.Partitions)) {
			return nil, errAnswerTooLarge
		}
	}
	resp := respond[*kmsg.ElectLeadersResponse](r)
	switch {
	case req.Topics != nil && len(req.Topics) == 0:
		return resp, nil // before anything is looked at
	case req.TimeoutMillis <= 0:
		return electNone(req, resp, &refusal{code: requestTimedOut}), nil
	case req.Version > 0 && req.ElectionType != preferredElection && req.ElectionType != uncleanElection:
		return electNone(req, resp, refuse(invalidRequest, fmt.Sprintf("Unknown election type %d", req.ElectionType))), nil
	}
	state, _ := b.view()
	if req.Topics == nil {
		state.Topics.Each("", func(t *projections.Topic) bool {
			resp.Topics = append(resp.Topics, kmsg.ElectLeadersResponseTopic{Topic: t.Name})
			return true
		})
	}
	for _, asked := range req.Topics {
		resp.Topics = append(resp.Topics, electedTopic(asked, func(partition int32) *refusal {
			return electionRefused(state.Topics.Named(asked.Topic), asked.Topic, partition)
		}))
	}
	return resp, nil
}

// electNone is the answer to a request that fails as a whole.
func electNone(req *kmsg.ElectLeadersRequest, resp *kmsg.ElectLeadersResponse, why *refusal) *kmsg.ElectLeadersResponse {
	resp.ErrorCode = why.code
	for _, asked := range req.Topics {
		resp.Topics = append(resp.Topics, electedTopic(asked, func(int32) *refusal { return why }))
	}
	return resp
}

func electedTopic(asked kmsg.ElectLeadersRequestTopic, refused func(partition int32) *refusal) kmsg.ElectLeadersResponseTopic {
	topic := kmsg.NewElectLeadersResponseTopic()
	topic.Topic = asked.Topic
	for _, number := range asked.Partitions {
		p := kmsg.NewElectLeadersResponseTopicPartition()
		why := refused(number)
		p.Partition, p.ErrorCode, p.ErrorMessage = number, why.code, why.message
		topic.Partitions = append(topic.Partitions, p)
	}
	return topic
}

// electionRefused says why there is no election: the partition is not there, or has its leader.
func electionRefused(t *projections.Topic, name string, partition int32) *refusal {
	switch {
	case t == nil:
		return refuse(unknownTopicOrPartition, "No such topic as "+name)
	case partition < 0 || partition >= t.Partitions:
		return refuse(unknownTopicOrPartition, fmt.Sprintf("No such partition as %s-%d", name, partition))
	}
	return refuse(electionNotNeeded, "Leader election not needed for topic partition.")
}
