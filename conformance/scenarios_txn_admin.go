package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnAdminScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-list",
			Claim: "ListTransactions lists all transactional ids with state and producer id; filters by state, producer id, duration (v1) and pattern of the id (v2) must all hold, and unknown states are told.",
			Fresh: true,
			Run:   runTxnList,
		},
		{
			Name:  "txn-list-patterns",
			Claim: "The pattern of ListTransactions v2 is a regular expression for the whole transactional id; an empty one filters nothing, a bad one is INVALID_REGULAR_EXPRESSION.",
			Fresh: true,
			Run:   runTxnListPatterns,
		},
		{
			Name:  "txn-describe",
			Claim: "DescribeTransactions answers each id that was asked for in its order, twice if asked twice: TRANSACTIONAL_ID_NOT_FOUND if unknown, INVALID_REQUEST if empty.",
			Run:   runTxnDescribe,
		},
		{
			Name:  "txn-write-markers",
			Claim: "WriteTxnMarkers ends a transaction that hangs in a partition, and leaves the coordinator's as it is; unknown partitions are UNKNOWN_TOPIC_OR_PARTITION.",
			Run:   runTxnWriteMarkers,
		},
		{
			Name:  "txn-write-markers-epochs",
			Claim: "A marker of an older producer epoch is INVALID_PRODUCER_EPOCH and one of an older coordinator epoch TRANSACTION_COORDINATOR_FENCED, epoch -1 UNKNOWN_SERVER_ERROR; with transaction version 2 it must be of a higher producer epoch than the open transaction.",
			Run:   runTxnWriteMarkersEpochs,
		},
		{
			Name:  "txn-write-markers-none",
			Claim: "A marker where the producer has no transaction, or is not known at all, is written all the same, and its epoch is the producer's from then on.",
			Run:   runTxnWriteMarkersNone,
		},
		{
			Name:  "txn-hanging",
			Claim: "A hanging transaction is found and ended as Kafka's tool does it: DescribeProducers gives start offset, producer id, epoch and coordinator epoch, WriteTxnMarkers with these aborts it.",
			Run:   runTxnHanging,
		},
	})
}

func runTxnList(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-list", 1)
	c.txnProducer("a", "txn-list-empty")
	open := c.txnProducer("a", "txn-list-open")
	open.WriteV1("write", t, "a")
	for _, commit := range []bool{true, false} {
		p := c.txnProducer("a", "txn-list-"+verdict(commit))
		p.WriteV1("write", t, "b")
		p.End(verdict(commit), endTxnV1, commit)
	}
	ask := func(step string, edit func(*kmsg.ListTransactionsRequest)) {
		for v := int16(0); v <= 2; v++ {
			req := kmsg.NewPtrListTransactionsRequest()
			edit(req)
			a.Do(step+", "+vn(v), v, req)
		}
	}
	ask("all", func(*kmsg.ListTransactionsRequest) {})
	for _, states := range [][]string{{"Ongoing"}, {"Empty", "CompleteCommit"}, {"ongoing"}, {"Nonsense", "Ongoing"}, {"Nonsense"},
		{"Dead", "PrepareEpochFence", "PrepareCommit", "PrepareAbort"}, {""}} {
		ask(fmt.Sprint("states ", states), func(r *kmsg.ListTransactionsRequest) { r.StateFilters = states })
	}
	ask("a producer", func(r *kmsg.ListTransactionsRequest) { r.ProducerIDFilters = []int64{open.id} })
	ask("producers", func(r *kmsg.ListTransactionsRequest) { r.ProducerIDFilters = []int64{open.id, -1, 1 << 40} })
	ask("an unknown producer", func(r *kmsg.ListTransactionsRequest) { r.ProducerIDFilters = []int64{1 << 40} })
	ask("a producer and a state", func(r *kmsg.ListTransactionsRequest) {
		r.ProducerIDFilters, r.StateFilters = []int64{open.id}, []string{"Empty"}
	})
	a.AwaitTxnOpenFor(open.txn, 0)
	for _, duration := range []int64{0, 3_600_000, -2} {
		ask(fmt.Sprint("duration ", duration), func(r *kmsg.ListTransactionsRequest) { r.DurationFilterMillis = duration })
	}
}

func runTxnListPatterns(c *C) {
	a := c.Conn("a")
	for _, id := range []string{"patterns-a", "patterns-b", "other", "a.b"} {
		c.txnProducer("a", id)
	}
	for _, pattern := range []string{"", "patterns-.*", "patterns-", "patterns-[ab]", ".*", "a.b", `a\.b`, "^other$", "(other|a.*)", "OTHER", "(?i)OTHER",
		"[", "(", "*", "a{2,1}", "(?=o)other", `\p{L}+`, "other|"} {
		req := kmsg.NewPtrListTransactionsRequest()
		req.TransactionalIDPattern = &pattern
		a.Do("pattern "+pattern, 2, req)
	}
	req := kmsg.NewPtrListTransactionsRequest()
	req.TransactionalIDPattern, req.StateFilters = kmsg.StringPtr("patterns-.*"), []string{"Ongoing"}
	a.Do("pattern and state", 2, req)
}

func runTxnDescribe(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-describe", 2)
	p, q := c.txnProducerWithin("a", "txn-describe-p", 12_345), c.txnProducer("a", "txn-describe-q")
	p.Do("add", addPartitionsV1, addPartitions(p, place{t, 1}, place{t, 0}))
	q.WriteV2("write", t, "x")
	a.Do("several", 0, describeTxns(q.txn, "nobody", p.txn, "", q.txn))
	a.Do("none", 0, describeTxns())
	p.End("commit", endTxnV1, true)
	q.End("abort", endTxnV2, false)
	a.Do("ended", 0, describeTxns(p.txn, q.txn))
}

