package conformance

import (
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func idempotenceScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "idempotence-duplicates",
			Claim: "The last five batches of a producer are answered with their offsets when they come again; an older one, another split of the same sequences and a gap are OUT_OF_ORDER_SEQUENCE_NUMBER.",
			Run:   runIdempotenceDuplicates,
		},
		{
			Name:  "idempotence-epochs",
			Claim: "A lower producer epoch is INVALID_PRODUCER_EPOCH; a higher one begins with sequence 0, else OUT_OF_ORDER_SEQUENCE_NUMBER; the batches of an earlier epoch are no duplicates any more.",
			Run:   runIdempotenceEpochs,
		},
		{
			Name:  "idempotence-unknown-producer",
			Claim: "A producer that the partition does not know may begin with any sequence and epoch.",
			Run:   runIdempotenceUnknown,
		},
		{
			Name:  "idempotence-wrap",
			Claim: "After sequence 2147483647 comes 0, inside a batch and between two.",
			Run:   runIdempotenceWrap,
		},
		{
			Name:  "idempotence-restart",
			Claim: "After a restart a partition knows of each producer the last batch: older duplicates are out of order, and gaps, epochs and wraps are answered as before.",
			Fresh: true,
			Run:   runIdempotenceRestart,
		},
		{
			Name:  "idempotence-kill",
			Claim: "After a kill a partition knows of each producer the last batch, as after a restart.",
			Fresh: true,
			Run:   runIdempotenceKill,
		},
		{
			Name:  "idempotence-deleted-records",
			Claim: "DeleteRecords to the end does not make a partition forget a producer: it goes on, and its last batches are still duplicates.",
			Run:   runIdempotenceDeletedRecords,
		},
		{
			Name:  "idempotence-expired",
			Claim: "A producer that was silent for producer.id.expiration.ms is forgotten, and goes on with any sequence.",
			Set:   map[string]string{"producer.id.expiration.ms": "1000", "producer.id.expiration.check.interval.ms": "100"},
			Run:   runIdempotenceExpired,
		},
		{
			Name:  "describe-producers",
			Claim: "DescribeProducers lists who has produced, with epoch, last sequence and time, and no transaction; at a restart those that were silent for a day are forgotten.",
			Fresh: true,
			Run:   runDescribeProducers,
		},
		{
			Name:  "init-producer-id",
			Claim: "InitProducerId without a transactional id gives a new id of epoch 0 each time, at every version, whole known ids included; half of one and an empty transactional id are INVALID_REQUEST.",
			Fresh: true,
			Run:   runInitProducerID,
		},
	}
}

func runIdempotenceDuplicates(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("idempotence-duplicates", 1)
	for i := range int32(7) {
		a.Store(fmt.Sprint("batch ", i), t, sequenced(200, 2*i, 2))
	}
	askDuplicates(a, t)
	a.Do("goes on", 9, produceTo(t, -1, sequenced(200, 14, 2).Bytes()))
	a.Do("the third again", 9, produceTo(t, -1, sequenced(200, 4, 2).Bytes()))
	a.Do("the fourth again", 9, produceTo(t, -1, sequenced(200, 6, 2).Bytes()))
	a.Do("acks=1, a duplicate", 9, produceTo(t, 1, sequenced(200, 14, 2).Bytes()))
	a.Do("v3, a duplicate", 3, produceTo(t, -1, sequenced(200, 14, 2).Bytes()))
	a.Do("v3, a gap", 3, produceTo(t, -1, sequenced(200, 20, 2).Bytes()))
	a.Do("v13, a gap", 13, produceTo(t, -1, sequenced(200, 20, 2).Bytes()))
	a.Send("acks=0, a duplicate", 9, produceTo(t, 0, sequenced(200, 14, 2).Bytes())).Unanswered()
	a.End("end", t)
}

// askDuplicates asks for what depends on the last batches of producer 200, which sent seven of two records.
func askDuplicates(a *Conn, t topicRef) {
	for i := range int32(5) {
		b := sequenced(200, 4+2*i, 2)
		a.Do(fmt.Sprint("batch ", 2+i, " again"), 9, produceTo(t, -1, b.Bytes()))
	}
	other := sequenced(200, 12, 2)
	other.Records[0].Value, other.Start = "other", DayOne+999
	a.Do("the last with other content", 9, produceTo(t, -1, other.Bytes()))
	for _, b := range []struct {
		step     string
		sequence int32
		records  int
	}{
		{"the sixth from last", 2, 2}, {"the first", 0, 2}, {"half of the last", 12, 1}, {"its other half", 13, 1},
		{"the last and more", 12, 3}, {"two as one", 10, 4}, {"a gap", 15, 1}, {"a large gap", 1000, 2},
	} {
		a.Do(b.step, 9, produceTo(t, -1, sequenced(200, b.sequence, b.records).Bytes()))
	}
	a.End("end as before", t)
}

