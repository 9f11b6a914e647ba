package handlers

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// SaslHandshake (key 17), v0-v1: the client names the mechanism that it is going to log in by.
//
// After v0 the exchange's messages come as frames without headers, after v1 (KIP-152) as SaslAuthenticate requests. A
// mechanism that is not enabled is refused with the list of those that are, and the connection closed. Here, past the gate
// or where there is none, it comes at the wrong time.
func (b *Broker) saslHandshake(_ context.Context, r *wire.Request) (wire.Reply, error) {
	resp := respond[*kmsg.SASLHandshakeResponse](r)
	resp.ErrorCode = illegalSASLState
	return resp, nil
}

// handshake begins an exchange, of a new session or one that is renewed.
func (s *login) handshake(r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.SASLHandshakeRequest)
	resp := respond[*kmsg.SASLHandshakeResponse](r)
	resp.SupportedMechanisms = s.gate.names
	if req.Version > 0 {
		s.headers = true
	}
	mechanism := s.gate.mechanism(req.Mechanism)
	switch {
	case mechanism == nil && s.renewing():
		return nil, errors.New("SaslHandshake for a mechanism that is not enabled, in a session")
	case mechanism == nil:
		resp.ErrorCode = unsupportedSASLMechanism
		return s.refuse(resp, errors.New("SaslHandshake for a mechanism that is not enabled"))
	case s.renewing() && req.Mechanism != s.mechanism:
		s.state = loginOtherMechanism
		return resp, nil
	}
	s.mechanism, s.exchange, s.state = req.Mechanism, mechanism.Begin(), loginExchanging
	return resp, nil
}

// renew begins the session anew (KIP-368) if it has an end, and was not begun anew within the last second.
func (s *login) renew(now time.Time) bool {
	const least = time.Second
	if s.expires.IsZero() || !s.renewed.IsZero() && now.Sub(s.renewed) < least {
		return false
	}
	s.renewed, s.headers = now, false
	return true
}
