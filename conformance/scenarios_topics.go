package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func topicScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "create-topics-versions",
			Claim: "CreateTopics creates a topic at every version, and says TOPIC_ALREADY_EXISTS the second time.",
			Run:   runCreateTopicsVersions,
		},
		{
			Name:  "create-topics-names",
			Claim: "A topic's name has 1 to 249 letters, digits, dots, hyphens and underscores and is neither . nor ..; __cluster_metadata is refused by name.",
			Run:   runCreateTopicsNames,
		},
		{
			Name:  "create-topics-collisions",
			Claim: "A name that differs only in . and _ from an existing topic is refused, even over other errors; two such names in one request are both created.",
			Run:   runCreateTopicsCollisions,
		},
		{
			Name:  "create-topics-precedence",
			Claim: "CreateTopics looks at the name, then whether the topic exists, then configs, then the replication factor, then the partition count.",
			Run:   runCreateTopicsPrecedence,
		},
		{
			Name:  "create-topics-counts",
			Claim: "Partition count and replication factor take -1 for the default and refuse 0 and less than -1.",
			Set:   map[string]string{"num.partitions": "3"},
			Run:   runCreateTopicsCounts,
		},
		{
			Name:  "create-topics-replication-factor",
			Claim: "A replication factor above the number of brokers is refused.",
			Run:   runCreateTopicsReplicationFactor,
		},
		{
			Name:  "create-topics-assignments",
			Claim: "A manual assignment names every partition from 0 on once, each on brokers that exist, without partition count and replication factor.",
			Run:   runCreateTopicsAssignments,
		},
		{
			Name:  "create-topics-duplicates",
			Claim: "A name that stands twice in one request is refused once, after all other answers; the other topics are created.",
			Run:   runCreateTopicsDuplicates,
		},
		{
			Name:  "create-topics-case",
			Claim: "Names that differ only in case are different topics.",
			Run:   runCreateTopicsCase,
		},
		{
			Name:  "create-topics-validate-only",
			Claim: "validate_only answers as the real request would and creates nothing.",
			Run:   runCreateTopicsValidateOnly,
		},
		{
			Name:  "create-topics-too-many",
			Claim: "A request for more than 10,000 partitions, or whose topics, configs and partitions are more than 10,000, is refused for all its topics.",
			Run:   runCreateTopicsTooMany,
		},
		{
			Name:  "create-topics-timeout",
			Claim: "A timeout of 0 or less is REQUEST_TIMED_OUT for every topic of CreateTopics and makes none, unless no name is left to create.",
			Run:   runCreateTopicsTimeout,
		},
		{
			Name:  "create-topics-internal",
			Claim: "The internal topics' names can be created like any other, and are then marked as internal.",
			Fresh: true,
			Run:   runCreateTopicsInternal,
		},
	}
}

func runCreateTopicsVersions(c *C) {
	a := c.Conn("a")
	for v := int16(2); v <= 7; v++ {
		name := "create-topics-v" + string(rune('0'+v))
		req := createTopic(name, 2, "retention.ms", "100000")
		a.Do("create "+name, v, req)
		a.Do("create "+name+" again", v, createTopic(name, 2))
		a.AwaitTopic(name, 2)
		a.Do("describe "+name, 12, metadataFor(name))
	}
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.TopicNames = []string{"create-topics-v2"}
	a.Do("delete create-topics-v2", 3, del)
	AskUntil(a, "create create-topics-v2 again", 7, createTopic("create-topics-v2", 1), func(r *kmsg.CreateTopicsResponse) bool {
		return r.Topics[0].ErrorCode == 0
	})
}

// noConfigs is the highest version of CreateTopics whose answer does not hold the topic's configs.
const noConfigs = 4

func runCreateTopicsNames(c *C) {
	a := c.Conn("a")
	long := "create-topics-names-" + strings.Repeat("n", 229)
	for _, name := range []string{
		"", ".", "..", "...", "create topics names", "create/topics", "create\ttopics", "cr\u00e9ate", "create*", "create:topics",
		long, long + "n", "__cluster_metadata", "create-topics-names_1.a-Z",
	} {
		a.Do("create "+name, noConfigs, createTopic(name, 1))
	}
	a.Do("create again", noConfigs, createTopic("create-topics-names_1.a-Z", 1))
	both := createTopics(topicSpec("create topics names", 1, 1), topicSpec("create-topics-names-ok", 1, 1), topicSpec("__cluster_metadata", 1, 1))
	a.Do("a good name among bad ones", noConfigs, both)
	a.Do("the same again", noConfigs, both)
}

