package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnEndScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-end-versions",
			Claim: "EndTxn v0 to v4 commits and aborts and keeps the epoch; v5 answers with the producer id and the epoch after it.",
			Run:   runTxnEndVersions,
		},
		{
			Name:  "txn-end-repeated-v1",
			Claim: "EndTxn below v5 once more is no error and does nothing; the other verdict is INVALID_TXN_STATE.",
			Run:   runTxnEndRepeatedV1,
		},
		{
			Name:  "txn-end-repeated-v2",
			Claim: "EndTxn v5 with the epoch before the present one is a repeat: the same verdict answers the present id and epoch, the other is INVALID_TXN_STATE; an older or later epoch is PRODUCER_FENCED.",
			Run:   runTxnEndRepeatedV2,
		},
		{
			Name:  "txn-end-empty-v1",
			Claim: "EndTxn below v5 when no transaction has begun is INVALID_TXN_STATE, commit and abort.",
			Run:   runTxnEndEmptyV1,
		},
		{
			Name:  "txn-end-empty-v2",
			Claim: "EndTxn v5 when no transaction is open: an abort gives a new epoch, each time, and writes no marker; a commit is INVALID_TXN_STATE.",
			Run:   runTxnEndEmptyV2,
		},
		{
			Name:  "txn-end-refusals",
			Claim: "EndTxn with an unknown transactional id or another producer id is INVALID_PRODUCER_ID_MAPPING, with another epoch PRODUCER_FENCED (below v2 INVALID_PRODUCER_EPOCH), with an empty transactional id INVALID_REQUEST; the transaction stays open.",
			Run:   runTxnEndRefusals,
		},
		{
			Name:  "txn-end-mixed-versions",
			Claim: "What was begun by one protocol may be ended by the other: EndTxn v5 after AddPartitionsToTxn has a new epoch, EndTxn v4 after Produce v12 keeps it; a repeat goes by its own version.",
			Run:   runTxnEndMixedVersions,
		},
		{
			Name:  "txn-end-elsewhere",
			Claim: "Any connection ends a transaction that it knows the id and epoch of, after the producer's is closed, again, and after a restart.",
			Fresh: true,
			Run:   runTxnEndElsewhere,
		},
		{
			Name:  "txn-markers",
			Claim: "The end of a transaction is a control batch of one record in each of its partitions: producer id and epoch (of v2 the new one), sequence -1, key version 0 and verdict, value version 0 and coordinator epoch.",
			Run:   runTxnMarkers,
		},
		{
			Name:  "txn-added-not-written",
			Claim: "A partition that was added and not written gets a marker all the same.",
			Run:   runTxnAddedNotWritten,
		},
		{
			Name:  "txn-topic-deleted",
			Claim: "A transaction whose topic is deleted ends in its other partitions.",
			Run:   runTxnTopicDeleted,
		},
	})
}

func runTxnEndVersions(c *C) {
	t := c.Conn("a").NewTopic("txn-end-versions", 1)
	for v := int16(0); v <= 5; v++ {
		p := c.txnProducer("a", "txn-end-versions-"+vn(v))
		for _, commit := range []bool{true, false} {
			p.WriteV1(vn(v)+" write", t, "v1")
			p.End(vn(v)+" "+verdict(commit), v, commit)
			p.WriteV2(vn(v)+" write of v2", t, "v2")
			p.End(vn(v)+" "+verdict(commit)+" of v2", v, commit)
		}
	}
	c.Conn("a").Read("read", t, 0)
}

func verdict(commit bool) string {
	if commit {
		return "commit"
	}
	return "abort"
}

