package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func brokerConfigScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "alter-broker-configs-refusals",
			Claim: "Configs of a broker that are read only or unknown, of another broker, or only for all brokers together are refused.",
			Run:   runBrokerRefusals,
		},
		{
			Name:  "alter-broker-configs",
			Claim: "Configs of this broker come before those of all brokers, and topics take theirs from them.",
			Fresh: true,
			Run:   runBrokerConfigs,
		},
		{
			Name:  "alter-broker-configs-replace",
			Claim: "AlterConfigs replaces all changed configs of a broker.",
			Fresh: true,
			Run:   runBrokerReplace,
		},
		{
			Name:  "alter-broker-configs-rates",
			Claim: "The rates of moving replicas, which a broker is never started with, are set, described when they are set, and refused below 0.",
			Fresh: true,
			Run:   runBrokerRates,
		},
		{
			Name:  "alter-logger-configs",
			Claim: "Levels of loggers are set and deleted with IncrementalAlterConfigs; unknown loggers and levels are refused.",
			Fresh: true,
			Run:   runLoggerConfigs,
		},
	}
}

func runBrokerRefusals(c *C) {
	a := c.Conn("a")
	for _, at := range []string{"1", ""} {
		for _, op := range []configOp{
			set("node.id", "2"), set("num.partitions", "3"), set("no.such.key", "1"), set("log.cleaner.threads", "x"),
			set("log.retention.ms", "-2"), set("min.insync.replicas", "2"), set("auto.create.topics.enable", "false"), unset("node.id"),
			unset("no.such.key"), add("log.cleaner.threads", "1"), add("log.cleanup.policy", "compact"), set("log.cleanup.policy", "x"),
			set("ssl.keystore.location", "/x"), set("max.connections", "-1"), set("message.max.bytes", "-1"), set("log.cleaner.threads", "100"),
			set("compression.type", "brotli"), operation(9, "log.cleaner.threads", "1"), noValue(0, "log.cleaner.threads"),
		} {
			req := alterConfigs(ofBroker, at, op)
			req.ValidateOnly = true
			a.Do("broker \""+at+"\", "+op.Name, 1, req)
		}
	}
	for _, at := range []string{"2", "x", "-1", "01"} {
		req := alterConfigs(ofBroker, at, set("log.cleaner.threads", "2"))
		req.ValidateOnly = true
		a.Do("broker "+at, 1, req)
	}
	a.Do("nothing is set", 4, describeConfigs(ofBroker, "1", "num.partitions", "log.cleaner.threads", "log.cleanup.policy"))
}

func runBrokerConfigs(c *C) {
	a := c.Conn("a")
	const name = "alter-broker-configs"
	a.MakeTopic(name, 1)
	value := func(want string) func(r *kmsg.DescribeConfigsResponse) bool {
		return func(r *kmsg.DescribeConfigsResponse) bool { return *r.Resources[0].Configs[0].Value == want }
	}
	topic := describeConfigs(ofTopic, name, "retention.bytes")
	topic.IncludeSynonyms = true
	key := "log.retention.bytes"
	a.Do("set for all", 1, alterConfigs(ofBroker, "", set(key, "1000")))
	AskUntil(a, "topic with all's", 4, topic, value("1000"))
	a.Do("set for this one", 1, alterConfigs(ofBroker, "1", set(key, "2000")))
	AskUntil(a, "topic with this one's", 4, topic, value("2000"))
	a.Do("set for this one again", 1, alterConfigs(ofBroker, "1", set(key, "2000")))
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(name, 1)
	a.Do("topic after a restart", 4, topic)
	a.Do("delete this one's", 1, alterConfigs(ofBroker, "1", unset(key)))
	AskUntil(a, "topic with all's again", 4, topic, value("1000"))
	a.Do("delete all's", 1, alterConfigs(ofBroker, "", unset(key)))
	AskUntil(a, "topic with the default", 4, topic, value("-1"))
	a.Do("delete all's again", 1, alterConfigs(ofBroker, "", unset(key)))
	a.Do("all brokers have none", 4, describeConfigs(ofBroker, "", key))
	a.Do("a new topic of that broker", 4, createTopic(name+"-2", 1))
}

