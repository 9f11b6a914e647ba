package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// streamsTopicScenarios show what the coordinator makes of a topology and its topics.
func streamsTopicScenarios() []Scenario {
	return inStreamsPart([]Scenario{
		{
			Name:  "streams-missing-sources",
			Claim: "While source topics are missing the group is NotReady and its members are told which, three at most and a number; when they are there, the next heartbeats bring tasks.",
			Run:   runStreamsMissingSources,
		},
		{
			Name:  "streams-internal-topics",
			Claim: "Changelogs and repartition topics are created with the partitions that come of the topology and the configs that it asks for; members are told that they are missing until they are there.",
			Run:   runStreamsInternalTopics,
		},
		{
			Name:  "streams-internal-topics-fail",
			Claim: "An internal topic that cannot be created is told with the reason; one that has another number of partitions makes the topology INCORRECTLY_PARTITIONED_TOPICS.",
			Run:   runStreamsInternalTopicsFail,
		},
		{
			Name:  "streams-copartition",
			Claim: "Topics of a co-partition group have one number of partitions: source topics must, repartition topics are given it, one with a fixed number must match.",
			Run:   runStreamsCopartition,
		},
		{
			Name:  "streams-invalid-topologies",
			Claim: "A topology whose repartition topics cannot be counted, or that reads nothing, is refused: STREAMS_INVALID_TOPOLOGY; what fails inside Kafka's coordinator is UNKNOWN_SERVER_ERROR.",
			Run:   runStreamsInvalidTopologies,
		},
		{
			Name:  "streams-stale-topology",
			Claim: "A member with a topology of an older epoch is let in and told STALE_TOPOLOGY; another topology, of the same epoch or a newer one, is INVALID_REQUEST, but an Empty group keeps its topology too.",
			Run:   runStreamsStaleTopology,
		},
		{
			Name:  "streams-topic-changes",
			Claim: "When a source topic grows there are more tasks; when it is deleted the group is NotReady and nobody has tasks; when it is made anew there are tasks again.",
			Run:   runStreamsTopicChanges,
		},
	})
}

func runStreamsMissingSources(c *C) {
	const group = "streams-missing-sources"
	names := []string{group + "-1", group + "-2", group + "-3", group + "-4", group + "-5"}
	a := c.streamsMember("a", group, topologyOf(3, subtopologyOf("0", names[2], names[0]), subtopologyOf("1", names[3], names[4], names[1])))
	a.AwaitGroupCoordinator(group)
	a.join("join: five are missing")
	a.describeStreams("describe", group)
	a.beat("heartbeat: the same")
	a.owns("heartbeat with no tasks: the same")
	for i, name := range names[:2] {
		a.streamsTopic(name, int32(i+1))
	}
	a.until("heartbeat: three are missing", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return !hasStatus(r, "additional") })
	for _, name := range names[2:] {
		a.streamsTopic(name, 1)
	}
	a.until("heartbeat until none is missing", noStatus)
	a.describeStreams("describe: Stable", group)
}

func runStreamsInternalTopics(c *C) {
	const group = "streams-internal-topics"
	first := subtopologyOf("0", group)
	first.RepartitionSinkTopics = []string{group + "-repartition", group + "-fixed-repartition"}
	second := subtopologyOf("1")
	second.RepartitionSourceTopics = []kmsg.TopicInfo{
		internal(group+"-repartition", 0, "cleanup.policy", "delete", "segment.bytes", "52428800", "retention.ms", "-1", "message.timestamp.type", "CreateTime"),
	}
	second.StateChangelogTopics = []kmsg.TopicInfo{internal(group+"-store-changelog", 0, "cleanup.policy", "compact", "message.timestamp.type", "CreateTime")}
	third := subtopologyOf("2")
	third.RepartitionSourceTopics = []kmsg.TopicInfo{internal(group+"-fixed-repartition", 5)}
	third.RepartitionSourceTopics[0].ReplicationFactor = 1
	a := c.streamsMember("a", group, topologyOf(0, first, second, third))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 3)
	a.join("join: they are missing")
	internals := []string{group + "-repartition", group + "-fixed-repartition", group + "-store-changelog"}
	for i, partitions := range []int32{3, 5, 3} {
		a.AwaitTopic(internals[i], partitions) // one that is asked for twice is told to be there already
	}
	a.until("heartbeat until they are there", noStatus)
	a.owns("heartbeat")
	a.describeStreams("describe: with the numbers of partitions", group)
	a.Do("what came of them", 12, metadataFor(internals...))
	for _, name := range internals {
		a.Do("configs of "+name, 4, describeConfigs(ofTopic, name, "cleanup.policy", "segment.bytes", "retention.ms", "message.timestamp.type"))
	}
	a.Do("delete one", 4, deleteTopics(internals[2]))
	a.until("heartbeat until it is missing", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return len(r.Status) > 0 })
	a.until("heartbeat until it is there again", noStatus)
	a.owns("heartbeat with no tasks")
	a.describeStreams("describe: Stable again", group)
}

