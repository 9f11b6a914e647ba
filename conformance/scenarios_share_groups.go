package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareGroupScenarios show membership of share groups, and what administrators see of them.
func shareGroupScenarios() []Scenario {
	return inSharePart([]Scenario{
		{
			Name:  "share-group-join",
			Claim: "A member joins with an id of its own at epoch 0; the first answer assigns nothing, the next heartbeat does, in the group's next epoch; joining again at 0 changes nothing; a heartbeat that names topics is told its assignment.",
			Run:   runShareGroupJoin,
		},
		{
			Name:  "share-group-refusals",
			Claim: "ShareGroupHeartbeat refuses empty ids and racks, a first heartbeat without topics and negative epochs as INVALID_REQUEST; unknown groups are GROUP_ID_NOT_FOUND, unknown members UNKNOWN_MEMBER_ID, other epochs FENCED_MEMBER_EPOCH, each with a text; the previous epoch is taken.",
			Run:   runShareGroupRefusals,
		},
		{
			Name:  "share-group-members",
			Claim: "The simple assignor gives partitions to all members; one that leaves raises the group's epoch; leaving again is UNKNOWN_MEMBER_ID; the last one leaves an Empty group.",
			Run:   runShareGroupMembers,
		},
		{
			Name:  "share-group-subscriptions",
			Claim: "A member that reads other topics is assigned them; topics that are not there are taken and read when they are made; members of different subscriptions share what they have in common.",
			Run:   runShareGroupSubscriptions,
		},
		{
			Name:  "share-group-max-size",
			Claim: "Beyond group.share.max.size members a join is GROUP_MAX_SIZE_REACHED with a text, until one leaves; a member may join again.",
			Set:   shareSet("group.share.max.size", "2"),
			Run:   runShareGroupMaxSize,
		},
		{
			Name:  "share-group-session",
			Claim: "A member that is not heard of for group.share.session.timeout.ms is out of the group.",
			Set:   shareSet("group.share.session.timeout.ms", "2000"),
			Run:   runShareGroupSession,
		},
		{
			Name:  "share-group-describe",
			Claim: "ShareGroupDescribe shows epochs, members and assignments; groups of other types and unknown ones are GROUP_ID_NOT_FOUND with a text; DescribeGroups and ConsumerGroupDescribe refuse a share group the same way.",
			Fresh: true,
			Run:   runShareGroupDescribe,
		},
		{
			Name:  "share-group-list",
			Claim: "ListGroups tells share groups by type and state, at every version, and takes filters of both.",
			Fresh: true,
			Run:   runShareGroupList,
		},
		{
			Name:  "share-group-other-apis",
			Claim: "A share group's name cannot be used by classic members or commits, nor a classic group's by share members.",
			Fresh: true,
			Run:   runShareGroupOtherAPIs,
		},
		{
			Name:  "share-group-delete",
			Claim: "DeleteGroups deletes an Empty share group with its offsets; with members it is NON_EMPTY_GROUP, a second time GROUP_ID_NOT_FOUND.",
			Run:   runShareGroupDelete,
		},
		{
			Name:  "share-group-restart",
			Claim: "Members, epochs and assignments of a share group survive a clean stop and a kill; its share sessions do not.",
			Fresh: true,
			Run:   runShareGroupRestart,
		},
		{
			Name:  "share-version",
			Claim: "At share.version 0 the requests of share groups are UNSUPPORTED_VERSION and ApiVersions does not tell the feature as finalised; back at 1 the group is there.",
			Fresh: true,
			Run:   runShareVersion,
		},
	})
}

func runShareGroupJoin(c *C) {
	const name = "share-group-join"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 2)
	a := c.shareMember("a", name).joins(name)
	a.heartbeat("heartbeat")
	a.heartbeat("heartbeat again")
	a.Do("heartbeat that names the topics", 1, a.beat(a.epoch, name))
	a.Do("heartbeat that names no topics", 1, func() *kmsg.ShareGroupHeartbeatRequest {
		req := a.beat(a.epoch)
		req.SubscribedTopicNames = []string{}
		return req
	}())
	n.Do("describe", 1, describeShareGroups(name))
	a.Do("read it again", 1, a.beat(a.epoch+1, name))
	n.Do("describe again", 1, describeShareGroups(name))
	a.Do("join again at 0", 1, a.beat(0, name))
	rack := a.beat(a.epoch+2, name)
	rack.RackID = kmsg.StringPtr("r1")
	a.Do("with a rack", 1, rack)
	n.Do("describe at the end", 1, describeShareGroups(name))
}

