package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func topicConfigScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "create-topics-configs",
			Claim: "A new topic's configs: no null values, no unknown keys, the last of a key that stands twice counts.",
			Run:   runCreateTopicsConfigs,
		},
		{
			Name:  "create-topics-effective-configs",
			Claim: "From version 5 on the answer lists every config of the new topic with its source, in name order.",
			Set:   map[string]string{"log.retention.hours": "24", "min.insync.replicas": "2"},
			Run:   runCreateTopicsEffectiveConfigs,
		},
		{
			Name:  "create-topics-default-configs",
			Claim: "What a topic of a broker without settings is made with.",
			Run:   func(c *C) { c.Conn("a").Do("create", 7, createTopic("create-topics-default-configs", 1)) },
		},
		{
			Name:  "create-topics-config-values",
			Claim: "What CreateTopics says of config values that are no number, out of range or not one of the names allowed, key by key.",
			Run:   runCreateTopicsConfigValues,
		},
	}
}

func runCreateTopicsConfigs(c *C) {
	a := c.Conn("a")
	const name = "create-topics-configs"
	for _, try := range []struct {
		step string
		spec kmsg.CreateTopicsRequestTopic
	}{
		{"null value", nullConfig(topicSpec(name, 1, 1), "retention.ms")},
		{"two null values", nullConfig(topicSpec(name, 1, 1, "segment.ms", "5"), "retention.ms", "no.such.key")},
		{"unknown key", topicSpec(name, 1, 1, "no.such.key", "1")},
		{"unknown key and bad value", topicSpec(name, 1, 1, "no.such.key", "1", "retention.ms", "x")},
		{"empty key", topicSpec(name, 1, 1, "", "1")},
		{"broker's key", topicSpec(name, 1, 1, "log.retention.ms", "1")},
		{"key in another case", topicSpec(name, 1, 1, "Retention.ms", "1")},
		{"value with spaces", topicSpec(name, 1, 1, "retention.ms", " 1000 ")},
		{"empty cleanup policy", topicSpec(name+"-empty", 1, 1, "cleanup.policy", "")},
		{"both policies with spaces", topicSpec(name+"-both", 1, 1, "cleanup.policy", "compact , delete")},
		{"a policy twice", topicSpec(name+"-twice", 1, 1, "cleanup.policy", "compact,compact")},
		{"a key twice", topicSpec(name+"-last", 1, 1, "retention.ms", "1000", "retention.ms", "2000")},
		{"a key twice, once null", nullConfig(topicSpec(name+"-null", 1, 1, "retention.ms", "1000"), "retention.ms")},
	} {
		a.Do(try.step, noConfigs, createTopics(try.spec))
	}
	long := topicSpec(name+"-long", 1, 1, "follower.replication.throttled.replicas", strings.Repeat("1:1,", 8191)+"1:11")
	a.Do("a value of 32,768 bytes", 5, createTopics(long))
	for _, suffix := range []string{"", "-empty", "-both", "-last"} {
		a.AwaitTopic(name+suffix, 1)
		a.Do("describe "+name+suffix, 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name+suffix, "retention.ms", "cleanup.policy"))
	}
}

func runCreateTopicsEffectiveConfigs(c *C) {
	a := c.Conn("a")
	req := createTopic("create-topics-effective-configs", 2, "retention.bytes", "-1", "cleanup.policy", "compact", "retention.ms", "86400000")
	only := *req
	only.ValidateOnly = true
	a.Do("validate", 5, &only)
	a.Do("create", 5, req)
	a.Do("create again", 5, req)
	a.Do("create another", 7, createTopic("create-topics-effective-configs-2", 1))
}

// topicConfigValues are values at and beyond the edge of what a key takes.
var topicConfigValues = [][2]string{
	{"cleanup.policy", "remove"}, {"cleanup.policy", "compact,"}, {"compression.type", "brotli"}, {"compression.type", "GZIP"},
	{"compression.gzip.level", "0"}, {"compression.gzip.level", "10"}, {"compression.lz4.level", "0"}, {"compression.lz4.level", "18"},
	{"compression.zstd.level", "23"}, {"compression.zstd.level", "-131073"}, {"delete.retention.ms", "-1"}, {"file.delete.delay.ms", "-1"},
	{"flush.messages", "0"}, {"flush.ms", "-1"}, {"follower.replication.throttled.replicas", "x"}, {"index.interval.bytes", "-1"},
	{"leader.replication.throttled.replicas", "1:1,x"}, {"leader.replication.throttled.replicas", "*"},
	{"local.retention.bytes", "-3"}, {"local.retention.ms", "-3"}, {"max.compaction.lag.ms", "0"}, {"max.message.bytes", "-1"},
	{"message.timestamp.after.max.ms", "-1"}, {"message.timestamp.before.max.ms", "-1"}, {"message.timestamp.type", "createtime"},
	{"min.cleanable.dirty.ratio", "1.1"}, {"min.cleanable.dirty.ratio", "-0.1"}, {"min.cleanable.dirty.ratio", "x"},
	{"min.compaction.lag.ms", "-1"}, {"min.insync.replicas", "0"}, {"preallocate", "yes"}, {"preallocate", "TRUE"},
	{"remote.log.copy.disable", "x"}, {"remote.log.delete.on.disable", "x"}, {"remote.storage.enable", "true"},
	{"retention.bytes", "x"}, {"retention.bytes", "9223372036854775808"}, {"retention.bytes", "-5"}, {"retention.ms", "-2"},
	{"retention.ms", "1.5"}, {"retention.ms", ""}, {"segment.bytes", "1048575"}, {"segment.bytes", "2147483648"}, {"segment.index.bytes", "3"},
	{"segment.jitter.ms", "-1"}, {"segment.ms", "0"}, {"unclean.leader.election.enable", ""}, {"internal.segment.bytes", "1"},
	{"min.insync.replicas", "2147483647"}, {"message.format.version", "3.0"}, {"message.downconversion.enable", "true"},
}

func runCreateTopicsConfigValues(c *C) {
	a := c.Conn("a")
	for _, kv := range topicConfigValues {
		req := createTopic("create-topics-config-values", 1, kv[0], kv[1])
		req.ValidateOnly = true
		a.Do(kv[0]+"="+kv[1], noConfigs, req)
	}
	lag := createTopic("create-topics-config-values", 1, "min.compaction.lag.ms", "2000", "max.compaction.lag.ms", "1000")
	lag.ValidateOnly = true
	a.Do("lag of at least more than at most", noConfigs, lag)
	local := createTopic("create-topics-config-values", 1, "retention.ms", "1000", "local.retention.ms", "2000")
	local.ValidateOnly = true
	a.Do("local retention above retention", noConfigs, local)
}
