package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupTimeScenarios show what happens to members when time passes or the broker starts again.
func groupTimeScenarios() []Scenario {
	return withGroupSet([]Scenario{
		{
			Name:  "group-initial-delay",
			Claim: "The first generation of an empty group waits group.initial.rebalance.delay.ms for more members, and as long again when one has come; the first to come leads.",
			Set:   groupSetWith("group.initial.rebalance.delay.ms", "2000"),
			Run:   runGroupInitialDelay,
		},
		{
			Name:  "group-rebalance-timeout",
			Claim: "A member that does not join again within the largest rebalance timeout is out, and the generation starts without it; a static one keeps its place.",
			Set:   shortSessions,
			Run:   runGroupRebalanceTimeout,
		},
		{
			Name:  "group-never-syncs",
			Claim: "Members that joined and do not sync within the rebalance timeout are out, also when the leader has synced, and those that have are sent back to join.",
			Set:   shortSessions,
			Run:   runGroupNeverSyncs,
		},
		{
			Name:  "group-session-expires",
			Claim: "A member that is not heard of for its session timeout is out: the others are sent back to join; the last one leaves an Empty group of a higher generation. An id that was given out is void after as long.",
			Set:   shortSessions,
			Run:   runGroupSessionExpires,
		},
		{
			Name:  "group-max-size",
			Claim: "Beyond group.max.size members JoinGroup is GROUP_MAX_SIZE_REACHED, with or without an id or instance id, until one leaves.",
			Set:   groupSetWith("group.max.size", "2"),
			Run:   runGroupMaxSize,
		},
		{
			Name:  "group-restart",
			Claim: "Members, generation and assignments survive a clean stop and a kill: heartbeats, syncs and commits go on, no rebalance.",
			Fresh: true,
			Run:   runGroupRestart,
		},
		{
			Name:  "group-restart-in-rebalance",
			Claim: "A stop during the sync phase or the join phase leaves the group where the last assignment was made, or the generation before it.",
			Fresh: true,
			Run:   runGroupRestartInRebalance,
		},
	})
}

// turnMs is a timeout that a script waits for, and within which it can send what is to come in time on a busy machine.
const turnMs = 3_000

// shortSessions let sessions end while a script waits.
var shortSessions = groupSetWith("group.min.session.timeout.ms", "100")

func runGroupInitialDelay(c *C) {
	const group = "group-initial-delay"
	c.Conn("a").AwaitGroupCoordinator(group)
	first := c.Conn("a").Send("join", 3, joinRequest(group, "", "range:a"))
	first.Parked()
	AskUntil(c.Conn("admin"), "wait until it has joined", 5, describeGroupsRequest(group), func(r *kmsg.DescribeGroupsResponse) bool {
		return len(r.Groups[0].Members) == 1
	})
	second := c.Conn("b").Send("join", 3, joinRequest(group, "", "range:b"))
	first.Await()
	first.TookAtLeast(3500 * time.Millisecond)
	second.Await()
	alone := c.Conn("c").Send("join another group", 3, joinRequest(group+"-2", "", "range:c"))
	alone.Await()
	alone.TookAtLeast(1900 * time.Millisecond)
	short := joinRequest(group+"-3", "", "range:c")
	short.RebalanceTimeoutMillis = 100
	alone = c.Conn("c").Send("join with a rebalance timeout below the delay", 3, short)
	alone.Await()
	alone.TookAtLeast(1900 * time.Millisecond)
}

func runGroupRebalanceTimeout(c *C) {
	const group = "group-rebalance-timeout"
	a, b := c.groupOfTwo(group)
	s := c.staticMember("s", group)
	joinS := s.Send("join", 9, patient(s.joinRequest(), turnMs))
	a.awaitRebalance()
	joinA := a.Send("join again", 9, patient(a.joinRequest(), turnMs))
	b.awaitRebalance()
	b.joined(b.Send("join again", 9, patient(b.joinRequest(), turnMs)))
	a.joined(joinA)
	s.joined(joinS)
	a.sync("sync", a.id+":x", b.id+":y", s.id+":z").Await()
	b.sync("sync").Await()
	s.sync("sync").Await()
	joinA = a.Send("join again: the others stay away", 9, patient(a.joinRequest(), turnMs))
	a.joined(joinA)
	joinA.TookAtLeast((turnMs - 500) * time.Millisecond)
	b.heartbeat("heartbeat of who stayed away")
	s.heartbeat("heartbeat of the static member, in its generation")
	b.Do("join of who stayed away", 9, b.joinRequest())
	a.sync("sync", a.id+":x", s.id+":z").Await()
	c.Conn("admin").Do("describe", 5, describeGroupsRequest(group))
}

func patient(req *kmsg.JoinGroupRequest, rebalanceMs int32) *kmsg.JoinGroupRequest {
	req.RebalanceTimeoutMillis = rebalanceMs
	return req
}

