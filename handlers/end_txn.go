package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// EndTxn (key 26), v0-v5: commits or aborts the producer's transaction (KIP-98).
//
//	v2  PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)     v4  TRANSACTION_ABORTABLE (KIP-890)
//	v5  transactions v2: each end raises the epoch, and the answer has the producer's identity from here on (KIP-890)
//
// The answer comes when the verdict is on disk, and as a rule when it is carried out: Kafka answers before that, and the
// next request may be told CONCURRENT_TRANSACTIONS. What cannot be carried out yet is tried again.
func (b *Broker) endTxn(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.EndTxnRequest)
	resp := respond[*kmsg.EndTxnResponse](r)
	cmd := &endCommand{id: req.TransactionalID, producer: producerIdentity{req.ProducerID, req.ProducerEpoch}, commit: req.Commit}
	if req.Version >= 5 {
		cmd.version = 2
	}
	p := noIdentity
	err := b.txns.take(ctx, causeOf(r), func(d *txnDecision) { p, resp.ErrorCode = d.endTxn(cmd) })
	switch {
	case err != nil:
		p, resp.ErrorCode = noIdentity, notCoordinator
	case req.Version < 2:
		resp.ErrorCode = beforeFenced(resp.ErrorCode)
	}
	resp.ProducerID, resp.ProducerEpoch = p.id, p.epoch
	return resp, nil
}

// beforeFenced is the code for clients that do not know PRODUCER_FENCED.
func beforeFenced(code int16) int16 {
	if code == producerFenced {
		return invalidProducerEpoch
	}
	return code
}