func runStreamsInternalTopicsFail(c *C) {
	const group = "streams-internal-topics-fail"
	sub := subtopologyOf("0", group)
	sub.StateChangelogTopics = []kmsg.TopicInfo{internal(group+"-changelog", 0, "cleanup.policy", "nonsense")}
	a := c.streamsMember("a", group, topologyOf(0, sub))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.join("join: one is missing")
	a.until("heartbeat until the reason is told", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return hasStatus(r, "Creation failed") })
	a.describeStreams("describe: NotReady", group)
	a.streamsTopic(group+"-changelog", 5)
	a.until("heartbeat until it is there with another number of partitions", func(r *kmsg.StreamsGroupHeartbeatResponse) bool {
		return !hasStatus(r, "missing")
	})
	a.beat("heartbeat again: the same")
	a.Do("grow the source", 3, morePartitions(group, 5))
	a.until("heartbeat until the numbers are the same", noStatus)
	a.describeStreams("describe: Stable", group)
}

func runStreamsCopartition(c *C) {
	const group = "streams-copartition"
	c.Conn("a").AwaitGroupCoordinator(group)
	n := c.Conn("a")
	n.streamsTopic(group+"-two", 2)
	n.streamsTopic(group+"-three", 3)
	both := func(repartition ...kmsg.TopicInfo) (subtopology, subtopology) {
		writes := subtopologyOf("0", group+"-three")
		reads := subtopologyOf("1", group+"-two")
		reads.RepartitionSourceTopics = repartition
		together := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup()
		together.SourceTopics = []int16{0}
		for i, t := range repartition {
			writes.RepartitionSinkTopics = append(writes.RepartitionSinkTopics, t.Topic)
			together.RepartitionSourceTopics = append(together.RepartitionSourceTopics, int16(i))
		}
		reads.CopartitionGroups = append(reads.CopartitionGroups, together)
		return writes, reads
	}
	join := func(name string, subtopologies ...subtopology) *streamsMember {
		m := c.streamsMember("a", group+"-"+name, topologyOf(0, subtopologies...))
		m.join("join " + name)
		m.beat("heartbeat " + name)
		m.describeStreams("describe "+name, m.group)
		return m
	}
	sources := subtopologyOf("0", group+"-two", group+"-three")
	sources.CopartitionGroups = []kmsg.StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup{{SourceTopics: []int16{0, 1}}}
	join("sources-differ", sources)
	writes, reads := both(internal(group+"-fixed", 3))
	join("fixed-differs", writes, reads)
	writes, reads = both(internal(group+"-free", 0))
	m := c.streamsMember("a", group+"-free", topologyOf(0, writes, reads))
	m.join("join free: it is made like the other")
	m.until("heartbeat until it is there", noStatus)
	m.describeStreams("describe: two partitions, not three", m.group)
	writes, reads = both(internal(group+"-x", 2), internal(group+"-y", 4))
	reads.SourceTopics = nil
	reads.CopartitionGroups[0].SourceTopics = nil
	join("fixed-differ", writes, reads)
	writes, reads = both(internal(group+"-p", 4), internal(group+"-q", 0))
	reads.SourceTopics = nil
	reads.CopartitionGroups[0].SourceTopics = nil
	m = c.streamsMember("a", group+"-one-fixed", topologyOf(0, writes, reads))
	m.join("join one-fixed: the other is made like it")
	m.until("heartbeat until they are there", noStatus)
	m.describeStreams("describe: four partitions", m.group)
}

