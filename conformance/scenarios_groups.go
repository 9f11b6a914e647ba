package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupScenarios show how members join, are assigned, stay and go in the classic protocol.
func groupScenarios() []Scenario {
	list := []Scenario{
		{
			Name:  "group-join-member-id",
			Claim: "From JoinGroup v4 on a new member is given an id with MEMBER_ID_REQUIRED and joins with it; an id that was not given out is UNKNOWN_MEMBER_ID.",
			Run:   runGroupJoinMemberID,
		},
		{
			Name:  "group-versions",
			Claim: "A lone member joins, syncs, heartbeats and leaves at every version; protocol type and a null protocol name come with JoinGroup v7 and SyncGroup v5.",
			Run:   runGroupVersions,
		},
		{
			Name:  "group-two-members",
			Claim: "The generation rises once per rebalance, the member of longest standing leads, a follower's SyncGroup waits for the leader's, and a second rebalance goes as the first.",
			Run:   runGroupTwoMembers,
		},
		{
			Name:  "group-sync-left-out",
			Claim: "A member that the leader leaves out gets an empty assignment, of two assignments for a member the last counts, one for a stranger counts for nothing; a second SyncGroup gives the same.",
			Run:   runGroupSyncLeftOut,
		},
		{
			Name:  "group-sync-refusals",
			Claim: "SyncGroup is refused for an unknown group or member, another generation, another protocol and during a join phase; then an accepted one changes what the first brought no more.",
			Run:   runGroupSyncRefusals,
		},
		{
			Name:  "group-session-timeout-bounds",
			Claim: "A session timeout outside group.min.session.timeout.ms and group.max.session.timeout.ms is INVALID_SESSION_TIMEOUT, each bound itself is good, and it is checked again at each join.",
			Run:   runGroupSessionTimeoutBounds,
		},
		{
			Name:  "group-inconsistent-protocols",
			Claim: "A joiner must share the protocol type and one protocol that all members support (INCONSISTENT_GROUP_PROTOCOL); the first one must have a type and a protocol; a refused one changes nothing.",
			Run:   runGroupInconsistentProtocols,
		},
		{
			Name:  "group-protocol-votes",
			Claim: "Each member votes for the first of its protocols that all support, most votes win; when the minority comes to be the majority the protocol changes.",
			Run:   runGroupProtocolVotes,
		},
		{
			Name:  "group-protocol-ties",
			Claim: "Of protocols with as many votes the choice is always the same, whoever leads and however they are named.",
			Run:   runGroupProtocolTies,
		},
		{
			Name:  "group-heartbeat-states",
			Claim: "Heartbeat answers by the group's state: UNKNOWN_MEMBER_ID when it is unknown or Empty, REBALANCE_IN_PROGRESS in the join phase, no error in the sync phase and when Stable, ILLEGAL_GENERATION for another generation.",
			Run:   runGroupHeartbeatStates,
		},
		{
			Name:  "group-rejoin",
			Claim: "A follower that joins again unchanged is told its generation at once; the leader, or a member with other metadata, brings about a rebalance, each time.",
			Run:   runGroupRejoin,
		},
		{
			Name:  "group-rejoin-while-syncing",
			Claim: "A member that joins again before the leader has assigned is told its generation again; with other metadata it sends the others that wait back to join.",
			Run:   runGroupRejoinWhileSyncing,
		},
	}
	return withGroupSet(list)
}

// withGroupSet gives the scenarios that ask for no properties those of scripts of groups.
func withGroupSet(list []Scenario) []Scenario {
	for i := range list {
		if list[i].Set == nil {
			list[i].Set = groupSet
		}
	}
	return list
}

func runGroupJoinMemberID(c *C) {
	const group = "group-join-member-id"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	a.Do("an id without a group", 9, joinRequest(group, "conformance-made-up", "range:a"))
	first := Ask[*kmsg.JoinGroupResponse](a, "new at v4", 4, joinRequest(group, "", "range:a"))
	second := Ask[*kmsg.JoinGroupResponse](a, "new at v9: another id", 9, joinRequest(group, "", "range:a"))
	a.Do("describe: ids that were given out are no members", 5, describeGroupsRequest(group))
	a.Do("an id that was not given out", 9, joinRequest(group, "conformance-made-up", "range:a"))
	a.Do("heartbeat with a given id before the join", 4, heartbeatRequest(group, first.MemberID, 0))
	a.Do("leave with the second id", 5, leaveRequest(group, second.MemberID))
	a.Do("join with the id that left", 9, joinRequest(group, second.MemberID, "range:a"))
	joined := Ask[*kmsg.JoinGroupResponse](a, "join with the first id", 9, joinRequest(group, first.MemberID, "range:a"))
	a.Do("sync", 5, syncRequest(group, joined.MemberID, joined.Generation, joined.MemberID+":x"))
	a.Do("describe: one member", 5, describeGroupsRequest(group))
	a.Do("join with it again: the leader starts a rebalance", 9, joinRequest(group, first.MemberID, "range:a"))

	b := c.Conn("b")
	b.Do("at v3 there is no second step", 3, joinRequest(group+"-v3", "", "range:a"))
}

