package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

const (
	ofTopic         = kmsg.ConfigResourceTypeTopic
	ofBroker        = kmsg.ConfigResourceTypeBroker
	ofLogger        = kmsg.ConfigResourceTypeBrokerLogger
	ofClientMetrics = kmsg.ConfigResourceTypeClientMetrics
	ofGroup         = kmsg.ConfigResourceTypeGroupConfig
)

func configScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "describe-configs-topic",
			Claim: "DescribeConfigs lists every config of a topic with type and source; a value that was set is the topic's own even if it is the default.",
			Run:   runDescribeConfigsTopic,
		},
		{
			Name:  "describe-configs-names",
			Claim: "Named keys that there are come back, others are left out; no keys named means all, an empty list none.",
			Run:   runDescribeConfigsNames,
		},
		{
			Name:  "describe-configs-refusals",
			Claim: "An unknown topic, a bad name and a broker that is another one are refused each for itself; a resource type that does not exist for the whole request.",
			Run:   runDescribeConfigsRefusals,
		},
		{
			Name:  "describe-configs-synonyms",
			Claim: "Synonyms are told when asked for, in the order topic, this broker, all brokers, static, default, and the first is the value.",
			Set:   map[string]string{"log.retention.hours": "24", "log.segment.bytes": "2000000"},
			Fresh: true,
			Run:   runDescribeConfigsSynonyms,
		},
		{
			Name:  "describe-configs-broker",
			Claim: "A broker's configs by name: type, source, whether they can be changed; secrets are not shown.",
			Set:   map[string]string{"num.partitions": "3", "ssl.keystore.password": "secret", "log.retention.minutes": "5"},
			Fresh: true,
			Run:   runDescribeConfigsBroker,
		},
		{
			Name:  "describe-configs-broker-keys",
			Claim: "A broker lists each of its keys with its type, and whether it can be changed and is a secret.",
			Set:   map[string]string{"log.initial.task.delay.ms": ""}, // an internal key, which is listed when it is set
			Run: func(c *C) {
				c.Conn("a").Send("all keys", 4, describeConfigs(ofBroker, "1")).
					Only("Resources.ErrorCode", "Resources.Configs.Name", "Resources.Configs.ReadOnly", "Resources.Configs.IsSensitive", "Resources.Configs.ConfigType").Await()
			},
		},
		{
			Name:  "describe-configs-group",
			Claim: "Any group name has configs: those of the broker until some are set.",
			Run:   runDescribeConfigsGroup,
		},
		{
			Name:  "describe-configs-client-metrics",
			Claim: "Any name of a client metrics subscription has configs.",
			Run:   runDescribeConfigsClientMetrics,
		},
		{
			Name:  "describe-configs-logger",
			Claim: "The loggers of a broker are asked for with its id.",
			Run:   runDescribeConfigsLogger,
		},
		{
			Name:  "list-config-resources",
			Claim: "ListConfigResources lists topics, the broker and its logger, and groups and client metrics subscriptions that have configs.",
			Fresh: true,
			Run:   runListConfigResources,
		},
	}
}

// describeConfigs asks for configs of one resource; no keys means all.
func describeConfigs(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = append(req.Resources, configsOf(kind, name, keys...))
	return req
}

func configsOf(kind kmsg.ConfigResourceType, name string, keys ...string) kmsg.DescribeConfigsRequestResource {
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, keys
	return r
}

func describeAll(resources ...kmsg.DescribeConfigsRequestResource) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = resources
	return req
}

func runDescribeConfigsTopic(c *C) {
	a := c.Conn("a")
	const name = "describe-configs-topic"
	a.MakeTopic(name, 1, "cleanup.policy", "delete", "retention.bytes", "123456")
	for v := int16(1); v <= 4; v++ {
		a.Do("all", v, describeConfigs(ofTopic, name))
	}
	full := describeConfigs(ofTopic, name)
	full.IncludeSynonyms, full.IncludeDocumentation = true, true
	a.Do("all with synonyms", 1, full)
	a.Do("all with synonyms and documentation", 4, full)
	a.Do("all again", 4, describeConfigs(ofTopic, name))
}

