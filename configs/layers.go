package configs

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Source says which layer a value comes from, numbered as DescribeConfigs answers it.
type Source int8

// The sources. A topic's key may come from the topic, or from one of the broker's four layers.
const (
	DynamicTopic         Source = 1
	DynamicBroker        Source = 2
	DynamicDefaultBroker Source = 3
	StaticBroker         Source = 4
	Default              Source = 5
	DynamicBrokerLogger  Source = 6
	DynamicClientMetrics Source = 7
	DynamicGroup         Source = 8
)

// Broker is a broker's configuration: what it was started with, what was set for all brokers and what was set for it, over
// the defaults. It never changes: a change makes another one.
type Broker struct {
	static, cluster, own map[string]string
	merged               map[string]string // what counts, of the three; a name that is missing has its default
}

// NewBroker lays a broker's own dynamic values over the cluster's over its static ones. The maps are not changed and must
// not be.
func NewBroker(static, cluster, own map[string]string) *Broker {
	b := &Broker{static: static, cluster: cluster, own: own}
	b.merged = maps.Clone(static)
	if b.merged == nil {
		b.merged = map[string]string{}
	}
	for _, layer := range []map[string]string{cluster, own} {
		for name := range layer {
			// A setting in another unit gives way: log.retention.ms, once set, hides a static log.retention.hours.
			for _, synonym := range BrokerSynonyms(name) {
				delete(b.merged, synonym)
			}
		}
		maps.Copy(b.merged, layer)
	}
	return b
}

// WithDynamic is the same broker with other dynamic layers.
func (b *Broker) WithDynamic(cluster, own map[string]string) *Broker {
	return NewBroker(b.static, cluster, own)
}

// Get is the value of a broker's key as it was written, or its default; false when it is not set and has no default.
func (b *Broker) Get(name string) (string, bool) {
	if v, ok := b.merged[name]; ok {
		return v, true
	}
	d, ok := BrokerKeys.Lookup(name)
	if !ok || d.Null {
		return "", false
	}
	return d.Default, true
}

// value is the parsed value of a known broker key; nil when it has none. A stored value that does not fit counts as unset.
func (b *Broker) value(name string) Value {
	d, ok := BrokerKeys.Lookup(name)
	if !ok {
		panic("configs: no broker key " + name)
	}
	if s, ok := b.merged[name]; ok {
		if v, err := d.Parse(s); err == nil {
			return v
		}
	}
	return d.defaultValue()
}

func (d *Def) defaultValue() Value {
	if d.Null {
		return nil
	}
	v, err := d.Parse(d.Default)
	if err != nil {
		panic("configs: default of " + d.Name + ": " + err.Error())
	}
	return v
}