func runBrokerReplace(c *C) {
	a := c.Conn("a")
	value := func(want string) func(r *kmsg.DescribeConfigsResponse) bool {
		return func(r *kmsg.DescribeConfigsResponse) bool {
			for _, c := range r.Resources[0].Configs {
				if c.Value != nil && *c.Value == want {
					return true
				}
			}
			return false
		}
	}
	look := describeConfigs(ofBroker, "1", "log.retention.bytes", "message.max.bytes")
	a.Do("set", 2, replaceConfigs(ofBroker, "1", set("log.retention.bytes", "1000")))
	AskUntil(a, "look at the first", 4, look, value("1000"))
	a.Do("replace", 2, replaceConfigs(ofBroker, "1", set("message.max.bytes", "2000000")))
	AskUntil(a, "look at the second", 4, look, value("2000000"))
	a.Do("replace again", 2, replaceConfigs(ofBroker, "1", set("message.max.bytes", "2000000")))
	a.Do("replace with a bad value", 2, replaceConfigs(ofBroker, "1", set("message.max.bytes", "x")))
	a.Do("replace with one that is only for all", 2, replaceConfigs(ofBroker, "1", set("min.insync.replicas", "1")))
	a.Do("look again", 4, look)
}

// brokerRates are the keys that no broker is started with.
var brokerRates = []string{"follower.replication.throttled.rate", "leader.replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second"}

func runBrokerRates(c *C) {
	a := c.Conn("a")
	keys := brokerRates
	look := func(name string) *kmsg.DescribeConfigsRequest {
		req := describeConfigs(ofBroker, name, keys...)
		req.IncludeSynonyms = true
		return req
	}
	described := func(n int) func(r *kmsg.DescribeConfigsResponse) bool {
		return func(r *kmsg.DescribeConfigsResponse) bool { return len(r.Resources[0].Configs) == n }
	}
	a.Do("nothing is set", 4, look("1"))
	for _, value := range []string{"x", "-1", "0", "1.5", "9223372036854775808"} {
		req := alterConfigs(ofBroker, "1", set(keys[0], value))
		req.ValidateOnly = true
		a.Do("validate "+value, 1, req)
	}
	a.Do("set for this one", 1, alterConfigs(ofBroker, "1", set(keys[0], "1000000"), set(keys[1], "2000000"), set(keys[2], "3000000")))
	AskUntil(a, "all three of this one", 4, look("1"), described(3))
	a.Do("set for all", 1, alterConfigs(ofBroker, "", set(keys[0], "4000000")))
	AskUntil(a, "one of all", 4, look(""), described(1))
	a.Do("this one's beside all's", 4, look("1"))
	c.Restart()
	a = c.Conn("a")
	a.Do("after a restart", 4, look("1"))
	a.Do("delete this one's", 1, alterConfigs(ofBroker, "1", unset(keys[0]), unset(keys[1]), unset(keys[2])))
	AskUntil(a, "all's is left", 4, look("1"), described(1))
	a.Do("delete all's", 1, alterConfigs(ofBroker, "", unset(keys[0])))
	AskUntil(a, "none is left", 4, look("1"), described(0))
}

func runLoggerConfigs(c *C) {
	a := c.Conn("a")
	a.Do("set a level", 1, alterConfigs(ofLogger, "1", set("root", "WARN")))
	a.Do("set it again", 1, alterConfigs(ofLogger, "1", set("root", "WARN")))
	a.Do("look", 4, describeConfigs(ofLogger, "1", "root"))
	a.Do("a level that is none", 1, alterConfigs(ofLogger, "1", set("root", "LOUD")))
	a.Do("a level in lower case", 1, alterConfigs(ofLogger, "1", set("root", "warn")))
	a.Do("a logger that is none", 1, alterConfigs(ofLogger, "1", set("no.such.logger", "INFO")))
	a.Do("delete the root's", 1, alterConfigs(ofLogger, "1", unset("root")))
	a.Do("append", 1, alterConfigs(ofLogger, "1", add("root", "INFO")))
	a.Do("no broker", 1, alterConfigs(ofLogger, "", set("root", "INFO")))
	a.Do("another broker", 1, alterConfigs(ofLogger, "2", set("root", "INFO")))
}
