package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func alterConfigScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "incremental-alter-configs-ops",
			Claim: "SET, DELETE, APPEND and SUBTRACT change one key; the last two only lists; doing one again changes nothing.",
			Run:   runIncrementalOps,
		},
		{
			Name:  "incremental-alter-configs-refusals",
			Claim: "A resource is changed wholly or not at all; what is refused is told for each resource.",
			Run:   runIncrementalRefusals,
		},
		{
			Name:  "incremental-alter-configs-values",
			Claim: "What IncrementalAlterConfigs says of bad values of topics, key by key.",
			Run:   runIncrementalValues,
		},
		{
			Name:  "incremental-alter-configs-group",
			Claim: "Configs of groups are checked by name, type, range and against the broker's bounds.",
			Run:   runIncrementalGroup,
		},
		{
			Name:  "incremental-alter-configs-client-metrics",
			Claim: "Configs of client metrics subscriptions are checked by name, range and pattern.",
			Run:   runIncrementalClientMetrics,
		},
		{
			Name:  "alter-configs-topic",
			Claim: "AlterConfigs replaces all configs of a topic with those of the request.",
			Run:   runAlterConfigsTopic,
		},
		{
			Name:  "alter-configs-refusals",
			Claim: "AlterConfigs refuses unknown topics, keys, null values and keys that stand twice.",
			Run:   runAlterConfigsRefusals,
		},
		{
			Name:  "configs-survive-restart",
			Claim: "Configs that were set are there after a restart and after a kill.",
			Fresh: true,
			Run:   runConfigsSurvive,
		},
	}
}

type configOp = kmsg.IncrementalAlterConfigsRequestResourceConfig

func operation(op kmsg.IncrementalAlterConfigOp, key, value string) configOp {
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Op, c.Value = key, op, &value
	return c
}

func set(key, value string) configOp { return operation(kmsg.IncrementalAlterConfigOpSet, key, value) }

func add(key, value string) configOp {
	return operation(kmsg.IncrementalAlterConfigOpAppend, key, value)
}

func subtract(key, value string) configOp {
	return operation(kmsg.IncrementalAlterConfigOpSubtract, key, value)
}

func unset(key string) configOp {
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Op = key, kmsg.IncrementalAlterConfigOpDelete
	return c
}

// noValue is an operation whose value is null.
func noValue(op kmsg.IncrementalAlterConfigOp, key string) configOp {
	c := unset(key)
	c.Op = op
	return c
}

func alterConfigs(kind kmsg.ConfigResourceType, name string, ops ...configOp) *kmsg.IncrementalAlterConfigsRequest {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.Configs = kind, name, ops
	req.Resources = append(req.Resources, r)
	return req
}

// together is one request of the resources of several.
func together(reqs ...*kmsg.IncrementalAlterConfigsRequest) *kmsg.IncrementalAlterConfigsRequest {
	all := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, req := range reqs {
		all.Resources = append(all.Resources, req.Resources...)
	}
	return all
}

// change makes a change twice and each time waits until the topic's own value of key is as told; "" means it has none.
func (n *Conn) change(step, topic, key, want string, ops ...configOp) {
	for _, step := range []string{step, step + " again"} {
		n.Do(step, 1, alterConfigs(ofTopic, topic, ops...))
		AskUntil(n, "look after "+step, 4, describeConfigs(ofTopic, topic, key), func(r *kmsg.DescribeConfigsResponse) bool {
			got := r.Resources[0].Configs[0]
			own := got.Source == kmsg.ConfigSourceDynamicTopicConfig
			return own == (want != "") && (!own || *got.Value == want)
		})
	}
}

