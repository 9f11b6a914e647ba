package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// DescribeShareGroupOffsets (key 90), v0-v1 (KIP-932): where share groups stand, in all topics that they read or in those
// that are named. Groups and topics that are not there are no error: nothing is known of them.
//
//	v1  the lag: records behind the start offset that are not done
func (b *Broker) describeShareGroupOffsets(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.DescribeShareGroupOffsetsRequest), respond[*kmsg.DescribeShareGroupOffsetsResponse](r)
	state, _ := b.view()
	room, may := answerRoom(maxAnswerBytes), b.access(r)
	for i := range req.Groups {
		g := &req.Groups[i]
		room.take(int64(len(g.GroupID)) + groupAnswerBytes)
		out := kmsg.NewDescribeShareGroupOffsetsResponseGroup()
		out.GroupID = g.GroupID
		switch {
		case b.profile.level(state, shareVersion) < 1:
			out.ErrorCode = unsupportedVersion
		case !may.may(acls.Describe, acls.Group, g.GroupID):
			out.ErrorCode = groupAuthorizationFailed
		case g.Topics == nil:
			out.Topics = b.allShareOffsets(state, g.GroupID, &room)
			out.Topics, _ = permitted(may, acls.Describe, acls.Topic, out.Topics, func(t kmsg.DescribeShareGroupOffsetsResponseGroupTopic) string { return t.Topic })
		default:
			named, hidden := permitted(may, acls.Describe, acls.Topic, g.Topics, func(t kmsg.DescribeShareGroupOffsetsRequestGroupTopic) string { return t.Topic })
			out.Topics = append(b.namedShareOffsets(state, g.GroupID, named, &room), shareOffsetsHidden(hidden)...)
		}
		if room < 0 {
			return nil, errAnswerTooLarge
		}
		resp.Groups = append(resp.Groups, out)
	}
	return resp, nil
}

// shareOffsetBytes is what a partition takes in an answer.
const shareOffsetBytes = 64

func (b *Broker) allShareOffsets(state *projections.State, group string, room *answerRoom) (topics []kmsg.DescribeShareGroupOffsetsResponseGroupTopic) {
	state.ShareStates.OfGroup(group, func(st *projections.ShareState) bool {
		topic := state.Topics.WithID(st.Topic)
		if n := len(topics); n == 0 || topics[n-1].TopicID != st.Topic {
			topics = append(topics, kmsg.DescribeShareGroupOffsetsResponseGroupTopic{Topic: topic.Name, TopicID: topic.ID})
		}
		last := &topics[len(topics)-1]
		last.Partitions = append(last.Partitions, b.shareOffset(state, topic, st, st.Partition))
		return room.take(shareOffsetBytes)
	})
	return topics
}

// namedShareOffsets puts the topics that are not there behind the others.
func (b *Broker) namedShareOffsets(state *projections.State, group string, of []kmsg.DescribeShareGroupOffsetsRequestGroupTopic, room *answerRoom) []kmsg.DescribeShareGroupOffsetsResponseGroupTopic {
	var there, missing []kmsg.DescribeShareGroupOffsetsResponseGroupTopic
	for _, asked := range of {
		if !room.take(int64(len(asked.Topic) + shareOffsetBytes*(1+len(asked.Partitions)))) {
			return nil
		}
		out := kmsg.DescribeShareGroupOffsetsResponseGroupTopic{Topic: asked.Topic}
		topic := state.Topics.Named(asked.Topic)
		if topic == nil {
			for _, p := range asked.Partitions {
				one := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
				one.Partition, one.StartOffset = p, -1
				out.Partitions = append(out.Partitions, one)
			}
			missing = append(missing, out)
			continue
		}
		out.TopicID = topic.ID
		for _, p := range asked.Partitions {
			out.Partitions = append(out.Partitions, b.shareOffset(state, topic, state.ShareStates.Get(group, topic.ID, p), p))
		}
		there = append(there, out)
	}
	return append(there, missing...)
}

// shareOffsetsHidden answers for topics that the caller may not describe.
func shareOffsetsHidden(hidden []kmsg.DescribeShareGroupOffsetsRequestGroupTopic) (topics []kmsg.DescribeShareGroupOffsetsResponseGroupTopic) {
	for _, asked := range hidden {
		out := kmsg.DescribeShareGroupOffsetsResponseGroupTopic{Topic: asked.Topic}
		for _, p := range asked.Partitions {
			one := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
			one.Partition, one.StartOffset, one.Lag = p, -1, -1
			one.ErrorCode, one.ErrorMessage = topicAuthorizationFailed, text(topicRefusedText)
			out.Partitions = append(out.Partitions, one)
		}
		topics = append(topics, out)
	}
	return topics
}

// shareOffset is where a group stands in a partition, of which it may have no state.
func (b *Broker) shareOffset(state *projections.State, topic *projections.Topic, st *projections.ShareState, partition int32) kmsg.DescribeShareGroupOffsetsResponseGroupTopicPartition {
	out := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
	out.Partition, out.StartOffset, out.Lag = partition, -1, -1
	if st == nil {
		return out
	}
	if out.StartOffset, out.LeaderEpoch = st.Start, st.LeaderEpoch; st.Start < 0 {
		return out
	}
	offsets, err := b.partition(state, topic, partition).Offsets()
	if err != nil {
		out.StartOffset, out.LeaderEpoch, out.ErrorCode = 0, 0, storageCode(err)
		return out
	}
	out.Lag = offsets.HighWatermark - st.Start - int64(st.Complete)
	return out
}
