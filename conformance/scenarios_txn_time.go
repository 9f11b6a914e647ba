package conformance

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// quickTxnSet looks for transactions that are overdue, and for ids that are not used any more, ten times a second.
func quickTxnSet(more ...string) map[string]string {
	return txnSet(append(more, "transaction.abort.timed.out.transaction.cleanup.interval.ms", "100",
		"transaction.remove.expired.transaction.cleanup.interval.ms", "100")...)
}

func txnTimeScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-timeout-v1",
			Claim: "A transaction that is open longer than its timeout is aborted with the next epoch: the producer is fenced then, and InitProducerId gives the epoch after that one.",
			Set:   quickTxnSet(),
			Run:   runTxnTimeoutV1,
		},
		{
			Name:  "txn-timeout-v2",
			Claim: "A transaction of Produce v12 that is open longer than its timeout is aborted as any is; the producer is INVALID_PRODUCER_EPOCH to Produce, and its EndTxn v5 is taken for a repeat when it aborts.",
			Set:   quickTxnSet(),
			Run:   runTxnTimeoutV2,
		},
		{
			Name:  "txn-timeout-counts",
			Claim: "The timeout counts from when the transaction began, not from its last write; without an open transaction nothing runs out.",
			Set:   quickTxnSet(),
			Run:   runTxnTimeoutCounts,
		},
		{
			Name:  "txn-timeout-offsets",
			Claim: "Offsets of a transaction that ran out are not committed, and are stable again.",
			Set:   quickTxnSet(),
			Run:   runTxnTimeoutOffsets,
		},
		{
			Name:  "txn-timeout-restart",
			Claim: "A transaction that runs out while the broker is down is aborted after its start.",
			Set:   quickTxnSet(),
			Fresh: true,
			Run:   runTxnTimeoutRestart,
		},
		{
			Name:  "txn-id-expired",
			Claim: "A transactional id without an open transaction that was not used for transactional.id.expiration.ms is forgotten: it is TRANSACTIONAL_ID_NOT_FOUND, its producer INVALID_PRODUCER_ID_MAPPING, and InitProducerId gives a new producer id of epoch 0.",
			Set:   quickTxnSet("transactional.id.expiration.ms", "1000"),
			Run:   runTxnIDExpired,
		},
	})
}

// untilAborted waits until the transaction has run out.
func (p *txnProducer) untilAborted(step string) {
	AskUntil(p.Conn, step, 0, describeTxns(p.txn), func(r *kmsg.DescribeTransactionsResponse) bool {
		return r.TransactionStates[0].State == "CompleteAbort"
	})
}

func runTxnTimeoutV1(c *C) {
	t := c.Conn("a").NewTopic("txn-timeout-v1", 1)
	c.Conn("a").AwaitGroupCoordinator("txn-timeout-v1")
	p := c.txnProducerWithin("a", "txn-timeout-v1", 500)
	p.WriteV1("write", t, "a")
	p.untilAborted("until it is aborted")
	p.Read("read", t, 0)
	for _, v := range []int16{9, 11, 12} {
		p.Do("Produce "+vn(v), v, p.produceIn(t, -1, p.transactional(place{t, 0}, "late").Bytes()))
	}
	p.Do("AddPartitionsToTxn v1", 1, addPartitions(p, place{t, 0}))
	p.Do("AddPartitionsToTxn v3", 3, addPartitions(p, place{t, 0}))
	p.Do("AddOffsetsToTxn", 3, addOffsets(p, p.txn))
	p.Do("TxnOffsetCommit", 4, txnOffset(p, p.txn, t, 1))
	for _, v := range []int16{1, 4} {
		p.Do("abort "+vn(v), v, endTxn(p, false))
		p.Do("commit "+vn(v), v, endTxn(p, true))
	}
	p.init("init", 60_000)
	p.WriteV1("write again", t, "b")
	p.End("commit", endTxnV1, true)
	p.Read("read again", t, 0)
}

