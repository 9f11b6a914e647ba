package handlers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/sasl"
	"doze/wire"
)

// Logins say how clients of a listener log in.
type Logins struct {
	Mechanisms []sasl.Mechanism
	// MaxReauth is how long a session by a mechanism lasts (connections.max.reauth.ms); 0: for as long as it likes.
	MaxReauth func(mechanism string) time.Duration
	// FailureDelay is how long a refusal is held back (connection.failed.authentication.delay.ms).
	FailureDelay time.Duration
}

// loginGate is the gate of one listener.
type loginGate struct {
	Logins
	names   []string
	working chan struct{} // has room for the steps that are worked on at a time
	now     func() time.Time
}

// NewGate makes the gate of a listener that asks for a login.
func NewGate(l Logins) wire.Gate {
	g := &loginGate{Logins: l, now: time.Now, working: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	for _, m := range l.Mechanisms {
		g.names = append(g.names, m.Name())
	}
	return g
}

func (g *loginGate) mechanism(name string) sasl.Mechanism {
	for _, m := range g.Mechanisms {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

// Session begins a connection's login.
func (g *loginGate) Session(c *wire.Conn) wire.Session { return &login{gate: g, conn: c} }

// What a login waits for.
type loginState int

const (
	loginNew            loginState = iota // ApiVersions or SaslHandshake
	loginVersioned                        // SaslHandshake: ApiVersions was answered
	loginExchanging                       // the exchange's next message
	loginOtherMechanism                   // nothing any more: a session was to be renewed by another mechanism
	loginOpen                             // nothing: it is done
)

// login is one connection's login, and its session afterwards. One goroutine uses it.
type login struct {
	gate      *loginGate
	conn      *wire.Conn
	state     loginState
	headers   bool // messages of the exchange come as SaslAuthenticate requests
	mechanism string
	exchange  sasl.Exchange
	who       *sasl.Identity // since the first login
	lifetime  time.Duration  // of the session
	expires   time.Time      // when it ends; zero: never
	renewed   time.Time      // when it was last begun anew
}

// renewing says that who logs in is logged in already.
func (s *login) renewing() bool { return s.who != nil }

// Open says whether requests go to the table.
func (s *login) Open() bool { return s.state == loginOpen && !s.expired() }

func (s *login) expired() bool { return !s.expires.IsZero() && s.gate.now().After(s.expires) }

// withinSession is how long a request may wait for data: its session's end is the end of the wait, so that what comes later is
// not for it. The wait is over then as one is that finds nothing.
func withinSession(c *wire.Conn, maxWaitMillis int32) time.Duration {
	wait := time.Duration(maxWaitMillis) * time.Millisecond
	if s, ok := c.Session().(*login); ok && !s.expires.IsZero() {
		return max(min(wait, s.expires.Sub(s.gate.now())), 0)
	}
	return wait
}

// Frame takes messages without headers.
func (s *login) Frame(_ context.Context, frame []byte) (answer []byte, taken bool, err error) {
	switch {
	case s.state == loginOtherMechanism:
		s.delay()
		return nil, true, errors.New("a session cannot be renewed by another mechanism")
	case s.state == loginExchanging && !s.headers:
		answer, err = s.token(frame)
		return answer, true, err
	}
	return nil, false, nil
}

// Request is where everything that comes out of order ends a connection.
func (s *login) Request(_ context.Context, r *wire.Request) (reply wire.Reply, pass bool, err error) {
	switch s.state {
	case loginOpen:
		return s.inSession(r)
	case loginExchanging:
		if r.Key == keySASLAuthenticate {
			reply, err = s.authenticate(r)
			return reply, false, err
		}
		reply, err = s.outOfPlace(r)
		return reply, false, err
	}
	switch {
	case r.Key == keySASLHandshake:
		reply, err = s.handshake(r)
		return reply, false, err
	case r.Key == keyApiVersions && s.state == loginNew:
		s.versions(r)
		return nil, true, nil
	}
	return nil, false, fmt.Errorf("%s where a login was due", kmsg.NameForKey(r.Key))
}

// versions notes that ApiVersions was answered, unless with an error: then it may be asked again.
func (s *login) versions(r *wire.Request) {
	if req, known := r.Body.(*kmsg.ApiVersionsRequest); known && validSoftwareOf(req) {
		s.state = loginVersioned
	}
}

// inSession sees the SASL APIs, and every request once the session has expired.
func (s *login) inSession(r *wire.Request) (reply wire.Reply, pass bool, err error) {
	if r.Key == keySASLHandshake && s.renew(s.gate.now()) {
		reply, err = s.handshake(r)
		return reply, false, err
	}
	if s.expired() {
		return nil, false, errors.New("the session has expired")
	}
	return nil, true, nil
}

// refuse gives the connection's last answer, after a while.
func (s *login) refuse(resp kmsg.Response, why error) (wire.Reply, error) {
	s.delay()
	return wire.Last{Response: resp, Why: fmt.Errorf("log in: %w", why)}, nil
}

// delay makes guessing slow.
func (s *login) delay() {
	t := time.NewTimer(s.gate.FailureDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.conn.Context().Done():
	}
}

// LoggedInByToken says whether a connection logged in with a delegation token.
func LoggedInByToken(c *wire.Conn) bool {
	s, ok := c.Session().(*login)
	return ok && s.who != nil && s.who.ByToken
}

const (
	keySASLHandshake    = 17
	keyApiVersions      = 18
	keySASLAuthenticate = 36
)
