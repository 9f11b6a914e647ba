package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetScenarios show committed offsets of classic groups.
func offsetScenarios() []Scenario {
	return withGroupSet([]Scenario{
		{
			Name:  "offset-commit-outside",
			Claim: "A commit without member and generation is taken by a group without members, and makes one; with members it is UNKNOWN_MEMBER_ID; once they are gone it is taken again.",
			Run:   runOffsetCommitOutside,
		},
		{
			Name:  "offset-commit-unknown-group",
			Claim: "A commit with a generation for an unknown group is ILLEGAL_GENERATION, from v9 on GROUP_ID_NOT_FOUND; without one it makes a group and is taken, whatever it says of a member.",
			Run:   runOffsetCommitUnknownGroup,
		},
		{
			Name:  "offset-commit-member",
			Claim: "A member commits when Stable and in the join phase, not in the sync phase (REBALANCE_IN_PROGRESS), not with another generation (ILLEGAL_GENERATION) or id (UNKNOWN_MEMBER_ID).",
			Run:   runOffsetCommitMember,
		},
		{
			Name:  "offset-versions",
			Claim: "OffsetCommit v2 to v10 and OffsetFetch v1 to v10 carry an offset; leader epochs from v6 and v5 on, -1 when none was given; null metadata comes back empty.",
			Run:   runOffsetVersions,
		},
		{
			Name:  "offset-commit-mixed",
			Claim: "A commit of good and unknown partitions stores the good ones and says UNKNOWN_TOPIC_OR_PARTITION for each other; the last of two offsets for a partition counts.",
			Run:   runOffsetCommitMixed,
		},
		{
			Name:  "offset-commit-metadata",
			Claim: "Metadata of more than offset.metadata.max.bytes is OFFSET_METADATA_TOO_LARGE for its partition only; 4096 is good; it is counted in UTF-16 units.",
			Run:   runOffsetCommitMetadata,
		},
		{
			Name:  "offset-topic-ids",
			Claim: "OffsetCommit and OffsetFetch v10 name topics by id and ignore names; an unknown id is UNKNOWN_TOPIC_ID.",
			Run:   runOffsetTopicIDs,
		},
		{
			Name:  "offset-negative",
			Claim: "Any offset and leader epoch is stored, negative ones and those beyond the log's end too.",
			Run:   runOffsetNegative,
		},
		{
			Name:  "offset-fetch",
			Claim: "OffsetFetch answers -1 with empty metadata and no error for what was not committed, be it the partition, the topic or the group that is unknown; require_stable changes nothing without transactions.",
			Run:   runOffsetFetch,
		},
		{
			Name:  "offset-fetch-all",
			Claim: "Null topics fetch everything from v2 on, no topics nothing; at v1 null is refused.",
			Run:   runOffsetFetchAll,
		},
		{
			Name:  "offset-fetch-groups",
			Claim: "OffsetFetch v8 answers each of several groups; member id and epoch of v9 are checked for classic groups not at all when absent.",
			Run:   runOffsetFetchGroups,
		},
		{
			Name:  "offset-past-end",
			Claim: "A commit may lie at the end of a partition or past it; Fetch is empty at the end, with the high watermark, and OFFSET_OUT_OF_RANGE past it and below the log's start, also after a restart.",
			Fresh: true,
			Run:   runOffsetPastEnd,
		},
	})
}

func runOffsetCommitOutside(c *C) {
	const group = "offset-commit-outside"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 2)
	n.Do("commit", 9, commitRequest(group, group, 5, 6))
	n.Do("commit again", 9, commitRequest(group, group, 7))
	n.Do("offsets", 7, fetchRequest(group, group, 0, 1))
	n.Do("describe", 5, describeGroupsRequest(group))
	a := c.groupMember("a", group)
	n.Do("commit when an id was given out", 9, commitRequest(group, group, 8))
	a.joined(a.join("join"))
	n.Do("commit when it has a member", 9, commitRequest(group, group, 9))
	n.Do("the same at v2", 2, commitRequest(group, group, 9))
	a.sync("sync", a.id+":x").Await()
	n.Do("commit when it is Stable", 9, commitRequest(group, group, 9))
	a.Do("offsets", 7, fetchRequest(group, group, 0))
	a.Do("leave", 5, leaveRequest(group, a.id))
	n.Do("commit when it is Empty", 9, commitRequest(group, group, 10))
	n.Do("offsets", 7, fetchRequest(group, group, 0))
}

