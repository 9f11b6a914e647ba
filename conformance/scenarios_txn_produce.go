package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnProduceScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-produce-v1",
			Claim: "Produce v3 to v11 stores a transactional batch in a partition that was added, and the sequence goes on from one transaction to the next.",
			Run:   runTxnProduceV1,
		},
		{
			Name:  "txn-produce-v2",
			Claim: "Produce v12 and v13 adds the partition to the transaction, which begins; after EndTxn v5 the next epoch begins with sequence 0.",
			Run:   runTxnProduceV2,
		},
		{
			Name:  "txn-produce-never-added",
			Claim: "A transactional batch for a partition that was not added is INVALID_TXN_STATE, at v11 TRANSACTION_ABORTABLE, before any transaction, beside an open one and after its end; nothing is stored.",
			Run:   runTxnProduceNeverAdded,
		},
		{
			Name:  "txn-produce-mixed",
			Claim: "A batch that is not transactional from a producer with an open transaction in the partition is INVALID_TXN_STATE; in another partition, and after the end, it is stored, and so are batches of others.",
			Run:   runTxnProduceMixed,
		},
		{
			Name:  "txn-produce-ids",
			Claim: "A transactional batch of a producer id that is not the transactional id's is INVALID_PRODUCER_ID_MAPPING, as with an unknown transactional id, and batches of two producers are; without one they are TRANSACTIONAL_ID_AUTHORIZATION_FAILED.",
			Run:   runTxnProduceIDs,
		},
		{
			Name:  "txn-produce-unverified",
			Claim: "Once a producer has written in a partition in a transaction, Produce does not look at the transactional id any more.",
			Run:   runTxnProduceUnverified,
		},
		{
			Name:  "txn-produce-epochs",
			Claim: "In a transaction another epoch than the coordinator's is INVALID_PRODUCER_EPOCH, older and later; after EndTxn v5 so is the epoch of the ended transaction.",
			Run:   runTxnProduceEpochs,
		},
		{
			Name:  "txn-produce-sequences",
			Claim: "In a transaction duplicates are answered with their offsets and gaps are OUT_OF_ORDER_SEQUENCE_NUMBER; after the end a duplicate is refused as any batch is, and in the next transaction of the same epoch it is a duplicate again.",
			Run:   runTxnProduceSequences,
		},
		{
			Name:  "txn-produce-first-sequence",
			Claim: "A producer that the partition does not know may begin with any sequence in a Produce below v12, with 0 only from v12 on; a known one of a new epoch must begin with 0.",
			Run:   runTxnProduceFirstSequence,
		},
		{
			Name:  "txn-produce-acks",
			Claim: "acks=1 and acks=0 are taken in transactions as acks=-1 is.",
			Run:   runTxnProduceAcks,
		},
		{
			Name:  "txn-produce-control",
			Claim: "A client cannot write a marker: a control batch is INVALID_RECORD, transactional or not.",
			Run:   runTxnProduceControl,
		},
		{
			Name:  "txn-produce-many",
			Claim: "A Produce of several partitions adds all of them; one that is unknown is UNKNOWN_TOPIC_OR_PARTITION and leaves the others.",
			Run:   runTxnProduceMany,
		},
		{
			Name:  "txn-produce-refused-batch",
			Claim: "A batch that is refused after its partition was added by Produce v12 leaves the partition in the transaction.",
			Run:   runTxnProduceRefusedBatch,
		},
	})
}

func runTxnProduceV1(c *C) {
	t := c.Conn("a").NewTopic("txn-produce-v1", 1)
	p := c.txnProducer("a", "txn-produce-v1")
	for v := int16(3); v <= produceV1; v++ {
		p.Add(vn(v)+" add", t)
		p.Write(vn(v), v, t, "a"+vn(v), "b"+vn(v))
		p.End(vn(v)+" end", endTxnV1, v%2 == 0)
	}
	p.State("described")
	p.Read("read", t, 0)
}

