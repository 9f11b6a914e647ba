package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/wire"
)

// ExpireDelegationToken (key 40), v1-v2 (KIP-48): lets a token end in a while, or removes it at once when the period is
// negative. Owner and renewers may. An expired token can only be removed. No ACL is asked for.
func (b *Broker) expireDelegationToken(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ExpireDelegationTokenRequest)
	resp := respond[*kmsg.ExpireDelegationTokenResponse](r)
	resp.ErrorCode, resp.ExpiryTimestamp = b.alterToken(ctx, r, req.HMAC, func(tx *tx, id string) (int16, int64) {
		t := tx.State.DelegationTokens.Get(id)
		switch {
		case t == nil:
			return delegationTokenNotFound, 0
		case !t.MayRenew(r.Conn.Principal()):
			return delegationTokenOwnerMismatch, 0
		case req.ExpiryPeriodMillis < 0:
			tx.Emit(&journal.DelegationTokenRemoved{ID: id})
			return 0, tx.At
		case t.Expired(tx.At):
			return delegationTokenExpired, 0
		}
		expiry := sooner(tx.At, req.ExpiryPeriodMillis, t.Max)
		tx.Emit(&journal.DelegationTokenExpirySet{ID: id, Expiry: expiry})
		return 0, expiry
	})
	return resp, nil
}
