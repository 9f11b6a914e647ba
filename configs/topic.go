package configs

// Topic is a topic's settings as the broker uses them: its own values over the broker's.
type Topic struct {
	Compact, Delete       bool // cleanup.policy; neither when it is empty
	CompressionType       string
	GzipLevel             int32
	LZ4Level              int32
	ZstdLevel             int32
	DeleteRetentionMs     int64
	FlushMessages         int64
	FlushMs               int64
	MaxCompactionLagMs    int64
	MaxMessageBytes       int32
	TimestampAfterMaxMs   int64
	TimestampBeforeMaxMs  int64
	LogAppendTime         bool
	MinCleanableDirtyRate float64
	MinCompactionLagMs    int64
	RetentionBytes        int64 // -1: no bound
	RetentionMs           int64 // -1: for ever
	SegmentBytes          int32
	SegmentJitterMs       int64
	SegmentMs             int64
}

// Topic reads the settings of a topic with these overrides. It is not for the path of every request: keep what it gives
// until the topic's or the broker's configuration changes.
func (b *Broker) Topic(overrides map[string]string) Topic {
	r := reader{b, overrides}
	t := Topic{
		CompressionType:       r.value("compression.type").(string),
		GzipLevel:             r.value("compression.gzip.level").(int32),
		LZ4Level:              r.value("compression.lz4.level").(int32),
		ZstdLevel:             r.value("compression.zstd.level").(int32),
		DeleteRetentionMs:     r.value("delete.retention.ms").(int64),
		FlushMessages:         r.value("flush.messages").(int64),
		FlushMs:               r.value("flush.ms").(int64),
		MaxCompactionLagMs:    r.value("max.compaction.lag.ms").(int64),
		MaxMessageBytes:       r.value("max.message.bytes").(int32),
		TimestampAfterMaxMs:   r.value("message.timestamp.after.max.ms").(int64),
		TimestampBeforeMaxMs:  r.value("message.timestamp.before.max.ms").(int64),
		LogAppendTime:         r.value("message.timestamp.type").(string) == "LogAppendTime",
		MinCleanableDirtyRate: r.value("min.cleanable.dirty.ratio").(float64),
		MinCompactionLagMs:    r.value("min.compaction.lag.ms").(int64),
		RetentionBytes:        r.value("retention.bytes").(int64),
		RetentionMs:           r.value("retention.ms").(int64),
		SegmentBytes:          r.value("segment.bytes").(int32),
		SegmentJitterMs:       r.value("segment.jitter.ms").(int64),
		SegmentMs:             r.value("segment.ms").(int64),
	}
	for _, policy := range r.value("cleanup.policy").([]string) {
		t.Compact = t.Compact || policy == "compact"
		t.Delete = t.Delete || policy == "delete"
	}
	if n, ok := r.value("internal.segment.bytes").(int32); ok && n > 0 {
		t.SegmentBytes = n // Kafka's own tests ask for segments smaller than segment.bytes allows
	}
	return t
}

type reader struct {
	broker    *Broker
	overrides map[string]string
}

// value is the parsed value of a topic's key, nil for none; an override that does not fit counts as unset.
func (r reader) value(name string) Value {
	d, ok := TopicKeys.Lookup(name)
	if !ok {
		panic("configs: no topic key " + name)
	}
	if s, ok := r.overrides[name]; ok {
		if v, err := d.Parse(s); err == nil {
			return v
		}
	}
	s, ok := r.broker.topicDefault(d)
	if !ok {
		return nil
	}
	v, err := d.parseType(s)
	if err != nil {
		return d.defaultValue()
	}
	return v
}

// CheckTopic refuses overrides of a topic that do not fit, as Kafka does: unknown names first, then each value, then what
// they mean together.
func (b *Broker) CheckTopic(overrides map[string]string) error {
	for _, name := range sortedNames(overrides) {
		if _, ok := TopicKeys.Lookup(name); !ok {
			return invalid("Unknown topic config name: " + name)
		}
	}
	if err := checkInOrder(TopicKeys, topicOrder, overrides); err != nil {
		return err
	}
	r := reader{b, overrides}
	if lo, hi := r.value("min.compaction.lag.ms"), r.value("max.compaction.lag.ms"); lo.(int64) > hi.(int64) {
		return invalid("conflict topic config setting min.compaction.lag.ms (" + Format(lo) + ") > max.compaction.lag.ms (" + Format(hi) + ")")
	}
	if r.value("remote.storage.enable").(bool) {
		return invalid("Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.")
	}
	return nil
}

// topicOrder is the order in which Kafka looks at a topic's values: of two that do not fit it tells the first.
var topicOrder = []string{
	"segment.bytes", "segment.ms", "segment.jitter.ms", "segment.index.bytes", "flush.messages", "flush.ms", "retention.bytes", "retention.ms",
	"max.message.bytes", "index.interval.bytes", "delete.retention.ms", "min.compaction.lag.ms", "max.compaction.lag.ms", "file.delete.delay.ms",
	"min.cleanable.dirty.ratio", "cleanup.policy", "unclean.leader.election.enable", "min.insync.replicas", "compression.type",
	"compression.gzip.level", "compression.lz4.level", "compression.zstd.level", "preallocate", "message.timestamp.type",
	"message.timestamp.before.max.ms", "message.timestamp.after.max.ms", "leader.replication.throttled.replicas",
	"follower.replication.throttled.replicas", "remote.storage.enable", "local.retention.ms", "local.retention.bytes",
	"remote.log.copy.disable", "remote.log.delete.on.disable", "internal.segment.bytes",
}

// checkValues parses every value of known keys, in the order of names.
func checkValues(t *Table, values map[string]string) error {
	return checkInOrder(t, sortedNames(values), values)
}

func checkInOrder(t *Table, names []string, values map[string]string) error {
	for _, name := range names {
		value, has := values[name]
		if d, known := t.Lookup(name); known && has {
			if _, err := d.Parse(value); err != nil {
				return err
			}
		}
	}
	return nil
}
