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
