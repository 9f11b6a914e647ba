package conformance

import (
	"fmt"
	"math"
)

// txnOddBatchScenarios show what batches of transactions are answered that come out of turn, or twice, or to topics of several kinds.
func txnOddBatchScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-produce-odd",
			Claim: "A transactional batch without a producer id is stored as any other; ids and epochs out of range are refused by the coordinator's codes.",
			Run:   runTxnProduceOdd,
		},
		{
			Name:  "txn-produce-joins-first",
			Claim: "Produce v12 makes the partition part of the transaction before acks, size, keys, times and records are looked at, not before the batch's shape.",
			Run:   runTxnProduceJoinsFirst,
		},
		{
			Name:  "txn-produce-lowest-sequence",
			Claim: "The lowest sequence that a partition saw of a transaction that was not verified is remembered: a later one is OUT_OF_ORDER_SEQUENCE_NUMBER, of plain batches too, until the transaction has a batch or a marker.",
			Run:   runTxnProduceLowestSequence,
		},
		{
			Name:  "txn-produce-named-twice",
			Claim: "A partition that stands twice in a transactional Produce has its last batch stored; batches of two kinds in one request go each its way.",
			Run:   runTxnProduceNamedTwice,
		},
		{
			Name:  "txn-produce-kinds-of-topics",
			Claim: "Transactional batches on compacted topics, on LogAppendTime topics and on topics with a compression.type of their own: records and markers.",
			Run:   runTxnProduceKindsOfTopics,
		},
	})
}

func runTxnProduceOdd(c *C) {
	t := c.Conn("a").NewTopic("txn-produce-odd", 1)
	for _, v := range []int16{9, 11, 12, 13} {
		p := c.txnProducer("a", "txn-produce-odd-"+vn(v))
		p.Add(vn(v)+" add", t)
		for _, odd := range []struct {
			step     string
			id       int64
			epoch    int16
			sequence int32
		}{{"no id", -1, -1, -1}, {"no id, again", -1, -1, -1}, {"no id, an epoch", -1, 3, 5}, {"id -2", -2, 0, 0}, {"epoch -1", p.id, -1, 0},
			{"epoch -2", p.id, -2, 0}, {"epoch 32767", p.id, 32767, 0}, {"sequence -1", p.id, p.epoch, -1}, {"the largest sequence", p.id, p.epoch, math.MaxInt32},
			{"the largest id", math.MaxInt64, 0, 0}} {
			b := Values(odd.step)
			b.Idempotent, b.ProducerID, b.ProdEpoch, b.Sequence, b.Attributes = true, odd.id, odd.epoch, odd.sequence, isTransactional
			p.Do(vn(v)+" "+odd.step, v, p.produceIn(t, -1, b.Bytes()))
		}
		p.Do(vn(v)+" describe producers", 0, describeProducers(t.name))
		p.State(vn(v) + " described")
		p.Do(vn(v)+" abort", endTxnV1, endTxn(p, false))
		p.Settled(vn(v) + " settled")
	}
	c.Conn("a").End("end", t)
}

func runTxnProduceJoinsFirst(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-produce-joins-first", 1, "cleanup.policy", "compact", "max.message.bytes", "300",
		"message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000")
	for i, one := range append(faults(), fault{name: "acks"}, fault{name: "empty"}, fault{name: "two batches"}) {
		for _, v := range []int16{11, 12} {
			p := c.txnProducer("a", fmt.Sprintf("txn-produce-joins-first-%d-%s", i, vn(v)))
			b := p.transactional(place{t, 0}, "v", "w")
			b.Records[0].NullKey, b.Records[1].NullKey = false, false
			b.Records[0].Key, b.Records[1].Key = "a", "b"
			b.Start = noTime
			if one.edit != nil {
				one.edit(&b)
			}
			if one.name == "old epoch" || one.name == "sequence" {
				p.init("another epoch", 60_000)
				b.ProdEpoch = p.epoch
			}
			b.Edit, b.Damage = one.header, one.damage
			raw, acks := b.Bytes(), int16(-1)
			switch one.name {
			case "acks":
				acks = 2
			case "empty":
				raw = []byte{}
			case "two batches":
				raw = append(raw, raw...)
			}
			p.Do(one.name+" "+vn(v), v, p.produceIn(t, acks, raw))
			p.State(one.name + " " + vn(v) + ": described")
			p.Do(one.name+" "+vn(v)+": abort", endTxnV1, endTxn(p, false))
			p.Settled(one.name + " " + vn(v) + ": settled")
		}
	}
	a.End("end", t)
}

