package conformance

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
)

// adminConfigScenarios are about what a broker's configs do and which of them change while it runs.
func adminConfigScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "broker-rack",
			Claim: "A broker's rack is told by Metadata from v1 on and by DescribeCluster.",
			Set:   map[string]string{"broker.rack": "rack-1"},
			Run:   runBrokerRack,
		},
		{
			Name:  "alter-broker-configs-every-key",
			Claim: "Of every key of a broker but the listeners: whether it can be set for it, and for all brokers.",
			Run:   runEveryBrokerKey,
		},
		{
			Name:  "dynamic-broker-configs",
			Claim: "Each key of all brokers that is the default of a topic's key is followed by the topic, one of this broker before it, the topic's own before both; the synonyms tell all of them.",
			Fresh: true,
			Run:   runDynamicBrokerConfigs,
		},
		{
			Name:  "dynamic-broker-configs-restart",
			Claim: "Configs of this broker and of all brokers survive a restart and a kill.",
			Fresh: true,
			Run:   runDynamicBrokerConfigsRestart,
		},
		{
			Name:  "dynamic-connections-per-address",
			Claim: "max.connections.per.ip and its overrides hold from the moment they are set: a connection beyond them is closed.",
			Fresh: true,
			Run:   runDynamicConnectionsPerAddress,
		},
		{
			Name:  "alter-logger-class",
			Claim: "The level of a class's logger is set and, by DELETE, again that of the root.",
			Run:   runAlterLoggerClass,
		},
	}
}

func runBrokerRack(c *C) {
	a := c.Conn("a")
	for v := int16(0); v <= 13; v++ {
		a.Send("metadata", v, metadataFor("broker-rack")).Only("Brokers").Await()
	}
	for v := int16(0); v <= 2; v++ {
		a.Do("cluster", v, kmsg.NewPtrDescribeClusterRequest())
	}
}

// sampleOf is a value of a key that it would take.
func sampleOf(d configs.Def) string {
	switch {
	case d.KafkaDefault != "":
		return d.KafkaDefault
	case d.Default != "" || !d.Null && !d.Required:
		return d.Default
	case d.Type == configs.Int || d.Type == configs.Long:
		return "10"
	}
	return "x"
}

func runEveryBrokerKey(c *C) {
	a := c.Conn("a")
	for _, d := range configs.BrokerKeys.All() {
		if slices.Contains(brokerRates, d.Name) {
			continue // alter-broker-configs-rates has them
		}
		if d.Name == "listeners" || d.Name == "listener.security.protocol.map" {
			continue // what is said of them names the controller's port
		}
		for _, name := range []string{"1", ""} {
			req := incremental(aBroker, name, change{key: d.Name, value: sampleOf(d)})
			req.ValidateOnly = true
			a.Send(d.Name, 1, req).Only("Resources.ErrorCode", "Resources.ErrorMessage").Await()
		}
	}
}

// dynamicKeys are keys of a broker, the topic's keys that follow them, and two values.
var dynamicKeys = []struct{ broker, topic, all, own string }{
	{"log.retention.ms", "retention.ms", "1000000", "2000000"},
	{"log.retention.bytes", "retention.bytes", "1000000", "2000000"},
	{"log.cleanup.policy", "cleanup.policy", "compact", "compact,delete"},
	{"message.max.bytes", "max.message.bytes", "1000000", "2000000"},
	{"log.message.timestamp.type", "message.timestamp.type", "LogAppendTime", "CreateTime"},
	{"log.message.timestamp.before.max.ms", "message.timestamp.before.max.ms", "1000000", "2000000"},
	{"log.message.timestamp.after.max.ms", "message.timestamp.after.max.ms", "1000000", "2000000"},
	{"compression.type", "compression.type", "zstd", "lz4"},
	{"compression.gzip.level", "compression.gzip.level", "2", "3"},
	{"compression.lz4.level", "compression.lz4.level", "2", "3"},
	{"compression.zstd.level", "compression.zstd.level", "2", "4"},
	{"log.segment.bytes", "segment.bytes", "2097152", "4194304"},
	{"log.roll.ms", "segment.ms", "1000000", "2000000"},
	{"log.roll.jitter.ms", "segment.jitter.ms", "1000", "2000"},
	{"log.flush.interval.messages", "flush.messages", "1000", "2000"},
	{"log.flush.interval.ms", "flush.ms", "1000", "2000"},
	{"log.index.interval.bytes", "index.interval.bytes", "1000", "2000"},
	{"log.index.size.max.bytes", "segment.index.bytes", "1000000", "2000000"},
	{"log.segment.delete.delay.ms", "file.delete.delay.ms", "1000", "2000"},
	{"log.preallocate", "preallocate", "true", "false"},
	{"log.cleaner.delete.retention.ms", "delete.retention.ms", "1000", "2000"},
	{"log.cleaner.min.cleanable.ratio", "min.cleanable.dirty.ratio", "0.1", "0.2"},
	{"log.cleaner.min.compaction.lag.ms", "min.compaction.lag.ms", "1000", "2000"},
	{"log.cleaner.max.compaction.lag.ms", "max.compaction.lag.ms", "1000000", "2000000"},
	{"unclean.leader.election.enable", "unclean.leader.election.enable", "true", "false"},
}

