package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func txnPartitionScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-add-partitions-versions",
			Claim: "AddPartitionsToTxn v0 to v3 adds partitions to the transaction of its transactional id, which is Ongoing then; adding them again is no error.",
			Run:   runAddPartitionsVersions,
		},
		{
			Name:  "txn-add-partitions-unknown",
			Claim: "One unknown topic or partition refuses a whole AddPartitionsToTxn: UNKNOWN_TOPIC_OR_PARTITION for it, OPERATION_NOT_ATTEMPTED for the others, and no transaction begins.",
			Run:   runAddPartitionsUnknown,
		},
		{
			Name:  "txn-add-partitions-refusals",
			Claim: "AddPartitionsToTxn with an unknown transactional id or another producer id is INVALID_PRODUCER_ID_MAPPING, with another epoch PRODUCER_FENCED (below v2 INVALID_PRODUCER_EPOCH), with an empty transactional id INVALID_REQUEST.",
			Run:   runAddPartitionsRefusals,
		},
		{
			Name:  "txn-add-partitions-batched",
			Claim: "AddPartitionsToTxn v4 and v5 answers each of several transactions by itself.",
			Run:   runAddPartitionsBatched,
		},
		{
			Name:  "txn-add-partitions-verify",
			Claim: "AddPartitionsToTxn that only verifies adds nothing: a partition of the open transaction is no error, any other TRANSACTION_ABORTABLE, in every state of the transaction.",
			Run:   runAddPartitionsVerify,
		},
		{
			Name:  "txn-add-offsets",
			Claim: "AddOffsetsToTxn adds the group's partition of __consumer_offsets to the transaction, at every version and again; its refusals are those of AddPartitionsToTxn.",
			Run:   runAddOffsets,
		},
	})
}

func runAddPartitionsVersions(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("txn-add-versions", 3), a.NewTopic("txn-add-versions-too", 1)
	for v := int16(0); v <= 3; v++ {
		p := c.txnProducer("a", "txn-add-versions-"+vn(v))
		p.Do(vn(v), v, addPartitions(p, place{t, 0}))
		p.State(vn(v) + " described")
		p.Do(vn(v)+" again", v, addPartitions(p, place{t, 0}))
		p.Do(vn(v)+" more", v, addPartitions(p, place{t, 2}, place{u, 0}, place{t, 0}, place{t, 2}))
		p.State(vn(v) + " described again")
		p.End(vn(v)+" abort", endTxnV1, false)
		p.State(vn(v) + " described at last")
	}
}

func runAddPartitionsUnknown(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-add-unknown", 1)
	p := c.txnProducer("a", "txn-add-unknown")
	nowhere := topicRef{name: "txn-add-unknown-nowhere"}
	for v := int16(0); v <= 3; v++ {
		p.Do(vn(v)+" topic", v, addPartitions(p, place{t, 0}, place{nowhere, 0}))
		p.Do(vn(v)+" partition", v, addPartitions(p, place{t, 1}, place{t, 0}, place{t, -1}))
	}
	p.Do("names", 3, addPartitions(p, place{topicRef{}, 0}, place{topicRef{name: "a b"}, 0}))
	p.State("nothing has begun")
	p.Do("no topics", 3, addPartitions(p))
	p.State("after no topics")
	p.Do("good", 3, addPartitions(p, place{t, 0}))
	p.Do("unknown beside an open one", 3, addPartitions(p, place{t, 0}, place{nowhere, 0}))
	p.State("described")
	p.End("abort", endTxnV1, false)
}

func runAddPartitionsRefusals(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-add-refusals", 1)
	p := c.txnProducer("a", "txn-add-refusals")
	p.init("epoch 1", 60_000)
	ask := func(step string, v int16, edit func(*kmsg.AddPartitionsToTxnRequest)) {
		req := addPartitions(p, place{t, 0})
		edit(req)
		p.Do(vn(v)+" "+step, v, req)
	}
	for v := int16(0); v <= 3; v++ {
		ask("unknown transactional id", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.TransactionalID = "nobody" })
		ask("empty transactional id", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.TransactionalID = "" })
		ask("another producer id", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.ProducerID += 1000 })
		ask("producer id -1", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.ProducerID = -1 })
		ask("an older epoch", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.ProducerEpoch = 0 })
		ask("a later epoch", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.ProducerEpoch = 2 })
		ask("epoch -1", v, func(r *kmsg.AddPartitionsToTxnRequest) { r.ProducerEpoch = -1 })
	}
	p.State("described")
}

// transactionOf is one transaction of a batched AddPartitionsToTxn.
func transactionOf(p *txnProducer, verify bool, places ...place) kmsg.AddPartitionsToTxnRequestTransaction {
	txn := kmsg.NewAddPartitionsToTxnRequestTransaction()
	txn.TransactionalID, txn.ProducerID, txn.ProducerEpoch, txn.VerifyOnly = p.txn, p.id, p.epoch, verify
	for _, at := range places {
		topic := kmsg.NewAddPartitionsToTxnRequestTransactionTopic()
		topic.Topic, topic.Partitions = at.topic.name, []int32{at.partition}
		txn.Topics = append(txn.Topics, topic)
	}
	return txn
}

