package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupAdminScenarios show what administrators see of groups and do to them.
func groupAdminScenarios() []Scenario {
	return withGroupSet([]Scenario{
		{
			Name:  "group-leave",
			Claim: "LeaveGroup v3 and later answers for each member it names; one leave of several members brings about one rebalance; a second leave is UNKNOWN_MEMBER_ID.",
			Run:   runGroupLeave,
		},
		{
			Name:  "group-leave-instance",
			Claim: "An administrator names a static member by its instance id alone; the wrong member id is FENCED_INSTANCE_ID, a second time UNKNOWN_MEMBER_ID.",
			Run:   runGroupLeaveInstance,
		},
		{
			Name:  "group-leave-joining",
			Claim: "A member that leaves while it waits in the join phase has its JoinGroup answered UNKNOWN_MEMBER_ID, and the generation starts without it.",
			Run:   runGroupLeaveJoining,
		},
		{
			Name:  "group-describe",
			Claim: "DescribeGroups shows state, protocol and members in each state: protocol and metadata only when Stable; an unknown group is Dead, at v6 GROUP_ID_NOT_FOUND.",
			Run:   runGroupDescribe,
		},
		{
			Name:  "group-describe-emptied",
			Claim: "A group whose members left is Empty with its protocol type and no members, a group that only committed is Empty without a type; both are listed and keep their offsets.",
			Fresh: true,
			Run:   runGroupDescribeEmptied,
		},
		{
			Name:  "group-list",
			Claim: "ListGroups gives every group with its state from v4 and type from v5 on; filters take any case, and unknown names match nothing.",
			Fresh: true,
			Run:   runGroupList,
		},
		{
			Name:  "group-delete",
			Claim: "DeleteGroups deletes an Empty group with its offsets; with members it is NON_EMPTY_GROUP, an unknown one or a second time GROUP_ID_NOT_FOUND; a name given twice is answered once.",
			Run:   runGroupDelete,
		},
		{
			Name:  "group-find-coordinator",
			Claim: "FindCoordinator names this broker for a group or transactional id at every version, and for a share group's partition at v6; other types and malformed share keys are INVALID_REQUEST.",
			Run:   runGroupFindCoordinator,
		},
		{
			Name:  "group-empty-id",
			Claim: "The empty group id is INVALID_GROUP_ID for members, but may commit, fetch, be described and deleted.",
			Run:   runGroupEmptyID,
		},
		{
			Name:  "group-odd-ids",
			Claim: "Group ids of spaces, of any script, of control characters and of 300 bytes are good.",
			Run:   runGroupOddIDs,
		},
	})
}

func runGroupLeave(c *C) {
	const group = "group-leave"
	a, b := c.groupOfTwo(group)
	d := c.groupMember("d", group)
	p := d.join("join")
	a.awaitRebalance()
	joinA := a.join("join again")
	b.awaitRebalance()
	joinB := b.join("join again")
	a.joined(joinA)
	b.joined(joinB)
	d.joined(p)
	a.sync("sync", a.id+":x", b.id+":y", d.id+":z").Await()
	n := c.Conn("n")
	n.Do("unknown group", 5, leaveRequest(group+"-none", "nobody"))
	n.Do("unknown group at v2", 2, leaveRequest(group+"-none"))
	n.Do("nobody named", 5, leaveRequest(group))
	n.Do("two, a stranger, one of them again, one without an id", 5, leaveRequest(group, b.id, "nobody", d.id, b.id, ""))
	a.awaitRebalance()
	a.joined(a.join("join again: one rebalance"))
	n.Do("again", 5, leaveRequest(group, b.id, d.id))
	strange := leaveRequest(group, a.id+"/strange")
	n.Do("a dynamic member with an instance id", 5, strange)
	reason := leaveRequest(group, a.id)
	reason.Members[0].Reason = kmsg.StringPtr("enough")
	n.Do("with a reason", 5, reason)
	n.Do("describe", 5, describeGroupsRequest(group))
	n.Do("leave of an Empty group", 5, leaveRequest(group, a.id))
}

func runGroupLeaveInstance(c *C) {
	const group = "group-leave-instance"
	c.Conn("a").AwaitGroupCoordinator(group)
	a := c.staticMember("a", group).alone()
	b := c.staticMember("b", group).joinsAfter(a)
	n := c.Conn("n")
	n.Do("unknown instance", 4, leaveRequest(group, "/nobody"))
	n.Do("another's id", 4, leaveRequest(group, a.id+"/instance-b"))
	n.Do("unknown id", 4, leaveRequest(group, "nobody/instance-b"))
	n.Do("instance alone", 4, leaveRequest(group, "/instance-b"))
	n.Do("instance alone, again", 4, leaveRequest(group, "/instance-b"))
	b.heartbeat("heartbeat of who was removed")
	a.awaitRebalance()
	n.Do("id and instance", 4, leaveRequest(group, a.id+"/instance-a"))
	n.Do("describe", 5, describeGroupsRequest(group))
}