func runGroupVersions(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("group-versions")
	for v := int16(0); v <= 9; v++ {
		group := fmt.Sprintf("group-versions-%d", v)
		id := ""
		if v >= 4 {
			id = Ask[*kmsg.JoinGroupResponse](a, "ask for an id", v, joinRequest(group, "", "range:a")).MemberID
		}
		r := Ask[*kmsg.JoinGroupResponse](a, "join", v, joinRequest(group, id, "range:a", "roundrobin:b"))
		a.Do("sync", min(v, 5), syncRequest(group, r.MemberID, r.Generation, r.MemberID+":for a"))
		a.Do("heartbeat", min(v, 4), heartbeatRequest(group, r.MemberID, r.Generation))
		leave := leaveRequest(group, r.MemberID)
		leave.MemberID = r.MemberID
		a.Do("leave", min(v, 5), leave)
		a.Do("leave again", min(v, 5), leave)
	}
}

func runGroupTwoMembers(c *C) {
	const group = "group-two-members"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.groupMember("a", group)
	a.joined(a.join("join: alone, it leads"))
	a.sync("sync", a.id+":for a").Await()
	b := c.groupMember("b", group)
	a.heartbeat("heartbeat: an id that was given out starts no rebalance")
	for _, step := range []string{"join", "join for the third generation"} {
		joinB := b.join(step)
		joinB.Parked()
		a.awaitRebalance()
		joinA := a.join(step)
		a.joined(joinA)
		b.joined(joinB)
		syncB := b.sync("sync before the leader")
		syncB.Parked()
		a.sync("sync", a.id+":for a", b.id+":for b").Await()
		syncB.Await()
		a.heartbeat("heartbeat")
		b.heartbeat("heartbeat")
		b.protocols = []string{"range:b+"}
	}
	c.Conn("admin").Do("describe", 5, describeGroupsRequest(group))
	a.Do("leave: the leader goes", 5, leaveRequest(group, a.id))
	b.awaitRebalance()
	b.joined(b.join("join: it leads now"))
	b.sync("sync", b.id+":all").Await()
}

func runGroupSyncLeftOut(c *C) {
	const group = "group-sync-left-out"
	a, b := c.groupOfTwo(group)
	a.rebalances(b)
	a.sync("sync: twice itself, a stranger, not b", a.id+":first", a.id+":second", "stranger:something").Await()
	b.sync("sync: nothing").Await()
	a.sync("sync again: another assignment comes too late", a.id+":third", b.id+":third").Await()
	b.sync("sync again").Await()
	c.Conn("admin").Do("describe", 5, describeGroupsRequest(group))
}

func runGroupSyncRefusals(c *C) {
	const group = "group-sync-refusals"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	a.Do("unknown group", 5, syncRequest(group, "nobody", 1))
	m := c.groupMember("a", group)
	m.Do("with an id before the join", 5, syncRequest(group, m.id, 0))
	m.joined(m.join("join"))
	a.Do("unknown member", 5, syncRequest(group, "nobody", 1))
	a.Do("earlier generation", 5, syncRequest(group, m.id, 0))
	a.Do("later generation", 5, syncRequest(group, m.id, 2))
	a.Do("no generation", 5, syncRequest(group, m.id, -1))
	for _, of := range []struct{ step, kind, protocol string }{{"another type", "connect", "range"}, {"another protocol", "consumer", "roundrobin"}} {
		req := syncRequest(group, m.id, 1, m.id+":x")
		req.ProtocolType, req.Protocol = &of.kind, &of.protocol
		a.Do(of.step, 5, req)
	}
	bare := syncRequest(group, m.id, 1, m.id+":x")
	bare.ProtocolType, bare.Protocol = nil, nil
	a.Do("no type and protocol at v5", 5, bare)
	half := syncRequest(group, m.id, 1, m.id+":x")
	half.Protocol = nil
	a.Do("no protocol at v5", 5, half)
	a.Do("no type and protocol at v4", 4, bare)
	a.Do("the same again: what was assigned stays", 4, syncRequest(group, m.id, 1, m.id+":y"))
	b := c.groupMember("b", group)
	p := b.join("join")
	m.awaitRebalance()
	a.Do("during the join phase", 5, syncRequest(group, m.id, 1))
	a.Do("leave of who has joined", 5, leaveRequest(group, b.id))
	p.Await()
}

