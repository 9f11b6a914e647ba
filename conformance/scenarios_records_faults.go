package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produceFaultScenarios show which of several things that are wrong with a batch is answered, and what a refusal leaves.
func produceFaultScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "produce-two-faults",
			Claim: "Of two things that are wrong with a batch Kafka answers the one it looks at first: base offset, size, CRC, codec, counts, control bit, sequence, records (key, then time), the producer's epoch and sequence.",
			Run:   runProduceTwoFaults,
		},
		{
			Name:  "produce-duplicate-faults",
			Claim: "What is wrong with a batch is answered though its producer and sequences are those of a batch that is stored; a batch that is right is answered as the duplicate whatever it holds.",
			Run:   runProduceDuplicateFaults,
		},
		{
			Name:  "produce-over-segment",
			Claim: "A batch that is larger than a segment is RECORD_LIST_TOO_LARGE, whatever max.message.bytes says, and the sequence is not used up.",
			Run:   runProduceOverSegment,
		},
		{
			Name:  "produce-odd-producers",
			Claim: "Producer ids below -1 are none; an id with an epoch of -1 or below is stored or refused by what the broker knows; sequences beside no id are kept.",
			Run:   runProduceOddProducers,
		},
		{
			Name:  "produce-timeouts",
			Claim: "The timeout of a Produce request does not matter when there is one replica: 0, negative, the largest.",
			Run:   runProduceTimeouts,
		},
		{
			Name:  "produce-named-twice",
			Claim: "Of a partition that is named several times the last good batch is stored, by name and by id, of producers too, and one bad among them is the answer.",
			Run:   runProduceNamedTwice,
		},
		{
			Name:  "produce-no-topics",
			Claim: "A Produce of no topics, or of topics without partitions, is answered with none, at acks 0 not at all.",
			Run:   runProduceNoTopics,
		},
		{
			Name:  "produce-transactional-id",
			Claim: "A transactional id beside batches that are not transactional is not looked at: unknown, empty or of somebody.",
			Run:   runProduceTransactionalID,
		},
		{
			Name:  "produce-record-errors",
			Claim: "Record errors list every record at fault by index with its text, the first three in the partition's text; times at fault beside keys at fault make the code INVALID_TIMESTAMP.",
			Run:   runProduceRecordErrors,
		},
		{
			Name:  "produce-internal-topics",
			Claim: "Produce to an internal topic: what has no batch of the right shape is INVALID_RECORD and a partition that is not there UNKNOWN_TOPIC_OR_PARTITION, acks are looked at, and all else is INVALID_TOPIC_EXCEPTION.",
			Run:   runProduceInternalTopics,
		},
	}
}

// noTime is the time of records that have none.
const noTime = -1

// fault is one thing that is wrong with a batch.
type fault struct {
	name   string
	edit   func(*Batch)
	header func(*kmsg.RecordBatch)
	damage func([]byte)
}

func faults() []fault {
	return []fault{
		{name: "base offset", header: func(b *kmsg.RecordBatch) { b.FirstOffset = 1 }},
		{name: "too large", edit: func(b *Batch) { b.Records[0].Value = strings.Repeat("x", 400) }},
		{name: "crc", damage: func(b []byte) { b[17]++ }},
		{name: "codec", header: func(b *kmsg.RecordBatch) { b.Attributes |= 6 }},
		{name: "count", header: func(b *kmsg.RecordBatch) { b.NumRecords = 9 }},
		{name: "control", header: func(b *kmsg.RecordBatch) { b.Attributes |= isControl }},
		{name: "sequence", header: func(b *kmsg.RecordBatch) { b.FirstSequence = -1 }},
		{name: "no key", edit: func(b *Batch) { b.Records[1].NullKey = true }},
		{name: "too old", edit: func(b *Batch) { b.Records[1].Time = DayOne - noTime }},
		{name: "time type", header: func(b *kmsg.RecordBatch) { b.Attributes |= 8 }},
		{name: "broken record", header: func(b *kmsg.RecordBatch) { b.Records = b.Records[:len(b.Records)-2] }},
		{name: "old epoch", header: func(b *kmsg.RecordBatch) { b.ProducerEpoch = 0 }},
		{name: "gap", header: func(b *kmsg.RecordBatch) { b.FirstSequence = 40 }},
	}
}