func runGroupLeaveJoining(c *C) {
	const group = "group-leave-joining"
	a, b := c.groupOfTwo(group)
	d := c.groupMember("d", group)
	joinD := d.join("join")
	a.awaitRebalance()
	joinA := a.join("join again")
	joinA.Parked()
	n := c.Conn("n")
	n.Do("leave of who waits to join", 5, leaveRequest(group, d.id))
	joinD.Await()
	n.Do("leave of who has not joined yet", 5, leaveRequest(group, b.id))
	a.joined(joinA)
	n.Do("leave of who has not synced", 5, leaveRequest(group, a.id))
	n.Do("describe", 5, describeGroupsRequest(group))
}

func runGroupDescribe(c *C) {
	const group = "group-describe"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	for v := int16(0); v <= 6; v++ {
		n.Do("unknown group", v, describeGroupsRequest(group))
	}
	a := c.groupMember("a", group)
	a.joined(a.join("join"))
	n.Do("in the sync phase", 5, describeGroupsRequest(group))
	a.sync("sync", a.id+":x").Await()
	for v := int16(0); v <= 6; v++ {
		n.Do("Stable", v, describeGroupsRequest(group))
	}
	with := describeGroupsRequest(group, group+"-none")
	with.IncludeAuthorizedOperations = true
	n.Do("with operations", 3, with)
	n.Do("with operations", 6, with)
	n.Do("twice, and an unknown one, and none", 5, describeGroupsRequest(group, group, group+"-none", ""))
	n.Do("nothing", 5, describeGroupsRequest())
	b := c.groupMember("b", group)
	p := b.join("join")
	a.awaitRebalance()
	n.Do("in the join phase", 5, describeGroupsRequest(group))
	a.joined(a.join("join again"))
	b.joined(p)
}

func runGroupDescribeEmptied(c *C) {
	const group = "group-describe-emptied"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic("emptied-topic", 2)
	a := c.groupMember("a", group).alone()
	a.Do("commit", 9, a.commit("emptied-topic", 3, 4))
	a.Do("leave", 5, leaveRequest(group, a.id))
	n.Do("commit without a member", 9, commitRequest(group+"-commits", "emptied-topic", 5))
	n.Do("list", 5, kmsg.NewPtrListGroupsRequest())
	n.Do("describe", 5, describeGroupsRequest(group, group+"-commits"))
	n.Do("offsets", 9, fetchAllRequest(group))
	n.Do("offsets without a member", 9, fetchAllRequest(group+"-commits"))
	n.Do("commit to the emptied group without a member", 9, commitRequest(group, "emptied-topic", 8))
	n.Do("offsets again", 9, fetchAllRequest(group))
	b := c.groupMember("b", group+"-commits")
	b.joined(b.join("a member joins the group that only committed"))
	b.Do("describe", 5, describeGroupsRequest(group+"-commits"))
}

func runGroupList(c *C) {
	n := c.Conn("n")
	n.AwaitGroupCoordinator("list")
	n.Do("nothing", 5, kmsg.NewPtrListGroupsRequest())
	n.offsetsTopic("list-topic", 1)
	n.Do("commit", 9, commitRequest("list-empty", "list-topic", 1))
	syncing := c.groupMember("a", "list-completing")
	syncing.joined(syncing.join("join"))
	c.groupMember("b", "list-stable").alone()
	first := c.groupMember("c", "list-preparing").alone()
	c.groupMember("d", "list-preparing").join("join").Parked()
	first.awaitRebalance()
	connect := joinRequest("list-connect", "", "range:d")
	connect.ProtocolType = "connect"
	c.Conn("e").Do("a group of another type", 3, connect)
	for v := int16(0); v <= 5; v++ {
		n.Do("all", v, kmsg.NewPtrListGroupsRequest())
	}
	for _, states := range [][]string{{"Stable"}, {"stable"}, {"STABLE", "Empty"}, {"PreparingRebalance"}, {"preparing-rebalance"}, {"CompletingRebalance", "Dead"}, {"nonsense"}, {""}, {"Stable", "nonsense"}, {"Assigning"}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter = states
		n.Do(fmt.Sprintf("states %q", states), 4, req)
	}
	for _, types := range [][]string{{"classic"}, {"CLASSIC"}, {"consumer"}, {"share"}, {"streams"}, {"nonsense"}, {""}, {"classic", "nonsense"}, {"unknown"}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.TypesFilter = types
		n.Do(fmt.Sprintf("types %q", types), 5, req)
	}
	both := kmsg.NewPtrListGroupsRequest()
	both.StatesFilter, both.TypesFilter = []string{"Empty"}, []string{"Classic"}
	n.Do("state and type", 5, both)
}

