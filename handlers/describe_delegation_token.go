package handlers

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// DescribeDelegationToken (key 41), v1-v3 (KIP-48): the tokens that concern any of the owners, of everybody when owners are
// null, with their secrets.
//
//	v3  who requested a token
//
// Who owns, requested or renews a token sees it. Others need DESCRIBE on DELEGATION_TOKEN id, or DESCRIBE_TOKENS on USER owner;
// without, the token is left out. Expired tokens are shown until they are removed.
func (b *Broker) describeDelegationToken(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeDelegationTokenRequest)
	resp := respond[*kmsg.DescribeDelegationTokenResponse](r)
	switch {
	case !mayAskForTokens(r.Conn):
		resp.ErrorCode = delegationTokenRequestNotAllowed
		return resp, nil
	case !b.tokensOn():
		resp.ErrorCode = delegationTokenAuthDisabled
		return resp, nil
	}
	wanted := map[string]bool{}
	for _, o := range req.Owners {
		wanted[principalOf(o.PrincipalType, o.PrincipalName)] = true
	}
	state, _ := b.view()
	a, principal := b.access(r), r.Conn.Principal()
	room, fits := answerRoom(maxAnswerBytes), true
	state.DelegationTokens.Each(func(t *projections.DelegationToken) bool {
		if (req.Owners == nil || concernsAny(t, wanted)) && (t.Concerns(principal) || a.maySeeToken(t)) {
			if fits = room.take(tokenAnswerBytes + t.Bytes()); fits {
				resp.TokenDetails = append(resp.TokenDetails, b.tokenDetail(t))
			}
		}
		return fits
	})
	if !fits {
		return nil, errAnswerTooLarge
	}
	return resp, nil
}

func (a access) maySeeToken(t *projections.DelegationToken) bool {
	return a.mayByACL(acls.Describe, acls.DelegationToken, t.ID) || a.mayByACL(acls.DescribeTokens, acls.User, t.Owner)
}

func concernsAny(t *projections.DelegationToken, wanted map[string]bool) bool {
	if wanted[t.Owner] || wanted[t.Requester] {
		return true
	}
	for _, r := range t.Renewers {
		if wanted[r] {
			return true
		}
	}
	return false
}

func (b *Broker) tokenDetail(t *projections.DelegationToken) kmsg.DescribeDelegationTokenResponseTokenDetail {
	d := kmsg.NewDescribeDelegationTokenResponseTokenDetail()
	d.PrincipalType, d.PrincipalName, _ = strings.Cut(t.Owner, ":")
	d.TokenRequesterPrincipalType, d.TokenRequesterPrincipalName, _ = strings.Cut(t.Requester, ":")
	d.IssueTimestamp, d.ExpiryTimestamp, d.MaxTimestamp = t.Issued, t.Expiry, t.Max
	d.TokenID, d.HMAC = t.ID, b.tokenHMAC(t.ID)
	for _, renewer := range t.Renewers {
		w := kmsg.NewDescribeDelegationTokenResponseTokenDetailRenewer()
		w.PrincipalType, w.PrincipalName, _ = strings.Cut(renewer, ":")
		d.Renewers = append(d.Renewers, w)
	}
	return d
}