func runTxnProduceV2(c *C) {
	t := c.Conn("a").NewTopic("txn-produce-v2", 1)
	p := c.txnProducer("a", "txn-produce-v2")
	for i, v := range []int16{12, 13, 12, 13} {
		p.Write(fmt.Sprint("write ", i), v, t, "a")
		p.State(fmt.Sprint("described ", i))
		p.Write(fmt.Sprint("write more ", i), v, t, "b", "c")
		p.End(fmt.Sprint("end ", i), endTxnV2, i%2 == 0)
	}
	p.State("described at last")
	p.Read("read", t, 0)
}

func runTxnProduceNeverAdded(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("txn-never-added", 1), a.NewTopic("txn-never-added-open", 1)
	p := c.txnProducer("a", "txn-never-added")
	try := func(when string) {
		for v := int16(3); v <= produceV1; v++ {
			p.next = map[place]int32{}
			p.Write(when+" "+vn(v), v, t, "a")
		}
	}
	try("before")
	p.Add("add another", u)
	try("beside")
	p.End("end", endTxnV1, true)
	try("after")
	p.State("described")
	a.Read("read", t, 0)
	p.next = map[place]int32{}
	p.WriteV1("at last", t, "a")
	p.End("commit", endTxnV1, true)
	a.Read("read again", t, 0)
}