func withEpoch(b Batch, epoch int16) []byte {
	b.ProdEpoch = epoch
	return b.Bytes()
}

func runIdempotenceEpochs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("idempotence-epochs", 1)
	step := func(name string, epoch int16, sequence int32) {
		a.Do(name, 9, produceTo(t, -1, withEpoch(sequenced(210, sequence, 1), epoch)))
	}
	step("epoch 1", 1, 0)
	step("epoch 1 goes on", 1, 1)
	step("epoch 0", 0, 2)
	step("epoch 0 from the start", 0, 0)
	step("epoch 2 in the middle", 2, 2)
	step("epoch 2", 2, 0)
	step("epoch 2 again", 2, 0)
	step("epoch 1 again", 1, 1)
	step("epoch 5", 5, 0)
	step("epoch 5 goes on", 5, 1)
	step("epoch 2 once more", 2, 0)
	step("epoch -1", -1, 2)
	a.Do("v3, epoch 2", 3, produceTo(t, -1, withEpoch(sequenced(210, 0, 1), 2)))
	step("the last epoch", 32767, 0)
	a.End("end", t)
}

func runIdempotenceUnknown(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("idempotence-unknown", 2)
	for i, sequence := range []int32{0, 1, 1000, math.MaxInt32} {
		b := sequenced(int64(220+i), sequence, 1)
		a.Do(fmt.Sprint("begins with ", sequence), 9, produceTo(t, -1, b.Bytes()))
		a.Do(fmt.Sprint("again ", sequence), 9, produceTo(t, -1, b.Bytes()))
		a.Do(fmt.Sprint("the one before ", sequence), 9, produceTo(t, -1, sequenced(int64(220+i), max(0, sequence-1), 1).Bytes()))
	}
	a.Do("begins with epoch 7", 9, produceTo(t, -1, withEpoch(sequenced(230, 500, 1), 7)))
	a.Do("in the other partition", 9, produceTo(t, -1, sequenced(220, 1, 1).Bytes(), sequenced(220, 900, 1).Bytes()))
	a.End("end", t)
}