// Int is the value of a broker key of a whole number; 0 when it has none.
func (b *Broker) Int(name string) int64 {
	switch v := b.value(name).(type) {
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

// Bool is the value of a broker key of true and false.
func (b *Broker) Bool(name string) bool { v, _ := b.value(name).(bool); return v }

// Text is the value of a broker key of a text.
func (b *Broker) Text(name string) string { v, _ := b.value(name).(string); return v }

// Float is the value of a broker key of a number with a fraction.
func (b *Broker) Float(name string) float64 { v, _ := b.value(name).(float64); return v }

// Entries is the value of a broker key of a list.
func (b *Broker) Entries(name string) []string { v, _ := b.value(name).([]string); return v }

// unitSynonyms are the keys that set one thing in several units, the one that wins first.
var unitSynonyms = [][]string{
	{"log.roll.ms", "log.roll.hours"},
	{"log.roll.jitter.ms", "log.roll.jitter.hours"},
	{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
}

// listenerKey takes listener.name.LISTENER.KEY apart; ok says whether name is of that form.
func listenerKey(name string) (key string, ok bool) {
	name, ok = strings.CutPrefix(name, "listener.name.")
	if !ok {
		return "", false
	}
	_, key, ok = strings.Cut(name, ".")
	return key, ok && !strings.Contains(key, "\n")
}

// mechanismKeys are set per listener and mechanism: listener.name.LISTENER.MECHANISM.KEY.
var mechanismKeys = []string{"sasl.jaas.config", "sasl.login.callback.handler.class", "sasl.login.class",
	"sasl.server.callback.handler.class", "connections.max.reauth.ms"}

// BrokerSynonyms are the keys that set what the named broker key sets, itself among them, in the order in which they count.
func BrokerSynonyms(name string) []string {
	for _, units := range unitSynonyms {
		if slices.Contains(units, name) {
			return units
		}
	}
	if name == "log.flush.interval.ms" {
		return []string{name, "log.flush.scheduler.interval.ms"}
	}
	return []string{name}
}

// listenerSynonyms are BrokerSynonyms, and for a listener's key the one that it overrides.
func listenerSynonyms(name string) []string {
	key, ok := listenerKey(name)
	if !ok {
		return BrokerSynonyms(name)
	}
	for _, k := range mechanismKeys {
		if strings.HasSuffix(key, k) {
			return []string{name, k}
		}
	}
	return []string{name, key}
}

// millis is a duration that is set in milliseconds, else in one of the coarser keys of perUnit's milliseconds.
func (b *Broker) millis(ms string, coarser ...unit) int64 {
	if v, ok := b.value(ms).(int64); ok {
		return v
	}
	for _, u := range coarser {
		switch v := b.value(u.name).(type) {
		case int32:
			return int64(v) * u.millis
		case int64:
			return v * u.millis
		}
	}
	return 0
}

type unit struct {
	name   string
	millis int64
}

const minute, hour = 60_000, 3_600_000

// topicDefault is what a topic's key is worth where the topic does not set it, as Kafka answers it; false for none.
func (b *Broker) topicDefault(d *Def) (string, bool) {
	switch d.Name {
	case "retention.ms":
		ms := b.millis("log.retention.ms", unit{"log.retention.minutes", minute}, unit{"log.retention.hours", hour})
		return strconv.FormatInt(max(ms, -1), 10), true
	case "segment.ms":
		return strconv.FormatInt(b.millis("log.roll.ms", unit{"log.roll.hours", hour}), 10), true
	case "segment.jitter.ms":
		return strconv.FormatInt(b.millis("log.roll.jitter.ms", unit{"log.roll.jitter.hours", hour}), 10), true
	case "flush.ms":
		return strconv.FormatInt(b.millis("log.flush.interval.ms", unit{"log.flush.scheduler.interval.ms", 1}), 10), true
	}
	if broker, ok := TopicSynonyms[d.Name]; ok {
		return Format(b.value(broker)), true
	}
	return d.Default, !d.Null
}

// TopicSynonyms maps a topic's key to the broker's key that is its default.
var TopicSynonyms = map[string]string{
	"cleanup.policy":                  "log.cleanup.policy",
	"compression.gzip.level":          "compression.gzip.level",
	"compression.lz4.level":           "compression.lz4.level",
	"compression.type":                "compression.type",
	"compression.zstd.level":          "compression.zstd.level",
	"delete.retention.ms":             "log.cleaner.delete.retention.ms",
	"file.delete.delay.ms":            "log.segment.delete.delay.ms",
	"flush.messages":                  "log.flush.interval.messages",
	"flush.ms":                        "log.flush.interval.ms",
	"index.interval.bytes":            "log.index.interval.bytes",
	"local.retention.bytes":           "log.local.retention.bytes",
	"local.retention.ms":              "log.local.retention.ms",
	"max.compaction.lag.ms":           "log.cleaner.max.compaction.lag.ms",
	"max.message.bytes":               "message.max.bytes",
	"message.timestamp.after.max.ms":  "log.message.timestamp.after.max.ms",
	"message.timestamp.before.max.ms": "log.message.timestamp.before.max.ms",
	"message.timestamp.type":          "log.message.timestamp.type",
	"min.cleanable.dirty.ratio":       "log.cleaner.min.cleanable.ratio",
	"min.compaction.lag.ms":           "log.cleaner.min.compaction.lag.ms",
	"min.insync.replicas":             "min.insync.replicas",
	"preallocate":                     "log.preallocate",
	"retention.bytes":                 "log.retention.bytes",
	"retention.ms":                    "log.retention.ms",
	"segment.bytes":                   "log.segment.bytes",
	"segment.index.bytes":             "log.index.size.max.bytes",
	"segment.jitter.ms":               "log.roll.jitter.ms",
	"segment.ms":                      "log.roll.ms",
	"unclean.leader.election.enable":  "unclean.leader.election.enable",
}

// groupSynonym is the broker's key that is the default of a group's key; some have none.
func groupSynonym(name string) (string, bool) {
	broker := "group." + name
	switch name {
	case "share.auto.offset.reset", "share.isolation.level", "share.renew.acknowledge.enable":
		return "", false
	}
	_, ok := BrokerKeys.Lookup(broker)
	return broker, ok
}

// IsListenerKey says whether a broker's key is one of a single listener: listener.name.LISTENER.KEY with a known KEY, which a
// mechanism's name may precede.
func IsListenerKey(name string) bool {
	synonyms := listenerSynonyms(name)
	if len(synonyms) != 2 || synonyms[0] != name {
		return false
	}
	_, known := BrokerKeys.Lookup(synonyms[1])
	return known
}

// Entries takes the text of a list apart.
func Entries(list string) []string { return splitList(list) }
