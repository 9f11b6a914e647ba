package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// unverified is a broker that takes transactional batches of clients before Produce v12 without asking the coordinator, so
// that a script can say with WriteTxnMarkers how each transaction ends: the log's side of transactions, without the other.
var unverified = map[string]string{"transaction.partition.verification.enable": "false"}

// oneSegment is a segment.ms with which a marker, which has the broker's time, does not roll: batches of scripts have old times.
const oneSegment = "9223372036854775807"

// markerScenarios are those of transactions as a partition sees them.
func markerScenarios() []Scenario {
	scenarios := slices.Concat(markerBatchScenarios(), isolationScenarios(), markerLookupScenarios())
	for i := range scenarios {
		scenarios[i].Part = 2
		if scenarios[i].Set == nil {
			scenarios[i].Set = unverified
		}
	}
	return scenarios
}

func markerBatchScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "marker-batches",
			Claim: "A marker is a control batch of one record with the coordinator's epoch, of the broker's time, also with LogAppendTime; each that is asked for is stored, also where no transaction is open.",
			Run:   runMarkerBatches,
		},
		{
			Name:  "marker-epochs",
			Claim: "A marker of an epoch below the last seen is INVALID_PRODUCER_EPOCH, of transaction version 2 also one of that epoch while a transaction is open; one of an older coordinator is TRANSACTION_COORDINATOR_FENCED.",
			Run:   runMarkerEpochs,
		},
		{
			Name:  "marker-sequences",
			Claim: "After a marker of the same epoch a producer's sequences go on and its last batches are known; after one of a higher epoch they begin at 0, and the older epoch is INVALID_PRODUCER_EPOCH.",
			Run:   runMarkerSequences,
		},
		{
			Name:  "marker-mixed",
			Claim: "A batch outside the transaction that its producer has open is INVALID_TXN_STATE; sequences are looked at first.",
			Run:   runMarkerMixed,
		},
		{
			Name:  "marker-producers",
			Claim: "DescribeProducers shows the start of the open transaction and the epoch of the coordinator that wrote the last marker; both outlive restarts and kills.",
			Fresh: true,
			Run:   runMarkerProducers,
		},
		{
			Name:  "marker-expired",
			Claim: "A producer with an open transaction is not forgotten, however long it is silent; one whose transaction ended is.",
			Set: map[string]string{"producer.id.expiration.ms": "1000", "producer.id.expiration.check.interval.ms": "100",
				"transaction.partition.verification.enable": "false"},
			Run: runMarkerExpired,
		},
	}
}

// transactional is a batch of a producer's transaction.
func transactional(id int64, epoch int16, sequence int32, records int) Batch {
	b := sequenced(id, sequence, records)
	b.ProdEpoch, b.Attributes = epoch, 0x10
	return b
}

// produceIn is produceTo for a transactional batch, in partition 0.
func produceIn(t topicRef, b Batch) *kmsg.ProduceRequest {
	req := produceTo(t, -1, b.Bytes())
	id := fmt.Sprint("producer ", b.ProducerID)
	req.TransactionID = &id
	return req
}

// StoreIn appends a transactional batch to partition 0, and it must be taken.
func (n *Conn) StoreIn(step string, t topicRef, b Batch) {
	r := Ask[*kmsg.ProduceResponse](n, step, 11, produceIn(t, b))
	if p := r.Topics[0].Partitions[0]; p.ErrorCode != 0 {
		n.c.Fatalf("step %s: error %d", step, p.ErrorCode)
	}
}

// marker is what a coordinator of epoch 0 asks for to end a transaction.
func marker(t topicRef, id int64, epoch int16, commit bool) *kmsg.WriteTxnMarkersRequest {
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	m := kmsg.NewWriteTxnMarkersRequestMarker()
	m.ProducerID, m.ProducerEpoch, m.Committed = id, epoch, commit
	topic := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
	topic.Topic, topic.Partitions = t.name, []int32{0}
	m.Topics = append(m.Topics, topic)
	req.Markers = append(req.Markers, m)
	return req
}

