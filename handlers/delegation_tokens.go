package handlers

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"math"
	"strings"
	"sync"
	"time"

	"doze/journal"
	"doze/projections"
	"doze/sasl"
	"doze/wire"
)

// Delegation tokens (KIP-48). A token is an id in the journal. Its secret, the HMAC of the id under the property
// delegation.token.secret.key, is worked out when it is needed and written nowhere; so is what lets it in by SCRAM, whose
// password is the HMAC in base64. Without the key, or with another one, nobody is let in by an old token.

// Bounds of delegation tokens (docs/limits.md).
const (
	maxDelegationTokens     = 10_000
	maxDelegationTokenBytes = 64 << 20 // of all
	maxOneTokenBytes        = 1 << 20  // with the names of its renewers
	tokenAnswerBytes        = 256      // what a token is reckoned to take in an answer beside its names
)

// errorTimestamp stands for times in an answer of the broker that is an error; the controller's has zeros.
const errorTimestamp = -1

// tokenSecrets remembers what is worked out of tokens' ids.
type tokenSecrets struct {
	mu    sync.Mutex
	known map[string]*tokenSecret
	ids   map[string]string // by HMAC
	timer *time.Timer
}

type tokenSecret struct {
	hmac  []byte
	logIn map[sasl.Hash]sasl.Credential
}

func newTokenSecrets() *tokenSecrets {
	return &tokenSecrets{known: map[string]*tokenSecret{}, ids: map[string]string{}}
}

// tokensOn says whether there is a key.
func (b *Broker) tokensOn() bool { return b.tokenKey() != "" }

func (b *Broker) tokenKey() string { return b.static.Text("delegation.token.secret.key") }

// tokenSecret is what belongs to a token's id. The caller holds mu.
func (b *Broker) tokenSecret(id string) *tokenSecret {
	s := b.tokens
	if known := s.known[id]; known != nil {
		return known
	}
	mac := hmac.New(sha512.New, []byte(b.tokenKey()))
	mac.Write([]byte(id))
	made := &tokenSecret{hmac: mac.Sum(nil), logIn: map[sasl.Hash]sasl.Credential{}}
	s.known[id], s.ids[string(made.hmac)] = made, id
	return made
}

// tokenHMAC is a token's secret.
func (b *Broker) tokenHMAC(id string) []byte {
	b.tokens.mu.Lock()
	defer b.tokens.mu.Unlock()
	return b.tokenSecret(id).hmac
}

// tokenOf finds the id of the token that has the secret; "" when none has.
func (b *Broker) tokenOf(secret []byte) string {
	state, _ := b.view()
	b.tokens.mu.Lock()
	defer b.tokens.mu.Unlock()
	b.forgetTokens(state)
	state.DelegationTokens.Each(func(t *projections.DelegationToken) bool { b.tokenSecret(t.ID); return true })
	return b.tokens.ids[string(secret)]
}

// forgetTokens drops what is remembered of tokens that are gone, when it is more than of those that are there.
func (b *Broker) forgetTokens(state *projections.State) {
	if len(b.tokens.known) <= 2*state.DelegationTokens.Len()+16 {
		return
	}
	for id, secret := range b.tokens.known {
		if state.DelegationTokens.Get(id) == nil {
			delete(b.tokens.known, id)
			delete(b.tokens.ids, string(secret.hmac))
		}
	}
}

// TokenUser is the credential of a delegation token, by its id. The session ends with the token: one that has expired, and is
// not swept yet, opens a session that is over. Whoever logs in is a User, whatever the type of the token's owner. All of
// that is Kafka's.
func (b *Broker) TokenUser(h sasl.Hash, id string) (sasl.Credential, bool) {
	state, _ := b.view()
	token := state.DelegationTokens.Get(id)
	if token == nil || !b.tokensOn() {
		return sasl.Credential{}, false
	}
	_, name, _ := strings.Cut(token.Owner, ":")
	who := sasl.Identity{Principal: sasl.UserPrincipal(name), Expires: time.UnixMilli(token.Expiry), ByToken: true}
	b.tokens.mu.Lock()
	secret := b.tokenSecret(id)
	c, known := secret.logIn[h]
	b.tokens.mu.Unlock()
	if !known {
		var err error
		password := base64.StdEncoding.EncodeToString(secret.hmac)
		if c, err = h.OfUser(password, secret.hmac[:16], sasl.IterationsMin, who); err != nil {
			return c, false
		}
		b.tokens.mu.Lock()
		secret.logIn[h] = c
		b.tokens.mu.Unlock()
	}
	c.Who = who
	return c, true
}

// mayAskForTokens says whether a connection may send these requests: it has logged in, and not with a token.
func mayAskForTokens(c *wire.Conn) bool {
	if c.Session() == nil && c.Principal() == anonymous {
		return false
	}
	return !LoggedInByToken(c)
}

const anonymous = "User:ANONYMOUS"

// sooner adds a time that is left to now, and gives the smaller of that and a bound.
func sooner(now, left, bound int64) int64 {
	if now > math.MaxInt64-left {
		return bound
	}
	return min(now+left, bound)
}

// renewedUntil is what a token's expiry becomes when it is renewed for a while; 0 and less take the broker's own.
func (b *Broker) renewedUntil(now, asked, bound int64) int64 {
	left := b.static.Int("delegation.token.expiry.time.ms")
	if asked > 0 {
		left = min(left, asked)
	}
	return sooner(now, left, bound)
}

// startTokens removes expired tokens every delegation.token.expiry.check.interval.ms.
func (b *Broker) startTokens() {
	every := time.Duration(b.static.Int("delegation.token.expiry.check.interval.ms")) * time.Millisecond
	if b.tokensOn() {
		b.tokens.timer = time.AfterFunc(every, func() { b.sweepTokens(every) })
	}
}

func (b *Broker) sweepTokens(every time.Duration) {
	if err := b.removeExpiredTokens(); err != nil {
		b.log.Warn("expired delegation tokens could not be removed; the next round tries again", "error", err)
	}
	b.lifecycle.Lock()
	defer b.lifecycle.Unlock()
	if !b.stopped {
		b.tokens.timer.Reset(every)
	}
}

// stopTokens is called with lifecycle held.
func (b *Broker) stopTokens() {
	if b.tokens.timer != nil {
		b.tokens.timer.Stop()
	}
}

// maxTokensSwept bounds one entry of the journal.
const maxTokensSwept = 1000

// removeExpiredTokens removes all that have expired, so many in an entry.
func (b *Broker) removeExpiredTokens() error {
	for {
		state, _ := b.view()
		if len(expiredTokens(state, b.clock.NowMillis())) == 0 {
			b.tokens.mu.Lock()
			defer b.tokens.mu.Unlock()
			b.forgetTokens(state)
			return nil
		}
		err := b.store.Update(context.Background(), journal.Timed("delegation-tokens"), func(tx *tx) {
			for _, id := range expiredTokens(tx.State, tx.At) {
				tx.Emit(&journal.DelegationTokenRemoved{ID: id})
			}
		})
		if err != nil {
			return err
		}
	}
}

// expiredTokens are the first of them, in the order of their ids.
func expiredTokens(state *projections.State, now int64) (ids []string) {
	state.DelegationTokens.Each(func(t *projections.DelegationToken) bool {
		if t.Expired(now) {
			ids = append(ids, t.ID)
		}
		return len(ids) < maxTokensSwept
	})
	return ids
}
