package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// Kinds of config resources.
const (
	aTopic  kmsg.ConfigResourceType = 2
	aBroker kmsg.ConfigResourceType = 4
	aLogger kmsg.ConfigResourceType = 8
	aGroup  kmsg.ConfigResourceType = 32
)

// Operations of IncrementalAlterConfigs.
const (
	deleteOp   kmsg.IncrementalAlterConfigOp = 1
	appendOp   kmsg.IncrementalAlterConfigOp = 2
	subtractOp kmsg.IncrementalAlterConfigOp = 3
)

func configLayerScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "describe-configs-explicit-default",
			Claim: "A value that is set is the topic's own, even when it is the default; without it the key is a default.",
			Run:   runDescribeConfigsExplicitDefault,
		},
		{
			Name:  "incremental-alter-configs-list",
			Claim: "APPEND and SUBTRACT change a list, starting from its default, once for each entry; other types refuse them.",
			Run:   runIncrementalList,
		},
		{
			Name:  "incremental-alter-configs-validate-only",
			Claim: "validate_only answers as the change would and changes nothing.",
			Run:   runIncrementalValidateOnly,
		},
		{
			Name:  "config-layers",
			Claim: "Dynamic values of one broker count over those of all brokers, over the static ones; a topic's defaults follow.",
			Fresh: true,
			Run:   runAlterConfigsBroker,
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

func runDescribeConfigsExplicitDefault(c *C) {
	a := c.Conn("a")
	const topic = "describe-configs-explicit-default"
	keys := []string{"cleanup.policy", "retention.bytes", "compression.type"}
	a.MakeTopic(topic, 1, "cleanup.policy", "delete", "retention.bytes", "-1")
	a.Do("describe", 4, describe(aTopic, topic, keys...))
	a.Do("delete one", 1, incremental(aTopic, topic, change{key: "retention.bytes", op: deleteOp}, change{key: "compression.type", value: "lz4"}))
	describeOnce(a, "describe again", describe(aTopic, topic, keys...), "compression.type", "lz4")
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