// Finish writes the marker of a transaction in partition 0, and it must be taken.
func (n *Conn) Finish(step string, t topicRef, id int64, epoch int16, commit bool) {
	r := Ask[*kmsg.WriteTxnMarkersResponse](n, step, 1, marker(t, id, epoch, commit))
	if p := r.Markers[0].Topics[0].Partitions[0]; p.ErrorCode != 0 {
		n.c.Fatalf("step %s: error %d", step, p.ErrorCode)
	}
}

func (n *Conn) Commit(step string, t topicRef, id int64) { n.Finish(step, t, id, 0, true) }
func (n *Conn) Abort(step string, t topicRef, id int64)  { n.Finish(step, t, id, 0, false) }

// committed makes a Fetch read committed records only.
func committed(req *kmsg.FetchRequest) *kmsg.FetchRequest {
	req.IsolationLevel = 1
	return req
}

func runMarkerBatches(c *C) {
	a := c.Conn("a")
	for _, kind := range []string{"CreateTime", "LogAppendTime"} {
		t := a.NewTopic("marker-batches-"+kind, 1, "message.timestamp.type", kind, "segment.ms", oneSegment)
		a.StoreIn("a batch", t, transactional(3000, 0, 0, 2))
		a.Do("commit", 1, marker(t, 3000, 0, true))
		a.StoreIn("another", t, transactional(3000, 0, 2, 1))
		abort := marker(t, 3000, 0, false)
		abort.Markers[0].CoordinatorEpoch = 7
		a.Do("abort", 1, abort)
		a.Do("commit nothing", 1, abort)
		a.Do("abort one that is not known", 1, marker(t, 3001, 5, false))
		second := marker(t, 3001, 6, true)
		second.Markers[0].TransactionVersion = 2
		a.Do("commit at version 2", 2, second)
		a.Do("all", 12, fetchFrom(t, 0))
		a.Do("committed", 12, committed(fetchFrom(t, 0)))
	}
}

func runMarkerEpochs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-epochs", 1)
	write := func(step string, id int64, epoch int16, coordinator int32, version int8) {
		req := marker(t, id, epoch, true)
		req.Markers[0].CoordinatorEpoch, req.Markers[0].TransactionVersion = coordinator, version
		a.Do(step, 2, req)
	}
	a.StoreIn("epoch 3", t, transactional(3010, 3, 0, 1))
	write("epoch 2", 3010, 2, 0, 0)
	write("epoch 2, version 2", 3010, 2, 0, 2)
	write("epoch 3, version 2", 3010, 3, 0, 2)
	write("epoch 3, version 1", 3010, 3, 4, 1)
	write("epoch 3 again", 3010, 3, 4, 1)
	write("an older coordinator", 3010, 3, 3, 1)
	write("an older coordinator and epoch", 3010, 2, 3, 1)
	write("epoch 3 again, version 2", 3010, 3, 4, 2)
	a.StoreIn("epoch 3 once more", t, transactional(3010, 3, 1, 1))
	write("epoch 3, version 2, open again", 3010, 3, 4, 2)
	write("epoch 4, version 2", 3010, 4, 4, 2)
	write("epoch 4 again, version 2", 3010, 4, 4, 2)
	write("epoch 4 again, version 2, an older coordinator", 3010, 4, 0, 2)
	write("epoch 3, version 2, ended", 3010, 3, 4, 2)
	a.StoreIn("the last epoch", t, transactional(3010, 32767, 0, 1))
	write("the last epoch, version 2", 3010, 32767, 4, 2)
	write("negative coordinator, unknown producer", 3011, 0, -1, 0)
	write("negative epoch, unknown producer", 3012, -1, 0, 0)
	write("negative epoch, known producer", 3011, -1, 0, 0)
	write("higher epoch, version 0", 3010, 32767, 9, 0)
	a.Do("producers", 0, describeProducers(t.name))
	a.End("end", t)
}

