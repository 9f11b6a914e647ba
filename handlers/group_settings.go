package handlers

import (
	"slices"
	"strings"

	"doze/configs"
)

// groupSettings are the broker's settings for groups. None of them changes while the broker runs.
type groupSettings struct {
	minSessionTimeoutMs     int32 // group.min.session.timeout.ms
	maxSessionTimeoutMs     int32 // group.max.session.timeout.ms
	maxSize                 int   // group.max.size
	initialRebalanceDelayMs int32 // group.initial.rebalance.delay.ms
	offsetMetadataMax       int   // offset.metadata.max.bytes, though Kafka counts UTF-16 units
	offsetsRetentionMs      int64 // offsets.retention.minutes
	offsetsCheckMs          int64 // how often expired offsets are looked for
	limits                  groupLimits
	consumer                consumerSettings
}

// consumerSettings are those of consumer groups that only a start sets.
type consumerSettings struct {
	enabled            bool     // group.coordinator.rebalance.protocols has consumer
	maxSize            int      // group.consumer.max.size
	assignors          []string // group.consumer.assignors; the first is taken when no member asks for one
	upgrade, downgrade bool     // group.consumer.migration.policy
}

func consumerSettingsOf(c *configs.Broker) consumerSettings {
	policy := strings.ToLower(c.Text("group.consumer.migration.policy"))
	s := consumerSettings{
		enabled: slices.Contains(c.Entries("group.coordinator.rebalance.protocols"), "consumer"),
		maxSize: int(c.Int("group.consumer.max.size")),
		upgrade: policy == "bidirectional" || policy == "upgrade", downgrade: policy == "bidirectional" || policy == "downgrade",
	}
	for _, name := range c.Entries("group.consumer.assignors") {
		if name == "uniform" || name == "range" { // others are classes of Java's
			s.assignors = append(s.assignors, name)
		}
	}
	if len(s.assignors) == 0 {
		s.assignors = []string{"uniform"}
	}
	return s
}

func groupSettingsOf(c *configs.Broker) groupSettings {
	s := groupSettings{
		minSessionTimeoutMs:     int32(c.Int("group.min.session.timeout.ms")),
		maxSessionTimeoutMs:     int32(c.Int("group.max.session.timeout.ms")),
		maxSize:                 int(c.Int("group.max.size")),
		initialRebalanceDelayMs: int32(c.Int("group.initial.rebalance.delay.ms")),
		offsetMetadataMax:       int(c.Int("offset.metadata.max.bytes")),
		offsetsRetentionMs:      c.Int("offsets.retention.minutes") * 60_000,
		limits:                  defaultGroupLimits,
		consumer:                consumerSettingsOf(c),
	}
	s.offsetsCheckMs = min(offsetsCheckMs(s.offsetsRetentionMs), c.Int("offsets.retention.check.interval.ms"))
	return s
}

// offsetsCheckMs is a hundredth of the retention, but not less than 50 ms nor more than 10 minutes.
func offsetsCheckMs(retentionMs int64) int64 {
	return min(max(retentionMs/100, 50), 10*60_000)
}