func runStreamsInvalidTopologies(c *C) {
	const group = "streams-invalid-topologies"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").streamsTopic(group, 2)
	join := func(name string, subtopologies ...subtopology) {
		m := c.streamsMember("a", group+"-"+name, topologyOf(0, subtopologies...))
		m.join(name)
		m.describeStreams("describe after "+name, m.group)
	}
	join("no subtopologies")
	join("a subtopology without topics", subtopologyOf("0"))
	lonely := subtopologyOf("0", group)
	lonely.RepartitionSourceTopics = []kmsg.TopicInfo{internal(group+"-r", 0)}
	join("a repartition topic that nobody writes", lonely)
	x, y := subtopologyOf("0"), subtopologyOf("1")
	x.RepartitionSourceTopics, x.RepartitionSinkTopics = []kmsg.TopicInfo{internal(group+"-a", 0)}, []string{group + "-b"}
	y.RepartitionSourceTopics, y.RepartitionSinkTopics = []kmsg.TopicInfo{internal(group+"-b", 0)}, []string{group + "-a"}
	join("a loop", x, y)
	join("a subtopology id twice", subtopologyOf("0", group), subtopologyOf("0", group))
	beyond := subtopologyOf("0", group)
	beyond.CopartitionGroups = []kmsg.StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup{{SourceTopics: []int16{0, 1}}}
	join("a co-partition group of a topic that is not there", beyond)
	beyond.CopartitionGroups = []kmsg.StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup{{SourceTopics: []int16{-1}}}
	join("a co-partition group of a negative topic", beyond)
	beyond.CopartitionGroups = []kmsg.StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup{{}}
	join("an empty co-partition group", beyond)
	less := subtopologyOf("0", group)
	less.RepartitionSourceTopics = []kmsg.TopicInfo{internal(group+"-n", -1)}
	join("a negative number of partitions", less)
	endpoint := c.streamsMember("a", group+"-endpoint", topologyOf(0, subtopologyOf("0", group+"-missing")))
	endpoint.host = "h"
	endpoint.join("an endpoint while a source is missing")
	endpoint.describeStreams("describe after that", endpoint.group)
	negative := c.streamsMember("a", group+"-epoch", topologyOf(-1, subtopologyOf("0", group)))
	negative.join("a negative epoch")
	twice := subtopologyOf("0", group, group)
	join("a source that stands twice", twice)
}

func runStreamsStaleTopology(c *C) {
	const group = "streams-stale-topology"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").streamsTopic(group, 1)
	c.Conn("a").streamsTopic(group+"-2", 1)
	a := c.streamsMember("a", group, topologyOf(2, subtopologyOf("0", group)))
	b := c.streamsMember("b", group, topologyOf(1, subtopologyOf("0", group+"-2")))
	a.join("join with epoch 2")
	b.join("join with epoch 1 and another topology")
	b.beat("heartbeat of the stale member: told again")
	a.describeStreams("describe", group)
	d := c.streamsMember("d", group, topologyOf(2, subtopologyOf("0", group+"-2")))
	d.join("the same epoch and another topology")
	d.topology = topologyOf(3, subtopologyOf("0", group))
	d.join("a newer epoch and the same topology")
	d.topology = topologyOf(2, subtopologyOf("0", group))
	d.join("the same epoch and topology")
	b.topology = d.topology
	b.join("the stale member joins again with it")
	for _, m := range []*streamsMember{a, b, d} {
		m.leave("leave")
	}
	a.topology = topologyOf(3, subtopologyOf("0", group))
	a.join("a newer epoch when the group is Empty")
	a.Do("delete", 2, deleteGroupsRequest(group))
	a.join("a newer epoch when it is gone")
	a.describeStreams("describe again", group)
}

func runStreamsTopicChanges(c *C) {
	const group = "streams-topic-changes"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	a.join("join")
	a.Do("grow", 3, morePartitions(group, 3))
	a.until("heartbeat until there are more tasks", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return r.ActiveTasks != nil })
	a.describeStreams("describe", group)
	a.Do("delete the topic", 4, deleteTopics(group))
	a.until("heartbeat until it is missing", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return len(r.Status) > 0 })
	a.describeStreams("describe: NotReady", group)
	a.beat("heartbeat: to give back")
	a.has = nil
	a.owns("it has given back")
	a.streamsTopic(group, 2)
	a.until("heartbeat until there are tasks", func(r *kmsg.StreamsGroupHeartbeatResponse) bool {
		return len(r.ActiveTasks) > 0
	})
	a.describeStreams("describe: Stable", group)
}
