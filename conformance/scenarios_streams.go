package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// streamsScenarios show how members of streams groups join, are given tasks, give them back and go (KIP-1071).
func streamsScenarios() []Scenario {
	return inStreamsPart([]Scenario{
		{
			Name:  "streams-refusals",
			Claim: "StreamsGroupHeartbeat refuses what is not supported yet before what is wrong: instance ids, offsets of tasks, warm-up tasks, patterns; then empty ids, a join that lacks what it must have, half of the task lists.",
			Run:   runStreamsRefusals,
		},
		{
			Name:  "streams-alone",
			Claim: "A lone member is given all tasks with its join, and told of them again only when it joins again; each change of the group raises its epoch; after it left the group is Empty and keeps its topology.",
			Run:   runStreamsAlone,
		},
		{
			Name:  "streams-two-members",
			Claim: "A second member waits for its tasks until the first says that it has given them back; nobody is told anything twice.",
			Run:   runStreamsTwoMembers,
		},
		{
			Name:  "streams-metadata",
			Claim: "What a member says of itself is kept when a later heartbeat leaves it out, and each change of it raises the group's epoch: rack, rebalance timeout, process, endpoint, tags.",
			Run:   runStreamsMetadata,
		},
		{
			Name:  "streams-fencing",
			Claim: "An epoch that is not the member's is FENCED_MEMBER_EPOCH, but the one before is good while the member owns nothing that it was not given; an unknown member is UNKNOWN_MEMBER_ID, an unknown group GROUP_ID_NOT_FOUND.",
			Run:   runStreamsFencing,
		},
		{
			Name:  "streams-unknown-tasks",
			Claim: "Tasks of a subtopology that is not there, or beyond its number of tasks, are INVALID_REQUEST once the topology is good.",
			Run:   runStreamsUnknownTasks,
		},
		{
			Name:  "streams-one-process",
			Claim: "Members of one process share its load; a task moves between them as between processes.",
			Run:   runStreamsOneProcess,
		},
		{
			Name:  "streams-shutdown",
			Claim: "A member that asks for the application to shut down has every member told so with its name, each time, until the group is Empty; also one that asks when it leaves.",
			Run:   runStreamsShutdown,
		},
		{
			Name:  "streams-max-size",
			Claim: "A join beyond group.streams.max.size is GROUP_MAX_SIZE_REACHED, that of a member too.",
			Set:   streamsSetWith("group.streams.max.size", "1"),
			Run:   runStreamsMaxSize,
		},
		{
			Name:  "streams-endpoints",
			Claim: "Members with an endpoint are told to all members whose endpoint epoch is not the group's; the epoch rises when one of them is given other tasks.",
			Run:   runStreamsEndpoints,
		},
		{
			Name:  "streams-standbys",
			Claim: "With streams.num.standby.replicas stateful tasks have copies in other processes; a change of the number is found by the next heartbeat.",
			Run:   runStreamsStandbys,
		},
	})
}

// inStreamsPart gives scenarios their part and, when they ask for none, the properties of scripts of streams groups.
func inStreamsPart(list []Scenario) []Scenario {
	for i := range list {
		if list[i].Set == nil {
			list[i].Set = streamsSet
		}
	}
	return list
}

