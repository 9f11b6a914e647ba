package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareRecordScenarios show how records are delivered to a share group.
func shareRecordScenarios() []Scenario {
	return inSharePart([]Scenario{
		{
			Name:  "share-accept",
			Claim: "Records are acquired in the record batches they lie in, delivered once while they are accepted; the start offset that is told is the one before the last acknowledgement.",
			Run:   runShareAccept,
		},
		{
			Name:  "share-release",
			Claim: "A released record is delivered again with a higher count, before new ones; a rejected one and a gap are not.",
			Run:   runShareRelease,
		},
		{
			Name:  "share-delivery-limit",
			Claim: "From half of the limit on a batch is delivered in ever smaller portions, the last time record by record; what is released then is archived.",
			Run:   runShareDeliveryLimit,
		},
		{
			Name:  "share-piggyback",
			Claim: "ShareFetch carries acknowledgements: they are answered beside the records, also for partitions that have none; not in a session's first request.",
			Run:   runSharePiggyback,
		},
		{
			Name:  "share-ack-refusals",
			Claim: "Acknowledgements of ranges that go back or are inside out, of too few or unknown types are INVALID_REQUEST; of what is not acquired or another's INVALID_RECORD_STATE with a text; all of a partition's are taken or none.",
			Run:   runShareAckRefusals,
		},
		{
			Name:  "share-lock",
			Claim: "When its lock ends a record is delivered again, and the acknowledgement of the first delivery is refused, or taken when the same member has it again.",
			Run:   runShareLock,
		},
		{
			Name:  "share-lock-fetch",
			Claim: "A ShareFetch is held to what is in flight before it acquires: an acknowledgement of records whose lock has ended is refused, though the same records are acquired by it again; one that is good releases nothing to the same fetch.",
			Run:   runShareLockFetch,
		},
		{
			Name:  "share-renew",
			Claim: "RENEW keeps records for longer; with IsRenewAck a fetch asks for no records and sets nothing else; disabled by share.renew.acknowledge.enable it is INVALID_RECORD_STATE.",
			Run:   runShareRenew,
		},
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
		{
			Name:  "share-max-records",
			Claim: "max_records is met by whole record batches in batch_optimized mode (0) and exactly in record_limit mode (1); batch_size divides what is acquired; at 0 records or bytes nothing is.",
			Run:   runShareMaxRecords,
		},
		{
			Name:  "share-in-flight-limit",
			Claim: "With share.partition.max.record.locks records in flight nothing new is delivered until some are done.",
			Run:   runShareInFlightLimit,
		},
		{
			Name:  "share-two-members",
			Claim: "Two members share one partition: each is given other records; one cannot acknowledge the other's.",
			Run:   runShareTwoMembers,
		},
		{
			Name:  "share-wait",
			Claim: "A fetch waits for min_bytes as long as max_wait; records that are produced, released or come back end the wait.",
			Run:   runShareWait,
		},
		{
			Name:  "share-reset",
			Claim: "share.auto.offset.reset says where a group begins: latest (the default), earliest, by_duration; it counts at the first fetch after the partition became the group's.",
			Run:   runShareReset,
		},
		{
			Name:  "share-isolation",
			Claim: "share.isolation.level read_uncommitted (the default) delivers records of open and aborted transactions and their markers' offsets; read_committed waits for the last stable offset and leaves aborted batches out.",
			Set:   shareSet("transaction.state.log.num.partitions", "1"),
			Run:   runShareIsolation,
		},
		{
			Name:  "share-log-start",
			Claim: "When records are deleted below a group's place it goes on at the log's start; what is acquired of them can be acknowledged and is forgotten.",
			Run:   runShareLogStart,
		},
		{
			Name:  "share-compacted",
			Claim: "Offsets that compaction left without a record are acquired with the batch that they stood in, or that follows, and can be acknowledged as gaps or as if there were records.",
			Set:   shareSetSoon(),
			Run:   runShareCompacted,
		},
		{
			Name:  "share-restart",
			Claim: "Start offset, delivery counts and acknowledgements survive a stop and a kill; acquisitions do not.",
			Fresh: true,
			Run:   runShareRestart,
		},
	})
}

