package handlers

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// AddPartitionsToTxn (key 24), v0-v5: partitions become part of the producer's transaction, which begins with the first
// (KIP-98).
//
//	v2  PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
//	v4  several transactions in one request, and a question instead of an order (verify_only): for brokers (KIP-890)
//	v5  TRANSACTION_ABORTABLE (KIP-890)
//
// When a partition does not exist nothing is added: the others answer OPERATION_NOT_ATTEMPTED. As in Kafka, a request of
// v4 or later without transactions is not answered at all.
func (b *Broker) addPartitionsToTxn(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AddPartitionsToTxnRequest)
	resp := respond[*kmsg.AddPartitionsToTxnResponse](r)
	if !roomToJoin(req) {
		return nil, errAnswerTooLarge
	}
	if req.Version < 4 {
		answered := b.addToTxns(ctx, r, []kmsg.AddPartitionsToTxnRequestTransaction{onlyTransaction(req)})[0]
		for _, t := range answered.Topics {
			topic := kmsg.NewAddPartitionsToTxnResponseTopic()
			topic.Topic = t.Topic
			for _, p := range t.Partitions {
				partition := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, p.ErrorCode
				if req.Version < 2 {
					partition.ErrorCode = beforeFenced(p.ErrorCode)
				}
				topic.Partitions = append(topic.Partitions, partition)
			}
			resp.Topics = append(resp.Topics, topic)
		}
		return resp, nil
	}
	if len(req.Transactions) == 0 {
		<-ctx.Done()
		return nil, errNothingToAnswer
	}
	resp.Transactions = b.addToTxns(ctx, r, req.Transactions)
	return resp, nil
}

// joinedBytes is what a partition is reckoned to take while its request is answered.
const joinedBytes = 100

// roomToJoin says whether the request names no more partitions, again and again perhaps, than can be answered.
func roomToJoin(req *kmsg.AddPartitionsToTxnRequest) bool {
	room := answerRoom(maxAnswerBytes)
	for _, t := range req.Topics {
		room.take(joinedBytes * int64(len(t.Partitions)))
	}
	for _, txn := range req.Transactions {
		for _, t := range txn.Topics {
			room.take(joinedBytes * int64(len(t.Partitions)))
		}
	}
	return room.take(0)
}

var errNothingToAnswer = errors.New("a request that adds to no transaction has no answer")

// onlyTransaction is a request before version 4 in the form of the later ones.
func onlyTransaction(req *kmsg.AddPartitionsToTxnRequest) kmsg.AddPartitionsToTxnRequestTransaction {
	t := kmsg.NewAddPartitionsToTxnRequestTransaction()
	t.TransactionalID, t.ProducerID, t.ProducerEpoch = req.TransactionalID, req.ProducerID, req.ProducerEpoch
	for _, topic := range req.Topics {
		t.Topics = append(t.Topics, kmsg.AddPartitionsToTxnRequestTransactionTopic{Topic: topic.Topic, Partitions: topic.Partitions})
	}
	return t
}

// joining is what a request adds to one transaction, with the code for each partition.
type joining struct {
	asked      *kmsg.AddPartitionsToTxnRequestTransaction
	topics     []kmsg.AddPartitionsToTxnRequestTransactionTopic
	partitions []journal.TxnPartition                           // in the order of the request
	refusals   []int16                                          // why not, of each partition as it stands in the request
	refused    bool                                             // one is
	answered   []kmsg.AddPartitionsToTxnRequestTransactionTopic // what an answer with one code names
	codes      []int16
	code       int16 // for all, unless codes has them
}

// addToTxns takes all transactions of a request through one Update.
func (b *Broker) addToTxns(ctx context.Context, r *wire.Request, asked []kmsg.AddPartitionsToTxnRequestTransaction) []kmsg.AddPartitionsToTxnResponseTransaction {
	version := int8(0)
	if r.Version >= 4 {
		version = 2
	}
	state, _ := b.view()
	may := b.access(r)
	all := make([]*joining, len(asked))
	named := namedLast(asked)
	for i := range asked {
		all[i] = findJoining(state, &asked[i], named[asked[i].TransactionalID], r.Version, may)
		all[i].code = b.settleJoinings(state, all[i])
	}
	err := b.txns.take(ctx, causeOf(r), func(d *txnDecision) {
		for _, j := range all {
			d.join(j, version)
		}
	})
	out := make([]kmsg.AddPartitionsToTxnResponseTransaction, len(all))
	for i, j := range all {
		if err != nil && !j.refused {
			j.code, j.codes = notCoordinator, nil
		}
		out[i] = j.answer()
	}
	b.syncJoined(asked)
	return out
}

// namedTwice are the partitions of a transactional id that a request names several times: Kafka takes those that stand last
// for each, and names those that stand first.
type namedTwice struct {
	first, last []kmsg.AddPartitionsToTxnRequestTransactionTopic
}

