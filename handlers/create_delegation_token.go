package handlers

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// CreateDelegationToken (key 38), v1-v3 (KIP-48): makes a token that logs in as its owner.
//
//	v3  a token for somebody else (KIP-373), the requester in the answer
//
// A token for somebody else takes CREATE_TOKENS on USER owner. What is refused has an order: who may not ask for tokens at all
// (64), who may not for this owner (65), renewers that are no users (67), no secret key (61). The type of an owner is not looked at.
func (b *Broker) createDelegationToken(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.CreateDelegationTokenRequest)
	resp := respond[*kmsg.CreateDelegationTokenResponse](r)
	requester := r.Conn.Principal()
	owner := requester
	if req.OwnerPrincipalType == nil && textOr(req.OwnerPrincipalName) != "" { // Kafka fails on its own error here
		outOfPlaceToken(resp)
		resp.ErrorCode, resp.HMAC = unknownServerError, []byte{}
		return resp, nil
	}
	if req.OwnerPrincipalName != nil && *req.OwnerPrincipalName != "" {
		owner = principalOf(textOr(req.OwnerPrincipalType), *req.OwnerPrincipalName)
	}
	resp.PrincipalType, resp.PrincipalName, _ = strings.Cut(owner, ":")
	resp.TokenRequesterPrincipalType, resp.TokenRequesterPrincipalName, _ = strings.Cut(requester, ":")
	resp.HMAC = []byte{}
	if resp.ErrorCode = b.refuseToken(r, owner, requester); resp.ErrorCode != 0 {
		resp.IssueTimestamp, resp.ExpiryTimestamp, resp.MaxTimestamp = errorTimestamp, errorTimestamp, errorTimestamp
		return resp, nil
	}
	if !b.tokensOn() {
		resp.ErrorCode = delegationTokenAuthDisabled
		return resp, nil
	}
	token := journal.DelegationTokenCreated{Owner: owner, Requester: requester}
	for _, w := range req.Renewers {
		token.Renewers = append(token.Renewers, principalOf(w.PrincipalType, w.PrincipalName))
	}
	err := b.update(ctx, r, func(tx *tx) { resp.ErrorCode = b.decideToken(tx, &token, req.MaxLifetimeMillis) })
	if err != nil {
		resp.ErrorCode = storageRefusal(err).code
	}
	if resp.ErrorCode != 0 {
		return resp, nil
	}
	resp.TokenID, resp.HMAC = token.ID, b.tokenHMAC(token.ID)
	resp.IssueTimestamp, resp.ExpiryTimestamp, resp.MaxTimestamp = token.Issued, token.Expiry, token.Max
	return resp, nil
}

// refuseToken is what the broker looks at before the controller.
func (b *Broker) refuseToken(r *wire.Request, owner, requester string) int16 {
	if !mayAskForTokens(r.Conn) {
		return delegationTokenRequestNotAllowed
	}
	if owner != requester && !b.access(r).mayMakeToken(owner) {
		return delegationTokenAuthorizationFailed
	}
	req := r.Body.(*kmsg.CreateDelegationTokenRequest)
	for _, w := range req.Renewers {
		if w.PrincipalType != "User" {
			return invalidPrincipalType
		}
		if len(w.PrincipalName) > maxName {
			return policyViolation
		}
	}
	if req.OwnerPrincipalName != nil && (len(*req.OwnerPrincipalName) > maxName || len(textOr(req.OwnerPrincipalType)) > maxName) {
		return policyViolation
	}
	return 0
}

// mayMakeToken asks for the owner as named, and for the user whom the token lets in: the type of an owner is not looked at there.
func (a access) mayMakeToken(owner string) bool {
	_, name, _ := strings.Cut(owner, ":")
	return a.mayByACL(acls.CreateTokens, acls.User, owner) && a.mayByACL(acls.CreateTokens, acls.User, principalOf("User", name))
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func principalOf(kind, name string) string { return kind + ":" + name }

// decideToken fills the token's id and times.
func (b *Broker) decideToken(tx *tx, token *journal.DelegationTokenCreated, life int64) int16 {
	tokens, size := tx.State.DelegationTokens, (*projections.DelegationToken)(token).Bytes()
	if tokens.Len() >= maxDelegationTokens || size > maxOneTokenBytes || tokens.Bytes()+size > maxDelegationTokenBytes {
		return policyViolation
	}
	most := b.static.Int("delegation.token.max.lifetime.ms")
	if life > 0 {
		most = min(most, life)
	}
	id := tx.NewUUID()
	token.ID = base64.RawURLEncoding.EncodeToString(id[:])
	token.Issued = tx.At
	token.Max = sooner(tx.At, most, 1<<63-1)
	token.Expiry = b.renewedUntil(tx.At, 0, token.Max)
	tx.Emit(token)
	return 0
}