func runGroupDelete(c *C) {
	const group = "group-delete"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	a := c.groupMember("a", group).alone()
	a.Do("commit", 9, a.commit(group, 3))
	n.Do("with a member", 2, deleteGroupsRequest(group))
	n.Do("offsets are there", 9, fetchAllRequest(group))
	a.Do("leave", 5, leaveRequest(group, a.id))
	for v := int16(0); v <= 2; v++ {
		n.Do("unknown", v, deleteGroupsRequest(group+"-none"))
	}
	n.Do("Empty, twice in one request, and an unknown one", 2, deleteGroupsRequest(group, group, group+"-none"))
	n.Do("again", 2, deleteGroupsRequest(group))
	n.Do("describe", 6, describeGroupsRequest(group))
	n.Do("offsets", 9, fetchAllRequest(group))
	n.Do("an empty name", 2, deleteGroupsRequest(""))
	n.Do("nothing", 2, deleteGroupsRequest())
	given := c.groupMember("b", group)
	n.Do("with an id that was given out", 2, deleteGroupsRequest(group))
	given.join("join with the id of a deleted group").Await()
	n.Do("commit makes a new one", 9, commitRequest(group, group, 7))
	n.Do("delete that", 2, deleteGroupsRequest(group))
}

func runGroupFindCoordinator(c *C) {
	const group = "group-find-coordinator"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	a.NewProducer()
	find := func(kind int8, key string) *kmsg.FindCoordinatorRequest {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorType, req.CoordinatorKeys = key, kind, []string{key}
		return req
	}
	ready := find(1, group)
	AskUntil(a, "wait for the coordinator of transactions", 3, ready, func(r *kmsg.FindCoordinatorResponse) bool { return r.ErrorCode == 0 })
	a.Do("group", 0, find(0, group))
	for v := int16(1); v <= 6; v++ {
		a.Do("group", v, find(0, group))
		a.Do("transactional id", v, find(1, group))
		a.Do("empty group", v, find(0, ""))
		a.Do("empty transactional id", v, find(1, ""))
		for _, kind := range []int8{3, 100, -1} {
			a.Do(fmt.Sprintf("type %d", kind), v, find(kind, group))
		}
	}
	a.Do("type 2 before v6", 3, find(2, group+":AAAAAAAAAAAAAAAAAAAAAA:0"))
	a.Do("type 2 before v6", 5, find(2, group+":AAAAAAAAAAAAAAAAAAAAAA:0"))
	for _, key := range []string{"", group, group + ":x:0", group + ":AAAAAAAAAAAAAAAAAAAAAA:x", ":AAAAAAAAAAAAAAAAAAAAAA:0", group + ":AAAAAAAAAAAAAAAAAAAAAA"} {
		a.Do(fmt.Sprintf("share key %q", key), 6, find(2, key))
	}
	several := find(0, group)
	several.CoordinatorKeys = []string{group, group + "-2", group}
	a.Do("several groups, one twice", 4, several)
	several.CoordinatorKeys = []string{}
	a.Do("none", 6, several)
}

func runGroupEmptyID(c *C) {
	const name = "group-empty-id"
	n := c.Conn("n")
	n.AwaitGroupCoordinator("")
	n.offsetsTopic(name, 1)
	n.Do("join", 9, joinRequest("", "", "range:a"))
	n.Do("join", 3, joinRequest("", "", "range:a"))
	n.Do("join with an id", 9, joinRequest("", "nobody", "range:a"))
	n.Do("sync", 5, syncRequest("", "nobody", 1))
	n.Do("heartbeat", 4, heartbeatRequest("", "nobody", 1))
	n.Do("leave", 5, leaveRequest("", "nobody"))
	n.Do("leave", 1, leaveRequest(""))
	n.Do("describe", 6, describeGroupsRequest(""))
	n.Do("delete", 2, deleteGroupsRequest(""))
	n.Do("delete offsets", 0, offsetDeleteRequest("", name, 0))
	n.Do("commit with a generation", 9, func() *kmsg.OffsetCommitRequest {
		req := commitRequest("", name, 1)
		req.Generation, req.MemberID = 1, "nobody"
		return req
	}())
	n.Do("fetch before a commit", 5, fetchRequest("", name, 0))
	n.Do("commit", 9, commitRequest("", name, 1))
	n.Do("fetch", 5, fetchRequest("", name, 0))
	n.Do("fetch", 9, fetchAllRequest(""))
	n.Do("describe", 5, describeGroupsRequest(""))
	n.Do("delete offsets of it", 0, offsetDeleteRequest("", name, 0))
	n.Do("delete it", 2, deleteGroupsRequest(""))
	n.Do("delete it again", 2, deleteGroupsRequest(""))
}

func runGroupOddIDs(c *C) {
	n := c.Conn("n")
	n.AwaitGroupCoordinator("group-odd-ids")
	long := "group-odd-ids-"
	for len(long) < 300 {
		long += "x"
	}
	for i, id := range []string{"group-odd-ids a b/c", "group-odd-ids-グループ", "group-odd-ids-\x01\n", long} {
		m := c.groupMember(fmt.Sprintf("m%d", i), id).alone()
		n.Do("describe", 5, describeGroupsRequest(id))
		n.Do("leave", 5, leaveRequest(id, m.id))
		n.Do("delete", 2, deleteGroupsRequest(id))
	}
}
