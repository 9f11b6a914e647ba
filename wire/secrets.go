package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// What an observer is shown of requests and answers that hold what lets people in: the same without it. Whoever writes
// observers (logs, traffic pages, recordings) cannot let out what it never had.

// observed is the request as an observer sees it.
func observed(r *Request) *Request {
	body := withoutSecrets(r.Body)
	if body == r.Body {
		return r
	}
	c := *r
	c.Body = body
	return &c
}

// withoutSecrets gives the message itself when it holds none.
func withoutSecrets(body kmsg.Request) kmsg.Request {
	switch body := body.(type) {
	case *kmsg.SASLAuthenticateRequest:
		c := *body
		c.SASLAuthBytes = nil
		return &c
	case *kmsg.AlterUserSCRAMCredentialsRequest:
		c := *body
		c.Upsertions = make([]kmsg.AlterUserSCRAMCredentialsRequestUpsertion, len(body.Upsertions))
		for i, u := range body.Upsertions {
			u.Salt, u.SaltedPassword = nil, nil
			c.Upsertions[i] = u
		}
		return &c
	case *kmsg.RenewDelegationTokenRequest:
		c := *body
		c.HMAC = nil
		return &c
	case *kmsg.ExpireDelegationTokenRequest:
		c := *body
		c.HMAC = nil
		return &c
	}
	return body
}

// answerWithoutSecrets is withoutSecrets of an answer.
func answerWithoutSecrets(resp kmsg.Response) kmsg.Response {
	switch resp := resp.(type) {
	case *kmsg.SASLAuthenticateResponse:
		c := *resp
		c.SASLAuthBytes = nil
		return &c
	case *kmsg.CreateDelegationTokenResponse:
		c := *resp
		c.HMAC = nil
		return &c
	case *kmsg.DescribeDelegationTokenResponse:
		c := *resp
		c.TokenDetails = make([]kmsg.DescribeDelegationTokenResponseTokenDetail, len(resp.TokenDetails))
		for i, d := range resp.TokenDetails {
			d.HMAC = nil
			c.TokenDetails[i] = d
		}
		return &c
	}
	return resp
}