func runTxnProduceLowestSequence(c *C) {
	t := c.Conn("a").NewTopic("txn-lowest-sequence", 1)
	for _, v := range []int16{9, 11, 12} {
		p := c.txnProducer("a", "txn-lowest-sequence-"+vn(v))
		write := func(step string, sequence int32, attributes int16) {
			b := p.transactional(place{t, 0}, "x")
			b.Sequence, b.Attributes = sequence, attributes
			req := p.produceIn(t, -1, b.Bytes())
			if attributes == 0 {
				req.TransactionID = nil
			}
			p.Do(vn(v)+" "+step, v, req)
		}
		if v < produceV2 {
			write("not added, 5", 5, isTransactional)
			write("not added, 3", 3, isTransactional)
			write("plain, 4", 4, 0)
			write("plain, 3", 3, 0)
			write("plain, 4 again", 4, 0)
		}
		p.Add(vn(v)+" add", t)
		write("7", 7, isTransactional)
		write("5", 5, isTransactional)
		write("4", 4, isTransactional)
		write("0", 0, isTransactional)
		write("5 again", 5, isTransactional)
		write("1", 1, isTransactional)
		p.Do(vn(v)+" producers", 0, describeProducers(t.name))
		p.Do(vn(v)+" commit", endTxnV1, endTxn(p, true))
		p.Settled(vn(v) + " settled")
		write("after the end, 9", 9, isTransactional)
		write("after the end, plain, 2", 2, 0)
		p.Do(vn(v)+" abort", endTxnV1, endTxn(p, false))
		p.Settled(vn(v) + " settled again")
	}
	c.Conn("a").Do("producers", 0, describeProducers(t.name))
	c.Conn("a").End("end", t)
}

func runTxnProduceNamedTwice(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("txn-named-twice", 2), a.NewTopic("txn-named-twice-too", 1)
	for _, v := range []int16{11, 12, 13} {
		p := c.txnProducer("a", "txn-named-twice-"+vn(v))
		p.Do(vn(v)+" add", addPartitionsV1, addPartitions(p, place{t, 0}))
		first, second := p.transactional(place{t, 0}, "first"), p.transactional(place{t, 0}, "second")
		second.Sequence = 0
		req := p.produceIn(t, -1, first.Bytes())
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, produced(0, second.Bytes()))
		p.Do(vn(v)+" twice", v, req)
		mixed := p.produceIn(t, -1, p.transactional(place{t, 0}, "third").Bytes(), Values("plain").Bytes())
		mixed.Topics = append(mixed.Topics, produceTo(u, -1, sequenced(970+int64(v), 0, 1).Bytes()).Topics...)
		p.Do(vn(v)+" beside plain ones", v, mixed)
		plainFirst := p.produceIn(t, -1, Values("plain").Bytes(), p.transactional(place{t, 1}, "other").Bytes())
		p.Do(vn(v)+" behind a plain one", v, plainFirst)
		plainFirst.TransactionID = nil
		p.Do(vn(v)+" behind a plain one, without the id", v, plainFirst)
		replaced := p.produceIn(t, -1, p.transactional(place{t, 0}, "fourth").Bytes())
		replaced.Topics[0].Partitions = append(replaced.Topics[0].Partitions, produced(0, Values("plain instead").Bytes()))
		p.Do(vn(v)+" replaced by a plain one", v, replaced)
		p.State(vn(v) + " described")
		p.Do(vn(v)+" end", endTxnV1, endTxn(p, true))
		p.Settled(vn(v) + " settled")
	}
	a.Do("fetch", 12, committed(fetchFrom(t, 0, 0)))
}

func runTxnProduceKindsOfTopics(c *C) {
	a := c.Conn("a")
	for i, kind := range [][]string{
		{"compact", "cleanup.policy", "compact"}, {"log-time", "message.timestamp.type", "LogAppendTime"},
		{"gzip", "compression.type", "gzip"}, {"uncompressed", "compression.type", "uncompressed"}, {"small", "max.message.bytes", "90"},
	} {
		t := a.NewTopic("txn-kinds-"+kind[0], 1, kind[1:]...)
		p := c.txnProducer("a", "txn-kinds-"+kind[0])
		for _, commit := range []bool{true, false} {
			b := p.transactional(place{t, 0}, "v")
			b.Records[0].Key, b.Records[0].NullKey = "k", false
			if i%2 == 1 {
				b.Attributes, b.Compress = isTransactional|2, codecs[1].compress
			}
			p.Do(kind[0]+" write, "+verdict(commit), produceV2, p.produceIn(t, -1, b.Bytes()))
			p.Do(kind[0]+" again, "+verdict(commit), produceV2, p.produceIn(t, -1, b.Bytes()))
			p.End(kind[0]+" "+verdict(commit), endTxnV2, commit)
		}
		p.Send(kind[0]+" read", 12, committed(fetchFrom(t, 0))).Inflated().Await()
	}
}