func runDescribeConfigsNames(c *C) {
	a := c.Conn("a")
	const name = "describe-configs-names"
	a.MakeTopic(name, 1)
	a.Do("two keys", 4, describeConfigs(ofTopic, name, "retention.bytes", "cleanup.policy"))
	a.Do("a key twice", 4, describeConfigs(ofTopic, name, "retention.bytes", "retention.bytes"))
	a.Do("an unknown key", 4, describeConfigs(ofTopic, name, "no.such.key", "retention.bytes"))
	a.Do("a key of the broker", 4, describeConfigs(ofTopic, name, "log.retention.ms"))
	a.Do("an internal key", 4, describeConfigs(ofTopic, name, "internal.segment.bytes"))
	none := describeConfigs(ofTopic, name)
	none.Resources[0].ConfigNames = []string{}
	a.Do("an empty list", 4, none)
	a.Do("no resources", 4, describeAll())
	a.Do("a resource twice", 4, describeAll(configsOf(ofTopic, name, "retention.bytes"), configsOf(ofTopic, name, "cleanup.policy")))
}

func runDescribeConfigsRefusals(c *C) {
	a := c.Conn("a")
	const name = "describe-configs-refusals"
	a.MakeTopic(name, 1)
	a.Do("one good, others not", 4, describeAll(
		configsOf(ofTopic, name+"-none"), configsOf(ofTopic, "bad name"), configsOf(ofTopic, ""), configsOf(ofTopic, name, "retention.bytes"),
		configsOf(ofBroker, "2"), configsOf(ofBroker, "x"), configsOf(ofBroker, "-1"), configsOf(ofLogger, ""), configsOf(ofLogger, "2"),
		configsOf(ofLogger, "x"), configsOf(ofClientMetrics, ""), configsOf(ofGroup, ""),
	))
	for _, kind := range []kmsg.ConfigResourceType{0, 1, 3, 7, 64, 127, -1} {
		a.Do("resource type", 4, describeAll(configsOf(ofTopic, name, "retention.bytes"), configsOf(kind, name)))
	}
	a.Do("resource type at version 1", 1, describeAll(configsOf(3, name)))
}

func runDescribeConfigsSynonyms(c *C) {
	a := c.Conn("a")
	const name = "describe-configs-synonyms"
	a.MakeTopic(name, 1, "retention.ms", "1000")
	topic := describeConfigs(ofTopic, name, "retention.ms", "segment.bytes", "retention.bytes", "cleanup.policy")
	broker := describeConfigs(ofBroker, "1", "log.retention.ms", "log.retention.minutes", "log.retention.hours", "log.segment.bytes", "log.cleanup.policy")
	all := describeConfigs(ofBroker, "")
	for _, req := range []*kmsg.DescribeConfigsRequest{topic, broker, all} {
		req.IncludeSynonyms = true
	}
	look := func(when string) {
		a.Do("topic, "+when, 4, topic)
		a.Do("broker, "+when, 4, broker)
		a.Do("all brokers, "+when, 4, all)
	}
	look("at first")
	for _, at := range []string{"", "1"} {
		req := alterConfigs(ofBroker, at, set("log.retention.ms", "2000"+at), set("log.segment.bytes", "3000000"), set("log.cleanup.policy", "compact"))
		Ask[*kmsg.IncrementalAlterConfigsResponse](a, "set at broker "+at, 1, req)
		AskUntil(a, "wait until it is set", 4, describeConfigs(ofBroker, at, "log.retention.ms"), func(r *kmsg.DescribeConfigsResponse) bool {
			cs := r.Resources[0].Configs
			return len(cs) == 1 && cs[0].Value != nil && *cs[0].Value == "2000"+at
		})
		look("set at broker " + at)
	}
	a.Do("take the topic's away", 1, alterConfigs(ofTopic, name, unset("retention.ms")))
	AskUntil(a, "wait until it is away", 4, describeConfigs(ofTopic, name, "retention.ms"), func(r *kmsg.DescribeConfigsResponse) bool {
		return r.Resources[0].Configs[0].Source != kmsg.ConfigSourceDynamicTopicConfig
	})
	look("without the topic's")
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(name, 1)
	look("after a restart")
}