func runIncrementalOps(c *C) {
	a := c.Conn("a")
	const name, policy, throttled = "incremental-alter-configs-ops", "cleanup.policy", "follower.replication.throttled.replicas"
	a.MakeTopic(name, 1)
	a.change("set", name, "retention.ms", "1000", set("retention.ms", "1000"))
	a.change("delete", name, "retention.ms", "", unset("retention.ms"))
	a.change("append", name, throttled, "1:1", add(throttled, "1:1"))
	a.change("append another", name, throttled, "1:1,0:1", add(throttled, "0:1"))
	a.change("append two", name, throttled, "1:1,0:1,2:1,3:1", add(throttled, "2:1,3:1"))
	a.change("subtract", name, throttled, "1:1,0:1,3:1", subtract(throttled, "2:1"))
	a.change("subtract what is not there", name, throttled, "1:1,0:1,3:1", subtract(throttled, "9:1"))
	a.Do("subtract the rest", 1, alterConfigs(ofTopic, name, subtract(throttled, "1:1,0:1,3:1")))
	a.Do("append to a list that is at its default", 1, alterConfigs(ofTopic, name, add(policy, "compact")))
	a.Do("append it again", 1, alterConfigs(ofTopic, name, add(policy, "compact")))
	a.Do("append to a number", 1, alterConfigs(ofTopic, name, add("retention.ms", "1")))
	a.Do("subtract from a number", 1, alterConfigs(ofTopic, name, subtract("retention.ms", "1")))
	a.Do("append to an unknown key", 1, alterConfigs(ofTopic, name, add("no.such.key", "1")))
	a.Do("delete an unknown key", 1, alterConfigs(ofTopic, name, unset("no.such.key")))
	a.Do("set and delete at once", 0, alterConfigs(ofTopic, name, set("segment.ms", "5000"), unset(policy)))
	AskUntil(a, "look at both", 4, describeConfigs(ofTopic, name, "segment.ms", policy, throttled), func(r *kmsg.DescribeConfigsResponse) bool {
		return *r.Resources[0].Configs[1].Value == "5000" || *r.Resources[0].Configs[0].Value == "5000" || *r.Resources[0].Configs[2].Value == "5000"
	})
}

func runIncrementalRefusals(c *C) {
	a := c.Conn("a")
	const name = "incremental-alter-configs-refusals"
	a.MakeTopic(name, 1)
	good := alterConfigs(ofTopic, name, set("retention.ms", "1000"))
	for _, try := range []struct {
		step string
		req  *kmsg.IncrementalAlterConfigsRequest
	}{
		{"unknown topic", alterConfigs(ofTopic, name+"-none", set("retention.ms", "1000"))},
		{"bad topic name", alterConfigs(ofTopic, "bad name", set("retention.ms", "1000"))},
		{"empty topic name", alterConfigs(ofTopic, "", set("retention.ms", "1000"))},
		{"unknown topic and bad value", alterConfigs(ofTopic, name+"-none", set("retention.ms", "x"))},
		{"unknown key", alterConfigs(ofTopic, name, set("no.such.key", "1"))},
		{"a good and a bad key", alterConfigs(ofTopic, name, set("retention.bytes", "77"), set("segment.ms", "0"))},
		{"a key twice", alterConfigs(ofTopic, name, set("retention.bytes", "77"), set("retention.bytes", "78"))},
		{"null to set", alterConfigs(ofTopic, name, noValue(0, "retention.ms"))},
		{"null to append", alterConfigs(ofTopic, name, noValue(2, "cleanup.policy"), noValue(3, "retention.ms"))},
		{"a value to delete", alterConfigs(ofTopic, name, operation(1, "retention.ms", "5"))},
		{"unknown operation", alterConfigs(ofTopic, name, operation(4, "retention.ms", "5"))},
		{"no keys", alterConfigs(ofTopic, name)},
		{"no keys of an unknown topic", alterConfigs(ofTopic, name+"-none")},
		{"a resource twice", together(good, good)},
		{"a resource twice and another", together(good, alterConfigs(ofTopic, name+"-none", set("retention.ms", "1")), good)},
		{"unknown type", alterConfigs(3, name, set("retention.ms", "1"))},
		{"type 0", alterConfigs(0, name, set("retention.ms", "1"))},
		{"no resources", together()},
		{"a long value", alterConfigs(ofTopic, name, set("follower.replication.throttled.replicas", strings.Repeat("1:1,", 8191)+"1:11"))},
		{"a good and a bad resource", together(alterConfigs(ofTopic, name, set("segment.ms", "0")), alterConfigs(ofGroup, name, set("consumer.session.timeout.ms", "50000")))},
	} {
		a.Do(try.step, 1, try.req)
	}
	only := alterConfigs(ofTopic, name, set("retention.ms", "x"))
	only.ValidateOnly = true
	a.Do("validate a bad value", 1, only)
	only = alterConfigs(ofTopic, name, set("retention.ms", "5000"))
	only.ValidateOnly = true
	a.Do("validate a good value", 1, only)
	a.Do("nothing is set", 4, describeConfigs(ofTopic, name, "retention.ms", "retention.bytes", "segment.ms"))
}

