package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/wire"
)

// RenewDelegationToken (key 39), v1-v2 (KIP-48): moves a token's expiry, up to the end of its life. Owner and renewers may;
// who requested it for somebody else may not. No ACL is asked for.
func (b *Broker) renewDelegationToken(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.RenewDelegationTokenRequest)
	resp := respond[*kmsg.RenewDelegationTokenResponse](r)
	resp.ErrorCode, resp.ExpiryTimestamp = b.alterToken(ctx, r, req.HMAC, func(tx *tx, id string) (int16, int64) {
		t := tx.State.DelegationTokens.Get(id)
		switch {
		case t == nil:
			return delegationTokenNotFound, 0
		case t.Expired(tx.At):
			return delegationTokenExpired, 0
		case !t.MayRenew(r.Conn.Principal()):
			return delegationTokenOwnerMismatch, 0
		}
		expiry := b.renewedUntil(tx.At, req.RenewTimeMillis, t.Max)
		tx.Emit(&journal.DelegationTokenExpirySet{ID: id, Expiry: expiry})
		return 0, expiry
	})
	return resp, nil
}

// alterToken decides about the token of a secret.
func (b *Broker) alterToken(ctx context.Context, r *wire.Request, secret []byte, decide func(*tx, string) (int16, int64)) (code int16, expiry int64) {
	if !mayAskForTokens(r.Conn) {
		return delegationTokenRequestNotAllowed, errorTimestamp
	}
	if !b.tokensOn() {
		return delegationTokenAuthDisabled, 0
	}
	id := b.tokenOf(secret)
	if id == "" {
		return delegationTokenNotFound, 0
	}
	if err := b.update(ctx, r, func(tx *tx) { code, expiry = decide(tx, id) }); err != nil {
		return storageRefusal(err).code, 0
	}
	return code, expiry
}
