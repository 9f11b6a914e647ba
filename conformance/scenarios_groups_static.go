package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// staticMemberScenarios show members with a group instance id (KIP-345, KIP-814).
func staticMemberScenarios() []Scenario {
	return withGroupSet([]Scenario{
		{
			Name:  "group-static-replaced",
			Claim: "A second process with an instance id takes the first one's place without a rebalance, under a new id and with its assignment; the old id is FENCED_INSTANCE_ID everywhere; so for the third.",
			Run:   runGroupStaticReplaced,
		},
		{
			Name:  "group-static-leader",
			Claim: "A static leader that comes back unchanged is told at v9 that it leads and need not assign (skip_assignment), before v9 of its old id as leader; no rebalance either way.",
			Run:   runGroupStaticLeader,
		},
		{
			Name:  "group-static-changed",
			Claim: "A static member that comes back with other metadata but the same protocol chosen brings about no rebalance; when the choice of the protocol changes it does.",
			Run:   runGroupStaticChanged,
		},
		{
			Name:  "group-static-refusals",
			Claim: "A request with an instance id that the group does not have is UNKNOWN_MEMBER_ID, with another member's FENCED_INSTANCE_ID; a dynamic member may not join with one.",
			Run:   runGroupStaticRefusals,
		},
		{
			Name:  "group-static-fences-waiting",
			Claim: "The waiting JoinGroup of a replaced static member is answered FENCED_INSTANCE_ID, and its waiting SyncGroup likewise.",
			Run:   runGroupStaticFencesWaiting,
		},
		{
			Name:  "group-static-versions",
			Claim: "JoinGroup v5 and later take instance ids and give no MEMBER_ID_REQUIRED for them; DescribeGroups shows them from v4 on.",
			Run:   runGroupStaticVersions,
		},
	})
}

func runGroupStaticReplaced(c *C) {
	const group = "group-static-replaced"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.groupMember("a", group).alone()
	b := c.staticMember("b", group).joinsAfter(a)
	for _, step := range []string{"join without an id", "join without an id, again"} {
		old := *b
		b.id = ""
		b.joined(b.join(step))
		b.sync("sync: the assignment is still there").Await()
		old.heartbeat("heartbeat of the old id")
		old.sync("sync of the old id").Await()
		old.Do("commit of the old id", 9, old.commit(group, 1))
		old.Do("join of the old id", 9, old.joinRequest())
		old.Do("leave of the old id", 5, leaveRequest(group, old.id+"/"+*old.instance))
		old.Do("leave of the old id without its instance id", 5, leaveRequest(group, old.id))
		b.heartbeat("heartbeat of the new id")
	}
	a.heartbeat("heartbeat: no rebalance")
	c.Conn("admin").Do("describe", 5, describeGroupsRequest(group))
}

func runGroupStaticLeader(c *C) {
	const group = "group-static-leader"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.staticMember("a", group).alone()
	b := c.staticMember("b", group).joinsAfter(a)
	for _, version := range []int16{9, 9, 8, 5} {
		a.id = ""
		a.joined(a.Send("the leader comes back", version, a.joinRequest()))
		a.sync("sync").Await()
		a.heartbeat("heartbeat")
		b.heartbeat("heartbeat")
	}
	b.id = ""
	b.joined(b.join("a follower comes back"))
	p := a.join("the leader joins with its id: a rebalance")
	b.awaitRebalance()
	b.joined(b.join("join again"))
	a.joined(p)
}

