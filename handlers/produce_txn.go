package handlers

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// Batches of a transaction are appended only while the journal shows the transaction open with their partition in it. A
// client of transactions v1 has said so before (AddPartitionsToTxn); from Produce v12 on the partition joins by its first
// batch (KIP-890): one Update before the append.
//
// The question is asked twice: here, before anything is appended, and again under the partition's lock (admit), for the
// transaction may end in between. A marker is appended under the same lock after the verdict is published, so a batch that
// was admitted lies before the marker.

// txnProduction is the transactional side of a request.
type txnProduction struct {
	id       string
	producer producerIdentity
	joins    bool // Produce v12+
	asks     bool // the coordinator is asked at all
	generic  bool // the client knows TRANSACTION_ABORTABLE
	joined   uint64
}

// txnRefusal is why a batch is not part of an open transaction.
type txnRefusal struct{ code int16 }

func (*txnRefusal) Error() string { return "append: the transaction is not open with this partition" }

// joinTransaction finds out what transaction the request is of, and asks for the partitions that have no batch of it yet:
// those that are not part of it are answered. A request of several producers is refused as a whole.
func (p *production) joinTransaction(ctx context.Context, cause journal.Cause) *refusal {
	var slots []*placed
	var heads []segments.Header
	for _, slot := range p.order {
		head, known := segments.HeadOf(slot.records)
		if !known || slot.internal || !ofTransaction(&head) {
			continue
		}
		producer := producerIdentity{head.ProducerID, head.ProducerEpoch}
		if len(slots) == 0 {
			p.txn = p.broker.txns.production(p.req, producer)
		} else if p.txn.producer != producer {
			return refuse(invalidProducerIDMapping, "Transactional records contained more than one producer ID")
		}
		slots, heads = append(slots, slot), append(heads, head)
	}
	if p.txn != nil && p.txn.asks {
		p.verify(ctx, cause, slots, heads)
	}
	return nil
}

// ofTransaction says whether a batch is held to a transaction: Kafka stores one without producer id as it comes.
func ofTransaction(h *segments.Header) bool { return h.Transactional() && h.Idempotent() }

func (c *txnCoordinator) production(req *kmsg.ProduceRequest, producer producerIdentity) *txnProduction {
	state, _ := c.view()
	return &txnProduction{
		id: *req.TransactionID, producer: producer, joins: req.Version >= 12, generic: req.Version >= 11,
		asks: req.Version >= 12 || c.verifies(state),
	}
}

// verify asks for partitions that have no batch of the transaction yet, and answers for those that are not part of it.
func (p *production) verify(ctx context.Context, cause journal.Cause, slots []*placed, heads []segments.Header) {
	t := p.txn
	var asked []*placed
	for i, slot := range slots {
		open, err := slot.log.StartVerification(&segments.Batch{Header: heads[i]}, t.joins)
		switch {
		case err != nil:
			p.refuseSlot(slot, notProduced(p.answer(slot).Partition, appendCode(err)))
		case p.broker.txns.isUnsettled(slot.log):
			p.refuseSlot(slot, t.refusal(p.answer(slot).Partition, notCoordinator))
		case !open:
			asked = append(asked, slot)
		}
		slot.open = open
	}
	if len(asked) == 0 {
		return
	}
	for i, code := range p.broker.txns.joinOrVerify(ctx, cause, t, asked) {
		if code != none {
			p.refuseSlot(asked[i], t.refusal(p.answer(asked[i]).Partition, code))
		}
	}
}

// refuseSlot answers for a partition and takes its batch away.
func (p *production) refuseSlot(slot *placed, answer kmsg.ProduceResponseTopicPartition) {
	slot.records = nil
	if !slot.misshapen {
		*p.answer(slot) = answer
	}
}

func (slot *placed) txnPartition() journal.TxnPartition {
	return journal.TxnPartition{Topic: slot.log.ID().Topic, Partition: slot.log.ID().Partition}
}

