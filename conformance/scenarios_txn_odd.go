package conformance

import (
	"fmt"
	"math"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnEdgeScenarios show what requests of transactions with odd ids, epochs, names and repetitions are answered.
func txnEdgeScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-odd-ids",
			Claim: "Producer ids and epochs out of range are checked as any others: id first, then epoch, in each coordinator API and in every state of the transaction.",
			Run:   runTxnOddIDs,
		},
		{
			Name:  "txn-odd-init",
			Claim: "InitProducerId with a pair of odd values: half a pair is INVALID_REQUEST before anything else, another id is PRODUCER_FENCED, a pair for a new transactional id is not looked at.",
			Run:   runTxnOddInit,
		},
		{
			Name:  "txn-init-v6",
			Claim: "InitProducerId v6 is not advertised, and a request of it closes the connection.",
			Run:   runTxnInitV6,
		},
		{
			Name:  "txn-odd-names",
			Claim: "Any text but the empty one is a transactional id: blanks, line ends, other scripts.",
			Run:   runTxnOddNames,
		},
		{
			Name:  "txn-add-repeated",
			Claim: "AddPartitionsToTxn with topics, partitions and transactions named several times or without any.",
			Run:   runTxnAddRepeated,
		},
		{
			Name:  "txn-add-internal",
			Claim: "AddPartitionsToTxn of an internal topic by a client is TOPIC_AUTHORIZATION_FAILED; a broker's is taken.",
			Run:   runTxnAddInternal,
		},
		{
			Name:  "txn-describe-producers",
			Claim: "DescribeProducers at each moment of a transaction; bad names, unknown and repeated partitions.",
			Run:   runTxnDescribeProducers,
		},
		{
			Name:  "txn-list-odd",
			Claim: "ListTransactions with repeated, empty and extreme filters.",
			Fresh: true,
			Run:   runTxnListOdd,
		},
		{
			Name:  "txn-fence-producers",
			Claim: "Fencing a transactional id, as Java's fenceProducers and forceTerminateTransaction do, makes it if it is not there, aborts what is open, and keeps the timeout that was told.",
			Run:   runTxnFenceProducers,
		},
	})
}

func runTxnOddIDs(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("txn-odd-ids")
	t := a.NewTopic("txn-odd-ids", 1)
	p := c.txnProducer("a", "txn-odd-ids")
	p.init("epoch 1", 60_000)
	ask := func(state string) {
		for _, odd := range []struct {
			id    int64
			epoch int16
		}{{-1, -1}, {-1, p.epoch}, {-2, p.epoch}, {math.MinInt64, p.epoch}, {math.MaxInt64, p.epoch},
			{p.id, -1}, {p.id, -2}, {p.id, math.MinInt16}, {p.id, math.MaxInt16}, {p.id, math.MaxInt16 - 1}, {p.id, p.epoch - 1}, {p.id, p.epoch + 1}} {
			who := *p
			who.id, who.epoch = odd.id, odd.epoch
			told := odd.id
			if told == p.id {
				told = 0
			}
			step := fmt.Sprintf("%s: %d/%d", state, told, odd.epoch)
			for _, v := range []int16{3, 5} {
				p.Do(step+" add "+vn(v), v, oddAdd(&who, v, t))
			}
			p.Do(step+" add offsets", 4, addOffsets(&who, "txn-odd-ids"))
			for _, v := range []int16{4, 5} {
				p.Do(step+" offset "+vn(v), v, txnOffset(&who, "txn-odd-ids", t, 1))
				p.Do(step+" commit "+vn(v), v, endTxn(&who, true))
				p.Do(step+" abort "+vn(v), v, endTxn(&who, false))
			}
			b := who.transactional(place{t, 0}, "odd")
			b.Sequence = 0
			for _, v := range []int16{11, 12} {
				p.Do(step+" produce "+vn(v), v, p.produceIn(t, -1, b.Bytes()))
			}
			who.next = map[place]int32{}
		}
		p.next = map[place]int32{}
		p.State(state + ": described")
	}
	ask("empty")
	p.Add("add", t)
	ask("open")
	p.Write("write", produceV1, t, "a")
	ask("written")
	p.End("commit", endTxnV1, true)
	ask("committed")
	p.WriteV2("write again", t, "b")
	p.End("abort", endTxnV2, false)
	ask("aborted")
	p.Read("read", t, 0)
}