func runOffsetCommitUnknownGroup(c *C) {
	const group = "offset-commit-unknown-group"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	for _, v := range []int16{2, 8, 9} {
		of := fmt.Sprintf("%s-%d", group, v)
		for _, by := range []struct {
			step, member string
			generation   int32
		}{{"member and generation", "nobody", 1}, {"generation alone", "", 1}, {"generation 0", "", 0}, {"member alone", "nobody", -1}, {"member alone, again", "nobody", -1}, {"generation 0, again", "", 0}} {
			req := commitRequest(of, group, 1)
			req.MemberID, req.Generation = by.member, by.generation
			n.Do(by.step, v, req)
		}
		n.Do("describe", 5, describeGroupsRequest(of))
	}
	instance := commitRequest(group+"-instance", group, 1)
	instance.InstanceID = kmsg.StringPtr("instance")
	n.Do("instance alone", 9, instance)
	n.Do("describe", 5, describeGroupsRequest(group+"-instance"))
	nothing := commitRequest(group, group)
	nothing.Topics = nil
	n.Do("no topics", 9, nothing)
	n.Do("describe: still no group", 5, describeGroupsRequest(group))
	n.Do("a topic without partitions", 9, commitRequest(group, group))
	n.Do("an unknown topic only", 9, commitRequest(group, group+"-none", 1))
	n.Do("describe", 5, describeGroupsRequest(group))
}

func runOffsetCommitMember(c *C) {
	const group = "offset-commit-member"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	a := c.groupMember("a", group)
	a.Do("before the join", 9, a.commit(group, 1))
	a.joined(a.join("join"))
	a.Do("in the sync phase", 9, a.commit(group, 1))
	a.Do("in the sync phase at v2", 2, a.commit(group, 1))
	a.sync("sync", a.id+":x").Await()
	a.Do("Stable", 9, a.commit(group, 2))
	for _, generation := range []int32{0, 2, -1} {
		req := a.commit(group, 3)
		req.Generation = generation
		a.Do(fmt.Sprintf("generation %d", generation), 9, req)
	}
	stranger := a.commit(group, 3)
	stranger.MemberID = "nobody"
	a.Do("unknown member", 9, stranger)
	nobody := a.commit(group, 3)
	nobody.MemberID = ""
	a.Do("generation without a member", 9, nobody)
	static := a.commit(group, 3)
	static.InstanceID = kmsg.StringPtr("instance")
	a.Do("with an instance id", 9, static)
	b := c.groupMember("b", group)
	p := b.join("join")
	a.awaitRebalance()
	a.Do("in the join phase", 9, a.commit(group, 4))
	a.joined(a.join("join again"))
	b.joined(p)
	old := a.commit(group, 5)
	old.Generation--
	a.Do("earlier generation in the sync phase", 9, old)
	a.Do("offsets", 7, fetchRequest(group, group, 0))
}

func runOffsetVersions(c *C) {
	const group = "offset-versions"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	id := n.topicID(group)
	for v := int16(2); v <= 10; v++ {
		req := commitRequest(group, group, int64(v))
		req.Topics[0].TopicID = id
		p := &req.Topics[0].Partitions[0]
		p.LeaderEpoch, p.Metadata = int32(100+v), kmsg.StringPtr(fmt.Sprintf("version %d", v))
		n.Do("commit", v, req)
		n.Do("fetch", 7, fetchRequest(group, group, 0))
	}
	for v := int16(1); v <= 10; v++ {
		req := fetchRequest(group, group, 0)
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.MemberEpoch = group, -1
		g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: group, TopicID: id, Partitions: []int32{0}}}
		req.Groups = []kmsg.OffsetFetchRequestGroup{g}
		n.Do("fetch", v, req)
	}
	bare := commitRequest(group, group, 1)
	bare.Topics[0].Partitions[0].Metadata = nil
	n.Do("commit with null metadata and no epoch", 9, bare)
	n.Do("fetch", 7, fetchRequest(group, group, 0))
}