func runIncrementalValues(c *C) {
	a := c.Conn("a")
	const name = "incremental-alter-configs-values"
	a.MakeTopic(name, 1)
	for _, kv := range topicConfigValues {
		req := alterConfigs(ofTopic, name, set(kv[0], kv[1]))
		req.ValidateOnly = true
		a.Do(kv[0]+"="+kv[1], 1, req)
	}
	lag := alterConfigs(ofTopic, name, set("min.compaction.lag.ms", "2000"), set("max.compaction.lag.ms", "1000"))
	lag.ValidateOnly = true
	a.Do("lag of at least more than at most", 1, lag)
}

func runIncrementalGroup(c *C) {
	a := c.Conn("a")
	const name = "incremental-alter-configs-group"
	for _, kv := range [][2]string{
		{"consumer.session.timeout.ms", "44999"}, {"consumer.session.timeout.ms", "60001"}, {"consumer.session.timeout.ms", "x"},
		{"consumer.heartbeat.interval.ms", "4999"}, {"consumer.heartbeat.interval.ms", "15001"}, {"no.such.key", "1"},
		{"share.session.timeout.ms", "1"}, {"share.heartbeat.interval.ms", "1"}, {"share.record.lock.duration.ms", "1"},
		{"share.auto.offset.reset", "x"}, {"share.isolation.level", "x"}, {"streams.num.standby.replicas", "3"},
		{"streams.session.timeout.ms", "1"}, {"consumer.session.timeout.ms", "60000"},
	} {
		req := alterConfigs(ofGroup, name, set(kv[0], kv[1]))
		req.ValidateOnly = true
		a.Do(kv[0]+"="+kv[1], 1, req)
	}
	a.Do("no name", 1, alterConfigs(ofGroup, "", set("consumer.session.timeout.ms", "50000")))
	a.Do("heartbeats rarer than the session", 1, alterConfigs(ofGroup, name, set("consumer.session.timeout.ms", "45000"), set("consumer.heartbeat.interval.ms", "15000")))
	a.Do("set again", 1, alterConfigs(ofGroup, name, set("consumer.session.timeout.ms", "45000")))
	a.Do("delete", 1, alterConfigs(ofGroup, name, unset("consumer.session.timeout.ms")))
	a.Do("delete again", 1, alterConfigs(ofGroup, name, unset("consumer.session.timeout.ms")))
}

func runIncrementalClientMetrics(c *C) {
	a := c.Conn("a")
	const name = "incremental-alter-configs-client-metrics"
	for _, kv := range [][2]string{
		{"interval.ms", "99"}, {"interval.ms", "3600001"}, {"interval.ms", "x"}, {"match", "x"}, {"match", "client_id=("}, {"match", "no_such=x"},
		{"match", "client_id=a,client_id=b"}, {"no.such.key", "1"}, {"metrics", ""}, {"interval.ms", "100"},
	} {
		req := alterConfigs(ofClientMetrics, name, set(kv[0], kv[1]))
		req.ValidateOnly = true
		a.Do(kv[0]+"="+kv[1], 1, req)
	}
	a.Do("no name", 1, alterConfigs(ofClientMetrics, "", set("interval.ms", "1000")))
	a.Do("append", 1, alterConfigs(ofClientMetrics, name, add("metrics", "org.apache.kafka.producer.")))
	a.Do("append again", 1, alterConfigs(ofClientMetrics, name, add("metrics", "org.apache.kafka.producer.")))
	a.Do("append to a number", 1, alterConfigs(ofClientMetrics, name, add("interval.ms", "1")))
}

func replaceConfigs(kind kmsg.ConfigResourceType, name string, configs ...configOp) *kmsg.AlterConfigsRequest {
	req := kmsg.NewPtrAlterConfigsRequest()
	r := kmsg.NewAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, op := range configs {
		r.Configs = append(r.Configs, kmsg.AlterConfigsRequestResourceConfig{Name: op.Name, Value: op.Value})
	}
	req.Resources = append(req.Resources, r)
	return req
}

