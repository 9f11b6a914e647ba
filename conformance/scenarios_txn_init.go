package conformance

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnInitScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-init-versions",
			Claim: "InitProducerId with a transactional id gives a new id of epoch 0 and the next epoch each time it is asked again, at every version; the id is Empty with the timeout that was told last.",
			Run:   runTxnInitVersions,
		},
		{
			Name:  "txn-init-known",
			Claim: "InitProducerId with the present id and epoch gives the next epoch, with the pair before it the present one again; an older epoch and the id of another are PRODUCER_FENCED, below v4 INVALID_PRODUCER_EPOCH.",
			Run:   runTxnInitKnown,
		},
		{
			Name:  "txn-init-refusals",
			Claim: "An empty transactional id and half of an id and epoch are INVALID_REQUEST; a timeout of 0, below it or over transaction.max.timeout.ms is INVALID_TRANSACTION_TIMEOUT.",
			Run:   runTxnInitRefusals,
		},
		{
			Name:  "txn-init-max-timeout",
			Claim: "transaction.max.timeout.ms is the longest timeout that InitProducerId takes.",
			Set:   txnSet("transaction.max.timeout.ms", "5000"),
			Run:   runTxnInitMaxTimeout,
		},
		{
			Name:  "txn-init-aborts-open",
			Claim: "InitProducerId while a transaction is open aborts it with the next epoch and is CONCURRENT_TRANSACTIONS; asked again it gives the epoch after that one.",
			Run:   runTxnInitAbortsOpen,
		},
		{
			Name:  "txn-init-known-open",
			Claim: "InitProducerId with the present id and epoch while a transaction is open aborts it too and is CONCURRENT_TRANSACTIONS; the same pair again is a repeat then and gives the epoch of the abort. Half of a pair is refused before, and the transaction stays open.",
			Run:   runTxnInitKnownOpen,
		},
		{
			Name:  "txn-init-after-end",
			Claim: "After EndTxn v5 the epoch before it counts as a repeat of InitProducerId and gives the present one; after EndTxn v4 it is fenced.",
			Run:   runTxnInitAfterEnd,
		},
		{
			Name:  "txn-fenced",
			Claim: "A producer whose id was taken over is INVALID_PRODUCER_EPOCH to Produce and TxnOffsetCommit at all versions, and to the coordinator PRODUCER_FENCED, at old versions INVALID_PRODUCER_EPOCH; nothing of it is stored.",
			Run:   runTxnFenced,
		},
		{
			Name:  "txn-find-coordinator",
			Claim: "FindCoordinator of type 1 gives the broker for any transactional id, of several at once from v4 on, and INVALID_REQUEST for other types.",
			Run:   runTxnFindCoordinator,
		},
	})
}

func runTxnInitVersions(c *C) {
	a := c.Conn("a")
	a.AwaitTxnCoordinator()
	AskUntil(a, "first", 4, initRequest("txn-init-versions", 10_000, -1, -1), func(r *kmsg.InitProducerIDResponse) bool {
		return !slices.Contains(retriable, r.ErrorCode)
	})
	for v := int16(0); v <= 5; v++ {
		txn := "txn-init-versions-" + vn(v)
		for _, step := range []string{"", " again", " once more"} {
			a.Do(vn(v)+step, v, initRequest(txn, 60_000, -1, -1))
		}
		a.Do(vn(v)+" with another timeout", v, initRequest(txn, 30_000+int32(v), -1, -1))
		a.Do(vn(v)+" described", 0, describeTxns(txn))
	}
}

func runTxnInitKnown(c *C) {
	for _, v := range []int16{3, 4, 5} {
		p := c.txnProducer("a", "txn-init-known-"+vn(v))
		other := c.txnProducer("a", "txn-init-known-other-"+vn(v))
		ask := func(step string, id int64, epoch int16) {
			p.Do(vn(v)+" "+step, v, initRequest(p.txn, 60_000, id, epoch))
		}
		ask("the present pair", p.id, 0)
		ask("the pair before", p.id, 0)
		ask("the pair before, again", p.id, 0)
		ask("the present pair, epoch 1", p.id, 1)
		ask("an older epoch", p.id, 0)
		ask("a later epoch", p.id, 7)
		ask("the last epoch", p.id, 32767)
		ask("the id of another", other.id, 2)
		ask("an id that nobody has", 77_777_777, 2)
		ask("without a pair", -1, -1)
		ask("the pair before, though none was told", p.id, 2)
		ask("the present pair, epoch 3", p.id, 3)
		p.Do(vn(v)+" a new transactional id", v, initRequest(p.txn+"-new", 60_000, p.id, 3))
		p.Do(vn(v)+" a new transactional id again", v, initRequest(p.txn+"-new", 60_000, p.id, 3))
		p.State(vn(v) + " described")
	}
}

func runTxnInitRefusals(c *C) {
	a := c.txnProducer("a", "txn-init-refusals")
	for v := int16(0); v <= 5; v++ {
		a.Do(vn(v)+" empty id", v, initRequest("", 60_000, -1, -1))
		for _, timeout := range []int32{0, -1, -2147483648, 1, 900_000, 900_001, 2147483647} {
			a.Do(vn(v)+" timeout "+number(int64(timeout)), v, initRequest(a.txn, timeout, -1, -1))
		}
	}
	for _, v := range []int16{3, 5} {
		a.Do(vn(v)+" an id only", v, initRequest(a.txn, 60_000, a.id, -1))
		a.Do(vn(v)+" an epoch only", v, initRequest(a.txn, 60_000, -1, 3))
		a.Do(vn(v)+" an id of -2", v, initRequest(a.txn, 60_000, -2, 3))
		a.Do(vn(v)+" an epoch of -2", v, initRequest(a.txn, 60_000, a.id, -2))
		a.Do(vn(v)+" empty id with a pair", v, initRequest("", 60_000, a.id, 3))
	}
	a.Do("a refused id is not kept", 4, initRequest("txn-init-refusals-new", 0, -1, -1))
	a.Do("not described", 0, describeTxns("txn-init-refusals-new"))
	a.State("described")
}