func runDescribeConfigsBroker(c *C) {
	a := c.Conn("a")
	keys := []string{
		"num.partitions", "auto.create.topics.enable", "delete.topic.enable", "default.replication.factor", "message.max.bytes",
		"offsets.retention.minutes", "group.initial.rebalance.delay.ms", "group.max.session.timeout.ms", "log.retention.ms",
		"log.retention.minutes", "log.retention.hours", "ssl.keystore.password", "ssl.keystore.location", "broker.rack",
		"compression.type", "log.cleaner.threads", "background.threads", "unclean.leader.election.enable", "sasl.enabled.mechanisms",
		"max.connections.per.ip.overrides", "no.such.key", "retention.ms",
	}
	req := describeConfigs(ofBroker, "1", keys...)
	for _, v := range []int16{1, 2, 3, 4} {
		a.Do("named keys", v, req)
	}
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	a.Do("with synonyms and documentation", 4, req)
	a.Do("all brokers", 4, describeConfigs(ofBroker, ""))
	a.Do("all brokers, named", 4, describeConfigs(ofBroker, "", "num.partitions"))
	a.Do("named keys again", 4, describeConfigs(ofBroker, "1", keys...))
	a.Do("a broker's id with a sign", 4, describeConfigs(ofBroker, "+1", "num.partitions"))
	a.Do("a broker's id with a zero", 4, describeConfigs(ofBroker, "01", "num.partitions"))
}

func runDescribeConfigsGroup(c *C) {
	a := c.Conn("a")
	const name = "describe-configs-group"
	full := describeConfigs(ofGroup, name)
	full.IncludeSynonyms, full.IncludeDocumentation = true, true
	a.Do("at first", 4, full)
	a.Do("set", 1, alterConfigs(ofGroup, name, set("consumer.session.timeout.ms", "50000"), set("streams.num.standby.replicas", "1")))
	AskUntil(a, "set", 4, full, func(r *kmsg.DescribeConfigsResponse) bool {
		for _, c := range r.Resources[0].Configs {
			if c.Name == "consumer.session.timeout.ms" {
				return c.Value != nil && *c.Value == "50000"
			}
		}
		return false
	})
	a.Do("named keys", 1, describeConfigs(ofGroup, name, "consumer.session.timeout.ms", "no.such.key"))
	a.Do("another group", 4, describeConfigs(ofGroup, name+"-other", "consumer.session.timeout.ms"))
}

func runDescribeConfigsClientMetrics(c *C) {
	a := c.Conn("a")
	const name = "describe-configs-client-metrics"
	full := describeConfigs(ofClientMetrics, name)
	full.IncludeSynonyms, full.IncludeDocumentation = true, true
	a.Do("at first", 4, full)
	a.Do("set", 1, alterConfigs(ofClientMetrics, name, set("interval.ms", "1000"), set("metrics", "org.apache.kafka."), set("match", "client_id=x,client_source_port=123")))
	AskUntil(a, "set", 4, full, func(r *kmsg.DescribeConfigsResponse) bool {
		for _, c := range r.Resources[0].Configs {
			if c.Name == "interval.ms" {
				return c.Value != nil && *c.Value == "1000"
			}
		}
		return false
	})
	a.Do("named keys", 1, describeConfigs(ofClientMetrics, name, "interval.ms", "no.such.key"))
}

func runDescribeConfigsLogger(c *C) {
	a := c.Conn("a")
	a.Do("no such logger", 4, describeConfigs(ofLogger, "1", "no.such.logger"))
	root := describeConfigs(ofLogger, "1", "root")
	root.IncludeSynonyms, root.IncludeDocumentation = true, true
	a.Do("the root", 4, root)
	a.Do("the root at version 1", 1, root)
}

func runListConfigResources(c *C) {
	a := c.Conn("a")
	a.Do("all of nothing", 1, kmsg.NewPtrListConfigResourcesRequest())
	a.MakeTopic("b", 1)
	a.MakeTopic("a", 1)
	a.Do("set a group's", 1, alterConfigs(ofGroup, "g", set("consumer.session.timeout.ms", "50000")))
	a.Do("set a subscription's", 1, alterConfigs(ofClientMetrics, "m", set("interval.ms", "1000")))
	list := func(kinds ...int8) *kmsg.ListConfigResourcesRequest {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.ResourceTypes = kinds
		return req
	}
	AskUntil(a, "all", 1, list(), func(r *kmsg.ListConfigResourcesResponse) bool { return len(r.ConfigResources) == 6 })
	a.Do("version 0", 0, list())
	for _, kind := range []int8{2, 4, 8, 16, 32, 0, 3, 64, -1} {
		a.Do("one kind", 1, list(kind))
	}
	a.Do("two kinds", 1, list(32, 2))
	a.Do("a kind twice", 1, list(2, 2))
	a.Do("a known and an unknown kind", 1, list(2, 3))
	a.Do("take the group's away", 1, alterConfigs(ofGroup, "g", unset("consumer.session.timeout.ms")))
	AskUntil(a, "groups after that", 1, list(32), func(r *kmsg.ListConfigResourcesResponse) bool { return len(r.ConfigResources) == 0 })
}