// oddAdd adds partition 0 by the form of the version.
func oddAdd(p *txnProducer, v int16, t topicRef) *kmsg.AddPartitionsToTxnRequest {
	if v < 4 {
		return addPartitions(p, place{t, 0})
	}
	return addBatched(transactionOf(p, false, place{t, 0}))
}

func runTxnOddInit(c *C) {
	a := c.Conn("a")
	a.AwaitTxnCoordinator()
	for v := int16(0); v <= 5; v++ {
		txn := "txn-odd-init-" + vn(v)
		r := AskUntil(a, vn(v)+" new", v, initRequest(txn, 60_000, -1, -1), func(r *kmsg.InitProducerIDResponse) bool { return r.ErrorCode == 0 })
		for _, odd := range []struct {
			step  string
			id    int64
			epoch int16
		}{{"-1/0", -1, 0}, {"-1/-2", -1, -2}, {"-2/-2", -2, -2}, {"-2/0", -2, 0}, {"own/-1", r.ProducerID, -1}, {"own/-2", r.ProducerID, -2},
			{"own/32767", r.ProducerID, 32767}, {"own/32766", r.ProducerID, 32766}, {"max/0", math.MaxInt64, 0}, {"max/32766", math.MaxInt64, 32766}} {
			a.Do(vn(v)+" "+odd.step, v, initRequest(txn, 60_000, odd.id, odd.epoch))
			a.Do(vn(v)+" "+odd.step+", bad timeout", v, initRequest(txn, 0, odd.id, odd.epoch))
			a.Do(vn(v)+" "+odd.step+", no id", v, func() *kmsg.InitProducerIDRequest {
				req := initRequest("", 60_000, odd.id, odd.epoch)
				req.TransactionalID = nil
				return req
			}())
		}
		for _, odd := range []struct {
			step  string
			id    int64
			epoch int16
		}{{"a", 7_000_005, 7}, {"b", -2, -2}, {"c", math.MaxInt64, 32767}, {"d", 7_000_000, 32766}} {
			fresh := txn + "-fresh-" + odd.step
			a.Do(vn(v)+" fresh "+odd.step, v, initRequest(fresh, 60_000, odd.id, odd.epoch))
			a.Do(vn(v)+" fresh "+odd.step+", again", v, initRequest(fresh, 60_000, odd.id, odd.epoch))
			a.Do(vn(v)+" fresh "+odd.step+", described", 0, describeTxns(fresh))
		}
		a.Do(vn(v)+" described", 0, describeTxns(txn))
	}
}

func runTxnInitV6(c *C) {
	a := c.Conn("a")
	a.AwaitTxnCoordinator()
	body := []byte{0, 22, 0, 6, 0, 0, 0, 9, 0, 1, 'c', 0} // header: key, version, correlation, client id, tags
	body = append(body, 2, 't', 0, 0, 0x75, 0x30)         // transactional id t, 30 s
	body = append(body, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)
	for _, flags := range [][2]byte{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		c.Conn("b").DoRaw(fmt.Sprintf("two-phase commit %d, keep prepared %d", flags[0], flags[1]), append(append([]byte{}, body...), flags[0], flags[1], 0), nil)
	}
}

func runTxnOddNames(c *C) {
	t := c.Conn("a").NewTopic("txn-odd-names", 1)
	for i, name := range []string{" ", "a\nb", "ключ 🔑", "\x00", strings.Repeat("n", 1000), "__consumer_offsets", "."} {
		p := c.txnProducer("a", name)
		p.WriteV2(fmt.Sprint(i, " write"), t, "x")
		p.State(fmt.Sprint(i, " described"))
		p.End(fmt.Sprint(i, " commit"), endTxnV2, true)
	}
	c.Conn("a").End("end", t)
}