func runTxnInitMaxTimeout(c *C) {
	p := c.txnProducerWithin("a", "txn-init-max-timeout", 5000)
	for _, timeout := range []int32{5001, 5000, 5001} {
		p.Do("timeout "+number(int64(timeout)), 4, initRequest(p.txn, timeout, -1, -1))
	}
	p.State("described")
}

func runTxnInitAbortsOpen(c *C) {
	t := c.Conn("a").NewTopic("txn-init-aborts-open", 1)
	for _, write := range []func(p *txnProducer, step string){
		func(p *txnProducer, step string) { p.WriteV1(step, t, "v1") },
		func(p *txnProducer, step string) { p.WriteV2(step, t, "v2") },
	} {
		p := c.txnProducer("a", "txn-init-aborts-open")
		write(p, "write")
		b := c.Conn("b")
		b.Do("init", 4, initRequest(p.txn, 60_000, -1, -1))
		p.Settled("aborted")
		b.Do("init again", 4, initRequest(p.txn, 60_000, -1, -1))
		p.State("described")
		p.Write("the old one", produceV2, t, "late")
		p.Do("the old one commits", endTxnV1, endTxn(p, true))
		b.Read("read", t, 0)
	}
	p := c.txnProducer("a", "txn-init-aborts-open")
	p.Add("add and write nothing", t)
	p.Do("init", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Settled("aborted")
	p.init("init again", 60_000)
	p.State("described")
	p.Read("read", t, 0)
}

func runTxnInitKnownOpen(c *C) {
	t := c.Conn("a").NewTopic("txn-init-known-open", 1)
	for _, v := range []int16{3, 4} {
		p := c.txnProducer("a", "txn-init-known-open-"+vn(v))
		p.WriteV1("write", t, "v1")
		p.Do("an id only", v, initRequest(p.txn, 60_000, p.id, -1))
		p.Do("the id of another", v, initRequest(p.txn, 60_000, p.id+100_000, p.epoch))
		p.Do("the present pair", v, initRequest(p.txn, 60_000, p.id, p.epoch))
		p.Settled("aborted")
		p.Do("the same pair again", v, initRequest(p.txn, 60_000, p.id, p.epoch))
		p.Do("the epoch of the abort", v, initRequest(p.txn, 60_000, p.id, p.epoch+1))
		p.State("described")
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnInitAfterEnd(c *C) {
	t := c.Conn("a").NewTopic("txn-init-after-end", 1)
	p := c.txnProducer("a", "txn-init-after-end")
	p.init("epoch 1", 60_000)
	p.WriteV1("v1", t, "a")
	p.End("commit", endTxnV1, true)
	p.Do("the epoch before", 4, initRequest(p.txn, 60_000, p.id, p.epoch-1))
	p.Do("the present pair", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.Do("the same pair again", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.init("init", 60_000)
	p.WriteV2("v2", t, "b")
	p.End("commit of v2", endTxnV2, true)
	p.Do("the epoch before the commit", 4, initRequest(p.txn, 60_000, p.id, p.epoch-1))
	p.Do("the same again", 4, initRequest(p.txn, 60_000, p.id, p.epoch-1))
	p.Do("the present pair of v2", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.State("described")
}

func runTxnFenced(c *C) {
	t := c.Conn("a").NewTopic("txn-fenced", 1)
	old := c.txnProducer("old", "txn-fenced")
	old.AwaitGroupCoordinator("txn-fenced")
	old.WriteV1("write", t, "a")
	old.End("commit", endTxnV1, true)
	c.txnProducer("new", "txn-fenced")
	for _, v := range []int16{3, 9, 10, 11, 12, 13} {
		old.Do("Produce "+vn(v), v, old.produceIn(t, -1, old.transactional(place{t, 0}, "late").Bytes()))
	}
	for v := int16(0); v <= 3; v++ {
		old.Do("AddPartitionsToTxn "+vn(v), v, addPartitions(old, place{t, 0}))
	}
	for v := int16(0); v <= 4; v++ {
		old.Do("AddOffsetsToTxn "+vn(v), v, addOffsets(old, "txn-fenced"))
	}
	for v := int16(0); v <= 5; v++ {
		old.Do("TxnOffsetCommit "+vn(v), v, txnOffset(old, "txn-fenced", t, 1))
	}
	for v := int16(0); v <= 5; v++ {
		old.Do("EndTxn "+vn(v), v, endTxn(old, true))
	}
	old.State("described")
	old.Read("read", t, 0)
	old.Offset("offset", "txn-fenced", t)
}

func runTxnFindCoordinator(c *C) {
	a := c.Conn("a")
	a.AwaitTxnCoordinator()
	for v := int16(1); v <= 6; v++ {
		for _, id := range []string{"txn-find", "", "a b/c"} {
			for _, kind := range []int8{1, 3} {
				req := kmsg.NewPtrFindCoordinatorRequest()
				req.CoordinatorKey, req.CoordinatorType = id, kind
				req.CoordinatorKeys = []string{id, "txn-find-other", id}
				if kind == 1 || v <= 4 {
					a.Do(vn(v)+" type "+number(int64(kind))+" "+id, v, req)
				}
			}
		}
	}
}
