package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kinds of config resources.
const (
	aTopic         kmsg.ConfigResourceType = 2
	aBroker        kmsg.ConfigResourceType = 4
	aLogger        kmsg.ConfigResourceType = 8
	aClientMetrics kmsg.ConfigResourceType = 16
	aGroup         kmsg.ConfigResourceType = 32
)

// Operations of IncrementalAlterConfigs.
const (
	setOp kmsg.IncrementalAlterConfigOp = iota
	deleteOp
	appendOp
	subtractOp
)

func configScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "describe-configs-topic",
			Claim: "DescribeConfigs of a topic answers its keys with types, sources and, when asked, synonyms in the order in which they count.",
			Run:   runDescribeConfigsTopic,
		},
		{
			Name:  "describe-configs-explicit-default",
			Claim: "A value that is set is the topic's own, even when it is the default; without it the key is a default.",
			Run:   runDescribeConfigsExplicitDefault,
		},
		{
			Name:  "describe-configs-names",
			Claim: "DescribeConfigs answers the named keys, passes over unknown names, answers all for an empty list, and a resource that is named twice twice.",
			Run:   runDescribeConfigsNames,
		},
		{
			Name:  "describe-configs-errors",
			Claim: "DescribeConfigs refuses resources that are not there one by one, and an unknown kind of resource for the whole request.",
			Run:   runDescribeConfigsErrors,
		},
		{
			Name:  "describe-configs-broker",
			Claim: "A broker's keys are read-only unless they can change while it runs, and sensitive values are null.",
			Run:   runDescribeConfigsBroker,
		},
		{
			Name:  "describe-configs-group",
			Claim: "Groups and client-metrics subscriptions are described whether they exist or not.",
			Run:   runDescribeConfigsGroup,
		},
		{
			Name:  "incremental-alter-configs-set",
			Claim: "IncrementalAlterConfigs sets and deletes single values; doing it again changes nothing and is no error.",
			Run:   runIncrementalSet,
		},
		{
			Name:  "incremental-alter-configs-list",
			Claim: "APPEND and SUBTRACT change a list, starting from its default, once for each entry; other types refuse them.",
			Run:   runIncrementalList,
		},
		{
			Name:  "incremental-alter-configs-errors",
			Claim: "IncrementalAlterConfigs answers each resource in the order of the request, and refuses resources and keys that stand twice, nulls, unknown kinds and operations.",
			Run:   runIncrementalErrors,
		},
		{
			Name:  "incremental-alter-configs-validate-only",
			Claim: "validate_only answers as the change would and changes nothing.",
			Run:   runIncrementalValidateOnly,
		},
		{
			Name:  "alter-configs-replaces",
			Claim: "AlterConfigs makes the given values all that are set, at every version.",
			Run:   runAlterConfigsReplaces,
		},
		{
			Name:  "alter-configs-errors",
			Claim: "AlterConfigs refuses what IncrementalAlterConfigs refuses, and loggers.",
			Run:   runAlterConfigsErrors,
		},
		{
			Name:  "alter-configs-broker",
			Claim: "Dynamic values of one broker count over those of all brokers, over the static ones; a topic's defaults follow.",
			Fresh: true,
			Run:   runAlterConfigsBroker,
		},
		{
			Name:  "alter-configs-broker-errors",
			Claim: "A broker refuses keys that take a restart, keys of the other level, and changes that min.insync.replicas does not allow.",
			Fresh: true,
			Run:   runAlterConfigsBrokerErrors,
		},
		{
			Name:  "alter-configs-logger",
			Claim: "IncrementalAlterConfigs sets a logger's level, and refuses unknown loggers and levels, and removing the root logger's.",
			Fresh: true,
			Run:   runAlterConfigsLogger,
		},
		{
			Name:  "alter-configs-group",
			Claim: "A group's values are held to the broker's bounds and to each other; deleting the last one ends the resource.",
			Run:   runAlterConfigsGroup,
		},
		{
			Name:  "alter-configs-client-metrics",
			Claim: "A client-metrics subscription takes an interval from 100 ms to an hour and patterns of known names.",
			Run:   runAlterConfigsClientMetrics,
		},
		{
			Name:  "list-config-resources",
			Claim: "ListConfigResources lists groups and subscriptions with values, and all brokers and topics; version 0 lists subscriptions alone.",
			Fresh: true,
			Run:   runListConfigResources,
		},
		{
			Name:  "configs-survive-restart",
			Claim: "Values of topics, brokers, groups and subscriptions survive a restart; deleting a topic deletes its values.",
			Fresh: true,
			Run:   runConfigsSurviveRestart,
		},
		{
			Name:  "create-topics-configs",
			Claim: "CreateTopics refuses unknown keys and values that do not fit, as altering does.",
			Run:   runCreateTopicsConfigs,
		},
	}
}