func runMarkerSequences(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-sequences", 1, "segment.ms", oneSegment)
	step := func(name string, epoch int16, sequence int32) {
		a.Do(name, 11, produceIn(t, transactional(3020, epoch, sequence, 1)))
	}
	step("begins", 0, 0)
	step("goes on", 0, 1)
	a.Commit("commit", t, 3020)
	step("the last again", 0, 1)
	step("a gap", 0, 3)
	step("from 0", 0, 0)
	step("the next", 0, 2)
	a.Abort("abort", t, 3020)
	step("the aborted one again", 0, 2)
	step("the next again", 0, 3)
	a.Finish("abort with a new epoch", t, 3020, 1, false)
	step("the old epoch goes on", 0, 4)
	step("the old epoch's last again", 0, 3)
	step("the new epoch in the middle", 1, 4)
	step("the new epoch", 1, 0)
	step("the new epoch again", 1, 0)
	a.Finish("commit with a new epoch", t, 3020, 2, true)
	step("its last again", 1, 0)
	step("an epoch between", 4, 1)
	step("an epoch that no marker had", 4, 0)
	a.Do("outside of a transaction, after one", 9, produceTo(t, -1, withEpoch(sequenced(3020, 1, 1), 4)))
	a.Finish("commit that", t, 3020, 4, true)
	a.Do("outside of a transaction", 9, produceTo(t, -1, withEpoch(sequenced(3020, 1, 1), 4)))
	a.Do("and again", 9, produceTo(t, -1, withEpoch(sequenced(3020, 1, 1), 4)))
	a.Finish("a marker for one that never was", t, 3021, 6, true)
	a.Do("it begins in the middle", 11, produceIn(t, transactional(3021, 6, 5, 1)))
	a.Do("it begins", 11, produceIn(t, transactional(3021, 6, 0, 1)))
	a.Do("one that is unknown begins in the middle", 11, produceIn(t, transactional(3022, 6, 5, 1)))
	a.End("end", t)
	a.Do("all", 12, fetchFrom(t, 0))
	a.Do("producers", 0, describeProducers(t.name))
}

func runMarkerMixed(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-mixed", 1, "segment.ms", oneSegment)
	outside := func(step string, epoch int16, sequence int32) {
		a.Do(step, 9, produceTo(t, -1, withEpoch(sequenced(3030, sequence, 1), epoch)))
	}
	a.StoreIn("in a transaction", t, transactional(3030, 0, 0, 1))
	outside("outside", 0, 1)
	outside("outside, a gap", 0, 2)
	outside("outside, the same again", 0, 0)
	outside("outside, a new epoch", 1, 0)
	outside("outside, an old epoch", -1, 0)
	a.Do("another producer, outside", 9, produceTo(t, -1, sequenced(3031, 0, 1).Bytes()))
	a.Do("a new epoch in a transaction", 11, produceIn(t, transactional(3030, 1, 0, 1)))
	a.Do("committed", 12, committed(fetchFrom(t, 0)))
	a.Finish("commit", t, 3030, 1, true)
	outside("outside, ended", 1, 1)
	a.Do("all", 12, fetchFrom(t, 0))
	a.Do("committed then", 12, committed(fetchFrom(t, 0)))
}

func runMarkerProducers(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-producers", 1)
	store := func(step string, id int64, sequence int32) {
		b := transactional(id, 0, sequence, 2)
		b.Start = c.scrub.now.UnixMilli()
		a.StoreIn(step, t, b)
	}
	store("a transaction", 3040, 0)
	store("goes on", 3040, 2)
	a.Do("open", 0, describeProducers(t.name))
	second := marker(t, 3041, 3, false)
	second.Markers[0].CoordinatorEpoch = 5
	a.Do("a marker for nobody", 1, second)
	a.Commit("commit", t, 3040)
	a.Do("ended", 0, describeProducers(t.name))
	store("another", 3040, 4)
	a.Do("open again", 0, describeProducers(t.name))
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		a.Do("after it", 0, describeProducers(t.name))
	}
	a.Abort("abort", t, 3040)
	a.Do("at the end", 0, describeProducers(t.name))
}

func runMarkerExpired(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-expired", 1)
	a.StoreIn("an open transaction", t, transactional(3050, 0, 0, 1))
	a.StoreIn("one that ends", t, transactional(3051, 0, 0, 1))
	a.Commit("it ends", t, 3051)
	a.Store("another producer", t, sequenced(3052, 0, 1))
	AskUntil(a, "producers, until only one is left", 0, describeProducers(t.name), func(r *kmsg.DescribeProducersResponse) bool {
		return len(r.Topics[0].Partitions[0].ActiveProducers) == 1
	})
	a.Do("in the middle, of one that was forgotten", 11, produceIn(t, transactional(3051, 0, 7, 1)))
	a.Do("a gap, of one that was not", 11, produceIn(t, transactional(3050, 0, 7, 1)))
	a.Do("the last again", 11, produceIn(t, transactional(3050, 0, 0, 1)))
	a.Commit("commit", t, 3050)
}

func isolationScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "isolation-uncommitted",
			Claim: "read_uncommitted reads open, committed and aborted transactions and their markers; its list of aborted transactions is null.",
			Run:   runIsolationUncommitted,
		},
		{
			Name:  "isolation-aborted-order",
			Claim: "The aborted transactions come in the order of their markers, with their first offsets; also after a restart and a kill.",
			Fresh: true,
			Run:   runIsolationAbortedOrder,
		},
		{
			Name:  "isolation-aborted-overlap",
			Claim: "An aborted transaction that began before the offset of a Fetch is listed with its first offset, as long as its marker is not before the offset.",
			Run:   runIsolationAbortedOverlap,
		},
		{
			Name:  "isolation-aborted-bounds",
			Claim: "A small log's list has the aborted transactions up to its end, also those behind what is returned and behind the last stable offset.",
			Run:   runIsolationAbortedBounds,
		},
		{
			Name:  "isolation-segments",
			Claim: "Transactions that span segments are listed in each; an aborted one whose marker is in a later segment too.",
			Set:   map[string]string{"transaction.partition.verification.enable": "false"},
			Run:   runIsolationSegments,
		},
		{
			Name:  "isolation-stable-offset",
			Claim: "The last stable offset is the first of the oldest open transaction, and never goes back: not at restarts, not at kills.",
			Fresh: true,
			Run:   runIsolationStableOffset,
		},
		{
			Name:  "isolation-deleted",
			Claim: "DeleteRecords inside an open transaction moves the last stable offset to the log's start; the transaction stays open, and its marker ends it.",
			Fresh: true,
			Run:   runIsolationDeleted,
		},
		{
			Name:  "isolation-waits",
			Claim: "A waiting read_committed Fetch is answered when a marker makes enough stable, and not by what is appended to an open transaction.",
			Run:   runIsolationWaits,
		},
		{
			Name:  "isolation-sessions",
			Claim: "A session lists a partition whose records became stable; one whose last stable offset alone moved is not listed.",
			Run:   runIsolationSessions,
		},
	}
}

func runIsolationUncommitted(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-uncommitted", 1, "segment.ms", oneSegment)
	a.StoreIn("a transaction", t, transactional(3100, 0, 0, 1))
	for _, at := range []string{"open", "aborted"} {
		for _, v := range []int16{4, 11, 12, 18} {
			a.Do(at+", uncommitted, "+vn(v), v, fetchFrom(t, 0))
			a.Do(at+", committed, "+vn(v), v, committed(fetchFrom(t, 0)))
		}
		if at == "open" {
			a.Abort("abort", t, 3100)
		}
	}
	a.Do("committed, from the marker", 12, committed(fetchFrom(t, 1)))
	a.Do("committed, from the end", 12, committed(fetchFrom(t, 2)))
	a.Do("committed, behind the end", 12, committed(fetchFrom(t, 3)))
}

func runIsolationAbortedOrder(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-aborted-order", 1, "segment.ms", oneSegment)
	a.StoreIn("first", t, transactional(3110, 0, 0, 1))
	a.Abort("abort it", t, 3110)
	a.Store("between", t, Values("x"))
	a.StoreIn("second", t, transactional(3110, 0, 1, 1))
	a.Commit("commit it", t, 3110)
	a.Store("between them", t, Values("y"))
	a.StoreIn("third", t, transactional(3110, 0, 2, 1))
	a.Abort("abort that", t, 3110)
	a.StoreIn("an older one", t, transactional(3111, 0, 0, 1))
	a.StoreIn("a younger one", t, transactional(3112, 0, 0, 1))
	a.Abort("abort the younger", t, 3112)
	a.Abort("abort the older", t, 3111)
	ask := func(when string) {
		for _, from := range []int64{0, 1, 2, 4, 6, 8, 9, 10, 11, 12} {
			a.Do(fmt.Sprint("from ", from, when), 12, committed(fetchFrom(t, from)))
		}
	}
	ask("")
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask(", restarted")
	c.Kill()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask(", killed")
}