func runTxnEndRepeatedV1(c *C) {
	t := c.Conn("a").NewTopic("txn-end-repeated", 1)
	for v := int16(0); v <= endTxnV1; v++ {
		p := c.txnProducer("a", "txn-end-repeated-by-"+vn(v))
		for _, commit := range []bool{true, false} {
			p.WriteV1(vn(v)+" write", t, "x")
			p.End(vn(v)+" "+verdict(commit), v, commit)
			p.Do(vn(v)+" "+verdict(commit)+" again", v, endTxn(p, commit))
			p.Do(vn(v)+" "+verdict(!commit)+" after it", v, endTxn(p, !commit))
			p.Do(vn(v)+" "+verdict(commit)+" once more", v, endTxn(p, commit))
			p.State(vn(v) + " described")
		}
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnEndRepeatedV2(c *C) {
	t := c.Conn("a").NewTopic("txn-end-repeated-v2", 1)
	p := c.txnProducer("a", "txn-end-repeated-v2")
	p.init("epoch 1", 60_000)
	for _, commit := range []bool{true, false} {
		p.WriteV2("write", t, "x")
		old := *p
		p.End(verdict(commit), endTxnV2, commit)
		p.Do(verdict(commit)+" again", endTxnV2, endTxn(&old, commit))
		p.Do(verdict(!commit)+" after it", endTxnV2, endTxn(&old, !commit))
		p.Do(verdict(commit)+" once more", endTxnV2, endTxn(&old, commit))
		old.epoch--
		p.Do(verdict(commit)+" with an older epoch", endTxnV2, endTxn(&old, commit))
		old.epoch += 3
		p.Do(verdict(commit)+" with a later epoch", endTxnV2, endTxn(&old, commit))
		p.State("described")
		p.Do("commit with the present epoch", endTxnV2, endTxn(p, true))
	}
	old := *p
	p.WriteV2("write in the next transaction", t, "y")
	old.epoch--
	p.Do("a late abort of the one before", endTxnV2, endTxn(&old, false))
	p.State("still open")
	p.End("commit at last", endTxnV2, true)
	p.Read("read", t, 0)
}

func runTxnEndEmptyV1(c *C) {
	p := c.txnProducer("a", "txn-end-empty")
	for v := int16(0); v <= endTxnV1; v++ {
		p.Do(vn(v)+" commit", v, endTxn(p, true))
		p.Do(vn(v)+" abort", v, endTxn(p, false))
		p.Do(vn(v)+" abort again", v, endTxn(p, false))
	}
	p.State("described")
}

func runTxnEndEmptyV2(c *C) {
	t := c.Conn("a").NewTopic("txn-end-empty-v2", 1)
	p := c.txnProducer("a", "txn-end-empty-v2")
	p.Do("commit", endTxnV2, endTxn(p, true))
	p.End("abort", endTxnV2, false)
	p.State("described")
	old := *p
	old.epoch--
	p.Do("the abort again", endTxnV2, endTxn(&old, false))
	p.Do("commit of the same", endTxnV2, endTxn(&old, true))
	p.End("abort once more", endTxnV2, false)
	p.Do("commit after aborts", endTxnV2, endTxn(p, true))
	p.WriteV2("write", t, "x")
	p.End("commit of something", endTxnV2, true)
	p.Do("commit of nothing", endTxnV2, endTxn(p, true))
	p.End("abort after the commit", endTxnV2, false)
	p.State("described at last")
	p.Read("read", t, 0)
}

func runTxnEndRefusals(c *C) {
	t := c.Conn("a").NewTopic("txn-end-refusals", 1)
	p := c.txnProducer("a", "txn-end-refusals")
	p.init("epoch 1", 60_000)
	p.WriteV1("write", t, "x")
	for v := int16(0); v <= 5; v++ {
		ask := func(step string, edit func(*kmsg.EndTxnRequest)) {
			req := endTxn(p, true)
			edit(req)
			p.Do(vn(v)+" "+step, v, req)
		}
		ask("unknown transactional id", func(r *kmsg.EndTxnRequest) { r.TransactionalID = "nobody" })
		ask("empty transactional id", func(r *kmsg.EndTxnRequest) { r.TransactionalID = "" })
		ask("another producer id", func(r *kmsg.EndTxnRequest) { r.ProducerID += 1000 })
		ask("an older epoch", func(r *kmsg.EndTxnRequest) { r.ProducerEpoch-- })
		ask("a later epoch", func(r *kmsg.EndTxnRequest) { r.ProducerEpoch++ })
		ask("epoch -1", func(r *kmsg.EndTxnRequest) { r.ProducerEpoch = -1 })
	}
	p.State("still open")
	p.End("commit", endTxnV1, true)
}

func runTxnEndMixedVersions(c *C) {
	t := c.Conn("a").NewTopic("txn-end-mixed", 1)
	p := c.txnProducer("a", "txn-end-mixed")
	p.WriteV1("v1", t, "a")
	before := *p
	p.End("commit v5", endTxnV2, true)
	p.Do("again v5", endTxnV2, endTxn(&before, true))
	p.Do("again v4 with the epoch before", endTxnV1, endTxn(&before, true))
	p.Do("again v4", endTxnV1, endTxn(p, true))
	p.Do("abort v4", endTxnV1, endTxn(p, false))
	p.WriteV2("v2", t, "b")
	p.End("commit v4", endTxnV1, true)
	p.Do("again v4, same epoch", endTxnV1, endTxn(p, true))
	p.Do("again v5, same epoch", endTxnV2, endTxn(p, true))
	p.End("abort v5, same epoch", endTxnV2, false)
	p.State("described")
	p.Read("read", t, 0)
}

func runTxnEndElsewhere(c *C) {
	t := c.Conn("a").NewTopic("txn-end-elsewhere", 1)
	p := c.txnProducer("a", "txn-end-elsewhere")
	p.WriteV1("write", t, "a")
	c.Conn("a").Close()
	p.Conn = c.Conn("b")
	p.End("commit", endTxnV1, true)
	p.Do("commit again", endTxnV1, endTxn(p, true))
	p.WriteV1("write again", t, "b")
	c.Restart()
	p.reopened()
	p.AwaitTxnCoordinator()
	p.AwaitTopic(t.name, 1)
	p.State("open after the restart")
	p.End("commit after the restart", endTxnV1, true)
	p.Do("commit once more", endTxnV1, endTxn(p, true))
	c.Restart()
	p.reopened()
	p.AwaitTxnCoordinator()
	p.AwaitTopic(t.name, 1)
	p.Do("commit after another restart", endTxnV1, endTxn(p, true))
	p.Do("abort after it", endTxnV1, endTxn(p, false))
	p.State("described")
	p.Read("read", t, 0)
}

func runTxnMarkers(c *C) {
	t := c.Conn("a").NewTopic("txn-markers", 2)
	p := c.txnProducer("a", "txn-markers")
	for _, version := range []int16{endTxnV1, endTxnV2} {
		for _, commit := range []bool{true, false} {
			p.Do("add", addPartitionsV1, addPartitions(p, place{t, 0}, place{t, 1}))
			p.Do("write", produceV1, p.produceIn(t, -1, p.transactional(place{t, 0}, "a").Bytes(), p.transactional(place{t, 1}, "b", "c").Bytes()))
			p.End(vn(version)+" "+verdict(commit), version, commit)
		}
	}
	for _, v := range []int16{4, 5, 11, 12, 18} {
		p.Do("read "+vn(v), v, committed(fetchFrom(t, 0, 0)))
	}
	p.Do("read from a marker", 12, committed(fetchFrom(t, 1)))
	p.Do("read the last marker", 12, committed(fetchFrom(t, 7)))
	p.Do("producers", 0, describeProducers(t.name))
	p.End("end offset", endTxnV2, false)
	p.Conn.End("end", t)
}

func runTxnAddedNotWritten(c *C) {
	t := c.Conn("a").NewTopic("txn-added-not-written", 1)
	p := c.txnProducer("a", "txn-added-not-written")
	for _, v := range []int16{endTxnV1, endTxnV2} {
		for _, commit := range []bool{true, false} {
			p.Add("add", t)
			p.End(vn(v)+" "+verdict(commit), v, commit)
		}
	}
	p.Read("read", t, 0)
	p.Do("producers", 0, describeProducers(t.name))
}

func runTxnTopicDeleted(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("txn-topic-deleted", 1), a.NewTopic("txn-topic-stays", 1)
	p := c.txnProducer("a", "txn-topic-deleted")
	p.Add("add", t, u)
	p.Write("write", produceV1, t, "x")
	p.Write("write the other", produceV1, u, "y")
	gone := kmsg.NewPtrDeleteTopicsRequest()
	gone.TopicNames, gone.TimeoutMillis = []string{t.name}, 10_000
	a.Do("delete", 5, gone)
	AskUntil(a, "until it is gone", 9, metadataFor(t.name), func(r *kmsg.MetadataResponse) bool { return r.Topics[0].ErrorCode == 3 })
	p.State("described")
	p.End("commit", endTxnV1, true)
	p.Read("read", u, 0)
	p.Do("add it again", addPartitionsV1, addPartitions(p, place{t, 0}))
}
