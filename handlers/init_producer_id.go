package handlers

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/wire"
)

// InitProducerId (key 22), v0-v5: an identity for an idempotent or transactional producer (KIP-98).
//
//	v3  the producer's current id and epoch (KIP-360): both or neither
//	v4  PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
//
// Without a transactional id every call answers a new id with epoch 0; nothing else is remembered until it produces. With
// one, the call fences whoever had the id before. A transaction that is open is aborted first and the answer is
// CONCURRENT_TRANSACTIONS: the client asks again. (v6, with fields for prepared transactions, is not stable in 4.3.)
func (b *Broker) initProducerID(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.InitProducerIDRequest)
	resp := respond[*kmsg.InitProducerIDResponse](r)
	p, code := noIdentity, mayIdentify(b.access(r), req)
	if code == none {
		p, code = b.identify(ctx, r, req)
	}
	if req.Version < 4 {
		code = beforeFenced(code)
	}
	resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = code, p.id, p.epoch
	return resp, nil
}

// mayIdentify says why a caller gets no identity: one without a transactional id must be allowed to write something.
func mayIdentify(may access, req *kmsg.InitProducerIDRequest) int16 {
	switch {
	case req.TransactionalID != nil && !may.may(acls.Write, acls.TransactionalID, *req.TransactionalID):
		return transactionalIDAuthorizationFailed
	case req.TransactionalID == nil && !may.mayCluster(acls.IdempotentWrite) && !may.mayAny(acls.Write, acls.Topic):
		return clusterAuthorizationFailed
	}
	return none
}

func (b *Broker) identify(ctx context.Context, r *wire.Request, req *kmsg.InitProducerIDRequest) (producerIdentity, int16) {
	switch {
	case req.Version >= 3 && (req.ProducerID == -1) != (req.ProducerEpoch == -1):
		return noIdentity, invalidRequest
	case req.TransactionalID == nil:
		id, err := b.producerIDs.next(ctx, b, r)
		if err != nil {
			return noIdentity, coordinatorNotAvailable
		}
		return producerIdentity{id, 0}, none
	case *req.TransactionalID == "", isLong(req.TransactionalID):
		return noIdentity, invalidRequest
	case req.TransactionTimeoutMillis <= 0, req.TransactionTimeoutMillis > b.txns.settings.maxTimeoutMs:
		return noIdentity, invalidTransactionTimeout
	}
	cmd := &initCommand{id: *req.TransactionalID, timeoutMs: req.TransactionTimeoutMillis}
	if req.Version >= 3 && req.ProducerID != -1 {
		cmd.expected = &producerIdentity{req.ProducerID, req.ProducerEpoch}
	}
	p, code := noIdentity, none
	err := b.txns.take(ctx, causeOf(r), func(d *txnDecision) { p, code = d.initialize(cmd) })
	if err != nil {
		return noIdentity, notCoordinator
	}
	return p, code
}

// producerIDBlock is how many ids one entry of the journal takes, as Kafka's controller hands them to a broker. What is
// left of a block at a stop is never given out.
const producerIDBlock = 1000

// producerIDs hands out ids from the block that was taken last.
type producerIDs struct {
	mu          sync.Mutex
	first, left int64
}

func (p *producerIDs) next(ctx context.Context, b *Broker, r *wire.Request) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		var first int64
		err := b.update(ctx, r, func(tx *tx) {
			first = tx.State.NextProducerID
			tx.Emit(&journal.ProducerIDsAllocated{First: first, Count: producerIDBlock})
		})
		if err != nil {
			return 0, err
		}
		p.first, p.left = first, producerIDBlock
	}
	p.left--
	p.first++
	return p.first - 1, nil
}