func createTopics(specs ...kmsg.CreateTopicsRequestTopic) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = specs
	return req
}

func runCreateTopicsCollisions(c *C) {
	a := c.Conn("a")
	const there, other = "create.topics_collisions", "create_topics_collisions"
	a.Do("create one", noConfigs, createTopic(there, 1))
	a.Do("the one again", noConfigs, createTopic(there, 1))
	a.Do("another that collides", noConfigs, createTopic(other, 1))
	a.Do("another with bad configs", noConfigs, createTopic(other, 1, "retention.ms", "x"))
	a.Do("another with bad partitions", noConfigs, createTopic(other, 0))
	only := createTopic(other, 1)
	only.ValidateOnly = true
	a.Do("another, validate only", noConfigs, only)
	a.Do("another that collides, and one that does not", noConfigs, createTopics(topicSpec(other, 1, 1), topicSpec("create-topics_collisions", 1, 1)))
	a.Do("delete the one", 5, deleteTopics(there))
	a.Do("another again", noConfigs, createTopic(other, 1))
	a.Do("the one again after that", noConfigs, createTopic(there, 1))
	pair := createTopics(topicSpec("create.topics.collisions.pair", 1, 1), topicSpec("create_topics_collisions_pair", 1, 1))
	a.Do("two that collide in one request", noConfigs, pair)
	a.Do("the two again", noConfigs, pair)
}

func runCreateTopicsPrecedence(c *C) {
	a := c.Conn("a")
	const name, bad, exists = "create-topics-precedence", "create topics precedence", "create-topics-precedence-exists"
	a.Do("create", noConfigs, createTopic(exists, 1))
	for _, try := range []struct {
		step string
		spec kmsg.CreateTopicsRequestTopic
	}{
		{"bad name, config, factor, count", topicSpec(bad, 0, 0, "retention.ms", "x")},
		{"exists, bad config, factor, count", topicSpec(exists, 0, 0, "retention.ms", "x")},
		{"exists, null config", nullConfig(topicSpec(exists, 1, 1), "retention.ms")},
		{"null config, bad config", nullConfig(topicSpec(name, 0, 0, "segment.ms", "x"), "retention.ms")},
		{"bad config, factor, count", topicSpec(name, 0, 0, "retention.ms", "x")},
		{"bad factor, count", topicSpec(name, 0, 0)},
		{"bad count", topicSpec(name, 0, 1)},
		{"bad config, assignment", assigned(topicSpec(name, -1, -1, "retention.ms", "x"), []int32{9})},
		{"all good", topicSpec(name, 1, 1)},
	} {
		a.Do(try.step, noConfigs, createTopics(try.spec))
	}
}

// nullConfig adds a config without a value.
func nullConfig(spec kmsg.CreateTopicsRequestTopic, names ...string) kmsg.CreateTopicsRequestTopic {
	for _, name := range names {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name = name
		spec.Configs = append(spec.Configs, c)
	}
	return spec
}

// assigned gives the partitions, from 0 on, to brokers.
func assigned(spec kmsg.CreateTopicsRequestTopic, brokers ...[]int32) kmsg.CreateTopicsRequestTopic {
	for i, replicas := range brokers {
		spec = assignedAt(spec, int32(i), replicas...)
	}
	return spec
}

func assignedAt(spec kmsg.CreateTopicsRequestTopic, partition int32, replicas ...int32) kmsg.CreateTopicsRequestTopic {
	a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	a.Partition, a.Replicas = partition, replicas
	spec.ReplicaAssignment = append(spec.ReplicaAssignment, a)
	return spec
}