func runOffsetCommitMixed(c *C) {
	const group = "offset-commit-mixed"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 2)
	req := commitRequest(group, group, 1, 2, 3)
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, req.Topics[0].Partitions[0])
	req.Topics[0].Partitions[3].Partition = -1
	req.Topics = append(req.Topics, commitRequest(group, group+"-none", 4, 5).Topics...)
	for range 2 {
		n.Do("commit", 9, req)
		n.Do("offsets", 7, fetchRequest(group, group, 0, 1, 2, -1))
	}
	twice := commitRequest(group, group, 10, 11)
	twice.Topics[0].Partitions[1].Partition = 0
	n.Do("one partition twice", 9, twice)
	n.Do("offsets", 7, fetchRequest(group, group, 0))
	split := commitRequest(group, group, 20)
	split.Topics = append(split.Topics, commitRequest(group, group, 21, 22).Topics...)
	n.Do("one topic twice", 9, split)
	n.Do("offsets", 7, fetchRequest(group, group, 0, 1))
	n.Do("an empty topic name", 9, commitRequest(group, "", 1))
	n.Do("a name that no topic can have", 9, commitRequest(group, "no/topic", 1))
	n.Do("an unknown group, an unknown topic", 9, func() *kmsg.OffsetCommitRequest {
		req := commitRequest(group+"-none", group+"-none", 1)
		req.MemberID, req.Generation = "nobody", 1
		return req
	}())
}

func runOffsetCommitMetadata(c *C) {
	const group = "offset-commit-metadata"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 3)
	req := commitRequest(group, group, 1, 2, 3)
	for i, metadata := range []string{strings.Repeat("x", 4096), strings.Repeat("x", 4097), ""} {
		req.Topics[0].Partitions[i].Metadata = &metadata
	}
	for range 2 {
		n.Do("4096 bytes, 4097, none", 9, req)
	}
	n.Do("offsets of the last two", 7, fetchRequest(group, group, 1, 2))
	for i, metadata := range []string{strings.Repeat("ü", 4096), strings.Repeat("𐐷", 2048), strings.Repeat("𐐷", 2049)} {
		req.Topics[0].Partitions[i].Metadata = &metadata
	}
	n.Do("4096 of two bytes, 2048 and 2049 of four", 9, req)
	n.Do("offset of the last", 7, fetchRequest(group, group, 2))
}

func runOffsetTopicIDs(c *C) {
	const group = "offset-topic-ids"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 2)
	n.offsetsTopic(group+"-2", 1)
	id, other := n.topicID(group), n.topicID(group+"-2")
	unknown := [16]byte{1, 2, 3}
	req := commitRequest(group, "a name that is not looked at", 1, 2, 3)
	req.Topics[0].TopicID = id
	for _, more := range [][16]byte{other, unknown, {}} {
		t := commitRequest(group, group, 7).Topics[0]
		t.TopicID = more
		req.Topics = append(req.Topics, t)
	}
	fetch := fetchAllRequest(group)
	for _, of := range [][16]byte{unknown, id, {}, other} {
		fetch.Groups[0].Topics = append(fetch.Groups[0].Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: group, TopicID: of, Partitions: []int32{0, 1}})
	}
	for range 2 {
		n.Do("commit", 10, req)
		n.Do("offsets by id", 10, fetch)
	}
	n.Do("all offsets by id", 10, fetchAllRequest(group))
	n.Do("offsets by name", 9, fetchAllRequest(group))
	n.Do("offsets by name at v9: the id is not looked at", 9, func() *kmsg.OffsetFetchRequest {
		req := fetchAllRequest(group)
		req.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: group, TopicID: unknown, Partitions: []int32{0}}}
		return req
	}())
}

func runOffsetNegative(c *C) {
	const group = "offset-negative"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 5)
	req := commitRequest(group, group, -1, -2, 1<<62, -1<<63, 1<<63-1)
	for i := range req.Topics[0].Partitions {
		req.Topics[0].Partitions[i].LeaderEpoch = int32(i) - 3
	}
	n.Do("commit", 9, req)
	n.Do("offsets", 7, fetchRequest(group, group, 0, 1, 2, 3, 4))
	n.Do("all offsets", 9, fetchAllRequest(group))
	n.Do("commit again", 9, req)
}