// describe asks for the keys of one resource; no names asks for all.
func describe(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	req.Resources = []kmsg.DescribeConfigsRequestResource{describeResource(kind, name, keys...)}
	return req
}

func describeResource(kind kmsg.ConfigResourceType, name string, keys ...string) kmsg.DescribeConfigsRequestResource {
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, keys
	return r
}

// change is one operation on one key: a SET unless it says otherwise.
type change struct {
	key   string
	value string
	op    kmsg.IncrementalAlterConfigOp
	null  bool
}

func incremental(kind kmsg.ConfigResourceType, name string, changes ...change) *kmsg.IncrementalAlterConfigsRequest {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	addIncremental(req, kind, name, changes...)
	return req
}

func addIncremental(req *kmsg.IncrementalAlterConfigsRequest, kind kmsg.ConfigResourceType, name string, changes ...change) {
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, ch := range changes {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op = ch.key, ch.op
		if !ch.null && ch.op != deleteOp {
			c.Value = &ch.value
		}
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
}

func whole(kind kmsg.ConfigResourceType, name string, changes ...change) *kmsg.AlterConfigsRequest {
	req := kmsg.NewPtrAlterConfigsRequest()
	addWhole(req, kind, name, changes...)
	return req
}

func addWhole(req *kmsg.AlterConfigsRequest, kind kmsg.ConfigResourceType, name string, changes ...change) {
	r := kmsg.NewAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, ch := range changes {
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		c.Name = ch.key
		if !ch.null {
			c.Value = &ch.value
		}
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
}

// describeOnce asks until the key has the value, since a change reaches Kafka's broker some time after it was answered;
// value "" waits for nothing.
func describeOnce(n *Conn, step string, req *kmsg.DescribeConfigsRequest, key, value string) {
	AskUntil(n, step, 4, req, func(r *kmsg.DescribeConfigsResponse) bool {
		for _, c := range r.Resources[0].Configs {
			if c.Name == key && c.Value != nil {
				return *c.Value == value
			}
		}
		return key == "" || value == ""
	})
}

// topicKeys are the keys of a topic whose defaults doze shares with Kafka.
var topicKeys = strings.Fields(`cleanup.policy compression.gzip.level compression.lz4.level compression.type
	compression.zstd.level delete.retention.ms file.delete.delay.ms flush.messages flush.ms
	follower.replication.throttled.replicas index.interval.bytes leader.replication.throttled.replicas local.retention.bytes
	local.retention.ms max.compaction.lag.ms max.message.bytes message.timestamp.after.max.ms
	message.timestamp.before.max.ms message.timestamp.type min.compaction.lag.ms min.insync.replicas preallocate
	remote.log.copy.disable remote.log.delete.on.disable remote.storage.enable retention.bytes segment.index.bytes
	segment.jitter.ms segment.ms unclean.leader.election.enable`)

func runDescribeConfigsTopic(c *C) {
	a := c.Conn("a")
	a.MakeTopic("describe-configs-topic", 1, "max.message.bytes", " 2000 ", "cleanup.policy", "compact , delete")
	for v := int16(1); v <= 4; v++ {
		a.Do("with synonyms", v, describe(aTopic, "describe-configs-topic", topicKeys...))
	}
	bare := describe(aTopic, "describe-configs-topic", topicKeys...)
	bare.IncludeSynonyms = false
	a.Do("without synonyms", 4, bare)
}

func runDescribeConfigsExplicitDefault(c *C) {
	a := c.Conn("a")
	const topic = "describe-configs-explicit-default"
	keys := []string{"cleanup.policy", "retention.bytes", "compression.type"}
	a.MakeTopic(topic, 1, "cleanup.policy", "delete", "retention.bytes", "-1")
	a.Do("describe", 4, describe(aTopic, topic, keys...))
	a.Do("delete one", 1, incremental(aTopic, topic, change{key: "retention.bytes", op: deleteOp}, change{key: "compression.type", value: "lz4"}))
	describeOnce(a, "describe again", describe(aTopic, topic, keys...), "compression.type", "lz4")
}

func runDescribeConfigsNames(c *C) {
	a := c.Conn("a")
	const topic = "describe-configs-names"
	a.MakeTopic(topic, 1)
	req := describe(aTopic, topic, "segment.ms", "no.such.key", "segment.ms", "Cleanup.Policy", "")
	a.Do("named", 4, req)
	a.Do("named, first version", 1, req)
	req.Resources = append(req.Resources, describeResource(aTopic, topic, "flush.ms"), describeResource(aTopic, topic, "no.such.key"))
	a.Do("one resource several times", 4, req)
	req.Resources = []kmsg.DescribeConfigsRequestResource{}
	a.Do("no resource", 4, req)
}

func runDescribeConfigsErrors(c *C) {
	a := c.Conn("a")
	a.MakeTopic("describe-configs-errors", 1)
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, r := range []kmsg.DescribeConfigsRequestResource{
		describeResource(aTopic, "describe-configs-errors", "flush.ms"),
		describeResource(aTopic, "describe-configs-errors-unknown"),
		describeResource(aTopic, ""),
		describeResource(aTopic, "no good"),
		describeResource(aTopic, strings.Repeat("t", 250)),
		describeResource(aBroker, "2", "num.partitions"),
		describeResource(aBroker, "-1", "num.partitions"),
		describeResource(aBroker, "one", "num.partitions"),
		describeResource(aBroker, "01", "num.partitions"),
		describeResource(aBroker, "99999999999", "num.partitions"),
		describeResource(aLogger, ""),
		describeResource(aLogger, "2"),
		describeResource(aLogger, "x"),
		describeResource(aGroup, ""),
		describeResource(aClientMetrics, ""),
	} {
		req.Resources = append(req.Resources, r)
	}
	a.Do("each its own error", 4, req)
	a.Do("each its own error, first version", 1, req)
	for _, kind := range []kmsg.ConfigResourceType{0, 3, 64, -1} {
		req.Resources = append(req.Resources[:2], describeResource(kind, "x"))
		a.Do("an unknown kind", 4, req)
	}
}

var brokerKeys = strings.Fields(`auto.create.topics.enable num.partitions message.max.bytes compression.type
	background.threads delete.topic.enable offsets.retention.minutes connections.max.idle.ms default.replication.factor
	group.min.session.timeout.ms log.retention.ms log.retention.minutes log.roll.hours log.cleanup.policy
	min.insync.replicas ssl.key.password ssl.keystore.type sasl.enabled.mechanisms fetch.max.bytes
	authorizer.class.name principal.builder.class broker.rack log.cleaner.io.max.bytes.per.second
	group.consumer.session.timeout.ms producer.id.expiration.ms unstable.api.versions.enable no.such.key`)

func runDescribeConfigsBroker(c *C) {
	a := c.Conn("a")
	a.Do("the broker", 4, describe(aBroker, "1", brokerKeys...))
	a.Do("the broker, first version", 1, describe(aBroker, "1", brokerKeys...))
	a.Do("all brokers", 4, describe(aBroker, ""))
	a.Do("all brokers, by key", 4, describe(aBroker, "", "num.partitions"))
}

func runDescribeConfigsGroup(c *C) {
	a := c.Conn("a")
	req := describe(aGroup, "describe-configs-group")
	req.Resources = append(req.Resources, describeResource(aClientMetrics, "describe-configs-metrics"))
	a.Do("describe", 4, req)
	a.Do("describe, first version", 1, req)
}

func runIncrementalSet(c *C) {
	a := c.Conn("a")
	const topic = "incremental-alter-configs-set"
	a.MakeTopic(topic, 1)
	keys := describe(aTopic, topic, "flush.ms", "segment.ms")
	for v := int16(0); v <= 1; v++ {
		set := incremental(aTopic, topic, change{key: "flush.ms", value: "100"}, change{key: "segment.ms", value: " +200 "})
		a.Do("set", v, set)
		a.Do("set again", v, set)
		describeOnce(a, "after set", keys, "segment.ms", "200")
		remove := incremental(aTopic, topic, change{key: "flush.ms", op: deleteOp})
		a.Do("delete", v, remove)
		a.Do("delete again", v, remove)
		describeOnce(a, "after delete", keys, "flush.ms", "9223372036854775807")
		a.Do("delete and set", v, incremental(aTopic, topic, change{key: "segment.ms", op: deleteOp}, change{key: "flush.ms", value: "300"}))
		describeOnce(a, "after delete and set", keys, "flush.ms", "300")
		a.Do("an empty change", v, incremental(aTopic, topic))
	}
	a.Do("delete what is no key", 1, incremental(aTopic, topic, change{key: "no.such.key", op: deleteOp}))
	a.Do("set what is no key", 1, incremental(aTopic, topic, change{key: "no.such.key", value: "1"}))
	a.Do("one bad value keeps all", 1, incremental(aTopic, topic, change{key: "flush.ms", value: "400"}, change{key: "segment.ms", value: "0"}))
	a.Do("after a bad value", 4, keys)
	long := strings.Repeat("a,", 16384)
	a.Do("a value that is too long", 1, incremental(aTopic, topic, change{key: "leader.replication.throttled.replicas", value: long}))
	a.Do("bounds against each other", 1, incremental(aTopic, topic, change{key: "min.compaction.lag.ms", value: "2"}, change{key: "max.compaction.lag.ms", value: "1"}))
	a.Do("tiered storage", 1, incremental(aTopic, topic, change{key: "remote.storage.enable", value: "true"}))
	a.Do("nothing deleted, nothing compacted", 1, incremental(aTopic, topic, change{key: "cleanup.policy", value: ""}))
	describeOnce(a, "an empty policy", describe(aTopic, topic, "cleanup.policy"), "cleanup.policy", "")
}

func runIncrementalList(c *C) {
	a := c.Conn("a")
	const topic = "incremental-alter-configs-list"
	a.MakeTopic(topic, 1)
	key := describe(aTopic, topic, "cleanup.policy")
	do := func(step string, op kmsg.IncrementalAlterConfigOp, value, after string) {
		a.Do(step, 1, incremental(aTopic, topic, change{key: "cleanup.policy", value: value, op: op}))
		describeOnce(a, "after "+step, key, "cleanup.policy", after)
	}
	do("append to the default", appendOp, "compact", "delete,compact")
	do("append what is there", appendOp, "compact,delete", "delete,compact")
	do("subtract what is not there", subtractOp, "zip", "delete,compact")
	do("subtract", subtractOp, "delete", "compact")
	do("subtract the last", subtractOp, "compact", "")
	do("append to the empty list", appendOp, "compact", "compact")
	do("append a bad entry", appendOp, "zip", "compact")
	a.Do("append with blanks", 1, incremental(aTopic, topic, change{key: "cleanup.policy", value: "compact, delete", op: appendOp}))
	a.Do("delete", 1, incremental(aTopic, topic, change{key: "cleanup.policy", op: deleteOp}))
	describeOnce(a, "after delete", key, "cleanup.policy", "delete")
	do("subtract the default", subtractOp, "delete", "")
	for _, op := range []kmsg.IncrementalAlterConfigOp{appendOp, subtractOp} {
		a.Do("to a number", 1, incremental(aTopic, topic, change{key: "flush.ms", value: "1", op: op}))
		a.Do("to what is no key", 1, incremental(aTopic, topic, change{key: "no.such.key", value: "1", op: op}))
	}
	a.Do("append to throttled replicas", 1, incremental(aTopic, topic, change{key: "leader.replication.throttled.replicas", value: "0:1", op: appendOp}))
	describeOnce(a, "throttled replicas", describe(aTopic, topic, "leader.replication.throttled.replicas"), "leader.replication.throttled.replicas", "0:1")
}

func runIncrementalErrors(c *C) {
	a := c.Conn("a")
	const topic = "incremental-alter-configs-errors"
	a.MakeTopic(topic, 1)
	ok := change{key: "flush.ms", value: "100"}
	req := incremental(aTopic, topic, ok)
	addIncremental(req, aTopic, topic+"-unknown", ok)
	addIncremental(req, aTopic, topic+"-unknown2", change{key: "flush.ms", value: "x"})
	addIncremental(req, aTopic, "", ok)
	addIncremental(req, aTopic, "no good", ok)
	addIncremental(req, aTopic, "no good either", change{key: "no.such.key", value: "x"})
	addIncremental(req, aGroup, "", change{key: "consumer.session.timeout.ms", value: "50000"})
	addIncremental(req, aClientMetrics, "", change{key: "interval.ms", value: "1000"})
	addIncremental(req, aBroker, "2", ok)
	addIncremental(req, aBroker, "one", ok)
	addIncremental(req, 3, "x", ok)
	addIncremental(req, 0, "x", ok)
	addIncremental(req, aTopic, topic+"-twice", ok)
	addIncremental(req, aTopic, topic+"-twice", ok)
	for v := int16(0); v <= 1; v++ {
		a.Do("each its own error", v, req)
	}
	a.Do("a key twice", 1, incremental(aTopic, topic, ok, change{key: "flush.ms", op: deleteOp}))
	a.Do("nulls", 1, incremental(aTopic, topic, change{key: "flush.ms", null: true}, change{key: "segment.ms", null: true, op: appendOp}, ok2()))
	a.Do("an unknown operation on a broker", 1, incremental(aBroker, "1", change{key: "num.io.threads", value: "8", op: 9}))
	a.Do("no resource", 1, kmsg.NewPtrIncrementalAlterConfigsRequest())
}

func ok2() change { return change{key: "segment.index.bytes", value: "100"} }

func runIncrementalValidateOnly(c *C) {
	a := c.Conn("a")
	const topic = "incremental-alter-configs-validate-only"
	a.MakeTopic(topic, 1)
	req := incremental(aTopic, topic, change{key: "flush.ms", value: "100"})
	addIncremental(req, aTopic, topic+"-unknown", change{key: "flush.ms", value: "100"})
	addIncremental(req, aGroup, topic, change{key: "consumer.session.timeout.ms", value: "1"})
	req.ValidateOnly = true
	a.Do("validate", 1, req)
	a.Do("validate again", 0, req)
	a.Do("unchanged", 4, describe(aTopic, topic, "flush.ms"))
	legacy := whole(aTopic, topic, change{key: "flush.ms", value: "100"})
	legacy.ValidateOnly = true
	a.Do("validate the whole", 2, legacy)
	a.Do("still unchanged", 4, describe(aTopic, topic, "flush.ms"))
}

func runAlterConfigsReplaces(c *C) {
	a := c.Conn("a")
	const topic = "alter-configs-replaces"
	a.MakeTopic(topic, 1, "flush.ms", "1", "segment.ms", "2")
	keys := describe(aTopic, topic, "flush.ms", "segment.ms", "flush.messages")
	for v := int16(0); v <= 2; v++ {
		a.Do("replace", v, whole(aTopic, topic, change{key: "flush.messages", value: "7"}, change{key: "segment.ms", value: "3"}))
		a.Do("replace again", v, whole(aTopic, topic, change{key: "flush.messages", value: "7"}, change{key: "segment.ms", value: "3"}))
		describeOnce(a, "after", keys, "flush.messages", "7")
		a.Do("one bad value keeps all", v, whole(aTopic, topic, change{key: "flush.messages", value: "0"}))
		a.Do("after a bad value", 4, keys)
		a.Do("replace by nothing", v, whole(aTopic, topic))
		describeOnce(a, "after nothing", keys, "flush.messages", "9223372036854775807")
	}
}

func runAlterConfigsErrors(c *C) {
	a := c.Conn("a")
	const topic = "alter-configs-errors"
	a.MakeTopic(topic, 1)
	ok := change{key: "flush.ms", value: "100"}
	req := whole(aTopic, topic, ok)
	addWhole(req, aTopic, topic+"-unknown", ok)
	addWhole(req, aTopic, topic+"-unknown2", change{key: "no.such.key", value: "x"})
	addWhole(req, aTopic, "", ok)
	addWhole(req, aTopic, "no good", ok)
	addWhole(req, aLogger, "1", change{key: "root", value: "INFO"})
	addWhole(req, aBroker, "2", ok)
	addWhole(req, 99, "x", ok)
	addWhole(req, aTopic, topic+"-twice", ok)
	addWhole(req, aTopic, topic+"-twice", ok)
	for v := int16(0); v <= 2; v++ {
		a.Do("each its own error", v, req)
	}
	a.Do("a key twice", 2, whole(aTopic, topic, ok, ok))
	a.Do("nulls", 2, whole(aTopic, topic, ok, change{key: "segment.ms", null: true}))
}

func runAlterConfigsBroker(c *C) {
	a := c.Conn("a")
	a.MakeTopic("t", 1)
	broker := describe(aBroker, "1", "message.max.bytes", "log.retention.ms", "log.retention.minutes")
	topic := describe(aTopic, "t", "max.message.bytes", "retention.ms")
	set := func(name, key, value string) {
		a.Do("set on "+name, 1, incremental(aBroker, name, change{key: key, value: value}))
		a.Do("set again on "+name, 1, incremental(aBroker, name, change{key: key, value: value}))
	}
	set("", "message.max.bytes", "3000")
	describeOnce(a, "broker, cluster's value", broker, "message.max.bytes", "3000")
	set("1", "message.max.bytes", "2000")
	describeOnce(a, "broker, own value", broker, "message.max.bytes", "2000")
	describeOnce(a, "topic follows", topic, "max.message.bytes", "2000")
	a.Do("all brokers", 4, describe(aBroker, ""))
	set("", "log.retention.ms", "12345")
	describeOnce(a, "retention in another unit", broker, "log.retention.ms", "12345")
	describeOnce(a, "topic's retention follows", topic, "retention.ms", "12345")
	a.Do("set on the topic", 1, incremental(aTopic, "t", change{key: "max.message.bytes", value: "1000"}))
	describeOnce(a, "topic over all", topic, "max.message.bytes", "1000")
	a.Do("delete the own value", 1, incremental(aBroker, "1", change{key: "message.max.bytes", op: deleteOp}))
	describeOnce(a, "broker, cluster's value again", broker, "message.max.bytes", "3000")
	a.Do("replace the cluster's values", 2, whole(aBroker, "", change{key: "min.insync.replicas", value: "1"}))
	describeOnce(a, "broker, default again", broker, "message.max.bytes", "1048588")
	a.Do("a plug-in's key", 1, incremental(aBroker, "1", change{key: "my.plug.in", value: "x"}))
	AskUntil(a, "described without its value", 4, describe(aBroker, "1", "my.plug.in"), func(r *kmsg.DescribeConfigsResponse) bool {
		return len(r.Resources[0].Configs) == 1
	})
	a.Do("append to a list", 1, incremental(aBroker, "1", change{key: "log.cleanup.policy", value: "compact", op: appendOp}))
	describeOnce(a, "list appended to", describe(aBroker, "1", "log.cleanup.policy"), "log.cleanup.policy", "delete,compact")
}

func runAlterConfigsBrokerErrors(c *C) {
	a := c.Conn("a")
	for _, name := range []string{"1", ""} {
		for _, ch := range []change{
			{key: "num.partitions", value: "2"},
			{key: "auto.create.topics.enable", value: "false"},
			{key: "auto.create.topics.enable", op: deleteOp},
			{key: "num.io.threads", value: "100"},
			{key: "num.io.threads", value: "x"},
			{key: "ssl.keystore.location", value: "x"},
			{key: "listener.name.plaintext.ssl.keystore.type", value: "PEM"},
			{key: "min.insync.replicas", value: "2"},
			{key: "min.insync.replicas", op: deleteOp},
			{key: "log.retention.ms", value: "0"},
			{key: "compression.type", value: "zip"},
			{key: "log.cleanup.policy", value: "zip", op: appendOp},
			{key: "num.io.threads", value: "1", op: appendOp},
			{key: "no.such.key", value: "1", op: subtractOp},
			{key: "group.consumer.assignment.interval.ms", value: "99999"},
		} {
			a.Do("on "+name+": "+ch.key, 1, incremental(aBroker, name, ch))
		}
		a.Do("replace on "+name, 2, whole(aBroker, name, change{key: "message.max.bytes", value: "5000"}))
		a.Do("replace read-only on "+name, 2, whole(aBroker, name, change{key: "num.partitions", value: "5000"}))
	}
	a.Do("several that are read-only", 1, incremental(aBroker, "1", change{key: "node.id", value: "1"}, change{key: "message.max.bytes", value: "5000"}))
}

func runAlterConfigsLogger(c *C) {
	a := c.Conn("a")
	root := describe(aLogger, "1", "root")
	a.Do("the root logger", 4, root)
	for _, ch := range []change{
		{key: "root", value: "WARN"},
		{key: "root", value: "warn"},
		{key: "root", value: "NONE"},
		{key: "root", op: deleteOp},
		{key: "root", value: "INFO", op: appendOp},
		{key: "root", value: "INFO", op: subtractOp},
		{key: "root", value: "INFO", op: 9},
		{key: "no.such.logger", value: "INFO"},
		{key: "no.such.logger", op: deleteOp},
	} {
		a.Do("alter "+ch.key, 1, incremental(aLogger, "1", ch))
	}
	a.Do("the root logger after", 4, root)
	validate := incremental(aLogger, "1", change{key: "root", value: "ERROR"})
	validate.ValidateOnly = true
	a.Do("validate", 1, validate)
	a.Do("the root logger after validate", 4, root)
	for _, name := range []string{"", "2", "x"} {
		a.Do("on node "+name, 1, incremental(aLogger, name, change{key: "root", value: "INFO"}))
	}
	c.Restart()
	a = c.Conn("b")
	a.Do("the root logger after a restart", 4, root)
}

func runAlterConfigsGroup(c *C) {
	a := c.Conn("a")
	const group = "alter-configs-group"
	session := describe(aGroup, group, "consumer.session.timeout.ms", "share.auto.offset.reset")
	a.Do("set", 1, incremental(aGroup, group, change{key: "consumer.session.timeout.ms", value: "50000"}, change{key: "share.auto.offset.reset", value: "by_duration:P1D"}))
	describeOnce(a, "after set", session, "consumer.session.timeout.ms", "50000")
	for _, ch := range []change{
		{key: "consumer.session.timeout.ms", value: "1"},
		{key: "consumer.session.timeout.ms", value: "60001"},
		{key: "consumer.session.timeout.ms", value: "x"},
		{key: "consumer.heartbeat.interval.ms", value: "0"},
		{key: "consumer.heartbeat.interval.ms", value: "15000"},
		{key: "share.auto.offset.reset", value: "none"},
		{key: "no.such.key", value: "1"},
		{key: "consumer.session.timeout.ms", value: "1", op: appendOp},
	} {
		a.Do("set "+ch.key, 1, incremental(aGroup, group, ch))
	}
	a.Do("replace by nothing", 2, whole(aGroup, group))
	describeOnce(a, "after nothing", session, "consumer.session.timeout.ms", "45000")
}

func runAlterConfigsClientMetrics(c *C) {
	a := c.Conn("a")
	const name = "alter-configs-client-metrics"
	all := describe(aClientMetrics, name)
	a.Do("set", 1, incremental(aClientMetrics, name, change{key: "interval.ms", value: "1000"},
		change{key: "metrics", value: "org.apache.kafka.producer., org.apache.kafka.consumer."}, change{key: "match", value: "client_id=a.*,client_software_name=b"}))
	describeOnce(a, "after set", all, "interval.ms", "1000")
	for _, ch := range []change{
		{key: "interval.ms", value: "99"},
		{key: "interval.ms", value: "3600001"},
		{key: "match", value: "client=a"},
		{key: "match", value: "client_id=["},
		{key: "match", value: "client_id"},
		{key: "no.such.key", value: "1"},
		{key: "metrics", value: "x", op: appendOp},
	} {
		a.Do("set "+ch.key, 1, incremental(aClientMetrics, name, ch))
	}
	describeOnce(a, "after append", all, "interval.ms", "1000")
	a.Do("delete all", 2, whole(aClientMetrics, name))
	describeOnce(a, "after delete", all, "interval.ms", "300000")
}

func runListConfigResources(c *C) {
	a := c.Conn("a")
	list := func(step string, version int16, kinds ...int8) {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.ResourceTypes = kinds
		a.Do(step, version, req)
	}
	list("nothing set, version 0", 0)
	a.MakeTopic("t2", 1)
	a.MakeTopic("t1", 1)
	a.Do("a subscription", 1, incremental(aClientMetrics, "m", change{key: "interval.ms", value: "1000"}))
	a.Do("a group", 1, incremental(aGroup, "g", change{key: "consumer.session.timeout.ms", value: "50000"}))
	req := kmsg.NewPtrListConfigResourcesRequest()
	AskUntil(a, "all kinds", 1, req, func(r *kmsg.ListConfigResourcesResponse) bool { return len(r.ConfigResources) >= 6 })
	list("version 0", 0)
	list("topics and groups", 1, 2, 32)
	list("one kind twice", 1, 4, 4)
	list("loggers", 1, 8)
	list("an unknown kind", 1, 2, 3)
	list("kind 0", 1, 0)
	a.Do("end the group's", 1, incremental(aGroup, "g", change{key: "consumer.session.timeout.ms", op: deleteOp}))
	AskUntil(a, "groups", 1, &kmsg.ListConfigResourcesRequest{ResourceTypes: []int8{32}}, func(r *kmsg.ListConfigResourcesResponse) bool { return len(r.ConfigResources) == 0 })
}

func runConfigsSurviveRestart(c *C) {
	a := c.Conn("a")
	a.MakeTopic("t", 1, "flush.ms", "1")
	a.MakeTopic("u", 1, "flush.ms", "5")
	a.Do("topic", 1, incremental(aTopic, "t", change{key: "flush.ms", value: "2"}))
	a.Do("broker", 1, incremental(aBroker, "1", change{key: "message.max.bytes", value: "3000"}))
	a.Do("cluster", 1, incremental(aBroker, "", change{key: "message.max.bytes", value: "4000"}))
	a.Do("group", 1, incremental(aGroup, "g", change{key: "consumer.session.timeout.ms", value: "50000"}))
	a.Do("subscription", 1, incremental(aClientMetrics, "m", change{key: "interval.ms", value: "1000"}))
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.TopicNames = []string{"u"}
	a.Do("delete u", 3, del)
	AskUntil(a, "create u again", 7, createTopic("u", 1), func(r *kmsg.CreateTopicsResponse) bool { return r.Topics[0].ErrorCode == 0 })
	describeOnce(a, "topic made again", describe(aTopic, "u", "flush.ms"), "flush.ms", "9223372036854775807")
	c.Restart()
	b := c.Conn("b")
	describeOnce(b, "topic after", describe(aTopic, "t", "flush.ms", "max.message.bytes"), "flush.ms", "2")
	describeOnce(b, "broker after", describe(aBroker, "1", "message.max.bytes"), "message.max.bytes", "3000")
	b.Do("cluster after", 4, describe(aBroker, ""))
	b.Do("group after", 4, describe(aGroup, "g", "consumer.session.timeout.ms"))
	b.Do("subscription after", 4, describe(aClientMetrics, "m", "interval.ms"))
}

func runCreateTopicsConfigs(c *C) {
	a := c.Conn("a")
	const topic = "create-topics-configs"
	a.Do("an unknown key", 7, createTopic(topic+"-1", 1, "no.such.key", "1"))
	a.Do("a bad value", 7, createTopic(topic+"-2", 1, "flush.ms", "x"))
	a.Do("bounds against each other", 7, createTopic(topic+"-3", 1, "min.compaction.lag.ms", "2", "max.compaction.lag.ms", "1"))
	a.Do("a value that is too long", 7, createTopic(topic+"-4", 1, "leader.replication.throttled.replicas", strings.Repeat("a,", 16384)))
	null := createTopic(topic+"-5", 1, "flush.ms", "7")
	null.Topics[0].Configs[0].Value = nil
	a.Do("a null value", 4, null)
	a.Do("a key twice", 4, createTopic(topic+"-6", 1, "flush.ms", "7", "flush.ms", "8"))
	describeOnce(a, "the later counts", describe(aTopic, topic+"-6", "flush.ms"), "flush.ms", "8")
	a.Do("a small segment for tests", 4, createTopic(topic+"-7", 1, "internal.segment.bytes", "1000"))
	AskUntil(a, "described", 4, describe(aTopic, topic+"-7", "internal.segment.bytes"), func(r *kmsg.DescribeConfigsResponse) bool { return r.Resources[0].ErrorCode == 0 })
	a.Do("and again", 7, createTopic(topic+"-7", 1, "no.such.key", "1"))
}
