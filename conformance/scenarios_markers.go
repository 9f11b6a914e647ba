package conformance

import (
	"fmt"
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
	scenarios := slices.Concat(markerBatchScenarios(), abortedScenarios(), markerLookupScenarios())
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
			Claim: "DescribeProducers shows the start of the open transaction and the epoch of the coordinator that wrote the last marker, also after a restart and a kill.",
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

// markerIn is what a coordinator of epoch 0 asks for to end a transaction.
func markerIn(t topicRef, id int64, epoch int16, commit bool) *kmsg.WriteTxnMarkersRequest {
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
	r := Ask[*kmsg.WriteTxnMarkersResponse](n, step, 1, markerIn(t, id, epoch, commit))
	if p := r.Markers[0].Topics[0].Partitions[0]; p.ErrorCode != 0 {
		n.c.Fatalf("step %s: error %d", step, p.ErrorCode)
	}
}

func (n *Conn) Commit(step string, t topicRef, id int64) { n.Finish(step, t, id, 0, true) }
func (n *Conn) Abort(step string, t topicRef, id int64)  { n.Finish(step, t, id, 0, false) }

// onlyCommitted makes a Fetch read committed records only.
func onlyCommitted(req *kmsg.FetchRequest) *kmsg.FetchRequest {
	req.IsolationLevel = 1
	return req
}

func runMarkerBatches(c *C) {
	a := c.Conn("a")
	for _, kind := range []string{"CreateTime", "LogAppendTime"} {
		t := a.NewTopic("marker-batches-"+kind, 1, "message.timestamp.type", kind, "segment.ms", oneSegment)
		a.StoreIn("a batch", t, transactional(3000, 0, 0, 2))
		a.Do("commit", 1, markerIn(t, 3000, 0, true))
		a.StoreIn("another", t, transactional(3000, 0, 2, 1))
		abort := markerIn(t, 3000, 0, false)
		abort.Markers[0].CoordinatorEpoch = 7
		a.Do("abort", 1, abort)
		a.Do("commit nothing", 1, abort)
		a.Do("abort one that is not known", 1, markerIn(t, 3001, 5, false))
		second := markerIn(t, 3001, 6, true)
		second.Markers[0].TransactionVersion = 2
		a.Do("commit at version 2", 2, second)
		a.Do("all", 12, fetchFrom(t, 0))
		a.Do("committed", 12, onlyCommitted(fetchFrom(t, 0)))
	}
}

func runMarkerEpochs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-epochs", 1)
	write := func(step string, id int64, epoch int16, coordinator int32, version int8) {
		req := markerIn(t, id, epoch, true)
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
	a.Do("committed", 12, onlyCommitted(fetchFrom(t, 0)))
	a.Finish("commit", t, 3030, 1, true)
	outside("outside, ended", 1, 1)
	a.Do("all", 12, fetchFrom(t, 0))
	a.Do("committed then", 12, onlyCommitted(fetchFrom(t, 0)))
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
	second := markerIn(t, 3041, 3, false)
	second.Markers[0].CoordinatorEpoch = 5
	a.Do("a marker for nobody", 1, second)
	a.Commit("commit", t, 3040)
	a.Do("ended", 0, describeProducers(t.name))
	store("another", 3040, 4)
	a.Do("open again", 0, describeProducers(t.name))
	a.Abort("abort", t, 3040)
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		a.Do("after it", 0, describeProducers(t.name))
	}
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