func runIdempotenceWrap(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("idempotence-wrap", 1)
	const last = math.MaxInt32
	step := func(name string, id int64, sequence int32, records int) {
		a.Do(name, 9, produceTo(t, -1, sequenced(id, sequence, records).Bytes()))
	}
	step("up to the last", 240, last-1, 2)
	step("1 is a gap", 240, 1, 1)
	step("0", 240, 0, 1)
	step("1", 240, 1, 1)
	step("the batch before the wrap", 240, last-1, 2)
	step("across the wrap", 241, last-1, 4)
	step("across the wrap again", 241, last-1, 4)
	step("then 1 is a gap", 241, 1, 1)
	step("then 2", 241, 2, 1)
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runIdempotenceRestart(c *C) { idempotenceAfter(c, c.Restart) }
func runIdempotenceKill(c *C)    { idempotenceAfter(c, c.Kill) }

// idempotenceAfter dates its batches now: when Kafka reads its logs at a start, it forgets who was silent for a day.
func idempotenceAfter(c *C, again func()) {
	a, now := c.Conn("a"), time.Now().UnixMilli()
	t := a.NewTopic("idempotence", 1)
	send := func(step string, id int64, epoch int16, sequence int32, records int) {
		b := sequenced(id, sequence, records)
		b.Start, b.ProdEpoch = now, epoch
		a.Do(step, 9, produceTo(t, -1, b.Bytes()))
	}
	for i := range int32(7) {
		send(fmt.Sprint("batch ", i), 200, 0, 2*i, 2)
	}
	send("epoch 3", 201, 3, 0, 1)
	send("before the wrap", 202, 0, math.MaxInt32, 1)
	for range 2 {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		askDuplicates(a, t)
		send("epoch 2", 201, 2, 1, 1)
		send("epoch 3 again", 201, 3, 0, 1)
		send("epoch 4 in the middle", 201, 4, 1, 1)
		send("1 after the wrap", 202, 0, 1, 1)
	}
	send("goes on", 200, 0, 14, 1)
	send("epoch 3 goes on", 201, 3, 1, 1)
	send("0 after the wrap", 202, 0, 0, 1)
	a.End("end", t)
}

func runIdempotenceDeletedRecords(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("idempotence-deleted-records", 1)
	a.Store("8 records", t, sequenced(250, 0, 8))
	a.Do("delete all", 2, deleteBefore(t, -1))
	a.Do("producers", 0, describeProducers(t.name))
	a.Do("the same again", 9, produceTo(t, -1, sequenced(250, 0, 8).Bytes()))
	a.Do("a gap", 9, produceTo(t, -1, sequenced(250, 10, 1).Bytes()))
	a.Do("goes on", 9, produceTo(t, -1, sequenced(250, 8, 1).Bytes()))
	a.Do("delete all again", 2, deleteBefore(t, -1))
	a.Do("goes on again", 9, produceTo(t, -1, sequenced(250, 9, 1).Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 9))
}

func runIdempotenceExpired(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("idempotence-expired", 1)
	a.Store("7 records", t, sequenced(260, 0, 7))
	forgotten := func(r *kmsg.DescribeProducersResponse) bool {
		return len(r.Topics[0].Partitions[0].ActiveProducers) == 0
	}
	AskUntil(a, "producers, until it is forgotten", 0, describeProducers(t.name), forgotten)
	a.Do("a gap", 9, produceTo(t, -1, sequenced(260, 9, 1).Bytes()))
	AskUntil(a, "producers, until it is forgotten again", 0, describeProducers(t.name), forgotten)
	a.Do("the same is stored twice", 9, produceTo(t, -1, sequenced(260, 9, 1).Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 7))
}

func runDescribeProducers(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("describe-producers", 2)
	a.Do("nobody", 0, describeProducers(t.name))
	a.Store("without an id", t, Values("x"))
	a.Do("still nobody", 0, describeProducers(t.name))
	a.Store("three records", t, sequenced(1000, 0, 3))
	a.Store("three more", t, sequenced(1000, 3, 3))
	a.Store("another", t, func() Batch { b := sequenced(2000, 100, 1); b.ProdEpoch = 9; b.Start = DayOne + 50; return b }())
	a.Store("one of epoch 1", t, func() Batch { b := sequenced(1000, 0, 1); b.ProdEpoch = 1; return b }())
	all := describeProducers(t.name, "describe-producers-nowhere", "", ".", "a b")
	all.Topics[0].Partitions = []int32{1, 0, 2, -1, 0}
	all.Topics = append(all.Topics, describeProducers(t.name).Topics...)
	a.Do("all", 0, all)
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 2)
	a.Do("all again", 0, all)
}

func runInitProducerID(c *C) {
	a := c.Conn("a")
	a.NewProducer()
	ask := func(step string, version int16, edit func(*kmsg.InitProducerIDRequest)) {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionTimeoutMillis, req.ProducerID, req.ProducerEpoch = 60_000, -1, -1
		edit(req)
		a.Do(step, version, req)
	}
	for v := int16(0); v <= 5; v++ {
		ask(vn(v), v, func(*kmsg.InitProducerIDRequest) {})
		ask(vn(v)+" again", v, func(*kmsg.InitProducerIDRequest) {})
		ask(vn(v)+" with an empty transactional id", v, func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = kmsg.StringPtr("") })
	}
	for _, v := range []int16{3, 5} {
		ask(vn(v)+" with an id and epoch", v, func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 0, 0 })
		ask(vn(v)+" with an id and epoch that were never given", v, func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 77_777, 5 })
		ask(vn(v)+" with an id only", v, func(r *kmsg.InitProducerIDRequest) { r.ProducerID = 0 })
		ask(vn(v)+" with an epoch only", v, func(r *kmsg.InitProducerIDRequest) { r.ProducerEpoch = 0 })
		ask(vn(v)+" with an id of -2", v, func(r *kmsg.InitProducerIDRequest) { r.ProducerID = -2 })
	}
	ask("a timeout of -1", 4, func(r *kmsg.InitProducerIDRequest) { r.TransactionTimeoutMillis = -1 })
	c.Restart()
	a = c.Conn("a")
	a.NewProducer()
	ask("after a restart", 4, func(*kmsg.InitProducerIDRequest) {})
}
