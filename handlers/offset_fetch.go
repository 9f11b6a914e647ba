package handlers

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// OffsetFetch (key 9), v1-v10: how far groups have read.
//
//	v2   null topics: all that the group has; an error of the request     v5  leader epochs (KIP-320)
//	v7   require_stable: not what an open transaction may still replace (KIP-447)      v8  groups in one request (KIP-709)
//	v9   member id and epoch, for groups of the consumer protocol (KIP-848)     v10  topics by id
//
// What was not committed is answered with offset -1 and no error, an unknown group likewise.
func (b *Broker) offsetFetch(_ context.Context, r *wire.Request) (wire.Reply, error) {
	if resp := b.groups.offsetFetch(r.Body.(*kmsg.OffsetFetchRequest), b.access(r)); resp != nil {
		return resp, nil
	}
	return nil, errAnswerTooLarge
}

// offsetFetch answers nil when that is too much for an answer.
func (c *coordinator) offsetFetch(req *kmsg.OffsetFetchRequest, may access) *kmsg.OffsetFetchResponse {
	resp := kmsg.NewPtrOffsetFetchResponse()
	state, room := c.view(), answerRoom(maxAnswerBytes)
	if req.Version >= 8 {
		resp.Groups = make([]kmsg.OffsetFetchResponseGroup, len(req.Groups))
		for i := range req.Groups {
			if !room.forOffsets(state, &req.Groups[i]) {
				return nil
			}
			resp.Groups[i] = permittedOffsets(state, &req.Groups[i], req, may)
		}
		return resp
	}
	single := singleGroup(req)
	if !room.forOffsets(state, single) {
		return nil
	}
	g := permittedOffsets(state, single, req, may)
	resp.ErrorCode = g.ErrorCode
	resp.Topics = make([]kmsg.OffsetFetchResponseTopic, len(g.Topics))
	for i, t := range g.Topics {
		resp.Topics[i].Topic = t.Topic
		resp.Topics[i].Partitions = make([]kmsg.OffsetFetchResponseTopicPartition, len(t.Partitions))
		for j, p := range t.Partitions {
			resp.Topics[i].Partitions[j] = kmsg.OffsetFetchResponseTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			}
		}
	}
	return resp
}

// forOffsets takes the room that the answer for a group needs, before anything is put together.
func (r *answerRoom) forOffsets(state *projections.State, g *kmsg.OffsetFetchRequestGroup) (enough bool) {
	enough = r.take(offsetsAnswerBytes)
	for i := 0; i < len(g.Topics) && enough; i++ {
		of := state.Offsets.Topic(g.Group, g.Topics[i].Topic)
		if of == nil && g.Topics[i].TopicID != [16]byte{} {
			if topic := state.Topics.WithID(g.Topics[i].TopicID); topic != nil {
				of = state.Offsets.Topic(g.Group, topic.Name)
			}
		}
		for n := 0; n < len(g.Topics[i].Partitions) && enough; n++ {
			o, _ := state.Offsets.Get(of, g.Topics[i].Partitions[n])
			enough = r.take(offsetsAnswerBytes + int64(len(o.Metadata)))
		}
	}
	if g.Topics != nil {
		return enough
	}
	state.Offsets.OfGroup(g.Group, func(of *projections.OffsetsOfTopic) bool {
		state.Offsets.OfTopic(of, func(o projections.CommittedOffset) bool {
			enough = enough && r.take(offsetsAnswerBytes+int64(len(o.Metadata)))
			return enough
		})
		return enough
	})
	return enough
}

// offsetsAnswerBytes is what an offset takes in an answer, without its metadata.
const offsetsAnswerBytes = 40

// singleGroup puts a request before version 8 into the form of the later ones.
func singleGroup(req *kmsg.OffsetFetchRequest) *kmsg.OffsetFetchRequestGroup {
	g := &kmsg.OffsetFetchRequestGroup{Group: req.Group, MemberEpoch: -1}
	if req.Topics == nil {
		return g
	}
	g.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, len(req.Topics))
	for i, t := range req.Topics {
		g.Topics[i] = kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions}
	}
	return g
}

