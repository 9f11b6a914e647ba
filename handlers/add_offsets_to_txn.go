package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// AddOffsetsToTxn (key 25), v0-v4: offsets of a group become part of the producer's transaction (KIP-98). Transactions v2
// need no such request: TxnOffsetCommit does it.
//
//	v2  PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)     v4  TRANSACTION_ABORTABLE (KIP-890)
func (b *Broker) addOffsetsToTxn(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AddOffsetsToTxnRequest)
	resp := respond[*kmsg.AddOffsetsToTxnResponse](r)
	if len(req.Group) > maxName {
		resp.ErrorCode = invalidGroupID
		return resp, nil
	}
	p := producerIdentity{req.ProducerID, req.ProducerEpoch}
	err := b.txns.take(ctx, causeOf(r), func(d *txnDecision) {
		resp.ErrorCode = d.addGroup(req.TransactionalID, p, req.Group, 0)
	})
	switch {
	case err != nil:
		resp.ErrorCode = notCoordinator
	case req.Version < 2:
		resp.ErrorCode = beforeFenced(resp.ErrorCode)
	}
	return resp, nil
}