func runOffsetFetch(c *C) {
	const group = "offset-fetch"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 2)
	for v := int16(1); v <= 7; v++ {
		n.Do("unknown group", v, fetchRequest(group, group, 0))
	}
	n.Do("commit", 9, commitRequest(group, group, 5))
	req := fetchRequest(group, group, 0, 1, 2, 0)
	req.Topics = append(req.Topics, fetchRequest(group, group+"-none", 0).Topics...)
	req.Topics = append(req.Topics, fetchRequest(group, group).Topics...)
	for v := int16(1); v <= 7; v++ {
		req.RequireStable = v == 7
		n.Do("committed, not committed, unknown, twice", v, req)
	}
	stable := fetchAllRequest(group)
	stable.RequireStable = true
	n.Do("all, stable", 8, stable)
}

func runOffsetFetchAll(c *C) {
	const group = "offset-fetch-all"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 3)
	n.offsetsTopic(group+"-2", 1)
	n.topicID(group)
	n.topicID(group + "-2")
	none := fetchRequest(group, group)
	none.Topics = []kmsg.OffsetFetchRequestTopic{}
	all := fetchRequest(group, group)
	all.Topics = nil
	n.Do("unknown group", 7, all)
	n.Do("unknown group", 9, fetchAllRequest(group))
	n.Do("commit", 9, commitRequest(group, group, 1, 2))
	n.Do("commit", 9, commitRequest(group, group+"-2", 3))
	for v := int16(2); v <= 7; v++ {
		n.Do("null topics", v, all)
		n.Do("no topics", v, none)
	}
	n.Do("no topics", 1, none)
	c.Conn("other").Do("null topics", 1, all)
	for v := int16(8); v <= 10; v++ {
		n.Do("null topics", v, fetchAllRequest(group))
		empty := fetchAllRequest(group)
		empty.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{}
		n.Do("no topics", v, empty)
	}
}

func runOffsetFetchGroups(c *C) {
	const group = "offset-fetch-groups"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.offsetsTopic(group, 1)
	a := c.groupMember("a", group).alone()
	a.Do("commit", 9, a.commit(group, 1))
	n.Do("commit", 9, commitRequest(group+"-2", group, 2))
	for v := int16(8); v <= 10; v++ {
		n.Do("three groups", v, fetchAllRequest(group, group+"-none", group+"-2"))
	}
	n.Do("one group twice", 8, fetchAllRequest(group, group))
	n.Do("no groups", 8, fetchAllRequest())
	for _, of := range []struct {
		step, member string
		epoch        int32
	}{{"member and generation", a.id, a.generation}, {"another generation", a.id, 7}, {"unknown member", "nobody", 1}, {"generation alone", "", 1}} {
		req := fetchAllRequest(group)
		req.Groups[0].MemberEpoch = of.epoch
		req.Groups[0].MemberID = &of.member
		n.Do(of.step, 9, req)
	}
}

func runOffsetPastEnd(c *C) {
	const group = "offset-past-end"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(group)
	t := n.NewTopic(group, 1)
	for range 3 {
		n.Store("store", t, Values("x"))
	}
	n.Do("the first record goes", 2, deleteBefore(t, 1))
	look := func() {
		for _, offset := range []int64{0, 2, 3, 4} {
			n.Do("commit "+number(offset), 9, commitRequest(group, group, offset))
			n.Do("offset", 7, fetchRequest(group, group, 0))
			for _, v := range []int16{4, 11, 12} {
				n.Do("fetch from there, "+vn(v), v, fetchFrom(t, offset))
			}
		}
	}
	look()
	c.Restart()
	n = c.Conn("n")
	n.AwaitGroupCoordinator(group)
	n.AwaitTopic(group, 1)
	n.Do("offset after a restart", 7, fetchRequest(group, group, 0))
	look()
	n.Store("store", t, Values("x"))
	n.Do("fetch past the end, which is the end by now", 12, fetchFrom(t, 4))
}
