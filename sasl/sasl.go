// Package sasl has the mechanisms by which a client says who it is, as state machines: a client's message in, the answer or
// a refusal out. They know nothing of sockets, the protocol's frames or the journal; what they need of a broker is handed
// to them as functions.
package sasl

import (
	"errors"
	"time"
)

// Mechanism is one way to log in.
type Mechanism interface {
	// Name is what a client asks for: PLAIN, SCRAM-SHA-256, ...
	Name() string
	// Begin starts a login. It is cheap: a client may do it as often as it likes.
	Begin() Exchange
}

// Exchange is one login under way.
type Exchange interface {
	// Step takes the client's next message at a time and gives what is answered to it. A non-nil identity ends the login;
	// without one the client is to send another message. An error ends it too: a *Refusal is told to the client, of
	// anything else only that the login failed.
	Step(now time.Time, message []byte) (answer []byte, who *Identity, err error)
}

// Identity is who has logged in.
type Identity struct {
	Principal string    // "User:alice"
	Expires   time.Time // when the credential ends; zero: it does not (KIP-368)
	ByToken   bool      // the credential was a delegation token: such a login can make no other token (KIP-48)
}

// Refusal is a login that failed, in words that a client may read: they do not tell an unknown user from a wrong password.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// ErrCut ends a login and its connection at once, without an answer: Kafka does so where a message is not even wrong.
var ErrCut = errors.New("the message breaks the exchange off")

const otherIdentity = "Authentication failed: Client requested an authorization id that is different from username"