func runShareGroupRefusals(c *C) {
	const name = "share-group-refusals"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1)
	a := c.shareMember("a", name)
	bad := func(step string, epoch int32, change func(*kmsg.ShareGroupHeartbeatRequest)) {
		req := a.beat(epoch, name)
		change(req)
		n.Do(step, 1, req)
	}
	bad("no group", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.GroupID = "" })
	bad("no member id", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.MemberID = "" })
	bad("a member id of 37 characters", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.MemberID = "1234567890123456789012345678901234567" })
	bad("an empty rack", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.RackID = kmsg.StringPtr("") })
	bad("no topics at epoch 0", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.SubscribedTopicNames = nil })
	bad("an empty list of topics at epoch 0", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.SubscribedTopicNames = []string{} })
	bad("epoch -2", -2, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("unknown group at epoch 1", 1, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("unknown group leaves", -1, func(*kmsg.ShareGroupHeartbeatRequest) {})
	a.joins(name)
	bad("unknown member at epoch 1", 1, func(r *kmsg.ShareGroupHeartbeatRequest) { r.MemberID = "nobody" })
	bad("unknown member leaves", -1, func(r *kmsg.ShareGroupHeartbeatRequest) { r.MemberID = "nobody" })
	bad("an epoch ahead", a.epoch+1, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("the previous epoch", a.epoch-1, func(r *kmsg.ShareGroupHeartbeatRequest) { r.SubscribedTopicNames = nil })
	c.shareMember("b", name).joins(name)
	a.heartbeat("heartbeat: the group is in another epoch")
	bad("an epoch before the previous one", 1, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("epoch -1 leaves", -1, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("epoch -1 again", -1, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("heartbeat of who has left", a.epoch, func(*kmsg.ShareGroupHeartbeatRequest) {})
	bad("a name of a topic that cannot be", 0, func(r *kmsg.ShareGroupHeartbeatRequest) { r.SubscribedTopicNames = []string{"a b", ""} })
}

func runShareGroupMembers(c *C) {
	const name = "share-group-members"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1) // of more, which member has which hangs on the order of hash maps
	a := c.shareMember("a", name).joins(name)
	b := c.shareMember("b", name).joins(name)
	a.heartbeat("heartbeat of the first")
	n.Do("describe two", 1, describeShareGroups(name))
	d := c.shareMember("d", name).joins(name)
	a.heartbeat("heartbeat of the first")
	b.heartbeat("heartbeat of the second")
	n.Do("describe three", 1, describeShareGroups(name))
	b.Do("the second leaves", 1, b.beat(-1))
	b.Do("the second leaves again", 1, b.beat(-1))
	a.heartbeat("heartbeat of the first")
	d.heartbeat("heartbeat of the third")
	n.Do("describe", 1, describeShareGroups(name))
	a.Do("the first leaves", 1, a.beat(-1))
	d.Do("the third leaves", 1, d.beat(-1))
	n.Do("describe the Empty group", 1, describeShareGroups(name))
	a.epoch = 0
	a.Do("the first joins the Empty group", 1, a.beat(0, name))
}

func runShareGroupSubscriptions(c *C) {
	const name = "share-group-subscriptions"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1)
	n.NewTopic(name+"-2", 1)
	a := c.shareMember("a", name).joins(name)
	r := Ask[*kmsg.ShareGroupHeartbeatResponse](a.Conn, "read another topic too", 1, a.beat(a.epoch, name, name+"-2"))
	a.epoch = r.MemberEpoch
	AskUntil(a.Conn, "heartbeat until both are assigned", 1, a.beat(a.epoch), func(r *kmsg.ShareGroupHeartbeatResponse) bool {
		return r.Assignment != nil && len(r.Assignment.TopicPartitions) == 2
	})
	a.epoch++
	b := c.shareMember("b", name).joins(name + "-2")
	a.heartbeat("heartbeat of the first")
	n.Do("describe", 1, describeShareGroups(name))
	b.Do("the second reads a topic that is not there", 1, b.beat(b.epoch, name+"-3"))
	n.Do("describe again", 1, describeShareGroups(name))
	b.epoch++
	n.NewTopic(name+"-3", 1)
	b.awaitTopic(name + "-3")
	n.Do("describe when it is there", 1, describeShareGroups(name))
}

// awaitTopic heartbeats until the member has partitions again, whatever epochs that takes: only the end is kept.
func (m *shareMember) awaitTopic(name string) {
	req := m.beat(m.epoch)
	r := AskUntil(m.Conn, "heartbeat until "+name+" is assigned", 1, req, func(r *kmsg.ShareGroupHeartbeatResponse) bool {
		return r.Assignment != nil && len(r.Assignment.TopicPartitions) > 0
	})
	m.epoch = r.MemberEpoch
}

func runShareGroupMaxSize(c *C) {
	const name = "share-group-max-size"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1)
	a := c.shareMember("a", name).joins(name)
	b := c.shareMember("b", name).joins(name)
	d := c.shareMember("d", name)
	d.Do("a third", 1, d.beat(0, name))
	d.Do("a third, again", 1, d.beat(0, name))
	a.Do("the first joins again", 1, a.beat(0, name))
	b.Do("the second leaves", 1, b.beat(-1))
	d.Do("a third, when there is room", 1, d.beat(0, name))
}

func runShareGroupSession(c *C) {
	const name = "share-group-session"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1)
	a := c.shareMember("a", name).joins(name)
	n.Do("describe", 1, describeShareGroups(name))
	AskUntil(n, "describe until it is out", 1, describeShareGroups(name), func(r *kmsg.ShareGroupDescribeResponse) bool {
		return len(r.Groups[0].Members) == 0
	})
	a.heartbeat("heartbeat of who is out")
}

func runShareGroupDescribe(c *C) {
	const name = "share-group-describe"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 3)
	n.Do("unknown", 1, describeShareGroups(name))
	c.shareMember("a", name).joins(name)
	c.groupMember("k", name+"-classic").alone()
	n.Do("a share group, a classic one, an unknown one, none, one twice", 1, describeShareGroups(name, name+"-classic", name+"-none", "", name))
	with := describeShareGroups(name)
	with.IncludeAuthorizedOperations = true
	n.Do("with operations", 1, with)
	n.Do("nothing", 1, describeShareGroups())
	for _, v := range []int16{0, 5, 6} {
		n.Do("DescribeGroups", v, describeGroupsRequest(name))
	}
	consumer := kmsg.NewPtrConsumerGroupDescribeRequest()
	consumer.Groups = []string{name}
	n.Do("ConsumerGroupDescribe", 1, consumer)
}