func runGroupSessionTimeoutBounds(c *C) {
	const group = "group-session-timeout-bounds"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	for _, timeout := range []int32{5_999, 1_800_001, 0, -1} {
		req := joinRequest(group, "", "range:a")
		req.SessionTimeoutMillis = timeout
		a.Do(fmt.Sprintf("%d ms", timeout), 9, req)
	}
	a.Do("describe: there is no group", 5, describeGroupsRequest(group))
	for i, timeout := range []int32{6_000, 1_800_000} {
		req := joinRequest(fmt.Sprintf("%s-%d", group, i), "", "range:a")
		req.SessionTimeoutMillis = timeout
		resp := Ask[*kmsg.JoinGroupResponse](a, fmt.Sprintf("%d ms", timeout), 9, req)
		req.MemberID = resp.MemberID
		a.Do("join", 9, req)
		req.SessionTimeoutMillis = 1
		a.Do("join again with 1 ms", 9, req)
	}
	negative := joinRequest(group, "", "range:a")
	negative.RebalanceTimeoutMillis = -1
	a.Do("a negative rebalance timeout", 3, negative)
}

func runGroupInconsistentProtocols(c *C) {
	const group = "group-inconsistent-protocols"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	untyped := joinRequest(group, "", "range:a")
	untyped.ProtocolType = ""
	a.Do("the first without a protocol type", 9, untyped)
	a.Do("the first without protocols", 9, joinRequest(group, ""))
	a.Do("describe: no group, or an empty one", 5, describeGroupsRequest(group))
	first := Ask[*kmsg.JoinGroupResponse](a, "the first", 3, joinRequest(group, "", "x:a", "y:a"))
	joinB := c.Conn("b").Send("y or z", 3, joinRequest(group, "", "y:b", "z:b"))
	AskUntil(a, "heartbeat until there is a rebalance", 4, heartbeatRequest(group, first.MemberID, 1), func(r *kmsg.HeartbeatResponse) bool {
		return r.ErrorCode == codeRebalanceInProgress
	})
	joinA := c.Conn("a").Send("join again", 3, joinRequest(group, first.MemberID, "x:a", "y:a"))
	joinA.Await()
	b := AwaitAs[*kmsg.JoinGroupResponse](joinB)

	other := c.Conn("c")
	for _, v := range []int16{3, 9} {
		other.Do("z only", v, joinRequest(group, "", "z:c"))
		other.Do("x only", v, joinRequest(group, "", "x:c"))
		other.Do("none", v, joinRequest(group, ""))
		typed := joinRequest(group, "", "y:c")
		typed.ProtocolType = "connect"
		other.Do("another type", v, typed)
		typed.ProtocolType = ""
		other.Do("no type", v, typed)
	}
	other.Do("a member that changes to z only", 9, joinRequest(group, b.MemberID, "z:b"))
	other.Do("a stranger with z only", 9, joinRequest(group, "nobody", "z:b"))
	other.Do("a stranger with y", 9, joinRequest(group, "nobody", "y:b"))
	other.Do("describe: nothing has changed", 5, describeGroupsRequest(group))
	other.Do("sync of a member", 5, func() *kmsg.SyncGroupRequest {
		req := syncRequest(group, first.MemberID, 2)
		req.Protocol = kmsg.StringPtr("y")
		return req
	}())
}

// electors brings members with these protocols into one generation; the first of them leads.
func (c *C) electors(group string, protocols ...[]string) []*groupMember {
	members := make([]*groupMember, len(protocols))
	for i := range members {
		members[i] = c.groupMember(fmt.Sprintf("m%d", i), group, protocols[i]...)
		if i == 0 {
			members[i].joined(members[i].join("join"))
		}
	}
	var joins []*Pending
	for _, m := range members[1:] {
		joins = append(joins, m.join("join"))
	}
	members[0].awaitRebalance()
	members[0].joined(members[0].join("join again"))
	for i, m := range members[1:] {
		m.joined(joins[i])
	}
	return members
}

