package handlers

import (
	"fmt"

	"doze/projections"
)

// What one broker holds at most (docs/limits.md). The numbers are far above a developer's need and keep memory bounded.
const (
	maxTopics     = 100_000
	maxPartitions = 200_000
	// maxName bounds names that Kafka does not bound: groups, instances, racks, protocols, transactional ids.
	maxName = 4096
	// maxMemberID is larger, so that a static member can come back with the id it was given: instance id, dash, uuid.
	maxMemberID = 4160
)

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