func runShareGroupList(c *C) {
	n := c.Conn("n")
	n.AwaitGroupCoordinator("list")
	n.NewTopic("list-topic", 1)
	c.shareMember("a", "list-share").joins("list-topic")
	b := c.shareMember("b", "list-empty").joins("list-topic")
	b.Do("leave", 1, b.beat(-1))
	c.groupMember("d", "list-classic").alone()
	for _, v := range []int16{0, 3, 4, 5} {
		n.Do("all", v, kmsg.NewPtrListGroupsRequest())
	}
	for _, types := range [][]string{{"share"}, {"SHARE"}, {"classic"}, {"share", "classic"}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.TypesFilter = types
		n.Do("types", 5, req)
	}
	for _, states := range [][]string{{"Stable"}, {"empty"}, {"Dead"}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = states, []string{"share"}
		n.Do("states of share groups", 5, req)
	}
}

func runShareGroupOtherAPIs(c *C) {
	const name = "share-group-other-apis"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	n.NewTopic(name, 1)
	a := c.shareMember("a", name).joins(name)
	n.Do("JoinGroup", 9, joinRequest(name, "", "range:a"))
	n.Do("JoinGroup without an id at v3", 3, joinRequest(name, "", "range:a"))
	n.Do("SyncGroup", 5, syncRequest(name, a.id, 1))
	n.Do("Heartbeat", 4, heartbeatRequest(name, a.id, 1))
	n.Do("LeaveGroup", 5, leaveRequest(name, a.id))
	n.Do("OffsetCommit", 9, commitRequest(name, name, 1))
	n.Do("OffsetFetch", 5, fetchRequest(name, name, 0))
	n.Do("OffsetFetch of all", 9, fetchAllRequest(name))
	n.Do("OffsetDelete", 0, offsetDeleteRequest(name, name, 0))
	a.Do("leave", 1, a.beat(-1))
	n.Do("OffsetCommit to the Empty group", 9, commitRequest(name, name, 1))
	n.Do("JoinGroup of the Empty group", 9, joinRequest(name, "", "range:a"))
	n.Do("describe the share group", 1, describeShareGroups(name))
	c.groupMember("k", name+"-classic").alone()
	b := c.shareMember("b", name+"-classic")
	b.Do("a share member of a classic group", 1, b.beat(0, name))
	b.Do("heartbeat in a classic group", 1, b.beat(1))
	b.Do("leave of a classic group", 1, b.beat(-1))
	n.Do("commit to a group of offsets", 9, commitRequest(name+"-offsets", name, 1))
	b.group = name + "-offsets"
	b.Do("a share member of a group of offsets", 1, b.beat(0, name))
}