func runCreateTopicsCounts(c *C) {
	a := c.Conn("a")
	const name = "create-topics-counts"
	for _, n := range []int32{0, -2, -2147483648} {
		a.Do("count", 5, createTopics(topicSpec(name, n, 1)))
	}
	for _, n := range []int16{0, -2, -32768} {
		a.Do("factor", 5, createTopics(topicSpec(name, 1, n)))
	}
	a.Do("defaults", noConfigs, createTopics(topicSpec(name, -1, -1)))
	a.AwaitTopic(name, 3)
	a.Do("three partitions", 12, metadataFor(name))
	a.Do("defaults again", noConfigs, createTopics(topicSpec(name, -1, -1)))
}

func runCreateTopicsReplicationFactor(c *C) {
	a := c.Conn("a")
	for _, factor := range []int16{2, 3, 32767} {
		req := createTopics(topicSpec("create-topics-replication-factor", 1, factor))
		req.ValidateOnly = true
		a.Do("validate", noConfigs, req)
	}
	a.Do("create", noConfigs, createTopics(topicSpec("create-topics-replication-factor", 1, 3)))
	a.Do("create again", noConfigs, createTopics(topicSpec("create-topics-replication-factor", 1, 3)))
	a.Do("describe", 12, metadataFor("create-topics-replication-factor"))
}

func runCreateTopicsAssignments(c *C) {
	a := c.Conn("a")
	const name = "create-topics-assignments"
	unset := topicSpec(name, -1, -1)
	for _, try := range []struct {
		step string
		spec kmsg.CreateTopicsRequestTopic
	}{
		{"with a factor", assigned(topicSpec(name, -1, 1), []int32{1})},
		{"with a count", assigned(topicSpec(name, 1, -1), []int32{1})},
		{"with both", assigned(topicSpec(name, 1, 1), []int32{1})},
		{"no brokers", assigned(unset, []int32{})},
		{"an unknown broker", assigned(unset, []int32{9})},
		{"a negative broker", assigned(unset, []int32{-1})},
		{"a known and an unknown broker", assigned(unset, []int32{1, 2})},
		{"a broker twice", assigned(unset, []int32{1, 1})},
		{"a partition twice", assignedAt(assigned(unset, []int32{1}), 0, 1)},
		{"a gap", assignedAt(assigned(unset, []int32{1}), 2, 1)},
		{"not from 0 on", assignedAt(unset, 1, 1)},
		{"a negative partition", assignedAt(unset, -1, 1)},
		{"backwards", assignedAt(assignedAt(unset, 1, 1), 0, 1)},
		{"again", assigned(unset, []int32{1}, []int32{1})},
	} {
		a.Do(try.step, noConfigs, createTopics(try.spec))
	}
	a.AwaitTopic(name, 2)
	a.Do("describe", 12, metadataFor(name))
}

func runCreateTopicsDuplicates(c *C) {
	a := c.Conn("a")
	const name = "create-topics-duplicates"
	req := createTopics(topicSpec(name, 1, 1), topicSpec(name+"-b", 1, 1), topicSpec(name, 2, 1), topicSpec("bad name", 1, 1))
	a.Do("one twice", noConfigs, req)
	a.Do("again", noConfigs, req)
	a.Do("three times", noConfigs, createTopics(topicSpec(name, 1, 1), topicSpec(name, 1, 1), topicSpec(name, 1, 1)))
	a.Do("a bad name twice", noConfigs, createTopics(topicSpec("bad name", 1, 1), topicSpec("bad name", 1, 1)))
	a.Do("describe", 12, metadataFor(name, name+"-b"))
	a.Do("nothing", noConfigs, createTopics())
}

func runCreateTopicsCase(c *C) {
	a := c.Conn("a")
	a.Do("create", noConfigs, createTopic("create-topics-case", 1))
	a.Do("in another case", noConfigs, createTopic("create-topics-Case", 1))
	a.Do("in another case again", noConfigs, createTopic("create-topics-Case", 1))
	a.Do("two in one request", noConfigs, createTopics(topicSpec("create-topics-case-2", 1, 1), topicSpec("CREATE-topics-case-2", 1, 1)))
}