func runShareAccept(c *C) {
	const name = "share-accept"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store three", t, Values("1", "2", "3"))
	n.Store("store two", t, Values("4", "5"))
	n.ShareOffsets("offsets before a fetch", name)
	a.fetches("fetch", a.fetching(t))
	n.ShareOffsets("offsets while all are acquired", name)
	a.fetches("fetch again: nothing is left", briefly(a.fetching()))
	a.acknowledges("accept two", t, ack(0, 1, ackAccept))
	n.ShareOffsets("offsets", name)
	a.acknowledges("accept the third with the next one", t, ack(2, 3, ackAccept))
	n.ShareOffsets("offsets", name)
	a.acknowledges("accept one that is accepted", t, ack(3, 3, ackAccept))
	a.acknowledges("accept one below the start", t, ack(0, 0, ackAccept))
	a.acknowledges("accept the last", t, ack(4, 4, ackAccept))
	a.acknowledges("accept the last again", t, ack(4, 4, ackAccept))
	n.ShareOffsets("offsets when all are accepted", name)
	n.Store("store one more", t, Values("6"))
	a.fetches("fetch one more", a.fetching())
	a.acknowledges("accept it", t, ack(5, 5, ackAccept))
	n.ShareOffsets("offsets at the end", name)
}

func runShareRelease(c *C) {
	const name = "share-release"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store six", t, Values("1", "2", "3", "4", "5", "6"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("accept, release, reject, gap, release, accept", t, ack(0, 5, ackAccept, ackRelease, ackReject, ackGap, ackRelease, ackAccept))
	n.ShareOffsets("offsets", name)
	n.Store("store one", t, Values("7"))
	a.fetches("fetch what was released", a.fetching())
	a.fetches("fetch what is new", a.fetching())
	a.acknowledges("release one again, accept the new one", t, ack(1, 1, ackRelease), ack(6, 6, ackAccept))
	n.ShareOffsets("offsets", name)
	a.fetches("fetch it a third time", a.fetching())
	a.acknowledges("accept it and the other", t, ack(1, 1, ackAccept), ack(4, 4, ackReject))
	n.ShareOffsets("offsets at the end", name)
	a.fetches("nothing is left", briefly(a.fetching()))
}

func runShareDeliveryLimit(c *C) {
	const name = "share-delivery-limit"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store four", t, Values("1", "2", "3", "4"))
	n.Store("store one", t, Values("5"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("release all", t, ack(0, 4, ackRelease))
	a.fetches("fetch the second time", a.fetching())
	a.acknowledges("release all", t, ack(0, 4, ackRelease))
	a.fetches("fetch the third time", a.fetching())
	a.acknowledges("release all", t, ack(0, 4, ackRelease))
	for range 12 {
		r := a.fetches("fetch a portion", briefly(a.fetching()))
		var all []acks
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				for _, got := range p.AcquiredRecords {
					all = append(all, ack(got.FirstOffset, got.LastOffset, ackRelease))
				}
			}
		}
		if len(all) > 0 {
			a.acknowledges("release it", t, all...)
		}
	}
	n.ShareOffsets("offsets at the end", name)
}

func runSharePiggyback(c *C) {
	const name = "share-piggyback"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2", "3"))
	a.Do("acknowledgements in a session's first request", 2, with(a.fetching(), t, ack(0, 0, ackAccept)))
	a.fetches("fetch", a.fetching(t))
	a.fetches("accept one in a fetch without records", briefly(with(a.fetching(), t, ack(0, 0, ackAccept))))
	n.Store("store one", t, Values("4"))
	a.fetches("release one in a fetch with records", with(a.fetching(), t, ack(1, 1, ackRelease)))
	a.fetches("refused in a fetch", briefly(with(a.fetching(), t, ack(0, 0, ackAccept))))
	a.fetches("unknown type in a fetch", briefly(with(a.fetching(), t, ack(2, 2, 5))))
	unknown := topicRef{id: [16]byte{1}}
	a.fetches("of a topic that is not there", briefly(with(a.fetching(), unknown, ack(0, 0, ackAccept))))
	a.fetches("not in the last fetch: the session ends", func() *kmsg.ShareFetchRequest {
		req := briefly(with(a.fetching(), t, ack(2, 2, ackAccept)))
		req.ShareSessionEpoch = -1
		return req
	}())
	n.ShareOffsets("offsets", name)
	b := c.shareMember("b", name)
	b.fetches("what the session held goes to another", b.fetching(t))
}