func runDynamicBrokerConfigs(c *C) {
	a := c.Conn("a")
	a.MakeTopic("t", 1)
	for _, k := range dynamicKeys {
		set := func(name, value string) {
			a.Do("set "+k.broker, 1, incremental(aBroker, name, change{key: k.broker, value: value}))
			a.Do("set "+k.broker+" again", 1, incremental(aBroker, name, change{key: k.broker, value: value}))
			describeOnce(a, k.topic, describe(aTopic, "t", k.topic), k.topic, value)
			describeOnce(a, "the broker's "+k.broker, describe(aBroker, "1", k.broker), k.broker, value)
		}
		set("", k.all)
		set("1", k.own)
		a.Do("set "+k.topic, 1, incremental(aTopic, "t", change{key: k.topic, value: k.all}))
		describeOnce(a, k.topic+" of its own", describe(aTopic, "t", k.topic), k.topic, k.all)
		a.Do("delete "+k.topic, 1, incremental(aTopic, "t", change{key: k.topic, op: deleteOp}))
		describeOnce(a, k.topic+" without its own", describe(aTopic, "t", k.topic), k.topic, k.own)
		a.Do("delete "+k.broker, 1, incremental(aBroker, "1", change{key: k.broker, op: deleteOp}))
		describeOnce(a, k.topic+" after the broker's is gone", describe(aTopic, "t", k.topic), k.topic, k.all)
		a.Do("delete "+k.broker+" of all", 1, incremental(aBroker, "", change{key: k.broker, op: deleteOp}))
		AskUntil(a, k.topic+" after all are gone", 4, describe(aTopic, "t", k.topic), func(r *kmsg.DescribeConfigsResponse) bool {
			now := r.Resources[0].Configs[0]
			return now.Source >= kmsg.ConfigSourceStaticBrokerConfig && *now.Value != k.all
		})
	}
}

func runDynamicBrokerConfigsRestart(c *C) {
	keys := []string{"message.max.bytes", "log.retention.ms", "log.cleaner.backoff.ms", "max.connections"}
	show := func(step string) {
		a := c.Conn("a")
		a.AwaitTopic("t", 1)
		describeOnce(a, step+": all brokers", describe(aBroker, "", keys...), keys[0], "3000")
		describeOnce(a, step+": the broker", describe(aBroker, "1", keys...), keys[0], "2000")
		describeOnce(a, step+": the topic", describe(aTopic, "t", "max.message.bytes", "retention.ms"), "max.message.bytes", "2000")
	}
	a := c.Conn("a")
	a.MakeTopic("t", 1)
	a.Do("set for all", 1, incremental(aBroker, "", change{key: keys[0], value: "3000"}, change{key: keys[1], value: "123456"}, change{key: keys[3], value: "1000"}))
	a.Do("set for the broker", 1, incremental(aBroker, "1", change{key: keys[0], value: "2000"}, change{key: keys[2], value: "5000"}))
	show("at first")
	c.Restart()
	show("after a restart")
	c.Kill()
	show("after a kill")
}

func runDynamicConnectionsPerAddress(c *C) {
	a := c.Conn("a")
	describe := kmsg.NewPtrDescribeClusterRequest()
	a.Do("the first connection", 0, describe)
	c.Conn("b").Do("a second one", 0, describe)
	set := func(step string, changes ...change) {
		a.Do(step, 1, incremental(aBroker, "1", changes...))
		AskUntil(a, step+": described", 4, describeBroker(changes[0].key), func(r *kmsg.DescribeConfigsResponse) bool {
			return len(r.Resources[0].Configs) == 1 && r.Resources[0].Configs[0].Value != nil && *r.Resources[0].Configs[0].Value == changes[0].value
		})
	}
	set("two of an address", change{key: "max.connections.per.ip", value: "2"})
	c.Conn("c").Do("a third one", 0, describe)
	set("three of this one", change{key: "max.connections.per.ip.overrides", value: "127.0.0.1:3"})
	c.Conn("d").Do("a third one now", 0, describe)
	c.Conn("e").Do("a fourth one", 0, describe)
}

func describeBroker(key string) *kmsg.DescribeConfigsRequest { return describe(aBroker, "1", key) }

func runAlterLoggerClass(c *C) {
	a := c.Conn("a")
	const logger = "kafka.server.KafkaApis"
	loggers := func(step string) { a.Do(step, 4, describe(aLogger, "1", logger)) }
	loggers("at first")
	a.Do("set", 1, incremental(aLogger, "1", change{key: logger, value: "DEBUG"}))
	a.Do("set again", 1, incremental(aLogger, "1", change{key: logger, value: "DEBUG"}))
	loggers("set")
	a.Do("delete", 1, incremental(aLogger, "1", change{key: logger, op: deleteOp}))
	a.Do("delete again", 1, incremental(aLogger, "1", change{key: logger, op: deleteOp}))
	loggers("deleted")
}
