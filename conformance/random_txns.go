package conformance

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RandomTxns is a scenario of requests that two transactional producers send at random, at any version: right ones, and ones
// with another epoch, sequence, producer or transactional id. Each waits until no verdict is on its way, so that what is
// answered hangs on the seed and the answers alone.
func RandomTxns(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Transactional producers are answered as by Kafka, whatever they do.", Set: randomTxnSet()}
	return s.atRandom("random-txns", seed, 9, func(r random) { (&randomTxns{random: r}).play(steps) })
}

// randomTxnSet are the properties for scripts of transactions, and Kafka's defaults of topics.
func randomTxnSet() map[string]string {
	return txnSet("log.cleaner.min.cleanable.ratio", "0.5", "log.retention.ms", "-1", "log.segment.bytes", "1073741824")
}

type randomTxns struct {
	random
	topics    []topicRef
	producers []*randomProducer
	deleted   bool // the largest timestamp is then another (docs/differences.md)
}

// randomProducer remembers the pair that it had before, for requests that come late.
type randomProducer struct {
	*txnProducer
	wasID    int64
	wasEpoch int16
}

func (r *randomTxns) play(steps int) {
	admin := r.c.Conn("admin")
	admin.AwaitGroupCoordinator(r.group)
	for i := range 2 {
		r.topics = append(r.topics, admin.NewTopic(fmt.Sprint(r.group, "-", i), 2))
	}
	for _, name := range []string{"a", "b"} {
		p := r.c.txnProducer(name, r.group+"-"+name)
		r.producers = append(r.producers, &randomProducer{txnProducer: p, wasID: -1, wasEpoch: -1})
	}
	for range steps {
		r.act(r.producers[r.rng.IntN(len(r.producers))])
		r.settle()
	}
	r.look()
}

func (r *randomTxns) act(p *randomProducer) {
	switch choice := r.rng.IntN(30); {
	case choice < 3:
		r.init(p)
	case choice < 7:
		r.add(p)
	case choice < 15:
		r.produce(p)
	case choice < 20:
		r.end(p)
	case choice < 22:
		req := addOffsets(p.txnProducer, r.group)
		r.pair(p, &req.TransactionalID, &req.ProducerID, &req.ProducerEpoch)
		p.Do("add offsets of "+p.name, int16(r.rng.IntN(5)), req)
	case choice < 25:
		r.commitOffset(p)
	case choice < 26:
		p.Offset("offset", r.group, r.topics[0])
	case choice < 27:
		r.list(p)
	case choice < 28:
		p.Do("delete records", 2, deleteBefore(r.topics[r.rng.IntN(2)], -1))
		r.deleted = true
	default:
		r.look()
	}
}

// pair puts another transactional id, producer id or epoch into a request, now and then.
func (r *randomTxns) pair(p *randomProducer, txn *string, id *int64, epoch *int16) {
	other := r.producers[r.rng.IntN(len(r.producers))]
	switch r.rng.IntN(16) {
	case 0:
		*txn = []string{"", r.group + "-nobody", other.txn}[r.rng.IntN(3)]
	case 1:
		*id = other.id
	case 2:
		*epoch += int16(r.rng.IntN(4) - 2)
	case 3:
		*id, *epoch = p.wasID, p.wasEpoch
	case 4:
		*id = []int64{-1, 1 << 40}[r.rng.IntN(2)]
	}
}

func (r *randomTxns) become(p *randomProducer, id int64, epoch int16) {
	if id == p.id && epoch == p.epoch {
		return
	}
	p.wasID, p.wasEpoch = p.id, p.epoch
	p.become(id, epoch)
}

func (r *randomTxns) init(p *randomProducer) {
	version := int16(r.rng.IntN(6))
	req := initRequest(p.txn, 60_000, -1, -1)
	if version >= 3 {
		switch r.rng.IntN(5) {
		case 0, 1:
			req.ProducerID, req.ProducerEpoch = p.id, p.epoch
		case 2:
			req.ProducerID, req.ProducerEpoch = p.wasID, p.wasEpoch
		case 3:
			txn := p.txn
			req.ProducerID, req.ProducerEpoch = p.id, p.epoch
			r.pair(p, &txn, &req.ProducerID, &req.ProducerEpoch)
			req.TransactionalID = &txn
		}
	}
	if r.rng.IntN(12) == 0 {
		req.TransactionTimeoutMillis = []int32{0, -1, 900_001}[r.rng.IntN(3)]
	}
	if a := Ask[*kmsg.InitProducerIDResponse](p.Conn, "init of "+p.name, version, req); a.ErrorCode == 0 && *req.TransactionalID == p.txn {
		r.become(p, a.ProducerID, a.ProducerEpoch)
	}
}

func (r *randomTxns) somewhere() place { return place{r.topics[r.rng.IntN(2)], int32(r.rng.IntN(2))} }

func (r *randomTxns) add(p *randomProducer) {
	req := addPartitions(p.txnProducer, r.somewhere())
	if r.rng.IntN(6) == 0 {
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, int32(2+r.rng.IntN(2))) // is not there
	}
	r.pair(p, &req.TransactionalID, &req.ProducerID, &req.ProducerEpoch)
	version := int16(r.rng.IntN(5))
	if version >= 4 {
		txn := kmsg.NewAddPartitionsToTxnRequestTransaction()
		txn.TransactionalID, txn.ProducerID, txn.ProducerEpoch = req.TransactionalID, req.ProducerID, req.ProducerEpoch
		txn.VerifyOnly = r.rng.IntN(2) == 0
		for _, t := range req.Topics {
			topic := kmsg.NewAddPartitionsToTxnRequestTransactionTopic()
			topic.Topic, topic.Partitions = t.Topic, t.Partitions
			txn.Topics = append(txn.Topics, topic)
		}
		req.Transactions = append(req.Transactions, txn)
	}
	p.Do("add of "+p.name, version, req)
}