func namedLast(asked []kmsg.AddPartitionsToTxnRequestTransaction) map[string]namedTwice {
	named := make(map[string]namedTwice, len(asked))
	for i := range asked {
		n, again := named[asked[i].TransactionalID]
		if !again {
			n.first = asked[i].Topics
		}
		n.last = asked[i].Topics
		named[asked[i].TransactionalID] = n
	}
	return named
}

// join decides for one transaction.
func (d *txnDecision) join(j *joining, version int8) {
	p := producerIdentity{j.asked.ProducerID, j.asked.ProducerEpoch}
	switch {
	case j.refused, j.code != none:
	case j.asked.VerifyOnly:
		t := d.state.Transactions.Get(j.asked.TransactionalID)
		j.codes = make([]int16, len(j.partitions))
		for i, partition := range j.partitions {
			j.codes[i] = verifyPartition(t, j.asked.TransactionalID, p, partition)
		}
	default:
		j.code = d.addPartitions(j.asked.TransactionalID, p, j.partitions, version)
	}
}

// verifyPartition says whether a partition is part of the transaction that the producer has open.
func verifyPartition(t *projections.Transaction, id string, p producerIdentity, partition journal.TxnPartition) int16 {
	if code := checkIdentity(t, id, p); code != none {
		return code
	}
	if !t.Has(partition) {
		return transactionAbortable
	}
	return none
}

func findJoining(state *projections.State, asked *kmsg.AddPartitionsToTxnRequestTransaction, named namedTwice, version int16, may access) *joining {
	j := &joining{asked: asked, answered: named.first, topics: named.last}
	for _, t := range j.topics {
		topic := state.Topics.Named(t.Topic)
		hidden := version < 4 && (internal(t.Topic) || !may.may(acls.Write, acls.Topic, t.Topic)) // brokers add internal ones
		for _, number := range t.Partitions {
			code := none
			switch {
			case hidden:
				code = topicAuthorizationFailed
			case topic == nil || number < 0 || number >= topic.Partitions:
				code = unknownTopicOrPartition
			default:
				j.partitions = append(j.partitions, journal.TxnPartition{Topic: topic.ID, Partition: number})
			}
			j.refusals = append(j.refusals, code)
			j.refused = j.refused || code != none
		}
	}
	return j
}

// settleJoinings looks at the partitions before they join.
func (b *Broker) settleJoinings(state *projections.State, j *joining) int16 {
	if j.refused || j.asked.VerifyOnly {
		return none
	}
	t := state.Transactions.Get(j.asked.TransactionalID)
	for _, p := range j.partitions {
		log := b.txns.logOf(state, p)
		if log == nil || t == nil || t.Has(p) {
			continue
		}
		if err := b.txns.settleJoining(log, t.ProducerID); err != nil && !unusable(err) {
			return notCoordinator
		}
	}
	return none
}

// syncJoined begins to put what was added on disk: the first batch with acks=all waits for it.
func (b *Broker) syncJoined(asked []kmsg.AddPartitionsToTxnRequestTransaction) {
	state, _ := b.view()
	for i := range asked {
		if t := state.Transactions.Get(asked[i].TransactionalID); t != nil && t.State == projections.TxnOngoing {
			b.store.SyncTo(t.Joined)
		}
	}
}

// answer has the topics as they stand in the request. Where partitions have codes of their own each topic and partition
// stands once, as in Kafka.
func (j *joining) answer() kmsg.AddPartitionsToTxnResponseTransaction {
	out := kmsg.NewAddPartitionsToTxnResponseTransaction()
	out.TransactionalID = j.asked.TransactionalID
	once, topics := j.refused || j.asked.VerifyOnly, j.topics
	if !once {
		topics = j.answered
	}
	at, seen := map[string]int{}, map[joinedPartition]bool{}
	n := 0
	for _, t := range topics {
		i, known := at[t.Topic]
		if !once || !known {
			i = len(out.Topics)
			at[t.Topic] = i
			out.Topics = append(out.Topics, kmsg.AddPartitionsToTxnResponseTransactionTopic{Topic: t.Topic})
		}
		for _, number := range t.Partitions {
			if key := (joinedPartition{t.Topic, number}); !once || !seen[key] {
				seen[key] = true
				out.Topics[i].Partitions = append(out.Topics[i].Partitions, kmsg.AddPartitionsToTxnResponseTransactionTopicPartition{
					Partition: number, ErrorCode: j.codeOf(n),
				})
			}
			n++
		}
	}
	return out
}

type joinedPartition struct {
	topic  string
	number int32
}

// codeOf is the code of the nth partition of the request.
func (j *joining) codeOf(n int) int16 {
	switch {
	case j.refused && j.refusals[n] != none:
		return j.refusals[n]
	case j.refused:
		return operationNotAttempted
	case j.codes != nil:
		return j.codes[n]
	}
	return j.code
}