func runIsolationAbortedOverlap(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-aborted-overlap", 1, "segment.ms", oneSegment)
	for i := range int32(5) {
		a.StoreIn("a batch", t, transactional(3120, 0, 2*i, 2))
	}
	a.Abort("abort", t, 3120)
	for _, from := range []int64{0, 5, 6, 9, 10, 11} {
		a.Do(fmt.Sprint("from ", from), 12, committed(fetchFrom(t, from)))
	}
}

func runIsolationAbortedBounds(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-aborted-bounds", 1, "segment.ms", oneSegment)
	a.Store("plain", t, Values("x"))
	a.StoreIn("aborted", t, transactional(3130, 0, 0, 1))
	a.Abort("abort", t, 3130)
	a.StoreIn("open", t, transactional(3131, 0, 0, 1))
	a.StoreIn("aborted behind it", t, transactional(3130, 0, 1, 1))
	a.Abort("abort that", t, 3130)
	a.Do("from 0", 12, committed(fetchFrom(t, 0)))
	short := committed(fetchFrom(t, 0))
	short.Topics[0].Partitions[0].PartitionMaxBytes = 1
	a.Do("one batch from 0", 12, short)
	a.Do("from the last stable offset", 12, committed(fetchFrom(t, 3)))
	a.Do("from behind it", 12, committed(fetchFrom(t, 5)))
	a.Do("from the end", 12, committed(fetchFrom(t, 6)))
	a.Commit("commit", t, 3131)
	a.Do("from 0 then", 12, committed(fetchFrom(t, 0)))
	a.Do("one batch from 0 then", 12, short)
}

func runIsolationSegments(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-segments", 1, "segment.ms", "1000", "message.timestamp.type", "CreateTime")
	store := func(step string, b Batch, at int64) {
		b.Start = DayOne + at
		a.StoreIn(step, t, b)
	}
	store("one in the first", transactional(3140, 0, 0, 1), 0)
	store("another in the first", transactional(3141, 0, 0, 1), 0)
	store("one in the second", transactional(3142, 0, 0, 1), 5_000)
	store("another in the second", transactional(3140, 0, 1, 1), 5_000)
	store("one in the third", transactional(3142, 0, 1, 1), 10_000)
	a.Abort("abort one", t, 3140)
	a.Commit("commit another", t, 3141)
	a.Abort("abort the last", t, 3142)
	for _, from := range []int64{0, 1, 2, 3, 4, 5, 6, 7} {
		a.Do(fmt.Sprint("from ", from), 12, committed(fetchFrom(t, from)))
	}
}

// stableOffset shows both ends of partition 0.
func stableOffset(a *Conn, when string, t topicRef) {
	for _, ask := range []int64{latest, earliest, largest} {
		req := listOffsets(t, ask)
		a.Do(fmt.Sprint(when, ", ", ask, ", uncommitted"), 7, req)
		req.IsolationLevel = 1
		a.Do(fmt.Sprint(when, ", ", ask, ", committed"), 7, req)
	}
	a.Do(when+", fetch", 12, committed(fetchFrom(t, 0)))
}

func runIsolationStableOffset(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-stable-offset", 1, "segment.ms", oneSegment)
	again := func(when string, how func()) {
		how()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		stableOffset(a, when, t)
	}
	stableOffset(a, "empty", t)
	a.Store("plain", t, Values("x"))
	stableOffset(a, "plain", t)
	a.StoreIn("open", t, transactional(3150, 0, 0, 2))
	stableOffset(a, "open", t)
	a.StoreIn("another", t, transactional(3151, 0, 0, 1))
	a.StoreIn("the first goes on", t, transactional(3150, 0, 2, 1))
	again("restarted", c.Restart)
	a.Commit("commit the first", t, 3150)
	stableOffset(a, "the first is committed", t)
	again("killed", c.Kill)
	a.Abort("abort the other", t, 3151)
	stableOffset(a, "ended", t)
	again("restarted at the end", c.Restart)
}