func (r *randomTxns) produce(p *randomProducer) {
	at := r.somewhere()
	next := p.next[at]
	values := []string{"x", "y", "z"}[:1+r.rng.IntN(3)]
	b := p.transactional(at, values...)
	txn := p.txn
	r.pair(p, &txn, &b.ProducerID, &b.ProdEpoch)
	switch r.rng.IntN(16) {
	case 0:
		b.Sequence += int32(r.rng.IntN(5) - 2)
	case 1:
		b.Sequence = 0
	case 2:
		b.Attributes = 0
	case 3:
		b.Damage = func(raw []byte) { raw[len(raw)-1]++ }
	}
	req := produceTo(at.topic, -1, b.Bytes())
	req.Topics[0].Partitions[0].Partition = at.partition
	if req.TransactionID = &txn; r.rng.IntN(16) == 0 {
		req.TransactionID = nil
	}
	version := int16(8 + r.rng.IntN(6))
	a := Ask[*kmsg.ProduceResponse](p.Conn, "produce of "+p.name, version, req)
	if a.Topics[0].Partitions[0].ErrorCode != 0 || b.ProducerID != p.id || b.ProdEpoch != p.epoch || b.Sequence != next {
		p.next[at] = next
	}
}

func (r *randomTxns) end(p *randomProducer) {
	req := endTxn(p.txnProducer, r.rng.IntN(2) == 0)
	r.pair(p, &req.TransactionalID, &req.ProducerID, &req.ProducerEpoch)
	version := []int16{0, 1, 2, 3, 4, 4, 5, 5, 5}[r.rng.IntN(9)]
	a := Ask[*kmsg.EndTxnResponse](p.Conn, "end of "+p.name, version, req)
	if version >= endTxnV2 && a.ErrorCode == 0 && req.TransactionalID == p.txn {
		r.become(p, a.ProducerID, a.ProducerEpoch)
	}
}

func (r *randomTxns) commitOffset(p *randomProducer) {
	if r.rng.IntN(4) == 0 {
		commit := kmsg.NewPtrOffsetCommitRequest()
		commit.Group, commit.Generation = r.group, -1
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = r.topics[0].name
		part := kmsg.NewOffsetCommitRequestTopicPartition()
		part.Offset = int64(r.rng.IntN(100))
		topic.Partitions = append(topic.Partitions, part)
		commit.Topics = append(commit.Topics, topic)
		p.Do("plain commit", 8, commit)
		return
	}
	req := txnOffset(p.txnProducer, r.group, r.topics[0], int64(r.rng.IntN(100)))
	txn := p.txn // with another one Kafka's answer hangs on the epochs that its partition of offsets has seen (docs/transactions.md)
	r.pair(p, &txn, &req.ProducerID, &req.ProducerEpoch)
	p.Do("offset of "+p.name, int16(r.rng.IntN(6)), req)
}

func (r *randomTxns) list(p *randomProducer) {
	req := kmsg.NewPtrListTransactionsRequest()
	pattern := []string{r.group + ".*", r.group + "-[a]", "(?i)" + r.group + "-A", r.group + `-\w`, "(", ""}[r.rng.IntN(6)]
	req.TransactionalIDPattern = &pattern
	req.DurationFilterMillis = []int64{-1, -1, 3_600_000}[r.rng.IntN(3)]
	if r.rng.IntN(2) == 0 {
		req.StateFilters = []string{[]string{"Ongoing", "Empty", "CompleteAbort", "ongoing", "Dead", "x"}[r.rng.IntN(6)]}
	}
	if r.rng.IntN(2) == 0 || pattern == "" { // others' transactions are not to be seen
		req.ProducerIDFilters = []int64{p.id}
	}
	p.Do("list", 2, req)
}

// settle waits, and records nothing of it, until no verdict is on its way.
func (r *randomTxns) settle() {
	admin := r.c.Conn("admin")
	before, mark := len(r.c.steps), r.c.scrub.mark()
	AskUntil(admin, "settled", 0, describeTxns(r.producers[0].txn, r.producers[1].txn), func(a *kmsg.DescribeTransactionsResponse) bool {
		return !slices.ContainsFunc(a.TransactionStates, func(s kmsg.DescribeTransactionsResponseTransactionState) bool {
			return len(s.State) > 7 && s.State[:7] == "Prepare"
		})
	})
	r.c.steps = r.c.steps[:before]
	r.c.scrub.reset(mark)
}

// look shows all that is there.
func (r *randomTxns) look() {
	admin := r.c.Conn("admin")
	admin.Do("describe", 0, describeTxns(r.producers[0].txn, r.producers[1].txn))
	admin.Do("producers", 0, describeProducers(r.topics[0].name, r.topics[1].name))
	for _, t := range r.topics {
		admin.Do("read", 12, fetchFrom(t, 0, 0))
		admin.Do("read, committed", 12, committed(fetchFrom(t, 0, 0)))
		for _, at := range []int64{latest, earliest, largest, DayOne} {
			if at == largest && r.deleted {
				continue
			}
			req := listOffsets(t, at)
			admin.Do("offset at "+number(at), 7, req)
			req = listOffsets(t, at)
			req.IsolationLevel = 1
			admin.Do("committed offset at "+number(at), 7, req)
		}
	}
	admin.Offset("offset", r.group, r.topics[0])
}