func runTxnAddRepeated(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("txn-add-repeated", 3), a.NewTopic("txn-add-repeated-too", 1)
	nowhere := topicRef{name: "txn-add-repeated-nowhere"}
	p, q := c.txnProducer("a", "txn-add-repeated-p"), c.txnProducer("a", "txn-add-repeated-q")
	for v := int16(0); v <= 3; v++ {
		p.Do(vn(v)+" twice, apart", v, addPartitions(p, place{t, 0}, place{u, 0}, place{t, 1}, place{t, 0}))
		both := addPartitions(p, place{t, 2})
		both.Topics[0].Partitions = []int32{2, 0, 2, 1}
		p.Do(vn(v)+" twice in a topic", v, both)
		both.Topics[0].Partitions = nil
		p.Do(vn(v)+" a topic without partitions", v, both)
		none := addPartitions(p, place{nowhere, 0})
		none.Topics[0].Partitions = nil
		p.Do(vn(v)+" an unknown topic without partitions", v, none)
		p.Do(vn(v)+" unknown, twice", v, addPartitions(p, place{nowhere, 0}, place{t, 0}, place{nowhere, 0}, place{nowhere, 1}, place{t, 0}))
		p.State(vn(v) + " described")
		p.Do(vn(v)+" end", endTxnV1, endTxn(p, v%2 == 0))
		p.Settled(vn(v) + " settled")
	}
	for _, v := range []int16{4, 5} {
		twice := func(step string, txns ...kmsg.AddPartitionsToTxnRequestTransaction) {
			c.Conn("b").Do(vn(v)+" "+step, v, addBatched(txns...))
		}
		twice("a topic twice", transactionOf(p, false, place{t, 0}, place{u, 0}, place{t, 1}, place{t, 0}))
		twice("to verify, a topic twice", transactionOf(p, true, place{t, 0}, place{u, 0}, place{t, 2}, place{t, 0}))
		twice("without partitions", transactionOf(q, false))
		q.State(vn(v) + " described without partitions")
		twice("verify without partitions", transactionOf(q, true))
		twice("a transaction of another and a bad one", transactionOf(q, false, place{t, 0}), transactionOf(p, false, place{nowhere, 0}))
		p.State(vn(v) + " described")
		p.Do(vn(v)+" end p", endTxnV1, endTxn(p, true))
		q.Do(vn(v)+" end q", endTxnV1, endTxn(q, true))
		p.Settled(vn(v) + " p settled")
		q.Settled(vn(v) + " q settled")
		twice("the same transaction twice", transactionOf(p, false, place{t, 0}), transactionOf(p, false, place{t, 1}))
		p.State(vn(v) + " described, twice")
		twice("the same, the last bad", transactionOf(p, false, place{t, 0}), transactionOf(p, false, place{nowhere, 1}))
		twice("the same, one to verify", transactionOf(p, true, place{t, 0}), transactionOf(p, false, place{t, 2}))
		p.State(vn(v) + " described at last")
		p.End(vn(v)+" abort", endTxnV1, false)
	}
}

func runTxnAddInternal(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("txn-add-internal")
	t := a.NewTopic("txn-add-internal", 1)
	p := c.txnProducer("a", "txn-add-internal")
	offsets, state := topicRef{name: "__consumer_offsets"}, topicRef{name: "__transaction_state"}
	for v := int16(0); v <= 3; v++ {
		p.Do(vn(v), v, addPartitions(p, place{offsets, 0}))
		p.Do(vn(v)+", and a good one", v, addPartitions(p, place{offsets, 0}, place{t, 0}, place{state, 0}, place{offsets, 99}))
	}
	p.Do("v4, to verify", 4, addBatched(transactionOf(p, true, place{offsets, 0})))
	p.State("described")
}