func runGroupStaticChanged(c *C) {
	const group = "group-static-changed"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.staticMember("a", group)
	a.protocols = []string{"range:a", "roundrobin:a"}
	a.alone()
	b := c.staticMember("b", group)
	b.protocols = []string{"range:b", "roundrobin:b"}
	b.joinsAfter(a)
	b.id, b.protocols = "", []string{"range:b+", "roundrobin:b"}
	b.joined(b.join("a follower comes back with other metadata"))
	a.heartbeat("heartbeat: no rebalance")
	c.Conn("admin").Do("describe", 5, describeGroupsRequest(group))
	a.id, a.protocols = "", []string{"range:a+", "roundrobin:a"}
	a.joined(a.join("the leader comes back with other metadata"))
	b.heartbeat("heartbeat: no rebalance")
	b.id, b.protocols = "", []string{"roundrobin:b"}
	p := b.join("a follower comes back with another protocol")
	p.Parked()
	a.awaitRebalance()
	a.joined(a.join("join again"))
	b.joined(p)
	b.protocols = []string{"roundrobin:b+"}
	p = b.join("a follower joins with its id and other metadata: a rebalance")
	a.awaitRebalance()
	a.joined(a.join("join again"))
	b.joined(p)
}

func runGroupStaticRefusals(c *C) {
	const group = "group-static-refusals"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.staticMember("a", group).alone()
	n := c.Conn("n")
	for _, of := range []struct{ step, id, instance string }{
		{"instance id that nobody has", a.id, "nobody"},
		{"id that nobody has", "nobody", "instance-a"},
		{"neither", "nobody", "nobody"},
		{"empty instance id", a.id, ""},
	} {
		join := joinRequest(group, of.id, "range:a")
		join.InstanceID = kmsg.StringPtr(of.instance)
		n.Do("join: "+of.step, 9, join)
		heartbeat := heartbeatRequest(group, of.id, a.generation)
		heartbeat.InstanceID = &of.instance
		n.Do("heartbeat: "+of.step, 4, heartbeat)
		sync := syncRequest(group, of.id, a.generation)
		sync.InstanceID = &of.instance
		n.Do("sync: "+of.step, 5, sync)
		commit := commitRequest(group, group, 1)
		commit.MemberID, commit.Generation, commit.InstanceID = of.id, a.generation, &of.instance
		n.Do("commit: "+of.step, 9, commit)
		n.Do("leave: "+of.step, 5, leaveRequest(group, of.id+"/"+of.instance))
	}
	n.Do("heartbeat without its instance id", 4, heartbeatRequest(group, a.id, a.generation))
	plain := joinRequest(group, a.id, "range:a")
	p := n.Send("join without its instance id", 9, plain)
	p.Await()
	d := c.groupMember("d", group)
	d.instance = kmsg.StringPtr("instance-d")
	d.join("join with an id that was given out, and an instance id").Await()
	a.heartbeat("heartbeat")
}

func runGroupStaticFencesWaiting(c *C) {
	const group = "group-static-fences-waiting"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.groupMember("a", group).alone()
	b := c.staticMember("b", group)
	first := b.join("join")
	a.awaitRebalance()
	again := c.staticMember("b2", group)
	again.instance = b.instance
	second := again.join("join of another process with the instance id")
	first.Await()
	second.Parked()
	a.joined(a.join("join again"))
	again.joined(second)
	waiting := again.sync("sync")
	waiting.Parked()
	third := c.staticMember("b3", group)
	third.instance = b.instance
	p := third.join("join of a third process with the instance id")
	waiting.Await()
	a.awaitRebalance()
	a.joined(a.join("join again"))
	third.joined(p)
}

func runGroupStaticVersions(c *C) {
	const group = "group-static-versions"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	for v := int16(5); v <= 9; v++ {
		of := group + string(rune('0'+v))
		join := joinRequest(of, "", "range:a")
		join.InstanceID = kmsg.StringPtr("instance-a")
		r := Ask[*kmsg.JoinGroupResponse](a, "join", v, join)
		a.Do("sync", 5, syncRequest(of, r.MemberID, r.Generation, r.MemberID+":x"))
	}
	for v := int16(3); v <= 5; v++ {
		a.Do("describe", v, describeGroupsRequest(group+"5"))
	}
	empty := joinRequest(group+"-empty", "", "range:a")
	empty.InstanceID = kmsg.StringPtr("")
	a.Do("an empty instance id", 9, empty)
	a.Do("an empty instance id again", 9, empty)
}