// joinOrVerify gives the coordinator's code for each partition.
func (c *txnCoordinator) joinOrVerify(ctx context.Context, cause journal.Cause, t *txnProduction, asked []*placed) []int16 {
	codes := make([]int16, len(asked))
	if !t.joins {
		state, _ := c.view()
		known := state.Transactions.Get(t.id)
		for i, slot := range asked {
			codes[i] = verifyPartition(known, t.id, t.producer, slot.txnPartition())
		}
		return codes
	}
	partitions := make([]journal.TxnPartition, len(asked))
	for i, slot := range asked {
		partitions[i] = slot.txnPartition()
	}
	code := c.join(ctx, cause, t, partitions)
	for i := range codes {
		codes[i] = code
	}
	return codes
}

// join makes partitions part of the transaction. While the one before is not over it waits a little, as Kafka does.
func (c *txnCoordinator) join(ctx context.Context, cause journal.Cause, t *txnProduction, partitions []journal.TxnPartition) int16 {
	if state, _ := c.view(); hasAll(state.Transactions.Get(t.id), t, partitions) {
		return none
	}
	deadline := time.NewTimer(c.retryLimit())
	defer deadline.Stop()
	for {
		code := none
		err := c.take(ctx, cause, func(d *txnDecision) { code = d.addPartitions(t.id, t.producer, partitions, 2) })
		if err != nil {
			return notCoordinator
		}
		if code != concurrentTransactions || !c.pauseForEnd(deadline) {
			return code
		}
	}
}

func hasAll(known *projections.Transaction, t *txnProduction, partitions []journal.TxnPartition) bool {
	if checkIdentity(known, t.id, t.producer) != none || known.State != projections.TxnOngoing {
		return false
	}
	return len(missingFrom(known, partitions)) == 0
}

// retryLimit is how long a request waits for the transaction before to be over.
func (c *txnCoordinator) retryLimit() time.Duration {
	return time.Duration(c.static.Int("add.partitions.to.txn.retry.backoff.max.ms")) * time.Millisecond
}

// pauseForEnd waits a little; false when that is enough.
func (c *txnCoordinator) pauseForEnd(deadline *time.Timer) bool {
	pause := time.NewTimer(time.Duration(c.static.Int("add.partitions.to.txn.retry.backoff.ms")) * time.Millisecond)
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-deadline.C:
		return false
	case <-c.ctx.Done():
		return false
	}
}

// admit is asked under the partition's lock: is the transaction open, with the partition in it? Of a producer that has its
// transaction open in the log, as in Kafka, nobody asks for the transactional id again.
func (c *txnCoordinator) admit(t *txnProduction, partition journal.TxnPartition, open bool) error {
	state, _ := c.view()
	known, id := state.Transactions.Get(t.id), t.id
	if open {
		if known = state.Transactions.OfProducer(t.producer.id); known != nil {
			id = known.ID
		}
	}
	code := verifyPartition(known, id, t.producer, partition)
	if code == none && known.State != projections.TxnOngoing {
		code = transactionAbortable
	}
	if code != none {
		return &txnRefusal{code}
	}
	t.joined = max(t.joined, known.Joined)
	return nil
}

// admitTransactional puts the question into the admission of a batch.
func (p *production) admitTransactional(slot *placed, head *segments.Header, a *segments.Admission) {
	t := p.txn
	if t == nil || !ofTransaction(head) {
		return
	}
	a.EpochBump = t.joins
	if t.asks {
		a.Admit = func() error { return p.broker.txns.admit(t, slot.txnPartition(), slot.open) }
	}
}

// refusal is the answer for a batch that the coordinator refused, with Kafka's text where it has one.
func (t *txnProduction) refusal(partition int32, code int16) kmsg.ProduceResponseTopicPartition {
	code = asProducerSees(code, t.generic)
	switch {
	case code == notCoordinator, code == concurrentTransactions && !t.joins:
		answer := notProduced(partition, notEnoughReplicas)
		answer.ErrorMessage = text("Unable to verify the partition has been added to the transaction. Underlying error: " + coordinatorErrors[code])
		return answer
	case code == invalidTxnState:
		answer := notProduced(partition, code)
		answer.ErrorMessage = text("Partition was not added to the transaction")
		return answer
	}
	return notProduced(partition, code)
}

var coordinatorErrors = map[int16]string{notCoordinator: "NOT_COORDINATOR", concurrentTransactions: "CONCURRENT_TRANSACTIONS"}