func runTxnProduceMixed(c *C) {
	t := c.Conn("a").NewTopic("txn-mixed", 2)
	for _, v := range []int16{9, 11, 12} {
		p := c.txnProducer("a", "txn-mixed-"+vn(v))
		at := place{t, 0}
		plain := func(step string, partition int32, named bool) {
			b := p.transactional(place{t, partition}, "plain")
			b.Attributes = 0
			req := produceTo(t, -1, b.Bytes())
			req.Topics[0].Partitions[0].Partition = partition
			if named {
				req.TransactionID = &p.txn
			}
			p.Do(vn(v)+" "+step, v, req)
			if partition == 0 {
				p.next[at]--
			}
		}
		p.Add(vn(v)+" add", t)
		p.Write(vn(v)+" transactional", v, t, "a")
		plain("plain", 0, false)
		plain("plain, again", 0, false)
		plain("plain with the transactional id", 0, true)
		plain("plain in another partition", 1, false)
		p.Do(vn(v)+" of nobody", v, produceTo(t, -1, Values("nobody").Bytes()))
		p.Write(vn(v)+" transactional again", v, t, "b")
		p.End(vn(v)+" commit", endTxnV1, true)
		plain("plain after the end", 0, false)
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceIDs(c *C) {
	t := c.Conn("a").NewTopic("txn-produce-ids", 2)
	for _, v := range []int16{9, 11, 12, 13} {
		p, q := c.txnProducer("a", "txn-produce-ids-p-"+vn(v)), c.txnProducer("a", "txn-produce-ids-q-"+vn(v))
		p.Add(vn(v)+" add", t)
		foreign := p.produceIn(t, -1, q.transactional(place{t, 0}, "x").Bytes())
		p.Do(vn(v)+" a batch of another", v, foreign)
		foreign.TransactionID = kmsg.StringPtr("nobody")
		p.Do(vn(v)+" an unknown transactional id", v, foreign)
		foreign.TransactionID = kmsg.StringPtr("")
		p.Do(vn(v)+" an empty transactional id", v, foreign)
		foreign.TransactionID = nil
		p.Do(vn(v)+" no transactional id", v, foreign)
		both := p.produceIn(t, -1, (&txnProducer{id: p.id, next: map[place]int32{}}).transactional(place{t, 0}, "p").Bytes(), q.transactional(place{t, 1}, "q").Bytes())
		p.Do(vn(v)+" batches of two", v, both)
		p.State(vn(v) + " first described")
		q.State(vn(v) + " second described")
		p.End(vn(v)+" abort", endTxnV1, false)
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceUnverified(c *C) {
	t := c.Conn("a").NewTopic("txn-produce-unverified", 1)
	for _, v := range []int16{9, 12} {
		p := c.txnProducer("a", "txn-produce-unverified-"+vn(v))
		p.Add(vn(v)+" add", t)
		p.Write(vn(v)+" write", v, t, "p")
		req := p.produceIn(t, -1, p.transactional(place{t, 0}, "q").Bytes())
		req.TransactionID = kmsg.StringPtr("nobody")
		p.Do(vn(v)+" with an unknown transactional id", v, req)
		p.Do(vn(v)+" abort", endTxnV1, endTxn(p, false))
		p.Settled(vn(v) + " settled")
	}
}

func runTxnProduceEpochs(c *C) {
	t := c.Conn("a").NewTopic("txn-produce-epochs", 1)
	for _, v := range []int16{9, 11, 12} {
		p := c.txnProducer("a", "txn-produce-epochs-"+vn(v))
		p.init(vn(v)+" epoch 1", 60_000)
		try := func(step string) {
			for _, d := range []int16{-1, 1, 2} {
				b := p.transactional(place{t, 0}, "x")
				b.ProdEpoch += d
				b.Sequence = 0
				p.Do(fmt.Sprint(vn(v), " ", step, ", epoch ", b.ProdEpoch), v, p.produceIn(t, -1, b.Bytes()))
				p.next[place{t, 0}]--
			}
		}
		try("before")
		p.Add(vn(v)+" add", t)
		try("added")
		p.Write(vn(v)+" write", v, t, "a")
		try("open")
		p.End(vn(v)+" commit", endTxnV2, true)
		try("after the end")
		p.State(vn(v) + " described")
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceSequences(c *C) {
	t := c.Conn("a").NewTopic("txn-sequences", 1)
	for _, v := range []int16{11, 12} {
		p := c.txnProducer("a", "txn-sequences-"+vn(v))
		end := int16(endTxnV1)
		if v >= produceV2 {
			end = endTxnV2
		}
		p.Add(vn(v)+" add", t)
		first, second := p.transactional(place{t, 0}, "a", "b"), p.transactional(place{t, 0}, "c")
		send := func(step string, b Batch) { p.Do(vn(v)+" "+step, v, p.produceIn(t, -1, b.Bytes())) }
		gap := second
		gap.Sequence = 7
		send("first", first)
		send("first again", first)
		send("gap", gap)
		send("second", second)
		send("first once more", first)
		p.End(vn(v)+" commit", end, true)
		send("first after the end", first)
		send("second after the end", second)
		p.State(vn(v) + " described")
		p.Add(vn(v)+" add again", t)
		send("second in the next transaction", second)
		third := p.transactional(place{t, 0}, "d")
		send("third", third)
		p.End(vn(v)+" abort", end, false)
		send("third after the abort", third)
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceFirstSequence(c *C) {
	t := c.Conn("a").NewTopic("txn-first-sequence", 2)
	for _, v := range []int16{11, 12} {
		p := c.txnProducer("a", "txn-first-sequence-"+vn(v))
		write := func(step string, sequence int32) {
			b := p.transactional(place{t, 0}, "x")
			b.Sequence = sequence
			p.Do(vn(v)+" "+step, v, p.produceIn(t, -1, b.Bytes()))
		}
		p.Add(vn(v)+" add", t)
		write("unknown, sequence 5", 5)
		p.End(vn(v)+" commit", endTxnV1, true)
		p.init(vn(v)+" init", 60_000)
		p.Add(vn(v)+" add again", t)
		write("known, sequence 6", 6)
		write("known, sequence 0", 0)
		p.End(vn(v)+" commit again", endTxnV2, true)
		p.Add(vn(v)+" add of v2", t)
		write("after v2, sequence 1", 1)
		write("after v2, sequence 0", 0)
		p.End(vn(v)+" abort", endTxnV2, false)
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceAcks(c *C) {
	t := c.Conn("a").NewTopic("txn-acks", 1)
	for _, v := range []int16{9, 11, 12} {
		p := c.txnProducer("a", "txn-acks-"+vn(v))
		at := place{t, 0}
		p.Add(vn(v)+" add", t)
		p.Do(vn(v)+" acks=1", v, p.produceIn(t, 1, p.transactional(at, "one").Bytes()))
		p.Send(vn(v)+" acks=0", v, p.produceIn(t, 0, p.transactional(at, "none").Bytes())).Unanswered()
		p.Do(vn(v)+" acks=-1", v, p.produceIn(t, -1, p.transactional(at, "all").Bytes()))
		p.End(vn(v)+" commit", endTxnV1, true)
	}
	p := c.txnProducer("b", "txn-acks-lost")
	p.Send("acks=0, never added", 9, p.produceIn(t, 0, p.transactional(place{t, 0}, "lost").Bytes())).Unanswered()
	p.Do("the connection is closed", 0, describeTxns(p.txn))
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceControl(c *C) {
	t := c.Conn("a").NewTopic("txn-control", 1)
	for _, v := range []int16{9, 11, 12} {
		p := c.txnProducer("a", "txn-control-"+vn(v))
		p.Add(vn(v)+" add", t)
		for _, attributes := range []int16{isControl, isControl | isTransactional} {
			b := p.transactional(place{t, 0}, "x")
			b.Attributes, b.Sequence = attributes, -1
			b.Records = []Record{{Key: "\x00\x00\x00\x01", Value: "\x00\x00\x00\x00\x00\x00"}}
			p.Do(fmt.Sprint(vn(v), " attributes ", attributes), v, p.produceIn(t, -1, b.Bytes()))
			b.Sequence = 0
			p.Do(fmt.Sprint(vn(v), " attributes ", attributes, ", with a sequence"), v, p.produceIn(t, -1, b.Bytes()))
		}
		p.State(vn(v) + " described")
		p.End(vn(v)+" abort", endTxnV1, false)
	}
	c.Conn("a").Read("read", t, 0)
}

func runTxnProduceMany(c *C) {
	t := c.Conn("a").NewTopic("txn-many", 2)
	for _, v := range []int16{11, 12} {
		p := c.txnProducer("a", "txn-many-"+vn(v))
		req := p.produceIn(t, -1, p.transactional(place{t, 0}, "x").Bytes(), p.transactional(place{t, 1}, "y").Bytes(),
			p.transactional(place{t, 2}, "z").Bytes())
		nowhere := topicRef{name: "txn-many-nowhere"}
		req.Topics = append(req.Topics, p.produceIn(nowhere, -1, p.transactional(place{nowhere, 0}, "n").Bytes()).Topics...)
		p.Do(vn(v)+" all", v, req)
		p.State(vn(v) + " described")
		p.Do(vn(v)+" all again", v, req)
		p.Do(vn(v)+" abort", endTxnV2, endTxn(p, false))
		p.Settled(vn(v) + " settled")
	}
	c.Conn("a").Do("read", 12, committed(fetchFrom(t, 0, 0)))
}

func runTxnProduceRefusedBatch(c *C) {
	t := c.Conn("a").NewTopic("txn-refused-batch", 1)
	p := c.txnProducer("a", "txn-refused-batch")
	b := p.transactional(place{t, 0}, "x")
	b.Damage = func(raw []byte) { raw[len(raw)-1] ^= 1 }
	p.Do("wrong CRC", produceV2, p.produceIn(t, -1, b.Bytes()))
	p.State("described")
	b.Damage = nil
	p.Do("good", produceV2, p.produceIn(t, -1, b.Bytes()))
	p.End("commit", endTxnV2, true)
	gap := p.transactional(place{t, 0}, "y")
	gap.Sequence = 3
	p.Do("gap", produceV2, p.produceIn(t, -1, gap.Bytes()))
	p.State("described after the gap")
	p.End("abort", endTxnV2, false)
	p.Read("read", t, 0)
}
