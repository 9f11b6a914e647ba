package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/segments"
	"doze/wire"
)

// ListOffsets (key 2), v1-v11: one offset per partition for a time or a special timestamp.
//
//	-1 latest: the high watermark, or the last stable offset when reading committed (v2+)
//	-2 earliest: the log start
//	-3 max timestamp, v7+ (KIP-734): the first record that has the largest timestamp
//	-4 earliest local, v8+: the log start, nothing is tiered       -5 latest tiered, v9+: none
//	-6 earliest pending upload, v11+: none
//	>=0: the first record whose timestamp is at least this
//
// A special timestamp below its version answers UNSUPPORTED_VERSION for the partition, one that stands twice INVALID_REQUEST.
// Each partition is answered once, and a topic without partitions not at all. An isolation level that there is not fails the
// whole request.
func (b *Broker) listOffsets(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ListOffsetsRequest)
	resp := respond[*kmsg.ListOffsetsResponse](r)
	if req.IsolationLevel < 0 || req.IsolationLevel > 1 {
		resp.Topics = noOffsets(req.Topics, unknownServerError)
		return resp, nil
	}
	mentions := mentionsOf(req)
	at := map[string]int{}
	topics, hidden := permitted(b.access(r), acls.Describe, acls.Topic, req.Topics, func(t kmsg.ListOffsetsRequestTopic) string { return t.Topic })
	for _, asked := range topics {
		i, known := at[asked.Topic]
		if !known && len(asked.Partitions) > 0 {
			i, at[asked.Topic] = len(resp.Topics), len(resp.Topics)
			topic := kmsg.NewListOffsetsResponseTopic()
			topic.Topic = asked.Topic
			resp.Topics = append(resp.Topics, topic)
		}
		for _, p := range asked.Partitions {
			mention := topicPartition{asked.Topic, p.Partition}
			switch n := mentions[mention]; {
			case n == 0: // answered
			case n == 1:
				resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, b.listOffset(req, asked.Topic, p))
			default:
				resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, noOffset(p.Partition, invalidRequest))
			}
			mentions[mention] = 0
		}
	}
	resp.Topics = append(resp.Topics, noOffsets(hidden, topicAuthorizationFailed)...)
	return resp, nil
}

type topicPartition struct {
	topic     string
	partition int32
}

// mentionsOf counts how often the request names each partition.
func mentionsOf(req *kmsg.ListOffsetsRequest) map[topicPartition]int {
	mentions := map[topicPartition]int{}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			mentions[topicPartition{t.Topic, p.Partition}]++
		}
	}
	return mentions
}

// noOffsets answers every mention of a partition with one error.
func noOffsets(of []kmsg.ListOffsetsRequestTopic, code int16) (topics []kmsg.ListOffsetsResponseTopic) {
	for _, asked := range of {
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic = asked.Topic
		for _, p := range asked.Partitions {
			topic.Partitions = append(topic.Partitions, noOffset(p.Partition, code))
		}
		topics = append(topics, topic)
	}
	return topics
}

func noOffset(partition int32, code int16) kmsg.ListOffsetsResponseTopicPartition {
	p := kmsg.NewListOffsetsResponseTopicPartition()
	p.Partition, p.ErrorCode, p.Timestamp, p.Offset, p.LeaderEpoch = partition, code, -1, -1, -1
	return p
}

// Special timestamps of ListOffsets.
const (
	latestTimestamp        = -1
	earliestTimestamp      = -2
	maxTimestamp           = -3
	earliestLocalTimestamp = -4
	latestTieredTimestamp  = -5
	earliestPendingUpload  = -6
)

// timestampKnown tells whether a special timestamp is known at a version.
func timestampKnown(timestamp int64, version int16) bool {
	switch timestamp {
	case maxTimestamp:
		return version >= 7
	case earliestLocalTimestamp:
		return version >= 8
	case latestTieredTimestamp:
		return version >= 9
	case earliestPendingUpload:
		return version >= 11
	}
	return timestamp >= earliestTimestamp
}

func (b *Broker) listOffset(req *kmsg.ListOffsetsRequest, name string, asked kmsg.ListOffsetsRequestTopicPartition) kmsg.ListOffsetsResponseTopicPartition {
	if !timestampKnown(asked.Timestamp, req.Version) {
		return noOffset(asked.Partition, unsupportedVersion)
	}
	state, _ := b.view()
	topic := state.Topics.Named(name)
	log := b.partition(state, topic, asked.Partition)
	if log == nil {
		return noOffset(asked.Partition, unknownTopicOrPartition)
	}
	epoch := topic.LeaderEpoch(asked.Partition, state.Starts)
	if code := checkLeaderEpoch(asked.CurrentLeaderEpoch, epoch); code != none {
		return noOffset(asked.Partition, code)
	}
	found, code := lookUp(log, asked.Timestamp, req.IsolationLevel == 1)
	answer := noOffset(asked.Partition, code)
	if code == none {
		answer.Offset, answer.Timestamp, answer.LeaderEpoch = found.Offset, found.Timestamp, found.LeaderEpoch
	}
	return answer
}

var nothingFound = segments.Found{Offset: -1, Timestamp: -1, LeaderEpoch: -1}

// lookUp finds one offset; none found is offset and timestamp -1 without an error.
func lookUp(log *segments.Partition, timestamp int64, committed bool) (segments.Found, int16) {
	offsets, err := log.Offsets()
	if err != nil {
		return nothingFound, storageCode(err)
	}
	end := offsets.HighWatermark
	if committed {
		end = offsets.LastStable
	}
	switch timestamp {
	case latestTimestamp:
		last, err := log.LatestEpoch()
		return segments.Found{Offset: end, Timestamp: -1, LeaderEpoch: last}, storageCode(err)
	case earliestTimestamp, earliestLocalTimestamp:
		first, err := log.StartEpoch()
		return segments.Found{Offset: offsets.LogStart, Timestamp: -1, LeaderEpoch: first}, storageCode(err)
	case latestTieredTimestamp, earliestPendingUpload:
		return nothingFound, none
	}
	var found segments.Found
	var any bool
	if timestamp == maxTimestamp {
		found, any, err = log.MaxTimestamp()
		if err == nil && !any { // no record has a timestamp: the first is the largest
			found, any, err = log.OffsetForTime(-1)
		}
	} else {
		found, any, err = log.OffsetForTime(timestamp)
	}
	switch {
	case err != nil:
		return nothingFound, storageCode(err)
	case !any || found.Offset >= end:
		return nothingFound, none
	}
	return found, none
}
