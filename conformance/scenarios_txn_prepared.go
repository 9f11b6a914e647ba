package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnPreparedScenarios show transactions whose verdict is made and cannot be carried out: the marker is refused, because
// somebody has written one with a later epoch by hand. In Kafka such a transaction stays as it is until a restart.
func txnPreparedScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:      "txn-prepared",
			Claim:     "While the markers of a verdict are not written, InitProducerId, all that adds and EndTxn v5 are CONCURRENT_TRANSACTIONS, whoever asks and whatever the verdict; EndTxn below v5 and what only verifies look at producer id and epoch first.",
			Elsewhere: "TestPreparedAsRecorded of handlers",
			Run:       runTxnPrepared,
		},
		{
			Name:      "txn-prepared-v2",
			Claim:     "While the markers of a verdict of v2 are not written it is the same, with the verdict's epoch for the present one.",
			Elsewhere: "TestPreparedAsRecorded of handlers",
			Run:       runTxnPreparedV2,
		},
		{
			Name:  "txn-marker-refused",
			Claim: "A transaction whose marker is refused, for a later marker was written by hand, stays prepared until the broker is restarted.",
			Fresh: true,
			Run:   runTxnMarkerRefused,
		},
		{
			Name:  "txn-version-open-0",
			Claim: "A transaction that is open when transaction.version goes to 0 ends by requests of v1, whichever began it.",
			Fresh: true,
			Run:   runTxnVersionOpen0,
		},
	})
}

// preparedTxn is a transaction whose verdict is made and whose marker in partition 0 is refused: a marker of a later
// coordinator was written there.
func preparedTxn(c *C, name string, version int16, commit bool) (*txnProducer, topicRef) {
	t := c.Conn("a").NewTopic(name, 2)
	p := c.txnProducer("a", name)
	p.init("epoch 1", 60_000)
	p.Do("add", addPartitionsV1, addPartitions(p, place{t, 0}, place{t, 1}))
	p.Write("write", produceV1, t, "a")
	p.Do("a later coordinator's marker", 1, writeMarkers(marker(p.id, p.epoch, 100, false, t.name)))
	p.Write("write again", produceV1, t, "b")
	p.Do(verdict(commit), version, endTxn(p, commit))
	return p, t
}

// askPrepared asks everything of a transaction, as a producer of these ids and epochs.
func askPrepared(p *txnProducer, t topicRef, when string, epochs ...int16) {
	for _, epoch := range epochs {
		who := *p
		who.epoch = epoch
		step := fmt.Sprintf("%s, epoch %d: ", when, epoch)
		for v := int16(0); v <= 5; v++ {
			p.Do(step+"commit "+vn(v), v, endTxn(&who, true))
			p.Do(step+"abort "+vn(v), v, endTxn(&who, false))
			p.Do(step+"add "+vn(v), v, oddAdd(&who, v, t))
			if v < 5 {
				p.Do(step+"add offsets "+vn(v), v, addOffsets(&who, "txn-prepared"))
			}
			p.Do(step+"offset "+vn(v), v, txnOffset(&who, "txn-prepared", t, 1))
			if v >= 3 {
				p.Do(step+"init "+vn(v), v, initRequest(p.txn, 60_000, p.id, epoch))
			}
			if v >= 4 {
				p.Do(step+"verify "+vn(v), v, addBatched(transactionOf(&who, true, place{t, 0}, place{t, 1})))
			}
		}
		for _, v := range []int16{9, 11, 12} {
			b := who.transactional(place{t, 1}, "late")
			b.Sequence = 0
			req := p.produceIn(t, -1, b.Bytes())
			req.Topics[0].Partitions[0].Partition = 1
			p.Do(step+"produce "+vn(v), v, req)
		}
	}
	p.State(when + ": described")
}

func runTxnPrepared(c *C) {
	c.Conn("a").AwaitGroupCoordinator("txn-prepared")
	for _, commit := range []bool{true, false} {
		p, t := preparedTxn(c, "txn-prepared-"+verdict(commit), endTxnV1, commit)
		for v := int16(0); v <= 5; v++ {
			p.Do("init "+vn(v), v, initRequest(p.txn, 60_000, -1, -1))
		}
		askPrepared(p, t, verdict(commit), p.epoch, p.epoch-1, p.epoch+1)
		p.Do("another id commits", endTxnV1, func() *kmsg.EndTxnRequest { r := endTxn(p, true); r.ProducerID += 1000; return r }())
		p.Do("read", 12, committed(fetchFrom(t, 0, 0)))
		p.Do("producers", 0, describeProducers(t.name))
		list := kmsg.NewPtrListTransactionsRequest()
		list.StateFilters = []string{"PrepareCommit", "PrepareAbort"}
		list.TransactionalIDPattern = &p.txn
		p.Do("list", 2, list)
	}
}

func runTxnPreparedV2(c *C) {
	c.Conn("a").AwaitGroupCoordinator("txn-prepared")
	for _, commit := range []bool{true, false} {
		p, t := preparedTxn(c, "txn-prepared-v2-"+verdict(commit), endTxnV2, commit)
		askPrepared(p, t, verdict(commit), p.epoch, p.epoch-1, p.epoch+1, p.epoch+2)
	}
}

func runTxnMarkerRefused(c *C) {
	p, t := preparedTxn(c, "txn-marker-refused", endTxnV1, true)
	p.State("described")
	p.Do("init", 4, initRequest(p.txn, 60_000, -1, -1))
	c.Restart()
	p.reopened()
	p.AwaitTxnCoordinator()
	p.AwaitTopic(t.name, 1)
	p.State("described after a restart")
	p.Do("init after a restart", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Read("read", t, 0)
}

func runTxnVersionOpen0(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-version-open-0", 2)
	a.AwaitGroupCoordinator("txn-version-open-0")
	names := []string{"v1-v1", "v2-v1", "v2-init", "v2-add", "offsets"}
	open := map[string]*txnProducer{}
	for _, name := range names {
		open[name] = c.txnProducer("a", "txn-version-open-0-"+name)
		if name == "v1-v1" {
			open[name].WriteV1(name, t, "x")
			continue
		}
		open[name].WriteV2(name, t, "x")
	}
	open["offsets"].Do("hold an offset", 5, txnOffset(open["offsets"], "txn-version-open-0", t, 1))
	a.setLevel("down", 2, 0, safeDowngrade)
	for _, name := range names[:2] {
		open[name].Write(name+" goes on", produceV1, t, "y")
		open[name].Write(name+" goes on by v12", produceV2, t, "z")
		open[name].End(name+" commits", endTxnV1, true)
		open[name].Do(name+" commits again", endTxnV1, endTxn(open[name], true))
		open[name].WriteV1(name+" next", t, "n")
		open[name].End(name+" aborts", endTxnV1, false)
	}
	p := open["v2-init"]
	p.Do("init", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Settled("aborted")
	p.init("init again", 60_000)
	p = open["v2-add"]
	p.Do("add the other partition by v1", addPartitionsV1, addPartitions(p, place{t, 1}))
	p.State("described")
	p.End("commit", endTxnV1, true)
	p = open["offsets"]
	p.Do("another offset by v5", 5, txnOffset(p, "txn-version-open-0", t, 2))
	p.Do("another offset by v4", 4, txnOffset(p, "txn-version-open-0", t, 3))
	p.End("commit of offsets", endTxnV1, true)
	p.Offset("offset", "txn-version-open-0", t)
	p.Read("read", t, 0)
}