func runTxnTimeoutV2(c *C) {
	t := c.Conn("a").NewTopic("txn-timeout-v2", 1)
	p := c.txnProducerWithin("a", "txn-timeout-v2", 500)
	p.WriteV2("write", t, "a")
	p.untilAborted("until it is aborted")
	p.Write("late", produceV2, t, "late")
	p.Do("commit", endTxnV2, endTxn(p, true))
	p.Do("abort", endTxnV2, endTxn(p, false))
	p.Do("abort again", endTxnV2, endTxn(p, false))
	p.Do("init with the pair", 4, initRequest(p.txn, 500, p.id, p.epoch))
	p.State("described")
	p.init("init", 60_000)
	p.WriteV2("write again", t, "b")
	p.End("commit again", endTxnV2, true)
	p.Read("read", t, 0)
}

func runTxnTimeoutCounts(c *C) {
	t, u := c.Conn("a").NewTopic("txn-timeout-counts", 1), c.Conn("a").NewTopic("txn-timeout-counts-idle", 1)
	idle := c.txnProducerWithin("a", "txn-timeout-counts-idle", 500)
	p := c.txnProducerWithin("a", "txn-timeout-counts", 1500)
	p.Add("add", t)
	before := len(c.steps)
	for last := int16(0); last == 0; {
		r := Ask[*kmsg.ProduceResponse](p.Conn, "write until it is aborted", 9, p.produceIn(t, -1, p.transactional(place{t, 0}, "x").Bytes()))
		last = r.Topics[0].Partitions[0].ErrorCode
		if last == 51 { // the abort is on its way
			last = 0
		}
		c.steps = c.steps[:before] // how often depends on the machine
	}
	p.next[place{t, 0}] = 0
	p.Write("late", produceV1, t, "late")
	p.untilAborted("aborted")
	idle.State("nothing was open")
	idle.Add("add another", u)
	idle.untilAborted("aborted too")
}

func runTxnTimeoutOffsets(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-timeout-offsets", 1)
	a.AwaitGroupCoordinator("txn-timeout-offsets")
	p := c.txnProducerWithin("a", "txn-timeout-offsets", 1000)
	p.Do("offset", offsetCommit, txnOffset(p, p.txn, t, 5))
	p.untilAborted("until it is aborted")
	a.Offset("offset afterwards", p.txn, t)
	p.Do("offset of the old epoch", offsetCommit, txnOffset(p, p.txn, t, 5))
}

func runTxnTimeoutRestart(c *C) {
	t := c.Conn("a").NewTopic("txn-timeout-restart", 1)
	p := c.txnProducerWithin("a", "txn-timeout-restart", 3000)
	p.WriteV1("write", t, "a")
	p.State("open")
	c.Restart()
	p.reopened()
	p.AwaitTxnCoordinator()
	p.AwaitTopic(t.name, 1)
	p.untilAborted("until it is aborted")
	p.Do("commit", endTxnV1, endTxn(p, true))
	p.Read("read", t, 0)
}

func runTxnIDExpired(c *C) {
	t := c.Conn("a").NewTopic("txn-id-expired", 1)
	open := c.txnProducer("a", "txn-id-expired-open")
	open.WriteV1("write and stay open", t, "a")
	p := c.txnProducer("a", "txn-id-expired")
	p.WriteV1("write", t, "b")
	p.End("commit", endTxnV1, true)
	AskUntil(p.Conn, "until it is forgotten", 0, describeTxns(p.txn), func(r *kmsg.DescribeTransactionsResponse) bool {
		return r.TransactionStates[0].ErrorCode != 0
	})
	p.Do("list", 0, &kmsg.ListTransactionsRequest{})
	p.Do("commit again", endTxnV1, endTxn(p, true))
	p.Do("commit again, v5", endTxnV2, endTxn(p, true))
	p.Do("add", addPartitionsV1, addPartitions(p, place{t, 0}))
	p.Write("Produce v9", 9, t, "c")
	p.Write("Produce v12", 12, t, "c")
	p.Do("init with the pair", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	AskUntil(p.Conn, "until it is forgotten again", 0, describeTxns(p.txn), func(r *kmsg.DescribeTransactionsResponse) bool {
		return r.TransactionStates[0].ErrorCode != 0
	})
	AskUntil(p.Conn, "init", 4, initRequest(p.txn, 60_000, -1, -1), func(r *kmsg.InitProducerIDResponse) bool {
		return !slices.Contains(retriable, r.ErrorCode)
	})
	open.State("the open one stays")
	open.End("it commits", endTxnV1, true)
}
