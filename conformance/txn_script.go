package conformance

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnSet are the properties of brokers for scripts of transactions: one coordinator for all transactional ids and one for
// all groups, each there when the first of its kind is; groups do not wait for more members.
func txnSet(more ...string) map[string]string {
	set := groupSetWith("transaction.state.log.num.partitions", "1")
	for i := 0; i+1 < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// inTxnPart gives scenarios the part and the properties that those of transactions have.
func inTxnPart(list []Scenario) []Scenario {
	for i := range list {
		list[i].Part = 2
		if list[i].Set == nil {
			list[i].Set = txnSet()
		}
	}
	return list
}

// The protocols of transactions differ by the versions of requests: v1 adds partitions by a request of its own and keeps
// its epoch, v2 adds them by Produce and TxnOffsetCommit and has a new epoch after each transaction.
const (
	produceV1, produceV2         = 11, 12
	endTxnV1, endTxnV2           = 4, 5
	offsetCommitV1, offsetCommit = 4, 5
	addPartitionsV1              = 3
)

// retriable are the codes by which a coordinator says: not now.
var retriable = []int16{14, 15, 16, 51}

// txnProducer is a producer with a transactional id, on a connection.
type txnProducer struct {
	*Conn
	txn   string
	id    int64
	epoch int16
	next  map[place]int32 // sequences
}

// place is one partition of a topic.
type place struct {
	topic     topicRef
	partition int32
}

// AwaitTxnCoordinator waits until the coordinator of transactional ids is there.
func (n *Conn) AwaitTxnCoordinator() {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorType = "nobody", 1
	AskUntil(n, "find the coordinator", 3, req, func(r *kmsg.FindCoordinatorResponse) bool { return r.ErrorCode == 0 })
	AskUntil(n, "wait until it has loaded", 0, describeTxns("nobody"), func(r *kmsg.DescribeTransactionsResponse) bool {
		return !slices.Contains(retriable, r.TransactionStates[0].ErrorCode)
	})
}

func initRequest(txn string, timeoutMillis int32, id int64, epoch int16) *kmsg.InitProducerIDRequest {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &txn, timeoutMillis
	req.ProducerID, req.ProducerEpoch = id, epoch
	return req
}

// txnProducer begins with a transactional id: InitProducerId until it is answered.
func (c *C) txnProducer(conn, txn string) *txnProducer { return c.txnProducerWithin(conn, txn, 60_000) }

func (c *C) txnProducerWithin(conn, txn string, timeoutMillis int32) *txnProducer {
	p := &txnProducer{Conn: c.Conn(conn), txn: txn, id: -1, epoch: -1, next: map[place]int32{}}
	p.AwaitTxnCoordinator()
	p.init("init "+txn, timeoutMillis)
	return p
}

// init takes the id and the next epoch.
func (p *txnProducer) init(step string, timeoutMillis int32) {
	r := AskUntil(p.Conn, step, 4, initRequest(p.txn, timeoutMillis, -1, -1), func(r *kmsg.InitProducerIDResponse) bool {
		return !slices.Contains(retriable, r.ErrorCode)
	})
	if r.ErrorCode != 0 {
		p.c.Fatalf("%s: error %d", step, r.ErrorCode)
	}
	p.become(r.ProducerID, r.ProducerEpoch)
}

func (p *txnProducer) become(id int64, epoch int16) {
	p.id, p.epoch, p.next = id, epoch, map[place]int32{}
}

// reopened is the producer on a new connection of the name, after the broker was restarted.
func (p *txnProducer) reopened() { p.Conn = p.c.Conn(p.name) }

func addPartitions(p *txnProducer, places ...place) *kmsg.AddPartitionsToTxnRequest {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = p.txn, p.id, p.epoch
	for _, at := range places {
		topic := kmsg.NewAddPartitionsToTxnRequestTopic()
		topic.Topic, topic.Partitions = at.topic.name, []int32{at.partition}
		req.Topics = append(req.Topics, topic)
	}
	return req
}

// Add adds partition 0 of topics to the transaction, as v1 does.
func (p *txnProducer) Add(step string, topics ...topicRef) {
	var places []place
	for _, t := range topics {
		places = append(places, place{t, 0})
	}
	p.Do(step, addPartitionsV1, addPartitions(p, places...))
}

// transactional is a batch of the transaction, at its place in the sequence. It is of now, as markers are: a segment that
// began years ago would be rolled before a marker.
func (p *txnProducer) transactional(at place, values ...string) Batch {
	b := Values(values...)
	b.Idempotent, b.ProducerID, b.ProdEpoch, b.Sequence = true, p.id, p.epoch, p.next[at]
	b.Attributes, b.Start = isTransactional, time.Now().UnixMilli()
	p.next[at] += int32(len(values))
	return b
}

// Attributes of a batch.
const (
	isTransactional = 1 << 4
	isControl       = 1 << 5
)

// produceIn is a Produce request for batches, the first for partition 0 and so on, that names the transactional id.
func (p *txnProducer) produceIn(t topicRef, acks int16, batches ...[]byte) *kmsg.ProduceRequest {
	req := produceTo(t, acks, batches...)
	req.TransactionID = &p.txn
	return req
}

// Write produces values in partition 0 at a version of Produce and shows the answer.
func (p *txnProducer) Write(step string, version int16, t topicRef, values ...string) {
	p.Do(step, version, p.produceIn(t, -1, p.transactional(place{t, 0}, values...).Bytes()))
}

// WriteV1 adds partition 0 of a topic and produces.
func (p *txnProducer) WriteV1(step string, t topicRef, values ...string) {
	p.Add(step+": add", t)
	p.Write(step, produceV1, t, values...)
}

// WriteV2 produces, which adds the partition.
func (p *txnProducer) WriteV2(step string, t topicRef, values ...string) {
	p.Write(step, produceV2, t, values...)
}

func endTxn(p *txnProducer, commit bool) *kmsg.EndTxnRequest {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = p.txn, p.id, p.epoch, commit
	return req
}

// End ends the transaction and waits until its markers are written. A new epoch of v2 is taken over.
func (p *txnProducer) End(step string, version int16, commit bool) {
	r := Ask[*kmsg.EndTxnResponse](p.Conn, step, version, endTxn(p, commit))
	if r.ErrorCode != 0 {
		p.c.Fatalf("%s: error %d", step, r.ErrorCode)
	}
	if version >= endTxnV2 {
		p.become(r.ProducerID, r.ProducerEpoch)
	}
	p.Settled(step + ": settled")
}

// Settled waits until no transaction of this id is open or ending.
func (p *txnProducer) Settled(step string) {
	AskUntil(p.Conn, step, 0, describeTxns(p.txn), func(r *kmsg.DescribeTransactionsResponse) bool {
		return slices.Contains([]string{"CompleteCommit", "CompleteAbort", "Empty"}, r.TransactionStates[0].State)
	})
}

// State shows the transaction.
func (p *txnProducer) State(step string) { p.Do(step, 0, describeTxns(p.txn)) }

// AwaitTxnOpenFor waits, and records nothing of it, until a duration filter of so many milliseconds lists an open
// transaction: a broker may be asked within the millisecond in which the transaction began.
func (n *Conn) AwaitTxnOpenFor(txn string, millis int64) {
	before, mark := len(n.c.steps), n.c.scrub.mark()
	req := kmsg.NewPtrListTransactionsRequest()
	req.DurationFilterMillis, req.StateFilters = millis, []string{"Ongoing"}
	AskUntil(n, "open for a while", 1, req, func(r *kmsg.ListTransactionsResponse) bool {
		return slices.ContainsFunc(r.TransactionStates, func(t kmsg.ListTransactionsResponseTransactionState) bool {
			return t.TransactionalID == txn
		})
	})
	n.c.steps = n.c.steps[:before]
	n.c.scrub.reset(mark)
}

func describeTxns(ids ...string) *kmsg.DescribeTransactionsRequest {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = ids
	return req
}

// committed makes a Fetch read committed.
func committed(req *kmsg.FetchRequest) *kmsg.FetchRequest {
	req.IsolationLevel = 1
	return req
}

// Read shows partition 0 of a topic from an offset, to both isolation levels.
func (n *Conn) Read(step string, t topicRef, offset int64) {
	n.Do(step, 12, fetchFrom(t, offset))
	n.Do(step+", committed", 12, committed(fetchFrom(t, offset)))
}

// addOffsets adds a group's offsets to the transaction, as v1 does.
func addOffsets(p *txnProducer, group string) *kmsg.AddOffsetsToTxnRequest {
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = p.txn, p.id, p.epoch, group
	return req
}

// txnOffset commits an offset of partition 0 of a topic, from outside of the group.
func txnOffset(p *txnProducer, group string, t topicRef, offset int64) *kmsg.TxnOffsetCommitRequest {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = p.txn, p.id, p.epoch, group
	req.Generation = -1
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = t.name
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Offset, part.Metadata = offset, kmsg.StringPtr("m"+number(offset))
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	return req
}

// stableOffset asks for the committed offset of partition 0 of a topic, and whether it is stable.
func stableOffset(group string, t topicRef, stable bool) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = group, stable
	topic := kmsg.NewOffsetFetchRequestTopic()
	topic.Topic, topic.Partitions = t.name, []int32{0}
	req.Topics = append(req.Topics, topic)
	return req
}

// Offset shows the committed offset of partition 0, without and with require_stable.
func (n *Conn) Offset(step, group string, t topicRef) {
	n.Do(step, 7, stableOffset(group, t, false))
	n.Do(step+", stable", 7, stableOffset(group, t, true))
}