// faulty is a batch of two records with faults.
func faulty(id int64, some ...fault) []byte {
	b := Batch{Idempotent: true, ProducerID: id, ProdEpoch: 2, Sequence: 1, Start: noTime}
	b.Records = []Record{{Key: "a", Value: "v"}, {Key: "b", Value: "w"}}
	for _, f := range some {
		if f.edit != nil {
			f.edit(&b)
		}
	}
	b.Edit = func(raw *kmsg.RecordBatch) {
		for _, f := range some {
			if f.header != nil {
				f.header(raw)
			}
		}
	}
	b.Damage = func(raw []byte) {
		for _, f := range some {
			if f.damage != nil {
				f.damage(raw)
			}
		}
	}
	return b.Bytes()
}

func runProduceTwoFaults(c *C) {
	a := c.Conn("a")
	for i, kind := range [][]string{
		{"plain"},
		{"compact", "cleanup.policy", "compact"},
		{"log-time", "message.timestamp.type", "LogAppendTime", "cleanup.policy", "compact"},
		{"gzip", "compression.type", "gzip", "cleanup.policy", "compact"},
	} {
		t := a.NewTopic("produce-two-faults-"+kind[0], 1, append(kind[1:], "max.message.bytes", "300", "message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000")...)
		id := int64(900 + i)
		first := Batch{Idempotent: true, ProducerID: id, ProdEpoch: 2, Start: noTime, Records: []Record{{Key: "a", Value: "v"}}}
		a.Store(kind[0]+": first", t, first)
		all := faults()
		for j, one := range all {
			a.Do(fmt.Sprintf("%s: %s", kind[0], one.name), 9, produceTo(t, -1, faulty(id, one)))
			for _, two := range all[j+1:] {
				a.Do(fmt.Sprintf("%s: %s, %s", kind[0], one.name, two.name), 9, produceTo(t, -1, faulty(id, one, two)))
			}
		}
		a.Do(kind[0]+": nothing", 9, produceTo(t, -1, faulty(id)))
		a.Do(kind[0]+": nothing, again", 9, produceTo(t, -1, faulty(id)))
		a.Do(kind[0]+": producers", 0, describeProducers(t.name))
		a.End(kind[0]+": end", t)
	}
}

func runProduceDuplicateFaults(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-duplicate-faults", 1, "cleanup.policy", "compact", "max.message.bytes", "300", "message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000")
	a.Store("first", t, Batch{Idempotent: true, ProducerID: 910, ProdEpoch: 2, Start: noTime, Records: []Record{{Key: "a", Value: "v"}}})
	a.Do("second", 9, produceTo(t, -1, faulty(910)))
	for _, one := range faults() {
		a.Do("second, "+one.name, 9, produceTo(t, -1, faulty(910, one)))
	}
	other := fault{name: "other content", edit: func(b *Batch) { b.Records[0].Value, b.Records[1].Key = "other", "z" }}
	a.Do("second, other content", 9, produceTo(t, -1, faulty(910, other)))
	a.Do("second, acks=2", 9, produceTo(t, 2, faulty(910)))
	packed := Batch{Idempotent: true, ProducerID: 910, ProdEpoch: 2, Sequence: 1, Start: noTime, Attributes: 1, Compress: gzipped,
		Records: []Record{{Key: "a", Value: "v"}, {Key: "b", Value: "w"}}}
	a.Do("second, compressed", 9, produceTo(t, -1, packed.Bytes()))
	packed.Compress = func(b []byte) []byte { return b }
	a.Do("second, not what the codec says", 9, produceTo(t, -1, packed.Bytes()))
	a.End("end", t)
}

func runProduceOverSegment(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-over-segment", 1, "segment.bytes", "1048576", "max.message.bytes", "3000000")
	sized := func(n int, sequence int32) []byte {
		b := Values(strings.Repeat("x", n))
		b.Idempotent, b.ProducerID, b.Sequence = true, 911, sequence
		return b.Bytes()
	}
	short := func(step string, raw []byte) { a.Do(step, 9, produceTo(t, -1, raw)) }
	short("small", sized(10, 0))
	short("as large as a segment", sized(1048576-61-12, 1))
	short("a byte more", sized(1048576-61-11, 2))
	short("a byte more, again", sized(1048576-61-11, 2))
	short("two segments", sized(2_000_000, 2))
	short("small again", sized(10, 2))
	short("a duplicate that is too large", sized(2_000_000, 2))
	a.Do("two segments, v13", 13, produceTo(t, 1, sized(2_000_000, 3)))
	a.End("end", t)
	a.Do("producers", 0, describeProducers(t.name))
}

