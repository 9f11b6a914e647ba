package handlers

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/wire"
)

// InitProducerId (key 22), v0-v5: an identity for an idempotent producer (KIP-98).
//
//	v3  the producer's current id and epoch (KIP-360): both or neither
//
// Without a transactional id every call answers a new id with epoch 0; nothing else is remembered until it produces.
func (b *Broker) initProducerID(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.InitProducerIDRequest)
	resp := respond[*kmsg.InitProducerIDResponse](r)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	switch {
	case req.Version >= 3 && (req.ProducerID == -1) != (req.ProducerEpoch == -1):
		resp.ErrorCode = invalidRequest
		return resp, nil
	case req.TransactionalID != nil && *req.TransactionalID == "", isLong(req.TransactionalID):
		resp.ErrorCode = invalidRequest
		return resp, nil
	case req.TransactionalID != nil:
		resp.ErrorCode = unsupportedVersion
		return resp, nil
	}
	id, err := b.producerIDs.next(ctx, b, r)
	if err != nil {
		resp.ErrorCode = coordinatorNotAvailable
		return resp, nil
	}
	resp.ProducerID, resp.ProducerEpoch = id, 0
	return resp, nil
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
