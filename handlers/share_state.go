package handlers

import (
	"context"

	"doze/configs"
	"doze/journal"
	"doze/projections"
	"doze/segments"
	"doze/shares"
)

// What is written down of a share partition: Kafka's share coordinator keeps it in a topic, doze in the journal.

// Texts of Kafka's.
const (
	unsupportedVersionText  = "The version of API is not supported."
	unknownTopicText        = "This server does not host this topic-partition."
	writeUninitializedShare = "Error in write state RPC. Write operation on uninitialized share partition not allowed."
	fencedStateEpochText    = "The share coordinator rejected the request because the share-group state epoch did not match."
)

// Limits of what is written down (docs/limits.md).
const (
	maxShareStates      = 1_000_000
	maxShareStatesBytes = 256 << 20
)

// load takes a partition up from what was written down, in the leader epoch that the partition has now.
func (s *sharePartitions) load(p *livePartition) *refusal {
	state, _ := s.broker.view()
	topic := state.Topics.WithID(p.key.topic)
	log := s.broker.partition(state, topic, p.key.partition)
	if log == nil {
		return refuse(unknownTopicOrPartition, unknownTopicText)
	}
	written := state.ShareStates.Get(p.key.group, p.key.topic, p.key.partition)
	if written == nil {
		return &refusal{code: unknownServerError}
	}
	if epoch := topic.LeaderEpoch(p.key.partition, state.Starts); epoch != written.LeaderEpoch {
		if refused := s.noteLoaded(p.key, epoch); refused != nil {
			return refused
		}
	}
	start := written.Start
	if start < 0 {
		var refused *refusal
		if start, refused = s.broker.shareReset(state, p.key.group, log); refused != nil {
			return refused
		}
	}
	batches := make([]shares.StateBatch, len(written.Batches))
	for i, b := range written.Batches {
		batches[i] = shares.StateBatch{First: b.First, Last: b.Last, State: shares.State(b.State), DeliveryCount: b.DeliveryCount}
	}
	p.state, p.stateEpoch = shares.Load(start, batches), written.StateEpoch
	return nil
}

func (s *sharePartitions) noteLoaded(key sharePartitionKey, epoch int32) (refused *refusal) {
	err := s.broker.store.Update(context.Background(), journal.Timed("share partition"), func(tx *tx) {
		if tx.State.ShareStates.Get(key.group, key.topic, key.partition) == nil {
			refused = &refusal{code: unknownServerError}
			return
		}
		tx.Emit(&journal.ShareStateLoaded{Group: key.group, Topic: key.topic, Partition: key.partition, LeaderEpoch: epoch})
	})
	if err != nil {
		return storageRefusal(err)
	}
	return refused
}

// write writes a change down, if the partition is still what was taken up. It goes through though the request's client is
// gone.
func (s *sharePartitions) write(cause journal.Cause, p *livePartition, w shares.Write) (refused *refusal) {
	event := &journal.ShareStateWritten{Group: p.key.group, Topic: p.key.topic, Partition: p.key.partition, Start: w.Start, Complete: w.Complete}
	for _, b := range w.Batches {
		event.Batches = append(event.Batches, journal.ShareStateBatch{First: b.First, Last: b.Last, State: uint8(b.State), DeliveryCount: b.DeliveryCount})
	}
	err := s.broker.store.Update(context.Background(), cause, func(tx *tx) {
		if refused = checkShareWrite(tx.State, event, p.stateEpoch); refused == nil {
			tx.Emit(event)
		}
	})
	if err != nil {
		return storageRefusal(err)
	}
	return refused
}

// checkShareWrite says what stands against a change of a partition that was taken up in the state epoch.
func checkShareWrite(state *projections.State, e *journal.ShareStateWritten, stateEpoch int32) *refusal {
	now := state.ShareStates.Get(e.Group, e.Topic, e.Partition)
	switch {
	case now == nil && state.Topics.WithID(e.Topic) == nil:
		return refuse(unknownTopicOrPartition, unknownTopicText)
	case now == nil:
		return refuse(unknownServerError, writeUninitializedShare)
	case now.StateEpoch > stateEpoch:
		return refuse(notLeaderOrFollower, fencedStateEpochText)
	case state.ShareStates.Bytes()+projections.ShareBatchesBytes(len(e.Batches)) > maxShareStatesBytes:
		return refuse(kafkaStorageError, "The states of share groups take as much as this broker holds.")
	}
	return nil
}

// shareLimits are the settings of a group that its share partitions go by.
func (b *Broker) shareLimits(state *projections.State, group string) shares.Limits {
	settings, values := b.settings(state), state.Configs.Map(projections.GroupResource, group)
	return shares.Limits{
		MaxDeliveries: int(settings.GroupInt("share.delivery.count.limit", values)),
		MaxInFlight:   int(settings.GroupInt("share.partition.max.record.locks", values)),
		LockMs:        settings.GroupInt("share.record.lock.duration.ms", values),
		Renew:         configs.GroupText("share.renew.acknowledge.enable", values) == "true",
	}
}

// shareReset is where a group begins with a partition, by share.auto.offset.reset.
func (b *Broker) shareReset(state *projections.State, group string, log *segments.Partition) (int64, *refusal) {
	reset := configs.GroupText("share.auto.offset.reset", state.Configs.Map(projections.GroupResource, group))
	timestamp := int64(latestTimestamp)
	if reset == "earliest" {
		timestamp = earliestTimestamp
	} else if ago, is := configs.ResetAgoMs(reset); is {
		timestamp = max(b.clock.NowMillis()-ago, 0)
	}
	found, code := lookUp(log, timestamp, false)
	switch {
	case code != none:
		return 0, &refusal{code: code}
	case found.Offset >= 0:
		return found.Offset, nil
	}
	// Nothing is as young as that: what comes next.
	if found, code = lookUp(log, latestTimestamp, false); code != none {
		return 0, &refusal{code: code}
	}
	return found.Offset, nil
}
