package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareSessionScenarios show how a member's fetches are one session, and what ends it.
func shareSessionScenarios() []Scenario {
	return inSharePart([]Scenario{
		{
			Name:  "share-sessions",
			Claim: "A share session has an epoch that rises with each request; unknown sessions are SHARE_SESSION_NOT_FOUND, other epochs INVALID_SHARE_SESSION_EPOCH; -1 ends it and releases what it holds; 0 begins it anew.",
			Run:   runShareSessions,
		},
		{
			Name:  "share-session-partitions",
			Claim: "A session remembers partitions until they are forgotten; new ones are answered though they have no records; unknown ids and partitions have errors of their own.",
			Run:   runShareSessionPartitions,
		},
		{
			Name:  "share-session-limit",
			Claim: "Beyond group.share.max.share.sessions a new session is SHARE_SESSION_LIMIT_REACHED, after the wait.",
			Set:   shareSet("group.share.max.size", "1", "group.share.max.share.sessions", "1"),
			Fresh: true,
			Run:   runShareSessionLimit,
		},
		{
			Name:  "share-connection-ends",
			Claim: "What a session holds is released when its connection ends, and delivered to another member with a higher count.",
			Run:   runShareConnectionEnds,
		},
	})
}

func runShareSessions(c *C) {
	const name = "share-sessions"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1"))
	at := func(epoch int32) *kmsg.ShareFetchRequest {
		req := briefly(a.fetching(t))
		req.ShareSessionEpoch = epoch
		return req
	}
	a.Do("epoch 1 without a session", 2, at(1))
	a.Do("epoch -1 without a session", 2, at(-1))
	a.Do("epoch -2 without a session", 2, at(-2))
	a.fetches("epoch 0", at(0))
	a.Do("epoch 2 in place of 1", 2, at(2))
	a.Do("epoch -2", 2, at(-2))
	a.fetches("epoch 1", at(1))
	a.Do("epoch 1 again", 2, at(1))
	zero := a.acknowledging(t, ack(0, 0, ackRelease))
	zero.ShareSessionEpoch = 0
	a.Do("acknowledge at epoch 0", 2, zero)
	one := a.acknowledging(t, ack(0, 0, ackRelease))
	one.ShareSessionEpoch = 1
	a.Do("acknowledge at epoch 1", 2, one)
	a.Do("another member's session", 2, func() *kmsg.ShareFetchRequest {
		req := at(2)
		req.MemberID = kmsg.StringPtr("member-x")
		return req
	}())
	a.fetches("epoch 2", at(2))
	a.fetches("epoch 0 begins anew, and holds what it has", at(0))
	last := a.acknowledging(t)
	last.ShareSessionEpoch = -1
	a.asks("the last acknowledgement ends the session", last)
	a.Do("it is gone", 2, at(1))
	a.fetches("what it held is delivered again", at(0))
	a.fetches("the last fetch ends the session", at(-1))
	a.Do("it is gone", 2, at(-1))
	a.fetches("what it held is delivered again", at(0))
	bad := func(step string, change func(*kmsg.ShareFetchRequest)) {
		req := at(0)
		change(req)
		a.Do(step, 2, req)
	}
	bad("no group", func(r *kmsg.ShareFetchRequest) { r.GroupID = nil })
	bad("no member", func(r *kmsg.ShareFetchRequest) { r.MemberID = nil })
	bad("an empty member", func(r *kmsg.ShareFetchRequest) { r.MemberID = kmsg.StringPtr("") })
	bad("a member id of 37 characters", func(r *kmsg.ShareFetchRequest) { r.MemberID = kmsg.StringPtr("1234567890123456789012345678901234567") })
	bad("an empty group", func(r *kmsg.ShareFetchRequest) { r.GroupID = kmsg.StringPtr("") })
	bad("a group that is not there", func(r *kmsg.ShareFetchRequest) { r.GroupID = kmsg.StringPtr(name + "-none") })
	bad("an unknown mode", func(r *kmsg.ShareFetchRequest) { r.ShareAcquireMode = 7 })
}

func runShareSessionPartitions(c *C) {
	const name = "share-session-partitions"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1"))
	two := n.NewTopic(name+"-2", 1)
	a.fetches("begin with one", briefly(a.fetching(t)))
	a.fetches("add one that the group does not read", briefly(a.fetching(two)))
	a.fetches("again", briefly(a.fetching()))
	unknown := topicRef{id: [16]byte{1}}
	a.fetches("add one that is not there", briefly(a.fetching(unknown)))
	a.fetches("again", briefly(a.fetching()))
	forget := briefly(a.fetching())
	forget.ForgottenTopicsData = []kmsg.ShareFetchRequestForgottenTopicsData{{TopicID: unknown.id, Partitions: []int32{0}}, {TopicID: two.id, Partitions: []int32{0}}}
	a.fetches("forget both", forget)
	other := briefly(a.fetching(t))
	other.Topics[0].Partitions[0].Partition = 7
	a.fetches("add a partition that is not there", other)
	a.fetches("again", briefly(a.fetching()))
	all := briefly(a.fetching())
	all.ForgottenTopicsData = []kmsg.ShareFetchRequestForgottenTopicsData{{TopicID: t.id, Partitions: []int32{0, 7}}}
	a.fetches("forget the rest", all)
	a.fetches("nothing to fetch", briefly(a.fetching()))
	a.acknowledges("acknowledge what was forgotten", t, ack(0, 0, ackAccept))
}

func runShareSessionLimit(c *C) {
	const name = "share-session-limit"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1"))
	a.fetches("fetch", briefly(a.fetching(t)))
	b := c.shareMember("b", name)
	b.DoTimed("a second session", 2, briefly(b.fetching(t)), 250*time.Millisecond)
	a.Do("the first begins anew", 2, briefly(a.fetching(t)))
	a.session = 0
	a.fetches("the first begins anew", briefly(a.fetching(t)))
	end := briefly(a.fetching())
	end.ShareSessionEpoch = -1
	a.fetches("the first ends", end)
	b.fetches("a second session, when there is room", briefly(b.fetching(t)))
}

func runShareConnectionEnds(c *C) {
	const name = "share-connection-ends"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	b := c.shareMember("b", name)
	p := b.Send("another waits", 2, b.fetching(t))
	p.Parked()
	a.Close()
	p.Await()
	b.session++
	n.ShareOffsets("offsets", name)
	a.Conn = c.Conn("a")
	a.Do("the session is gone", 2, a.fetching())
	b.acknowledges("the other accepts", t, ack(0, 1, ackAccept))
	b.Close()
	a.session = 0
	n.Store("store one", t, Values("3"))
	a.fetches("everybody's connection ended: fetch what is left", a.fetching(t))
}