func runTxnDescribeProducers(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-describe-producers", 2)
	p := c.txnProducer("a", "txn-describe-producers")
	show := func(step string) { a.Do(step, 0, describeProducers(t.name)) }
	show("initialized")
	p.Add("add", t)
	show("added")
	p.Write("never added", produceV1, topicRef{name: t.name}, "x")
	show("written")
	p.End("commit", endTxnV1, true)
	show("committed")
	p.Write("not added again", produceV1, t, "x")
	show("refused")
	p.next = map[place]int32{}
	p.init("next epoch", 60_000)
	show("initialized again")
	p.WriteV2("write", t, "y", "z")
	show("written by v2")
	p.End("abort", endTxnV2, false)
	show("aborted by v2")
	p.End("abort of nothing", endTxnV2, false)
	show("aborted nothing")
	p.WriteV2("write", t, "y")
	p.Do("init over it", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Settled("settled")
	show("fenced")
	req := describeProducers(t.name, "", "a b", ".", "txn-describe-producers-nowhere", t.name, strings.Repeat("x", 250))
	req.Topics[0].Partitions = []int32{0, 1, 2, -1, 0}
	req.Topics[2].Partitions = []int32{0, 1}
	req.Topics[4].Partitions = nil
	a.Do("all sorts", 0, req)
	a.Do("none", 0, describeProducers())
}

func runTxnListOdd(c *C) {
	a := c.Conn("a")
	p, q := c.txnProducer("a", "txn-list-odd"), c.txnProducer("a", "txn-list-odd-2")
	q.WriteV2("write", a.NewTopic("txn-list-odd", 1), "x")
	ask := func(step string, edit func(*kmsg.ListTransactionsRequest)) {
		for v := int16(0); v <= 2; v++ {
			req := kmsg.NewPtrListTransactionsRequest()
			edit(req)
			a.Do(step+", "+vn(v), v, req)
		}
	}
	ask("states twice", func(r *kmsg.ListTransactionsRequest) {
		r.StateFilters = []string{"Empty", "Empty", "x", "x", "Ongoing ", "ongoing"}
	})
	ask("producers twice", func(r *kmsg.ListTransactionsRequest) { r.ProducerIDFilters = []int64{p.id, p.id} })
	ask("producer -1", func(r *kmsg.ListTransactionsRequest) { r.ProducerIDFilters = []int64{-1} })
	a.AwaitTxnOpenFor(q.txn, 1)
	for _, d := range []int64{-1, math.MinInt64, math.MaxInt64, 1} {
		ask(fmt.Sprint("duration ", d), func(r *kmsg.ListTransactionsRequest) { r.DurationFilterMillis = d })
	}
	ask("pattern null", func(r *kmsg.ListTransactionsRequest) { r.TransactionalIDPattern = nil })
	ask("a bad pattern and an unknown state", func(r *kmsg.ListTransactionsRequest) {
		r.TransactionalIDPattern, r.StateFilters = kmsg.StringPtr("("), []string{"x"}
	})
	for _, pattern := range []string{`txn-list-odd(-\d)?`, `\Qtxn-list-odd\E`, `txn-list-odd$`, `.*odd\b.*`, `(?P<n>txn).*`, `(?<n>txn).*`, `txn[[:punct:]]list.*`, `txn\x2dlist-odd`,
		`txn.list.odd\z`, `\C*`, `[^]a]+`, `a**`, `x{1001}`, `(?s:.*)`, `txn-list-odd\n?`, `\pN+`, `(?U).*`, `(?#c)txn-list-odd`, `txn-list-odd++`, `\btxn.*`, "txn-list-odd\x00?"} {
		ask("pattern "+pattern, func(r *kmsg.ListTransactionsRequest) { r.TransactionalIDPattern = &pattern })
	}
	a.Do("abort", endTxnV2, endTxn(q, false))
	q.Settled("settled")
	ask("duration 0 of an ended one", func(r *kmsg.ListTransactionsRequest) {
		r.DurationFilterMillis, r.StateFilters = 3_600_000, []string{"CompleteAbort", "Empty"}
	})
}

func runTxnFenceProducers(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-fence-producers", 1)
	a.AwaitTxnCoordinator()
	for _, v := range []int16{1, 4, 5} {
		txn := "txn-fence-producers-" + vn(v)
		a.Do(vn(v)+" of nobody", v, initRequest(txn, 30_000, -1, -1))
		a.Do(vn(v)+" described", 0, describeTxns(txn))
		p := c.txnProducerWithin("a", txn, 10_000)
		p.WriteV2(vn(v)+" write", t, "x")
		a.Do(vn(v)+" fence", v, initRequest(txn, 30_000, -1, -1))
		p.Settled(vn(v) + " aborted")
		p.State(vn(v) + " aborted, described")
		a.Do(vn(v)+" fence again", v, initRequest(txn, 30_000, -1, -1))
		p.State(vn(v) + " fenced, described")
		p.Write(vn(v)+" the old one", produceV2, t, "late")
		p.Do(vn(v)+" the old one ends", endTxnV2, endTxn(p, true))
	}
	a.Do("no id", 4, initRequest("", 30_000, -1, -1))
	a.Read("read", t, 0)
}