func runGroupProtocolVotes(c *C) {
	const group = "group-protocol-votes"
	c.Conn("m0").AwaitGroupCoordinator(group)
	members := c.electors(group, []string{"x:0", "y:0", "z:0"}, []string{"y:1", "z:1", "x:1"}, []string{"w:2", "y:2", "x:2", "z:2"})
	vote := syncRequest(group, members[0].id, members[0].generation)
	vote.Protocol = nil
	members[0].Do("sync", 4, vote)
	members[1].protocols = []string{"x:1", "y:1", "z:1"}
	members[0].rebalances(members[1:]...)
}

func runGroupProtocolTies(c *C) {
	c.Conn("m0").AwaitGroupCoordinator("group-protocol-ties")
	c.electors("group-protocol-ties-1", []string{"range:0", "roundrobin:0"}, []string{"roundrobin:1", "range:1"})
	c.electors("group-protocol-ties-2", []string{"roundrobin:0", "range:0"}, []string{"range:1", "roundrobin:1"})
	c.electors("group-protocol-ties-3", []string{"x:0", "y:0", "z:0"}, []string{"y:1", "z:1", "x:1"}, []string{"z:2", "x:2", "y:2"})
	c.electors("group-protocol-ties-4", []string{"sticky:0", "cooperative-sticky:0"}, []string{"cooperative-sticky:1", "sticky:1"})
	c.electors("group-protocol-ties-5", []string{"äöü:0", "𐐷:0"}, []string{"𐐷:1", "äöü:1"})
}

func runGroupHeartbeatStates(c *C) {
	const group = "group-heartbeat-states"
	n := c.Conn("a")
	n.AwaitGroupCoordinator(group)
	n.Do("unknown group", 4, heartbeatRequest(group, "nobody", 1))
	a := c.groupMember("a", group)
	a.joined(a.join("join"))
	a.heartbeat("heartbeat in the sync phase")
	n.Do("unknown member", 4, heartbeatRequest(group, "nobody", 1))
	n.Do("no member", 4, heartbeatRequest(group, "", 1))
	n.Do("earlier generation", 4, heartbeatRequest(group, a.id, 0))
	a.sync("sync", a.id+":x").Await()
	a.heartbeat("heartbeat when it is Stable")
	n.Do("later generation", 4, heartbeatRequest(group, a.id, 2))
	n.Do("no generation", 4, heartbeatRequest(group, a.id, -1))
	strange := heartbeatRequest(group, a.id, 1)
	strange.InstanceID = kmsg.StringPtr("instance")
	n.Do("a dynamic member with an instance id", 4, strange)
	b := c.groupMember("b", group)
	p := b.join("join")
	p.Parked()
	a.awaitRebalance()
	a.heartbeat("heartbeat in the join phase")
	n.Do("earlier generation in the join phase", 4, heartbeatRequest(group, a.id, 0))
	n.Do("unknown member in the join phase", 4, heartbeatRequest(group, "nobody", 1))
	n.Do("leave", 5, leaveRequest(group, a.id))
	b.joined(p)
	b.Do("leave", 5, leaveRequest(group, b.id))
	b.heartbeat("heartbeat when it is Empty")
	b.Do("describe", 5, describeGroupsRequest(group))
}

func runGroupRejoin(c *C) {
	a, b := c.groupOfTwo("group-rejoin")
	b.joined(b.join("join again, unchanged"))
	b.joined(b.join("join again, unchanged"))
	a.heartbeat("heartbeat: no rebalance")
	for range 2 {
		a.rebalances(b)
		a.sync("sync", a.id+":x", b.id+":y").Await()
		b.sync("sync").Await()
	}
	b.protocols = []string{"range:b+"}
	joinB := b.join("join with other metadata")
	joinB.Parked()
	a.awaitRebalance()
	a.joined(a.join("join again"))
	b.joined(joinB)
}

func runGroupRejoinWhileSyncing(c *C) {
	a, b := c.groupOfTwo("group-rejoin-while-syncing")
	a.rebalances(b)
	b.joined(b.join("join again, unchanged"))
	a.joined(a.join("join again, unchanged"))
	syncB := b.sync("sync")
	syncB.Parked()
	a.protocols = []string{"range:a+"}
	joinA := a.join("join with other metadata")
	syncB.Await()
	joinB := b.join("join again")
	a.joined(joinA)
	b.joined(joinB)
}