func runStreamsRefusals(c *C) {
	const group = "streams-refusals"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	good := func() *kmsg.StreamsGroupHeartbeatRequest {
		return streamsJoin(group, "a", topologyOf(0, subtopologyOf("0", group)))
	}
	for _, step := range []struct {
		name   string
		change func(*kmsg.StreamsGroupHeartbeatRequest)
	}{
		{"an instance id", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.InstanceID = kmsg.StringPtr("i") }},
		{"an instance id and no member id", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.InstanceID, r.MemberID = kmsg.StringPtr(""), "" }},
		{"offsets of tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.TaskOffsets = []kmsg.TaskOffset{} }},
		{"end offsets of tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.TaskEndOffsets = []kmsg.TaskOffset{{SubtopologyID: "0", Partition: 0, Offset: 1}}
		}},
		{"warm-up tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.WarmupTasks = tasksOf(0) }},
		{"a pattern", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.Topology.Subtopologies[0].SourceTopicRegex = []string{".*"}
		}},
		{"no member id", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberID = "" }},
		{"a blank member id", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberID = "  " }},
		{"no group id", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.Group = "" }},
		{"an empty rack", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.RackID = kmsg.StringPtr("") }},
		{"no rebalance timeout", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.RebalanceTimeoutMillis = -1 }},
		{"active tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.ActiveTasks = tasksOf(0) }},
		{"null active tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.ActiveTasks = nil }},
		{"standby tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.StandbyTasks = tasksOf(0) }},
		{"null standby tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.StandbyTasks = nil }},
		{"null warm-up tasks", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.WarmupTasks = nil }},
		{"no topology", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.Topology = nil }},
		{"a changelog with partitions", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.Topology.Subtopologies[0].StateChangelogTopics = []kmsg.TopicInfo{internal("x-changelog", 3)}
		}},
		{"a topic of Kafka itself", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.Topology.Subtopologies[0].SourceTopics = []string{"__consumer_offsets", group}
		}},
		{"names that are none", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.Topology.Subtopologies[0].SourceTopics = []string{"a b", group}
			r.Topology.Subtopologies[0].RepartitionSinkTopics = []string{".", ".."}
		}},
		{"a static member leaves without instance id", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberEpoch, r.Topology = -2, nil }},
		{"epoch -3", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberEpoch, r.Topology = -3, nil }},
		{"a topology after the join", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberEpoch = 1 }},
		{"active tasks alone", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.MemberEpoch, r.Topology, r.StandbyTasks = 1, nil, nil
		}},
		{"no active tasks beside others", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberEpoch, r.Topology, r.ActiveTasks = 1, nil, nil }},
		{"no group of that name", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberEpoch, r.Topology = 1, nil }},
		{"leave a group that is not there", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberEpoch, r.Topology = -1, nil }},
	} {
		req := good()
		step.change(req)
		a.Do(step.name, 0, req)
	}
	a.Do("none of that made the group", 0, describeStreams(group))
}

func runStreamsAlone(c *C) {
	const group = "streams-alone"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 3)
	a.join("join")
	a.describeStreams("describe", group)
	a.beat("heartbeat: nothing new")
	a.owns("heartbeat with what it has: nothing new")
	a.join("join again: told again")
	a.describeStreams("describe: the epoch is the same", group)
	a.leave("leave")
	a.leave("leave again")
	a.describeStreams("describe: Empty", group)
	a.beat("heartbeat after it left")
	a.join("join anew")
	a.beat("heartbeat")
	all := describeStreams(group, group, "streams-alone-none", "")
	all.IncludeAuthorizedOperations = true
	a.Do("describe twice, one that is not there, the empty id", 0, all)
	a.leave("leave the second time")
	a.Do("delete", 2, deleteGroupsRequest(group))
	a.describeStreams("describe: gone", group)
}

func runStreamsTwoMembers(c *C) {
	const group = "streams-two-members"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 4)
	a.join("the first joins")
	a.owns("it has what it was given")
	b.join("the second joins: nothing is free")
	b.beat("it waits")
	a.describeStreams("describe: the second reconciles", group)
	a.beat("the first is told what it may keep")
	a.beat("it says nothing of what it has: the same epoch")
	b.beat("the second still waits")
	a.describeStreams("describe: the first is to give back", group)
	a.owns("the first has given back")
	b.beat("the second is given them")
	b.owns("it has them")
	a.describeStreams("describe: Stable", group)
	b.leave("the second leaves")
	a.beat("the first is given all")
	a.owns("it has all")
	a.describeStreams("describe: Stable again", group)
	b.join("the second joins again")
	a.leave("the first leaves before it gave back")
	b.beat("the second has all")
}