func runAlterConfigsTopic(c *C) {
	a := c.Conn("a")
	const name = "alter-configs-topic"
	a.MakeTopic(name, 1, "segment.ms", "5000")
	look := describeConfigs(ofTopic, name, "retention.bytes", "segment.ms")
	for v := int16(0); v <= 2; v++ {
		value := "1000" + string(rune('0'+v))
		only := replaceConfigs(ofTopic, name, set("retention.bytes", value))
		only.ValidateOnly = true
		a.Do("validate", v, only)
		a.Do("look after validation", 4, look)
		a.Do("replace", v, replaceConfigs(ofTopic, name, set("retention.bytes", value)))
		AskUntil(a, "look after replacing", 4, look, func(r *kmsg.DescribeConfigsResponse) bool {
			cs := r.Resources[0].Configs
			return *cs[0].Value == value || *cs[1].Value == value
		})
		a.Do("replace again", v, replaceConfigs(ofTopic, name, set("retention.bytes", value)))
	}
	a.Do("replace with nothing", 2, replaceConfigs(ofTopic, name))
	AskUntil(a, "look at nothing", 4, look, func(r *kmsg.DescribeConfigsResponse) bool {
		cs := r.Resources[0].Configs
		return cs[0].Source != kmsg.ConfigSourceDynamicTopicConfig && cs[1].Source != kmsg.ConfigSourceDynamicTopicConfig
	})
}

func runAlterConfigsRefusals(c *C) {
	a := c.Conn("a")
	const name = "alter-configs-refusals"
	a.MakeTopic(name, 1, "segment.ms", "5000")
	for _, try := range []struct {
		step string
		req  *kmsg.AlterConfigsRequest
	}{
		{"unknown topic", replaceConfigs(ofTopic, name+"-none", set("retention.bytes", "1"))},
		{"bad name", replaceConfigs(ofTopic, "bad name", set("retention.bytes", "1"))},
		{"empty name", replaceConfigs(ofTopic, "")},
		{"unknown key", replaceConfigs(ofTopic, name, set("no.such.key", "1"))},
		{"bad value", replaceConfigs(ofTopic, name, set("retention.ms", "-2"))},
		{"null value", replaceConfigs(ofTopic, name, unset("retention.bytes"))},
		{"a key twice", replaceConfigs(ofTopic, name, set("retention.bytes", "1"), set("retention.bytes", "2"))},
		{"a logger", replaceConfigs(ofLogger, "1", set("root", "INFO"))},
		{"unknown type", replaceConfigs(3, name)},
		{"another broker", replaceConfigs(ofBroker, "2", set("log.cleaner.threads", "2"))},
		{"a broker's key that cannot be changed", replaceConfigs(ofBroker, "1", set("node.id", "2"))},
		{"no resources", kmsg.NewPtrAlterConfigsRequest()},
	} {
		a.Do(try.step, 2, try.req)
	}
	a.Do("it is as it was", 4, describeConfigs(ofTopic, name, "segment.ms", "retention.bytes"))
}

func runConfigsSurvive(c *C) {
	a := c.Conn("a")
	a.MakeTopic("configs-survive-restart", 1, "retention.bytes", "1000")
	a.change("set", "configs-survive-restart", "segment.ms", "7777", set("segment.ms", "7777"))
	a.Do("set a group's", 1, alterConfigs(ofGroup, "configs-survive-restart", set("consumer.session.timeout.ms", "50000")))
	look := func(when string) {
		c.Conn("a").Do(when, 4, describeAll(configsOf(ofTopic, "configs-survive-restart", "retention.bytes", "segment.ms", "segment.jitter.ms"),
			configsOf(ofGroup, "configs-survive-restart", "consumer.session.timeout.ms")))
	}
	c.Restart()
	c.Conn("a").AwaitTopic("configs-survive-restart", 1)
	look("after a restart")
	c.Conn("a").Do("set another", 1, alterConfigs(ofTopic, "configs-survive-restart", set("segment.jitter.ms", "3")))
	c.Kill()
	c.Conn("a").AwaitTopic("configs-survive-restart", 1)
	look("after a kill")
}