func fetchOffsets(state *projections.State, req *kmsg.OffsetFetchRequestGroup, version int16, stable bool) kmsg.OffsetFetchResponseGroup {
	resp := kmsg.NewOffsetFetchResponseGroup()
	resp.Group = req.Group
	switch {
	case len(req.Group) > maxName && version >= 2:
		resp.ErrorCode = invalidGroupID
	case len(req.Group) > maxName:
		for _, t := range req.Topics {
			resp.Topics = append(resp.Topics, allUncommitted(t, invalidGroupID))
		}
	case checkOffsetFetch(state.Groups.Get(req.Group), req) != none:
		resp.ErrorCode = checkOffsetFetch(state.Groups.Get(req.Group), req)
	case req.Topics == nil:
		resp.Topics = allOffsets(state, req.Group, version)
	default:
		resp.Topics = namedOffsets(state, req, version)
	}
	if stable && state.Staged.Len() > 0 {
		hideUnstable(state, &resp)
	}
	return resp
}

// hideUnstable answers UNSTABLE_OFFSET_COMMIT for offsets that an open transaction may still replace (KIP-447).
func hideUnstable(state *projections.State, resp *kmsg.OffsetFetchResponseGroup) {
	for i := range resp.Topics {
		t := &resp.Topics[i]
		name := t.Topic
		if topic := state.Topics.WithID(t.TopicID); topic != nil {
			name = topic.Name
		}
		for j := range t.Partitions {
			if p := &t.Partitions[j]; p.ErrorCode == none && state.Staged.Has(resp.Group, name, p.Partition) {
				*p = uncommitted(p.Partition, unstableOffsetCommit)
			}
		}
	}
}

func allOffsets(state *projections.State, group string, version int16) []kmsg.OffsetFetchResponseGroupTopic {
	out := []kmsg.OffsetFetchResponseGroupTopic{}
	state.Offsets.OfGroup(group, func(of *projections.OffsetsOfTopic) bool {
		t := kmsg.OffsetFetchResponseGroupTopic{Topic: of.Topic}
		if version >= 10 {
			topic := state.Topics.Named(of.Topic)
			if topic == nil {
				return true
			}
			t.TopicID = topic.ID
		}
		state.Offsets.OfTopic(of, func(o projections.CommittedOffset) bool {
			t.Partitions = append(t.Partitions, offsetAnswer(&o))
			return true
		})
		out = append(out, t)
		return true
	})
	return out
}

// namedOffsets answers unknown topic ids last, as Kafka does.
func namedOffsets(state *projections.State, req *kmsg.OffsetFetchRequestGroup, version int16) []kmsg.OffsetFetchResponseGroupTopic {
	out := make([]kmsg.OffsetFetchResponseGroupTopic, 0, len(req.Topics))
	var unknown []kmsg.OffsetFetchResponseGroupTopic
	for _, t := range req.Topics {
		name := t.Topic
		if version >= 10 {
			topic := state.Topics.WithID(t.TopicID)
			if topic == nil {
				unknown = append(unknown, allUncommitted(t, unknownTopicID))
				continue
			}
			name = topic.Name
		}
		of := state.Offsets.Topic(req.Group, name)
		if of != nil && version >= 10 && of.ID != t.TopicID {
			of = nil
		}
		answer := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic, TopicID: t.TopicID}
		answer.Partitions = make([]kmsg.OffsetFetchResponseGroupTopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			if o, ok := state.Offsets.Get(of, p); ok {
				answer.Partitions[i] = offsetAnswer(&o)
			} else {
				answer.Partitions[i] = uncommitted(p, none)
			}
		}
		out = append(out, answer)
	}
	return slices.Concat(out, unknown)
}

func offsetAnswer(o *projections.CommittedOffset) kmsg.OffsetFetchResponseGroupTopicPartition {
	return kmsg.OffsetFetchResponseGroupTopicPartition{
		Partition: o.Partition, Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: &o.Metadata,
	}
}

func uncommitted(partition int32, code int16) kmsg.OffsetFetchResponseGroupTopicPartition {
	return kmsg.OffsetFetchResponseGroupTopicPartition{
		Partition: partition, Offset: -1, LeaderEpoch: -1, Metadata: new(string), ErrorCode: code,
	}
}

func allUncommitted(t kmsg.OffsetFetchRequestGroupTopic, code int16) kmsg.OffsetFetchResponseGroupTopic {
	answer := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic, TopicID: t.TopicID}
	for _, p := range t.Partitions {
		answer.Partitions = append(answer.Partitions, uncommitted(p, code))
	}
	return answer
}