func runShareGroupDelete(c *C) {
	const name = "share-group-delete"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("accept one", t, ack(0, 0, ackAccept))
	n.ShareOffsets("offsets", name)
	n.Do("delete with a member", 2, deleteGroupsRequest(name))
	a.Do("leave", 1, a.beat(-1))
	n.Do("delete", 2, deleteGroupsRequest(name))
	n.Do("delete again", 2, deleteGroupsRequest(name))
	n.ShareOffsets("offsets of the deleted group", name)
	n.Do("describe", 1, describeShareGroups(name))
	a.Close()
	b := c.shareMember("b", name).joins(name)
	b.fetches("the group made anew begins at the beginning", b.fetching(t))
}

func runShareGroupRestart(c *C) {
	const name = "share-group-restart"
	a, t := c.shareTopic(name)
	a.Store("store", t, Values("1"))
	a.fetches("fetch", a.fetching(t))
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		n := c.Conn("n")
		n.AwaitGroupCoordinator(name)
		a.Conn = c.Conn("a")
		n.Do("describe", 1, describeShareGroups(name))
		a.heartbeat("heartbeat")
		a.Do("fetch in the session", 2, a.fetching(t))
		a.session = 0
		a.fetches("fetch in a new session", a.fetching(t))
	}
}

func runShareVersion(c *C) {
	const name = "share-version"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1"))
	a.fetches("fetch", a.fetching(t))
	n.Do("share.version 0", 1, updateFeatures(featureUpdate("share.version", 0, safeDowngrade)))
	AskUntil(n, "heartbeat until it is refused", 1, a.beat(a.epoch), func(r *kmsg.ShareGroupHeartbeatResponse) bool { return r.ErrorCode != 0 })
	n.Do("ShareGroupDescribe", 1, describeShareGroups(name))
	n.Do("ShareFetch", 2, a.fetching(t))
	n.Do("ShareAcknowledge", 2, a.acknowledging(t, ack(0, 0, ackAccept)))
	n.ShareOffsets("DescribeShareGroupOffsets", name)
	n.Do("AlterShareGroupOffsets", 0, alterShareOffsets(name, name, 0))
	n.Do("DeleteShareGroupOffsets", 0, deleteShareOffsets(name, name))
	n.Do("ListGroups", 5, kmsg.NewPtrListGroupsRequest())
	n.Send("ApiVersions", 3, kmsg.NewPtrApiVersionsRequest()).Only("SupportedFeatures", "FinalizedFeatures").Await()
	n.Do("share.version 1", 1, updateFeatures(featureUpdate("share.version", 1, upgrade)))
	AskUntil(n, "heartbeat until it is taken", 1, a.beat(a.epoch), func(r *kmsg.ShareGroupHeartbeatResponse) bool { return r.ErrorCode == 0 })
	a.Do("fetch in the session", 2, a.fetching(t))
	a.session = 0
	a.fetches("fetch in a new session", a.fetching(t))
}