func runGroupNeverSyncs(c *C) {
	const group = "group-never-syncs"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.groupMember("a", group)
	a.joined(a.Send("join", 9, patient(a.joinRequest(), turnMs)))
	AskUntil(a.Conn, "heartbeat until it is out", 4, heartbeatRequest(group, a.id, 1), func(r *kmsg.HeartbeatResponse) bool {
		return r.ErrorCode != 0
	})
	a.Do("describe", 5, describeGroupsRequest(group))

	b, d := c.groupMember("b", group), c.groupMember("d", group)
	b.joined(b.Send("join", 9, patient(b.joinRequest(), turnMs)))
	joinD := d.Send("join", 9, patient(d.joinRequest(), turnMs))
	b.awaitRebalance()
	b.joined(b.Send("join again", 9, patient(b.joinRequest(), turnMs)))
	d.joined(joinD)
	b.sync("sync: the other does not", b.id+":x", d.id+":y").Await()
	b.awaitRebalance()
	b.joined(b.join("join again"))
	d.heartbeat("heartbeat of who did not sync")
	c.Conn("admin").Do("describe", 5, describeGroupsRequest(group))
}

func runGroupSessionExpires(c *C) {
	const group = "group-session-expires"
	a, b := c.groupOfTwo(group)
	b.protocols = []string{"range:b+"}
	req := b.joinRequest()
	req.SessionTimeoutMillis = turnMs
	joinB := b.Send("join with other metadata and a short session", 9, req)
	a.awaitRebalance()
	a.joined(a.join("join again"))
	b.joined(joinB)
	a.sync("sync", a.id+":x", b.id+":y").Await()
	a.awaitRebalance()
	b.heartbeat("heartbeat after its session")
	req = a.joinRequest()
	req.SessionTimeoutMillis = turnMs
	a.joined(a.Send("join again with a short session", 9, req))
	a.sync("sync", a.id+":x").Await()
	AskUntil(c.Conn("admin"), "describe until it is Empty", 5, describeGroupsRequest(group), func(r *kmsg.DescribeGroupsResponse) bool {
		return r.Groups[0].State == "Empty"
	})
	a.heartbeat("heartbeat after its session")

	d := c.groupMember("d", group).alone()
	given := joinRequest(group, "", "range:e")
	given.SessionTimeoutMillis = turnMs
	id := Ask[*kmsg.JoinGroupResponse](c.Conn("e"), "ask for an id", 9, given).MemberID
	p := d.join("join again: a rebalance that waits for who was given an id")
	p.Parked()
	d.joined(p)
	p.TookAtLeast(500 * time.Millisecond)
	c.Conn("e").Do("join with the id", 9, joinRequest(group, id, "range:e"))
}

func runGroupMaxSize(c *C) {
	const group = "group-max-size"
	a, b := c.groupOfTwo(group)
	n := c.Conn("n")
	for _, v := range []int16{3, 9} {
		n.Do("a third", v, joinRequest(group, "", "range:n"))
	}
	n.Do("a third with an id that was not given out", 9, joinRequest(group, "nobody", "range:n"))
	static := joinRequest(group, "", "range:n")
	static.InstanceID = kmsg.StringPtr("instance")
	n.Do("a third with an instance id", 9, static)
	b.joined(b.join("a member joins again"))
	a.heartbeat("heartbeat: no rebalance")
	b.Do("leave", 5, leaveRequest(group, b.id))
	d := c.groupMember("d", group)
	joinD := d.join("join in its place")
	a.awaitRebalance()
	a.joined(a.join("join again"))
	d.joined(joinD)
	n.Do("a third, again", 9, joinRequest(group, "", "range:n"))
}

func runGroupRestart(c *C) {
	const group = "group-restart"
	c.Conn("a").AwaitGroupCoordinator(group)
	c.Conn("a").offsetsTopic(group, 1)
	a := c.groupMember("a", group).alone()
	b := c.staticMember("b", group).joinsAfter(a)
	a.Do("commit", 9, a.commit(group, 5))
	for i, again := range []func(){c.Restart, c.Kill} {
		again()
		a.Conn, b.Conn = c.Conn("a"), c.Conn("b")
		a.AwaitGroupCoordinator(group)
		a.heartbeat("heartbeat")
		b.heartbeat("heartbeat")
		b.sync("sync").Await()
		a.sync("sync").Await()
		b.joined(b.join("a follower joins again"))
		a.Do("describe", 5, describeGroupsRequest(group))
		a.Do("offsets", 9, fetchAllRequest(group))
		a.Do("commit", 9, a.commit(group, int64(6+i)))
	}
}

func runGroupRestartInRebalance(c *C) {
	const group = "group-restart-in-rebalance"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.groupMember("a", group).alone()
	b := c.staticMember("b", group).joinsAfter(a)
	for _, step := range []string{"join", "sync"} {
		if step == "sync" {
			a.rebalances(b)
			b.sync("sync").Parked()
		} else {
			a.join("join again: it leads, so there is a rebalance").Parked()
		}
		c.Restart()
		a.Conn, b.Conn = c.Conn("a"), c.Conn("b")
		a.AwaitGroupCoordinator(group)
		a.Do("describe after a stop in the phase of "+step, 5, describeGroupsRequest(group))
		a.heartbeat("heartbeat")
		b.heartbeat("heartbeat")
	}
}