func runCreateTopicsValidateOnly(c *C) {
	a := c.Conn("a")
	const name = "create-topics-validate-only"
	a.Do("create", noConfigs, createTopic(name+"-exists", 1))
	for _, v := range []int16{noConfigs, 7} {
		req := createTopics(topicSpec(name+"-exists", 1, 1), topicSpec("bad name", 1, 1), topicSpec(name, 2, 1, "retention.ms", "5"),
			topicSpec(name+"-config", 2, 1, "retention.ms", "x"))
		req.ValidateOnly = true
		a.Do("validate", v, req)
		a.Do("validate again", v, req)
	}
	a.Do("nothing is there", 12, metadataFor(name, name+"-config"))
}

func runCreateTopicsTooMany(c *C) {
	a := c.Conn("a")
	const name = "create-topics-too-many"
	validate := func(step string, specs ...kmsg.CreateTopicsRequestTopic) {
		req := createTopics(specs...)
		req.ValidateOnly = true
		a.Do(step, noConfigs, req)
	}
	validate("10,000", topicSpec(name, 10_000, 1))
	validate("9,999", topicSpec(name, 9_999, 1))
	validate("9,999 with two configs", topicSpec(name, 9_999, 1, "segment.ms", "1000", "retention.ms", "1000"))
	validate("9,998 of two topics", topicSpec(name, 9_997, 1), topicSpec(name+"-b", 1, 1))
	validate("9,999 of two topics", topicSpec(name, 9_998, 1), topicSpec(name+"-b", 1, 1))
	validate("10,000, one bad", topicSpec("bad name", 9_000, 1), topicSpec(name+"-b", 1_000, 1))
	validate("10,001", topicSpec(name, 10_001, 1))
	validate("10,001 of two topics", topicSpec(name, 10_000, 1), topicSpec(name+"-b", 1, 1))
	validate("10,001 of a default", topicSpec(name, 10_000, 1), topicSpec(name+"-b", -1, -1))
	validate("10,001 of a bad name and a topic that has a bad config", topicSpec("bad name", 10_000, 1), topicSpec(name, 1, 1, "retention.ms", "x"))
	validate("10,001 of a name twice", topicSpec(name, 10_000, 1), topicSpec(name, 1, 1))
	a.Do("10,001, not only validated", noConfigs, createTopics(topicSpec(name, 10_001, 1)))
	a.Do("nothing is there", 12, metadataFor(name))
}

func runCreateTopicsInternal(c *C) {
	a := c.Conn("a")
	for _, name := range []string{"__consumer_offsets", "__transaction_state", "__share_group_state", "__remote_log_metadata", "__create_topics_internal"} {
		a.Do("create "+name, noConfigs, createTopic(name, 1))
		a.Do("create "+name+" again", noConfigs, createTopic(name, 1))
	}
	a.Send("describe", 12, metadataFor("__consumer_offsets", "__transaction_state", "__share_group_state", "__remote_log_metadata")).
		Only("Topics.Topic", "Topics.IsInternal").Await()
	a.Do("delete __consumer_offsets", 5, deleteTopics("__consumer_offsets"))
}

func runCreateTopicsTimeout(c *C) {
	a := c.Conn("a")
	a.MakeTopic("create-topics-timeout-old", 1)
	names := []kmsg.CreateTopicsRequestTopic{
		topicSpec("create-topics-timeout", 1, 1), topicSpec("bad name", 1, 1), topicSpec("create-topics-timeout-old", 1, 1),
		topicSpec("__cluster_metadata", 1, 1), topicSpec("create-topics-timeout-twice", 1, 1), topicSpec("create-topics-timeout-twice", 1, 1),
	}
	for v := int16(2); v <= 7; v++ {
		for _, timeout := range []int32{0, -1, -2147483648} {
			req := createTopics(names...)
			req.TimeoutMillis = timeout
			a.Do(vn(v)+" timeout "+number(int64(timeout)), v, req)
		}
	}
	req := createTopics(names[3:]...)
	req.TimeoutMillis = 0
	a.Do("no name is left", 7, req)
	req = createTopics(topicSpec("create-topics-timeout", 20_000, 1))
	req.TimeoutMillis, req.ValidateOnly = 0, true
	a.Do("too many partitions, validate only", 7, req)
	a.Do("describe", 12, metadataFor("create-topics-timeout", "create-topics-timeout-old"))
	a.Do("with time", noConfigs, createTopic("create-topics-timeout", 1))
}
