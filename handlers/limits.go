package handlers

import (
	"errors"
	"fmt"

	"doze/journal"
	"doze/projections"
)

// What one broker holds at most (docs/limits.md). The numbers are far above a developer's need and keep memory bounded.
const (
	maxTopics     = 100_000
	maxPartitions = 200_000
	// maxConfigBytes bounds the configs of all resources, as the state reckons them.
	maxConfigBytes = 64 << 20
	// maxName bounds names that Kafka does not bound: groups, instances, racks, protocols, transactional ids.
	maxName = 4096
)

// maxAnswerBytes bounds the answer to a request that may ask for the same thing again and again.
const maxAnswerBytes = 128 << 20

// errAnswerTooLarge closes the connection of who asks for more than that: no client does.
var errAnswerTooLarge = errors.New("the answer would take more than 128 MiB")

// answerRoom is what is left of maxAnswerBytes.
type answerRoom int64

// take says whether there is room for n more bytes.
func (r *answerRoom) take(n int64) bool {
	*r -= answerRoom(n)
	return *r >= 0
}

// groupAnswerBytes is what a group is reckoned to take in an answer beside its id and what it holds, be it there or not.
const groupAnswerBytes = 256

// takeGroup says whether there is room to describe a group, nil when it is not there, that takes so often what it holds.
func (r *answerRoom) takeGroup(id string, g *projections.Group, times int64) bool {
	n := int64(len(id)) + groupAnswerBytes
	if g != nil {
		n += times * g.Bytes()
	}
	return r.take(n)
}

// partitionAnswerBytes is what a partition is reckoned to take in the answer to a request of an administrator, and before that
// in memory, beside its topic's name, which the text of a refusal repeats.
const partitionAnswerBytes = 256

// takePartitions says whether there is room to answer so many partitions of a topic.
func (r *answerRoom) takePartitions(topic string, partitions int) bool {
	return r.take(int64(partitions)*(partitionAnswerBytes+int64(len(topic))) + partitionAnswerBytes)
}

// isLong says whether an optional name is longer than any may be.
func isLong(name *string) bool { return name != nil && len(*name) > maxName }

// checkPartitionLimits refuses what would grow the broker beyond its limits.
func (b *Broker) checkPartitionLimits(state *projections.State, more int64) *refusal {
	switch {
	case state.Topics.Len() >= maxTopics:
		return refuse(policyViolation, fmt.Sprintf("This broker holds %d topics, the most it takes. Delete some first.", maxTopics))
	case state.Topics.Partitions()+more > maxPartitions:
		return refuse(policyViolation, fmt.Sprintf("This broker holds %d partitions and takes at most %d. Delete topics first.", state.Topics.Partitions(), maxPartitions))
	}
	return nil
}

// checkConfigLimits refuses configs that would grow all configs beyond their bound. What shrinks them is always taken.
func checkConfigLimits(state *projections.State, kind int8, resource string, set []journal.ConfigPair, removed []string) *refusal {
	more := int64(0)
	size := func(name, value string) int64 {
		return projections.Config{Resource: resource, Name: name, Value: value}.Bytes()
	}
	forget := func(name string) {
		if old, had := state.Configs.Get(kind, resource, name); had {
			more -= size(name, old)
		}
	}
	for _, name := range removed {
		forget(name)
	}
	for _, pair := range set {
		forget(pair.Name)
		more += size(pair.Name, pair.Value)
	}
	if more > 0 && state.Configs.Bytes()+more > maxConfigBytes {
		return refuse(policyViolation, fmt.Sprintf("This broker holds %d bytes of configs and takes at most %d. Delete some first.",
			state.Configs.Bytes(), int64(maxConfigBytes)))
	}
	return nil
}