func runShareAckRefusals(c *C) {
	const name = "share-ack-refusals"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	a.Do("without a session", 2, a.acknowledging(t, ack(0, 0, ackAccept)))
	n.Store("store three", t, Values("1", "2", "3"))
	n.Store("store two", t, Values("4", "5"))
	a.fetches("fetch three", func() *kmsg.ShareFetchRequest {
		req := a.fetching(t)
		req.MaxRecords = 2
		return req
	}())
	a.acknowledges("first behind last", t, ack(2, 1, ackAccept))
	a.acknowledges("ranges that go back", t, ack(1, 2, ackAccept), ack(0, 0, ackAccept))
	a.acknowledges("ranges that meet", t, ack(0, 1, ackRenew), ack(1, 2, ackRenew))
	a.acknowledges("no types", t, ack(0, 2))
	a.acknowledges("two types for three", t, ack(0, 2, ackAccept, ackAccept))
	a.acknowledges("four types for three", t, ack(0, 2, ackAccept, ackAccept, ackAccept, ackAccept))
	a.acknowledges("unknown type", t, ack(0, 2, 5))
	a.acknowledges("negative type", t, ack(0, 2, -1))
	a.acknowledges("a type that renews, without saying so", t, ack(0, 0, ackRenew))
	v1 := a.acknowledging(t, ack(0, 0, ackRenew))
	if r := Ask[*kmsg.ShareAcknowledgeResponse](a.Conn, "a type that renews at v1", 1, v1); r.ErrorCode == 0 {
		a.session++
	}
	a.acknowledges("last past what is acquired", t, ack(0, 3, ackAccept))
	a.acknowledges("first past what is acquired", t, ack(7, 8, ackAccept))
	a.acknowledges("the first is good, the second not: none is taken", t, ack(0, 0, ackAccept), ack(2, 9, ackAccept))
	a.acknowledges("accept one", t, ack(0, 0, ackAccept))
	a.acknowledges("again with others", t, ack(0, 2, ackAccept))
	a.acknowledges("release one", t, ack(1, 1, ackRelease))
	a.acknowledges("what was released", t, ack(1, 1, ackAccept))
	a.acknowledges("no ranges", t)
	a.acknowledges("unknown topic", topicRef{id: [16]byte{1}}, ack(0, 0, ackAccept))
	other := a.acknowledging(t, ack(0, 0, ackAccept))
	other.Topics[0].Partitions[0].Partition = 7
	a.asks("a partition that is not there", other)
	b := c.shareMember("b", name)
	b.Do("another member without a session", 2, b.acknowledging(t, ack(2, 2, ackAccept)))
	b.fetches("another member fetches", b.fetching(t))
	b.acknowledges("what is another's", t, ack(2, 2, ackAccept))
	b.acknowledges("what is another's and its own", t, ack(1, 2, ackAccept))
	a.acknowledges("what is another's, a whole batch", t, ack(3, 4, ackAccept))
	bad := func(step string, change func(*kmsg.ShareAcknowledgeRequest)) {
		req := a.acknowledging(t, ack(2, 2, ackAccept))
		change(req)
		a.Do(step, 2, req)
	}
	bad("no group", func(r *kmsg.ShareAcknowledgeRequest) { r.GroupID = nil })
	bad("no member", func(r *kmsg.ShareAcknowledgeRequest) { r.MemberID = nil })
	bad("an empty member", func(r *kmsg.ShareAcknowledgeRequest) { r.MemberID = kmsg.StringPtr("") })
	bad("another group", func(r *kmsg.ShareAcknowledgeRequest) { r.GroupID = kmsg.StringPtr(name + "-none") })
	n.ShareOffsets("offsets", name)
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

func runShareMaxRecords(c *C) {
	const name = "share-max-records"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.Store("store three", t, Values("1", "2", "3"))
	n.Store("store four", t, Values("4", "5", "6", "7"))
	for range 3 {
		n.Store("store two", t, Values("8", "9"))
	}
	ask := func(records, size int32, mode int8) *kmsg.ShareFetchRequest {
		req := briefly(a.fetching())
		req.MaxRecords, req.BatchSize, req.ShareAcquireMode = records, size, mode
		return req
	}
	first := a.fetching(t)
	first.MaxRecords = 1
	a.fetches("one record: its batch", first)
	a.fetches("no records", ask(0, 500, 0))
	none := briefly(a.fetching())
	none.MaxBytes = 0
	a.fetches("no bytes", none)
	a.fetches("two records exactly", ask(2, 500, 1))
	a.fetches("one record exactly: of the same batch", ask(1, 500, 1))
	a.fetches("five records exactly", ask(5, 500, 1))
	a.fetches("five records in batches of one", ask(5, 1, 0))
	a.acknowledges("release all", t, ack(0, 12, ackRelease))
	a.fetches("one record again: what was released, batch by batch", ask(1, 500, 0))
	a.fetches("one record exactly again", ask(1, 500, 1))
	a.fetches("all of it", ask(100, 500, 0))
}

func runShareInFlightLimit(c *C) {
	const name = "share-in-flight-limit"
	a, t := c.shareTopic(name, "share.partition.max.record.locks", "100")
	n := c.Conn("n")
	sixty := make([]string, 60)
	for range 3 {
		n.Store("store sixty", t, Values(sixty...))
	}
	a.Send("fetch", 2, a.fetching(t)).Only("ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
	a.session++
	a.fetches("nothing more", briefly(a.fetching()))
	a.acknowledges("release one: it is delivered again", t, ack(30, 30, ackRelease))
	a.Send("fetch", 2, a.fetching()).Only("ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
	a.session++
	a.acknowledges("accept in the middle: there is no more room", t, ack(60, 100, ackAccept))
	a.fetches("nothing more", briefly(a.fetching()))
	a.acknowledges("accept the first", t, ack(0, 59, ackAccept))
	a.Send("fetch", 2, a.fetching()).Only("ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
	a.session++
	n.ShareOffsets("offsets", name)
}

func runShareTwoMembers(c *C) {
	const name = "share-two-members"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	b := c.shareMember("b", name).joins(name)
	n.Store("store", t, Values("1", "2"))
	a.fetches("the first fetches", a.fetching(t))
	b.fetches("the second gets nothing", briefly(b.fetching(t)))
	n.Store("store", t, Values("3"))
	b.fetches("the second fetches", b.fetching())
	a.acknowledges("the other's", t, ack(2, 2, ackAccept))
	a.acknowledges("its own and the other's", t, ack(0, 2, ackAccept))
	a.acknowledges("its own", t, ack(0, 0, ackRelease), ack(1, 1, ackAccept))
	b.fetches("the second gets what the first released", b.fetching())
	b.acknowledges("both of its own", t, ack(0, 0, ackAccept), ack(2, 2, ackAccept))
	n.ShareOffsets("offsets", name)
}

func runShareWait(c *C) {
	const name = "share-wait"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	a.DoTimed("no records: the wait is over", 2, briefly(a.fetching(t)), 250*time.Millisecond)
	a.session++
	p := a.Send("waits for records", 2, a.fetching())
	p.Parked()
	n.Store("store", t, Values("1"))
	p.Await()
	a.session++
	b := c.shareMember("b", name)
	q := b.Send("another waits for what is acquired", 2, b.fetching(t))
	q.Parked()
	a.acknowledges("release", t, ack(0, 0, ackRelease))
	q.Await()
	b.session++
	much := b.fetching()
	much.MinBytes, much.MaxWaitMillis = 500, 800
	r := b.Send("waits for more than there is", 2, much)
	n.Store("store", t, Values("2"))
	r.Parked()
	r.Await()
	b.session++
	none := b.fetching()
	none.MinBytes = 0
	b.fetches("waits for nothing", none)
}

func runShareReset(c *C) {
	n := c.Conn("n")
	n.AwaitGroupCoordinator("share-reset")
	t := n.NewTopic("share-reset", 1)
	n.Store("store an old one", t, Values("old"))
	recent := Values("recent")
	recent.Start = time.Now().UnixMilli()
	n.Store("store a recent one", t, recent)
	reading := func(reset string) *shareMember {
		group := "share-reset-" + reset
		if reset != "default" {
			n.GroupConfig(group, "share.auto.offset.reset", reset)
		}
		return c.shareMember(reset, group).joins(t.name)
	}
	show := func(step string, m *shareMember, req *kmsg.ShareFetchRequest) {
		m.Send(step, 2, req).Only("ErrorCode", "Topics.Partitions.ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
		m.session++
	}
	d := reading("default")
	show("by default: nothing", d, briefly(d.fetching(t)))
	for _, reset := range []string{"earliest", "latest", "by_duration:PT1H", "by_duration:P20000D"} {
		m := reading(reset)
		show(reset, m, briefly(m.fetching(t)))
	}
	n.Store("store a new one", t, Values("new"))
	show("by default: the new one", d, d.fetching())
	n.ShareOffsets("offsets of the default group", d.group)
}

func runShareIsolation(c *C) {
	const name = "share-isolation"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.GroupConfig(name+"-committed", "share.auto.offset.reset", "earliest", "share.isolation.level", "read_committed")
	b := c.shareMember("b", name+"-committed").joins(name)
	show := func(step string, m *shareMember, req *kmsg.ShareFetchRequest) {
		m.Send(step, 2, req).Only("ErrorCode", "Topics.Partitions.ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
		m.session++
	}
	n.Store("store", t, Values("1"))
	p := c.txnProducer("p", name)
	p.WriteV1("write in a transaction", t, "2", "3")
	show("uncommitted: all", a, a.fetching(t))
	show("committed: up to the transaction", b, b.fetching(t))
	p.End("abort", endTxnV1, false)
	n.Store("store after it", t, Values("4"))
	show("uncommitted: the marker and the next", a, a.fetching())
	show("committed: without what was aborted", b, b.fetching())
	a.acknowledges("uncommitted: accept all", t, ack(0, 4, ackAccept))
	b.acknowledges("committed: accept what was aborted", t, ack(1, 2, ackAccept))
	b.acknowledges("committed: accept the rest", t, ack(0, 0, ackAccept), ack(3, 4, ackGap, ackAccept))
	n.ShareOffsets("offsets", name)
	n.ShareOffsets("offsets, committed", name+"-committed")
}

func runShareLogStart(c *C) {
	const name = "share-log-start"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	for _, v := range []string{"a", "b", "c", "d"} {
		n.Store("store two", t, Values(v, v))
	}
	first := a.fetching(t)
	first.MaxRecords = 4
	a.fetches("fetch two batches", first)
	a.acknowledges("release the first", t, ack(0, 1, ackRelease))
	n.Do("delete below 3", 2, deleteBefore(t, 3))
	a.fetches("fetch", briefly(a.fetching()))
	a.fetches("fetch again", briefly(a.fetching()))
	a.acknowledges("accept what was deleted", t, ack(2, 2, ackAccept))
	a.acknowledges("accept what was not", t, ack(3, 3, ackAccept))
	n.ShareOffsets("offsets", name)
	n.Do("delete all", 2, deleteBefore(t, 8))
	n.Store("store", t, Values("e"))
	a.fetches("fetch", briefly(a.fetching()))
	a.fetches("fetch again", briefly(a.fetching()))
	n.ShareOffsets("offsets at the end", name)
}

func runShareRestart(c *C) {
	const name = "share-restart"
	a, t := c.shareTopic(name)
	a.Store("store four", t, Values("1", "2", "3", "4"))
	a.Store("store two", t, Values("5", "6"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("release one, accept one, release one", t, ack(0, 2, ackRelease, ackAccept, ackRelease))
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		n := c.Conn("n")
		n.AwaitGroupCoordinator(name)
		AskUntil(n, "offsets", 1, shareOffsets(name), func(r *kmsg.DescribeShareGroupOffsetsResponse) bool {
			return r.Groups[0].ErrorCode == 0 && len(r.Groups[0].Topics) > 0 && r.Groups[0].Topics[0].Partitions[0].ErrorCode == 0
		})
		a = &shareMember{Conn: c.Conn("a"), group: name, id: "member-a"}
		a.fetches("fetch", a.fetching(t))
		a.acknowledges("accept the third, release the first", t, ack(0, 0, ackRelease), ack(2, 2, ackAccept))
		end := briefly(a.fetching())
		end.ShareSessionEpoch = -1
		a.fetches("end the session: a kill would come before or after the end of the connection", end)
	}
	c.Conn("n").ShareOffsets("offsets at the end", name)
}