// marker is the end of a transaction in partition 0 of topics, as a coordinator writes it.
func marker(id int64, epoch int16, coordinatorEpoch int32, commit bool, topics ...string) kmsg.WriteTxnMarkersRequestMarker {
	m := kmsg.NewWriteTxnMarkersRequestMarker()
	m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch, m.Committed = id, epoch, coordinatorEpoch, commit
	for _, name := range topics {
		topic := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
		topic.Topic, topic.Partitions = name, []int32{0}
		m.Topics = append(m.Topics, topic)
	}
	return m
}

func writeMarkers(markers ...kmsg.WriteTxnMarkersRequestMarker) *kmsg.WriteTxnMarkersRequest {
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	req.Markers = markers
	return req
}

func runTxnWriteMarkers(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("txn-write-markers", 1), a.NewTopic("txn-write-markers-too", 1)
	for _, v := range []int16{1, 2} {
		p, q := c.txnProducer("a", "txn-write-markers-p-"+vn(v)), c.txnProducer("a", "txn-write-markers-q-"+vn(v))
		p.Add("add", t, u)
		p.Write("write", produceV1, t, "a")
		p.Write("write too", produceV1, u, "b")
		q.WriteV1("write of another", t, "c")
		a.Do(vn(v)+" one, and unknown ones", v, writeMarkers(marker(p.id, p.epoch, 0, false, t.name, "txn-write-markers-nowhere")))
		p.State(vn(v) + " described")
		a.Read(vn(v)+" read", t, 0)
		a.Do(vn(v)+" of two", v, writeMarkers(marker(p.id, p.epoch, 0, true, u.name), marker(q.id, q.epoch, 0, true, t.name)))
		a.Do(vn(v)+" unknown only", v, writeMarkers(marker(p.id, p.epoch, 0, true, "txn-write-markers-nowhere")))
		a.Do(vn(v)+" no topics", v, writeMarkers(marker(p.id, p.epoch, 0, true)))
		a.Do(vn(v)+" no markers", v, writeMarkers())
		a.Read(vn(v)+" read again", t, 0)
		p.Write("write after the marker", produceV1, t, "d")
		p.End("commit", endTxnV1, true)
		q.End("commit of another", endTxnV1, true)
		a.Read(vn(v)+" read at last", t, 0)
	}
}

func runTxnWriteMarkersEpochs(c *C) {
	a := c.Conn("a")
	for _, tv := range []int8{-1, 0, 1, 2} {
		t := a.NewTopic(fmt.Sprint("txn-markers-epochs", tv), 1)
		p := c.txnProducer("a", t.name)
		for range 3 {
			p.init("the next epoch", 60_000)
		}
		write := func(step string, epoch int16, coordinator int32) {
			m := marker(p.id, epoch, coordinator, false, t.name)
			m.TransactionVersion = tv
			version := int16(2)
			if tv < 0 {
				version = 1
			}
			a.Do(fmt.Sprintf("%s, transaction version %d", step, tv), version, writeMarkers(m))
		}
		p.WriteV1("write", t, "a")
		write("an older epoch", p.epoch-1, 0)
		write("epoch -1", -1, 0)
		write("the same epoch, coordinator epoch 5", p.epoch, 5)
		write("the same epoch, an older coordinator epoch", p.epoch, 4)
		p.Write("write after it", produceV1, t, "b")
		write("the next epoch, the coordinator epoch again", p.epoch+1, 5)
		write("the same epoch", p.epoch, 5)
		write("coordinator epoch -1", p.epoch+1, -1)
		a.Do("producers", 0, describeProducers(t.name))
		a.Read("read", t, 0)
	}
}

func runTxnWriteMarkersNone(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-markers-none", 1)
	a.Do("an unknown producer", 1, writeMarkers(marker(70_000, 3, 0, true, t.name)))
	a.Do("again", 1, writeMarkers(marker(70_000, 3, 0, false, t.name)))
	a.Do("producer id -1", 1, writeMarkers(marker(-1, 3, 0, false, t.name)))
	a.Store("an idempotent producer", t, now(sequenced(70_001, 0, 1)))
	a.Do("of an idempotent producer", 1, writeMarkers(marker(70_001, 0, 0, false, t.name)))
	a.Do("of its next epoch", 1, writeMarkers(marker(70_001, 1, 0, false, t.name)))
	a.Do("it goes on", 9, produceTo(t, -1, now(sequenced(70_001, 1, 1)).Bytes()))
	next := now(sequenced(70_001, 0, 1))
	next.ProdEpoch = 1
	a.Do("its next epoch goes on", 9, produceTo(t, -1, next.Bytes()))
	a.Do("producers", 0, describeProducers(t.name))
	a.Read("read", t, 0)
}

func runTxnHanging(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-hanging", 1)
	p := c.txnProducer("a", "txn-hanging")
	p.WriteV1("write", t, "a")
	r := Ask[*kmsg.DescribeProducersResponse](a, "producers", 0, describeProducers(t.name))
	found := r.Topics[0].Partitions[0].ActiveProducers[0]
	m := marker(found.ProducerID, int16(found.ProducerEpoch), max(found.CoordinatorEpoch, 0), false, t.name)
	a.Do("abort it", 1, writeMarkers(m))
	a.Do("producers after it", 0, describeProducers(t.name))
	a.Read("read", t, 0)
	p.Write("the producer goes on", produceV1, t, "b")
	p.State("described")
	p.End("commit", endTxnV1, true)
	a.Read("read at last", t, 0)
}