func runIsolationDeleted(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-deleted", 1, "segment.ms", oneSegment)
	a.StoreIn("open", t, transactional(3160, 0, 0, 2))
	a.StoreIn("aborted", t, transactional(3161, 0, 0, 2))
	a.Abort("abort", t, 3161)
	a.Do("delete before 1", 2, deleteBefore(t, 1))
	stableOffset(a, "inside the first", t)
	a.Do("from 1", 12, committed(fetchFrom(t, 1)))
	a.Do("delete before 3", 2, deleteBefore(t, 3))
	stableOffset(a, "behind the first", t)
	a.Do("from 3", 12, committed(fetchFrom(t, 3)))
	a.Do("producers", 0, describeProducers(t.name))
	a.Abort("abort the first", t, 3160)
	stableOffset(a, "ended", t)
	a.Do("from 3 then", 12, committed(fetchFrom(t, 3)))
	a.StoreIn("open again", t, transactional(3160, 0, 2, 2))
	a.Do("delete all", 2, deleteBefore(t, -1))
	stableOffset(a, "all deleted", t)
	a.Do("from the end", 12, committed(fetchFrom(t, 8)))
	a.Do("producers then", 0, describeProducers(t.name))
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	stableOffset(a, "restarted", t)
	a.Do("producers at the end", 0, describeProducers(t.name))
}

func runIsolationWaits(c *C) {
	a, b := c.Conn("a"), c.Conn("b")
	t := a.NewTopic("isolation-waits", 1, "segment.ms", oneSegment)
	b.StoreIn("open", t, transactional(3170, 0, 0, 1))
	req := committed(fetchFrom(t, 0))
	req.MaxWaitMillis, req.MinBytes = 15_000, 1
	p := a.Send("waits", 12, req)
	p.Parked()
	b.StoreIn("goes on", t, transactional(3170, 0, 1, 1))
	b.Store("outside", t, Values("x"))
	p.Parked()
	b.Commit("commit", t, 3170)
	p.Await()
	b.StoreIn("another", t, transactional(3170, 0, 2, 1))
	behind := committed(fetchFrom(t, 4))
	behind.MaxWaitMillis, behind.MinBytes = 15_000, 100
	p = a.Send("waits for more", 12, behind)
	p.Parked()
	b.Abort("abort", t, 3170)
	p.Await()
	a.DoTimed("waits in vain", 12, committed(waiting(fetchFrom(t, 6), 1)), longWait)
}

func runIsolationSessions(c *C) {
	a, b := c.Conn("a"), c.Conn("b")
	t := b.NewTopic("isolation-sessions", 2, "segment.ms", oneSegment)
	b.StoreIn("open", t, transactional(3180, 0, 0, 1))
	open := committed(fetchFrom(t, 0, 0))
	id := a.openSession("open a session", 12, inSession(open, 0, 0))
	epoch := int32(0)
	next := func(step string) {
		epoch++
		a.Do(step, 12, inSession(committed(fetchFrom(t)), id, epoch))
	}
	next("nothing new")
	b.StoreIn("goes on", t, transactional(3180, 0, 1, 1))
	next("the high watermark moved")
	next("nothing new again")
	b.Abort("abort", t, 3180)
	next("it became stable")
	next("it comes again")
}

func markerLookupScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "marker-times",
			Claim: "A look-up by time and that of the largest timestamp take markers for records; reading committed, what is found at or behind the last stable offset is not there.",
			Run:   runMarkerTimes,
		},
	}
}

func runMarkerTimes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-times", 1, "segment.ms", oneSegment)
	ask := func(when string) {
		for _, at := range []int64{0, DayOne, DayOne + 1, DayOne + 50, DayOne + 100, DayOne + 101, math.MaxInt64, largest, latest, earliest} {
			req := listOffsets(t, at)
			a.Do(fmt.Sprint(when, ", ", at), 7, req)
			req.IsolationLevel = 1
			a.Do(fmt.Sprint(when, ", ", at, ", committed"), 7, req)
		}
	}
	at := func(b Batch, after int64) Batch {
		b.Start = DayOne + after
		return b
	}
	a.Store("plain", t, at(Values("x"), 0))
	a.StoreIn("open", t, at(transactional(3200, 0, 0, 1), 50))
	a.Store("plain behind", t, at(Values("y"), 100))
	ask("open")
	a.Commit("commit", t, 3200)
	ask("committed")
	a.StoreIn("open again", t, at(transactional(3200, 0, 1, 1), 70))
	ask("open again")
	a.Do("delete before the marker", 2, deleteBefore(t, 3))
	ask("deleted")
}