func runProduceOddProducers(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-odd-producers", 1)
	for _, p := range []struct {
		id       int64
		epoch    int16
		sequence int32
	}{
		{-1, 0, 0}, {-1, -1, 5}, {-1, 32767, 2147483647}, {-2, 0, 0}, {-2, 0, 0}, {-2, 0, 7}, {-9223372036854775808, 3, 3},
		{920, -1, 0}, {920, -1, 0}, {920, -2, 0}, {920, 0, 0}, {920, -1, 1}, {920, 32767, 0}, {920, 32766, 1}, {920, 32767, 1}, {920, -32768, 0},
		{921, 32767, 2147483647}, {921, 32767, 0}, {921, 32767, 2147483647}, {9223372036854775807, 0, 0}, {9223372036854775807, 0, 0},
		{922, 0, -1}, {922, 0, -2}, {922, 0, -2147483648}, {922, 0, 3}, {922, 0, 2}, {922, 0, 4},
		{923, -2, 0}, {923, -32768, 7}, {923, -1, 7}, {923, -2, 8},
	} {
		b := Values("x")
		b.Idempotent, b.ProducerID, b.ProdEpoch, b.Sequence = true, p.id, p.epoch, p.sequence
		a.Do(fmt.Sprintf("id %d, epoch %d, sequence %d", p.id, p.epoch, p.sequence), 9, produceTo(t, -1, b.Bytes()))
	}
	a.Do("producers", 0, describeProducers(t.name))
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceTimeouts(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-timeouts", 1)
	for _, millis := range []int32{0, -1, 1, 2147483647, -2147483648} {
		for _, acks := range []int16{-1, 1} {
			req := produceTo(t, acks, Values("x").Bytes())
			req.TimeoutMillis = millis
			a.Do(fmt.Sprintf("timeout %d, acks %d", millis, acks), 9, req)
		}
	}
	a.End("end", t)
}

func runProduceNamedTwice(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("produce-named-twice", 2), a.NewTopic("produce-named-twice-too", 1)
	damaged := Values("damaged")
	damaged.Damage = func(b []byte) { b[17]++ }
	for _, v := range []int16{7, 9, 12, 13} {
		list := func(step string, acks int16, topics ...*kmsg.ProduceRequest) {
			req := topics[0]
			req.Acks = acks
			for _, more := range topics[1:] {
				req.Topics = append(req.Topics, more.Topics...)
			}
			p := a.Send(vn(v)+" "+step, v, req)
			if acks == 0 {
				p.Unanswered()
				return
			}
			p.Await()
		}
		one := func(raw []byte) *kmsg.ProduceRequest { return produceTo(t, -1, raw) }
		list("good, corrupt", -1, one(Values("good").Bytes()), one(damaged.Bytes()))
		list("corrupt, good", -1, one(damaged.Bytes()), one(Values("good").Bytes()))
		list("three", -1, one(Values("1").Bytes()), produceTo(u, -1, Values("u").Bytes()), one(Values("2").Bytes()), one(Values("3").Bytes()))
		list("empty, good", -1, one([]byte{}), one(Values("good").Bytes()))
		list("good, empty, good", -1, one(Values("1").Bytes()), one([]byte{}), one(Values("2").Bytes()))
		list("sequences of a producer", -1, one(sequenced(930+int64(v), 0, 1).Bytes()), one(sequenced(930+int64(v), 1, 1).Bytes()))
		list("the same of a producer", -1, one(sequenced(950+int64(v), 0, 1).Bytes()), one(sequenced(950+int64(v), 0, 1).Bytes()))
		list("acks=0", 0, one(Values("1").Bytes()), one(Values("2").Bytes()))
		list("acks=2", 2, one(Values("1").Bytes()), one([]byte{}))
		nowhere := topicRef{"produce-named-twice-nowhere", [16]byte{15: 9}}
		list("not there, twice", -1, produceTo(nowhere, -1, Values("x").Bytes()), produceTo(nowhere, -1, []byte{}))
	}
	mixed := produceTo(t, -1, Values("by name").Bytes())
	mixed.Topics = append(mixed.Topics, produceTo(topicRef{id: t.id}, -1, Values("by id").Bytes()).Topics...)
	a.Do("v13, both named", 13, mixed)
	a.Do("fetch", 12, fetchFrom(t, 0))
	a.Do("producers", 0, describeProducers(t.name))
}

func runProduceNoTopics(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-no-topics", 1)
	for _, v := range []int16{3, 8, 9, 12, 13} {
		for _, acks := range []int16{-1, 1, 2} {
			none := produceTo(t, acks)
			a.Do(fmt.Sprintf("%s no partitions, acks %d", vn(v), acks), v, none)
			none = produceTo(t, acks)
			none.Topics = nil
			a.Do(fmt.Sprintf("%s no topics, acks %d", vn(v), acks), v, none)
			a.Do(fmt.Sprintf("%s no partitions of an unknown one, acks %d", vn(v), acks), v, produceTo(topicRef{"produce-no-topics-nowhere", [16]byte{1}}, acks))
		}
		empty := produceTo(t, 0)
		a.Send(vn(v)+" no partitions, acks 0", v, empty).Unanswered()
		a.End(vn(v)+" goes on", t)
	}
}

func runProduceTransactionalID(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-transactional-id", 1)
	for _, v := range []int16{3, 11, 12, 13} {
		for _, id := range []string{"nobody", "", strings.Repeat("x", 300)} {
			req := produceTo(t, -1, Values("plain").Bytes())
			req.TransactionID = &id
			a.Do(fmt.Sprintf("%s plain, id of %d", vn(v), len(id)), v, req)
			req = produceTo(t, -1, sequenced(960+int64(v), int32(0), 1).Bytes())
			req.TransactionID = &id
			a.Do(fmt.Sprintf("%s idempotent, id of %d", vn(v), len(id)), v, req)
		}
	}
	a.End("end", t)
}

func runProduceRecordErrors(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-record-errors", 1, "cleanup.policy", "compact,delete", "message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000")
	batch := func(kinds string) Batch {
		b := Batch{Start: noTime}
		for _, kind := range kinds {
			r := Record{Key: "k", Value: "v"}
			switch kind {
			case 'k':
				r.NullKey = true
			case 't':
				r.Time = DayOne - noTime
			case 'b':
				r.NullKey, r.Time = true, DayOne-noTime
			}
			b.Records = append(b.Records, r)
		}
		return b
	}
	for _, kinds := range []string{"k", "t", "b", ".k.k.k.k.k", ".t.t.t.t", "kt", "tk", "bb.b", "kkkt", strings.Repeat("k", 12)} {
		for _, v := range []int16{7, 8, 9, 13} {
			a.Do(kinds+" "+vn(v), v, produceTo(t, -1, batch(kinds).Bytes()))
		}
		packed := batch(kinds)
		packed.Attributes, packed.Compress = 1, gzipped
		a.Do(kinds+" gzip", 9, produceTo(t, -1, packed.Bytes()))
	}
	two := produceTo(a.NewTopic("produce-record-errors-two", 2, "cleanup.policy", "compact"), -1, batch(".k").Bytes(), batch("..").Bytes())
	a.Do("one of two partitions", 9, two)
	a.End("end", t)
}

func runProduceInternalTopics(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("produce-internal-topics")
	a.AwaitTxnCoordinator()
	corrupt := Values("x")
	corrupt.Damage = func(b []byte) { b[17]++ }
	keyed := Batch{Records: []Record{{Key: "k", Value: "v"}}}
	txn := sequenced(980, 0, 1)
	txn.Attributes = isTransactional
	for _, name := range []string{"__consumer_offsets", "__transaction_state"} {
		for _, v := range []int16{3, 7, 12} {
			ask := func(step string, number int32, acks int16, raw []byte) {
				a.Do(name+" "+vn(v)+" "+step, v, produceOne(name, number, acks, raw))
			}
			ask("without key", 0, -1, Values("x").Bytes())
			ask("with key", 0, 1, keyed.Bytes())
			ask("the last partition", 49, -1, keyed.Bytes())
			ask("one partition too many", 50, -1, keyed.Bytes())
			ask("partition -1", -1, -1, keyed.Bytes())
			ask("nothing", 0, -1, []byte{})
			ask("two batches", 0, -1, append(keyed.Bytes(), keyed.Bytes()...))
			ask("format 1", 0, -1, legacy(1))
			ask("corrupt", 0, -1, corrupt.Bytes())
			ask("acks=2", 0, 2, keyed.Bytes())
			ask("zstd", 0, -1, compressed(4, zstded, "x").Bytes())
			ask("nothing, one partition too many", 50, -1, []byte{})
			of := produceOne(name, 0, -1, txn.Bytes())
			of.TransactionID = kmsg.StringPtr("nobody")
			a.Do(name+" "+vn(v)+" transactional", v, of)
		}
	}
}
