package handlers

import "doze/configs"

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
	}
	s.offsetsCheckMs = min(offsetsCheckMs(s.offsetsRetentionMs), c.Int("offsets.retention.check.interval.ms"))
	return s
}

// offsetsCheckMs is a hundredth of the retention, but not less than 50 ms nor more than 10 minutes.
func offsetsCheckMs(retentionMs int64) int64 {
	return min(max(retentionMs/100, 50), 10*60_000)
}