func runStreamsMetadata(c *C) {
	const group = "streams-metadata"
	a := c.streamsMember("a", group, topologyOf(7, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	req := a.joinRequest()
	req.RackID, req.ClientTags = kmsg.StringPtr("rack-1"), []kmsg.StreamsGroupHeartbeatRequestClientTag{{Key: "zone", Value: "x"}, {Key: "cluster", Value: "y"}}
	a.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](a.Conn, "join with a rack and tags", 0, req))
	a.describeStreams("describe", group)
	a.beat("heartbeat without them")
	for _, step := range []struct {
		name   string
		change func(*kmsg.StreamsGroupHeartbeatRequest)
	}{
		{"the rack it has", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.RackID = kmsg.StringPtr("rack-1") }},
		{"another rack", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.RackID = kmsg.StringPtr("rack-2") }},
		{"another rebalance timeout", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.RebalanceTimeoutMillis = 1000 }},
		{"another process", func(r *kmsg.StreamsGroupHeartbeatRequest) { r.ProcessID = kmsg.StringPtr("p") }},
		{"an endpoint", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.UserEndpoint = &kmsg.StreamsGroupHeartbeatRequestUserEndpoint{Host: "h", Port: 65535}
		}},
		{"no tags", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.ClientTags = []kmsg.StreamsGroupHeartbeatRequestClientTag{}
		}},
		{"tags that stand twice", func(r *kmsg.StreamsGroupHeartbeatRequest) {
			r.ClientTags = []kmsg.StreamsGroupHeartbeatRequestClientTag{{Key: "k", Value: "1"}, {Key: "k", Value: "2"}}
		}},
	} {
		for _, again := range []string{"", " again"} {
			req := streamsHeartbeat(group, a.id, a.epoch)
			req.EndpointInformationEpoch = a.endpoints
			step.change(req)
			a.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](a.Conn, step.name+again, 0, req))
		}
	}
	a.describeStreams("describe again", group)
}

func runStreamsFencing(c *C) {
	const group = "streams-fencing"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.join("join")
	first := a.epoch
	a.Do("an unknown member", 0, streamsHeartbeat(group, "x", first))
	a.Do("an unknown member leaves", 0, streamsHeartbeat(group, "x", -1))
	a.Do("a higher epoch", 0, streamsHeartbeat(group, "a", first+1))
	a.Do("a lower epoch", 0, streamsHeartbeat(group, "a", first-1))
	b.join("a second member joins")
	a.owns("the first is told to give back")
	a.owns("it has given back")
	b.beat("the second is given")
	a.Do("the epoch before, without its tasks", 0, streamsHeartbeat(group, "a", first))
	before := func(active ...int32) *kmsg.StreamsGroupHeartbeatRequest {
		req := streamsHeartbeat(group, "a", first)
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = tasksOf(active...), tasksOf(), tasksOf()
		return req
	}
	a.Do("the epoch before, with no tasks", 0, before())
	a.Do("the epoch before, with what it has", 0, before(a.has.ActiveTasks[0].Partitions...))
	a.Do("the epoch before, with what it has no more", 0, before(0, 1))
	req := before()
	req.ActiveTasks = tasksIn("x", 0)
	a.Do("the epoch before, with tasks of another subtopology", 0, req)
	a.beat("its epoch")
	a.Do("two epochs before", 0, streamsHeartbeat(group, "a", first-1))
}

func runStreamsUnknownTasks(c *C) {
	const group = "streams-unknown-tasks"
	a := c.streamsMember("a", group, topologyOf(0, subtopologyOf("0", group)))
	a.AwaitGroupCoordinator(group)
	a.join("join: the topic is missing")
	has := func(id string, partitions ...int32) *kmsg.StreamsGroupHeartbeatRequest {
		req := streamsHeartbeat(group, "a", a.epoch)
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = tasksIn(id, partitions...), tasksOf(), tasksOf()
		return req
	}
	a.Do("another subtopology while the topic is missing", 0, has("x", 0))
	a.streamsTopic(group, 2)
	a.until("heartbeat until there are tasks", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return len(r.ActiveTasks) > 0 })
	a.Do("another subtopology", 0, has("x", 0))
	a.Do("a task beyond the number", 0, has("0", 0, 2))
	a.Do("a negative task", 0, has("0", -1))
	req := has("0", 0)
	req.StandbyTasks = tasksOf(7)
	a.Do("a standby task beyond the number", 0, req)
	a.Do("what it has", 0, has("0", 0, 1))
	req = has("0", 0)
	req.ActiveTasks = append(req.ActiveTasks, kmsg.TaskIDs{SubtopologyID: "0", Partitions: []int32{1}})
	a.Do("a subtopology that stands twice", 0, req)
}

func runStreamsOneProcess(c *C) {
	const group = "streams-one-process"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	d := c.streamsMember("d", group, topology)
	b.process = a.process
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 6)
	a.join("the first of a process joins")
	b.join("the second of it joins")
	a.owns("the first is to give back")
	a.owns("it has")
	b.beat("the second is given")
	d.join("another process joins")
	a.owns("the first is to give back again")
	a.owns("it has again")
	b.owns("the second too")
	b.owns("it has too")
	d.beat("the other process is given")
	a.describeStreams("describe", group)
}

