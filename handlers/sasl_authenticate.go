package handlers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/sasl"
	"doze/wire"
)

// SaslAuthenticate (key 36), v0-v2: a message of a login's exchange (KIP-152); v1 answers how long the session lasts
// (KIP-368).
//
// A refusal says no more than that the credentials are not valid, comes late (connection.failed.authentication.delay.ms)
// and is the connection's last answer. Here, past the gate or where there is none, it comes at the wrong time.
func (b *Broker) saslAuthenticate(_ context.Context, r *wire.Request) (wire.Reply, error) {
	resp := respond[*kmsg.SASLAuthenticateResponse](r)
	resp.ErrorCode = illegalSASLState
	resp.ErrorMessage = kmsg.StringPtr("SaslAuthenticate request received after successful authentication")
	return resp, nil
}

// authenticate takes the exchange one message further.
func (s *login) authenticate(r *wire.Request) (wire.Reply, error) {
	resp := respond[*kmsg.SASLAuthenticateResponse](r)
	resp.ErrorMessage = kmsg.StringPtr("")
	answer, err := s.step(r.Body.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes)
	if err == nil {
		resp.SASLAuthBytes = answer
		if s.state == loginOpen { // while a session is renewed, there is a lifetime of the last one
			resp.SessionLifetimeMillis = s.lifetime.Milliseconds()
		}
		return resp, nil
	}
	if errors.Is(err, sasl.ErrCut) {
		return nil, err
	}
	resp.ErrorCode = saslAuthenticationFailed
	resp.ErrorMessage = kmsg.StringPtr(s.told(err))
	return s.refuse(resp, err)
}

// told is what the client is told of a failure.
func (s *login) told(err error) string {
	var refusal *sasl.Refusal
	if errors.As(err, &refusal) {
		return refusal.Text
	}
	what := "authentication"
	if s.renewing() {
		what = "re-authentication"
	}
	return "Authentication failed during " + what + " due to invalid credentials with SASL mechanism " + s.mechanism
}

// token takes a message without a header. Who sends one learns of a refusal by the close, which comes late when a headed
// one would have been told why.
func (s *login) token(message []byte) ([]byte, error) {
	answer, err := s.step(message)
	var refusal *sasl.Refusal
	if errors.As(err, &refusal) {
		s.delay()
	}
	return answer, err
}

// step takes the exchange one message further; its end opens the session. Only so many steps are worked on at a time as
// leave the machine to those who are logged in.
func (s *login) step(message []byte) ([]byte, error) {
	select {
	case s.gate.working <- struct{}{}:
	case <-s.conn.Context().Done():
		return nil, s.conn.Context().Err()
	}
	defer func() { <-s.gate.working }()
	now := s.gate.now()
	answer, who, err := s.exchange.Step(now, message)
	if err != nil || who == nil {
		return answer, err
	}
	if err := s.sameAsBefore(who); err != nil {
		return nil, err
	}
	s.opened(now, who)
	return answer, nil
}

func (s *login) sameAsBefore(who *sasl.Identity) error {
	if !s.renewing() || who.Principal == s.who.Principal {
		return nil
	}
	dotted := func(p string) string { return strings.Replace(p, ":", ".", 1) }
	return &sasl.Refusal{Text: fmt.Sprintf("Cannot change principals during re-authentication from %s: %s", dotted(s.who.Principal), dotted(who.Principal))}
}

// opened lets the connection in, until the credential ends or the listener wants to see it again.
func (s *login) opened(now time.Time, who *sasl.Identity) {
	s.who, s.state, s.exchange = who, loginOpen, nil
	s.expires, s.lifetime = time.Time{}, 0
	most := s.gate.MaxReauth(s.mechanism)
	if most <= 0 && who.Expires.IsZero() {
		s.conn.SetPrincipal(who.Principal)
		return
	}
	s.lifetime = most
	if left := who.Expires.Sub(now); !who.Expires.IsZero() && (most <= 0 || left < most) {
		s.lifetime = max(left, 0)
	}
	s.expires = now.Add(s.lifetime)
	if !who.Expires.IsZero() && who.Expires.Before(s.expires) {
		s.expires = who.Expires
	}
	s.conn.SetPrincipal(who.Principal)
}
