package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// streamsTimeScenarios show what happens to streams groups when time passes or the broker starts again.
func streamsTimeScenarios() []Scenario {
	return inStreamsPart([]Scenario{
		{
			Name:  "streams-initial-delay",
			Claim: "A group that was Empty waits group.streams.initial.rebalance.delay.ms before its first assignment; its members are told ASSIGNMENT_DELAYED meanwhile.",
			Set:   streamsSetWith("group.streams.initial.rebalance.delay.ms", "2000"),
			Run:   runStreamsInitialDelay,
		},
		{
			Name:  "streams-assignment-interval",
			Claim: "Within group.streams.assignment.interval.ms of an assignment there is no other; members are told ASSIGNMENT_DELAYED.",
			Set:   streamsSetWith("group.streams.assignment.interval.ms", "3000"),
			Run:   runStreamsAssignmentInterval,
		},
		{
			Name:  "streams-session-expires",
			Claim: "A member that is not heard of for the group's session timeout is out, and its tasks go to the others.",
			Set:   shortStreams,
			Run:   runStreamsSessionExpires,
		},
		{
			Name:  "streams-rebalance-timeout",
			Claim: "A member that does not give back tasks within its rebalance timeout is out, though it heartbeats.",
			Run:   runStreamsRebalanceTimeout,
		},
		{
			Name:  "streams-restart",
			Claim: "Members, epochs and tasks survive a stop and a kill; endpoint epochs and a request to shut down do not.",
			Fresh: true,
			Run:   runStreamsRestart,
		},
	})
}

func runStreamsInitialDelay(c *C) {
	const group = "streams-initial-delay"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.join("join")
	a.describeStreams("describe: Assigning", group)
	a.beat("heartbeat")
	b.join("the second joins")
	b.beat("heartbeat of the second")
	a.until("heartbeat until the delay is over", noStatus)
	b.until("heartbeat of the second until the delay is over", noStatus)
	a.describeStreams("describe: each has one", group)
	a.leave("the first leaves")
	b.leave("the second leaves")
	a.join("join the Empty group: a delay again")
	a.until("heartbeat until that is over", noStatus)
}

func runStreamsAssignmentInterval(c *C) {
	const group = "streams-assignment-interval"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.join("join")
	b.join("the second joins at once")
	b.beat("heartbeat of the second")
	a.beat("heartbeat of the first")
	a.describeStreams("describe: Assigning", group)
	a.until("heartbeat until the first is to give back", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return r.ActiveTasks != nil })
	a.owns("it has")
	b.beat("the second is given")
}

func runStreamsSessionExpires(c *C) {
	const group = "streams-session-expires"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.join("join")
	b.join("the second joins")
	a.owns("the first is to give back")
	a.owns("it has")
	a.until("heartbeat of the first until the second is out", func(r *kmsg.StreamsGroupHeartbeatResponse) bool { return r.ActiveTasks != nil })
	b.beat("the second is heard of too late")
	a.describeStreams("describe", group)
}

func runStreamsRebalanceTimeout(c *C) {
	const group = "streams-rebalance-timeout"
	topology := topologyOf(0, subtopologyOf("0", group))
	a := c.streamsMember("a", group, topology)
	b := c.streamsMember("b", group, topology)
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	req := a.joinRequest()
	req.RebalanceTimeoutMillis = 2_000
	a.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](a.Conn, "join with a rebalance timeout of two seconds", 0, req))
	b.join("the second joins")
	a.beat("the first is to give back")
	a.describeStreams("describe", group)
	AskUntil(a.Conn, "heartbeat of the first until it is out", 0, streamsHeartbeat(group, "a", a.epoch), func(r *kmsg.StreamsGroupHeartbeatResponse) bool {
		return r.ErrorCode != 0
	})
	b.beat("the second is given all")
	a.describeStreams("describe again", group)
}

func runStreamsRestart(c *C) {
	const group = "streams-restart"
	topology := topologyOf(0, subtopologyOf("0", group))
	var a, b *streamsMember
	reopen := func() {
		a.Conn, b.Conn = c.Conn("a"), c.Conn("b")
		a.AwaitGroupCoordinator(group)
	}
	a, b = c.streamsMember("a", group, topology), c.streamsMember("b", group, topology)
	a.host = "host-a"
	a.AwaitGroupCoordinator(group)
	a.streamsTopic(group, 2)
	a.join("join")
	b.join("the second joins")
	a.owns("the first is to give back")
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		reopen()
		a.describeStreams("describe", group)
		a.beat("the first")
		b.beat("the second")
		a.describeStreams("describe after a heartbeat", group)
	}
	a.owns("the first has given back")
	b.beat("the second is given")
	req := streamsHeartbeat(group, "a", a.epoch)
	req.EndpointInformationEpoch, req.ShutdownApplication = a.endpoints, true
	a.keep(Ask[*kmsg.StreamsGroupHeartbeatResponse](a.Conn, "the first asks for a shutdown", 0, req))
	c.Restart()
	reopen()
	b.beat("the second knows nothing of it")
	a.beat("the first")
	a.describeStreams("describe at the end", group)
	b.leave("the second leaves")
	a.leave("the first leaves")
	c.Restart()
	reopen()
	a.describeStreams("describe: Empty", group)
	a.join("join")
}