func addBatched(txns ...kmsg.AddPartitionsToTxnRequestTransaction) *kmsg.AddPartitionsToTxnRequest {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.Transactions = txns
	return req
}

func runAddPartitionsBatched(c *C) {
	t := c.Conn("a").NewTopic("txn-add-batched", 2)
	nowhere := topicRef{name: "txn-add-batched-nowhere"}
	for _, v := range []int16{4, 5} {
		p, q := c.txnProducer("a", "txn-add-batched-p-"+vn(v)), c.txnProducer("a", "txn-add-batched-q-"+vn(v))
		nobody := &txnProducer{txn: "nobody", id: 5, epoch: 0}
		fenced := &txnProducer{txn: q.txn, id: q.id, epoch: q.epoch + 1}
		foreign := &txnProducer{txn: q.txn, id: p.id, epoch: p.epoch}
		unnamed := &txnProducer{id: p.id, epoch: p.epoch}
		p.Do(vn(v)+" two", v, addBatched(transactionOf(p, false, place{t, 0}), transactionOf(q, false, place{t, 0}, place{t, 1})))
		p.Do(vn(v)+" again", v, addBatched(transactionOf(p, false, place{t, 0}), transactionOf(q, false, place{t, 0}, place{t, 1})))
		p.Do(vn(v)+" good and bad", v, addBatched(transactionOf(p, false, place{t, 1}), transactionOf(nobody, false, place{t, 0}),
			transactionOf(fenced, false, place{t, 0})))
		p.Do(vn(v)+" of another", v, addBatched(transactionOf(foreign, false, place{t, 0})))
		p.Do(vn(v)+" unnamed", v, addBatched(transactionOf(unnamed, false, place{t, 0})))
		p.Do(vn(v)+" unknown topic", v, addBatched(transactionOf(p, false, place{t, 0}, place{nowhere, 0}), transactionOf(q, false, place{t, 0})))
		p.State(vn(v) + " first described")
		q.State(vn(v) + " second described")
		p.End(vn(v)+" first aborts", endTxnV1, false)
		q.End(vn(v)+" second aborts", endTxnV2, false)
	}
}

func runAddPartitionsVerify(c *C) {
	t := c.Conn("a").NewTopic("txn-add-verify", 2)
	nowhere := topicRef{name: "txn-add-verify-nowhere"}
	for _, v := range []int16{4, 5} {
		p := c.txnProducer("a", "txn-add-verify-"+vn(v))
		verify := func(step string) {
			p.Do(vn(v)+" "+step, v, addBatched(transactionOf(p, true, place{t, 0}, place{t, 1})))
		}
		verify("empty")
		p.Add("add", t)
		verify("open")
		p.Do(vn(v)+" unknown", v, addBatched(transactionOf(p, true, place{t, 0}, place{nowhere, 0})))
		other := *p
		other.epoch++
		p.Do(vn(v)+" a later epoch", v, addBatched(transactionOf(&other, true, place{t, 0})))
		other.epoch, other.id = p.epoch, p.id+1000
		p.Do(vn(v)+" another id", v, addBatched(transactionOf(&other, true, place{t, 0})))
		other.txn = "nobody"
		p.Do(vn(v)+" unknown transactional id", v, addBatched(transactionOf(&other, true, place{t, 0})))
		other.txn = ""
		p.Do(vn(v)+" empty transactional id", v, addBatched(transactionOf(&other, true, place{t, 0})))
		p.State("described")
		p.End("commit", endTxnV1, true)
		verify("committed")
		p.Add("add", t)
		p.End("abort", endTxnV1, false)
		verify("aborted")
	}
}

func runAddOffsets(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("txn-add-offsets")
	p := c.txnProducer("a", "txn-add-offsets")
	p.init("epoch 1", 60_000)
	for v := int16(0); v <= 4; v++ {
		p.Do(vn(v), v, addOffsets(p, "txn-add-offsets"))
		p.Do(vn(v)+" again", v, addOffsets(p, "txn-add-offsets"))
		p.State(vn(v) + " described")
		bad := *p
		bad.epoch--
		p.Do(vn(v)+" an older epoch", v, addOffsets(&bad, "txn-add-offsets"))
		bad.epoch, bad.id = p.epoch, p.id+1000
		p.Do(vn(v)+" another id", v, addOffsets(&bad, "txn-add-offsets"))
		bad.txn = "nobody"
		p.Do(vn(v)+" unknown transactional id", v, addOffsets(&bad, "txn-add-offsets"))
		bad.txn = ""
		p.Do(vn(v)+" empty transactional id", v, addOffsets(&bad, "txn-add-offsets"))
		p.Do(vn(v)+" empty group", v, addOffsets(p, ""))
		p.End("commit", endTxnV1, true)
	}
}