func runStreamsShutdown(c *C) {
	const group = "streams-shutdown"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	a.join("join")
	b.join("a second member joins")
	req := streamsHeartbeat(group, "a", a.epoch)
	req.ShutdownApplication = true
	a.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](a.Conn, "the first asks for a shutdown", 0, req))
	b.beat("the second is told")
	b.beat("the second is told again")
	req = streamsHeartbeat(group, "b", b.epoch)
	req.ShutdownApplication = true
	b.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](b.Conn, "the second asks too: the first did it", 0, req))
	a.leave("the first leaves")
	b.beat("the second is told still")
	b.leave("the second leaves")
	a.join("join anew: told no more")
	b.join("the second joins anew")
	req = streamsHeartbeat(group, "b", -1)
	req.ShutdownApplication = true
	b.Do("the second leaves and asks for a shutdown", 0, req)
	a.beat("the first is told")
}

func runStreamsMaxSize(c *C) {
	const group = "streams-max-size"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 1)
	a.join("join")
	b.join("a second member")
	a.join("the first again")
	a.beat("a heartbeat of it")
	a.leave("it leaves")
	b.join("the second member again")
}

func runStreamsEndpoints(c *C) {
	const group = "streams-endpoints"
	sub := subtopologyOf("0", group)
	topology := topologyOf(0, sub, subtopologyOf("1", group+"-small"))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	d := c.streamsMember("d", group, topology)
	a.host, b.host = "host-a", "host-b"
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.streamsTopic(group+"-small", 1)
	a.join("join with an endpoint: the group is new")
	a.beat("heartbeat")
	a.beat("heartbeat with the epoch it was told")
	b.join("a second member with an endpoint")
	a.owns("the first is to give back")
	a.owns("it has")
	b.beat("the second is given")
	b.beat("the second again")
	a.beat("the first is told of the second")
	a.beat("the first again: nothing new")
	d.join("a third one without an endpoint is told of both")
	d.beat("it again")
	stale := streamsHeartbeat(group, "d", d.epoch)
	stale.EndpointInformationEpoch = 99
	d.Do("an epoch from nowhere", 0, stale)
	d.leave("the third leaves")
	b.leave("the second leaves")
	a.beat("the first has all")
	a.beat("the first again")
}

func runStreamsStandbys(c *C) {
	const group = "streams-standbys"
	sub := subtopologyOf("0", group)
	sub.StateChangelogTopics = []kmsg.TopicInfo{internal(group+"-changelog", 0, "cleanup.policy", "compact")}
	topology := topologyOf(0, sub)
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.host, b.host = "host-a", "host-b"
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.streamsTopic(group+"-changelog", 2)
	a.Do("one standby", 1, alterConfigs(ofGroup, group, set("streams.num.standby.replicas", "1")))
	AskUntil(a.Conn, "read it", 4, describeConfigs(ofGroup, group, "streams.num.standby.replicas"), func(r *kmsg.DescribeConfigsResponse) bool {
		return *r.Resources[0].Configs[0].Value == "1"
	})
	a.join("join: no other process")
	a.beat("heartbeat")
	b.join("a second process joins")
	a.owns("the first is to give back")
	a.owns("it has: one active, one standby")
	b.beat("the second has the other way round")
	b.owns("it has them")
	a.beat("the first")
	a.describeStreams("describe", group)
	a.Do("no standby", 1, alterConfigs(ofGroup, group, set("streams.num.standby.replicas", "0")))
	a.until("heartbeat until the standby is to go", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return r.ActiveTasks != nil })
	a.owns("it is gone")
	b.beat("the second is to give back too")
	b.owns("it is gone")
	a.describeStreams("describe without standbys", group)
	a.Do("three standbys: too many", 1, alterConfigs(ofGroup, group, set("streams.num.standby.replicas", "3")))
	a.Do("a heartbeat interval below the bound", 1, alterConfigs(ofGroup, group, set("streams.heartbeat.interval.ms", "4999")))
	a.Do("another heartbeat interval", 1, alterConfigs(ofGroup, group, set("streams.heartbeat.interval.ms", "6000")))
	AskUntil(a.Conn, "heartbeat until the interval is told", 0, streamsHeartbeat(group, "a", a.epoch), func(r *kmsg.StreamsGroupHeartbeatResponse) bool {
		return r.HeartbeatIntervalMillis == 6000
	})
}
