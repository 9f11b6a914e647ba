package wire

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// password is a gate that opens for one token: in a frame without a header after a SaslHandshake v0, or in a
// SaslAuthenticate.
type password struct{}

func (password) Session(c *Conn) Session { return &passwordSession{conn: c} }

type passwordSession struct {
	conn *Conn
	raw  bool // the next frame is a token without a header
	open bool
}

func (s *passwordSession) Open() bool { return s.open }

func (s *passwordSession) Frame(_ context.Context, frame []byte) ([]byte, bool, error) {
	if !s.raw {
		return nil, false, nil
	}
	s.raw = false
	return []byte("welcome"), true, s.check(frame)
}

func (s *passwordSession) check(token []byte) error {
	if string(token) != "secret" {
		return errors.New("wrong token")
	}
	s.open = true
	s.conn.SetPrincipal("User:somebody")
	return nil
}

func (s *passwordSession) Request(_ context.Context, r *Request) (Reply, bool, error) {
	switch body := r.Body.(type) {
	case *kmsg.ApiVersionsRequest:
		return nil, true, nil
	case *kmsg.SASLHandshakeRequest:
		s.raw = r.Version == 0
		return NewResponse(r.Key, r.Version), false, nil
	case *kmsg.SASLAuthenticateRequest:
		return NewResponse(r.Key, r.Version), false, s.check(body.SASLAuthBytes)
	}
	return nil, false, errors.New("not logged in")
}

func startGated(t *testing.T) (*Listener, *watch) {
	t.Helper()
	w := &watch{}
	s := NewServer(Options{Observer: w}, table{3: func(ctx context.Context, r *Request) (Reply, error) {
		if p := r.Conn.Principal(); p != "User:somebody" {
			return nil, errors.New("principal " + p)
		}
		return answerDefault(ctx, r)
	}})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{Gate: password{}})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	return l, w
}

func TestLoginThroughTheGate(t *testing.T) {
	l, _ := startGated(t)
	p := dial(t, l)
	p.ask(NewRequest(18, 3), 1)
	p.ask(NewRequest(17, 1), 2)
	authenticate := NewRequest(36, 2).(*kmsg.SASLAuthenticateRequest)
	authenticate.SASLAuthBytes = []byte("secret")
	p.ask(authenticate, 3)
	p.ask(NewRequest(3, 12), 4)
	p.ask(NewRequest(17, 1), 5) // again, while open
}

func TestLoginWithTokensWithoutHeader(t *testing.T) {
	l, _ := startGated(t)
	p := dial(t, l)
	p.ask(NewRequest(17, 0), 1)
	p.send([]byte("\x00\x00\x00\x06secret"))
	answer := make([]byte, 11)
	if _, err := io.ReadFull(p, answer); err != nil || string(answer) != "\x00\x00\x00\x07welcome" {
		t.Fatalf("answer %q, %v", answer, err)
	}
	p.ask(NewRequest(3, 12), 2)
}

func TestGateStaysShut(t *testing.T) {
	l, w := startGated(t)
	p := dial(t, l)
	p.send(frameOf(NewRequest(3, 12), 1))
	p.closed()
	if why := w.ended(t, 1); why == nil || why.Error() != "not logged in" {
		t.Errorf("closed for %v", why)
	}
	p = dial(t, l)
	p.ask(NewRequest(17, 0), 1)
	p.send([]byte("\x00\x00\x00\x05wrong"))
	p.closed()
	w.ended(t, 2) // the client sees its end before the observer may have
	p = dial(t, l)
	p.send([]byte{0, 8, 0, 1}) // 512 KiB and a byte
	p.closed()
	var frame *FrameError
	if why := w.ended(t, 3); !errors.As(why, &frame) {
		t.Errorf("closed for %v", why)
	}
}

// A token's answer has its turn like any other: behind what a session, that is being renewed, has asked before.
func TestTokenWaitsForAnswersBeforeIt(t *testing.T) {
	let := make(chan struct{})
	s := NewServer(Options{}, table{3: func(context.Context, *Request) (Reply, error) {
		return Later(func(context.Context) (Reply, error) {
			<-let
			return NewResponse(3, 12), nil
		}), nil
	}})
	taken := make(chan struct{})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{Gate: renewing{taken}})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	p := dial(t, l)
	p.send(frameOf(NewRequest(3, 12), 1))
	p.send([]byte("\x00\x00\x00\x06secret"))
	<-taken
	close(let)
	p.answerTo(NewRequest(3, 12), 1)
	answer := make([]byte, 11)
	if _, err := io.ReadFull(p, answer); err != nil || string(answer) != "\x00\x00\x00\x07welcome" {
		t.Fatalf("answer %q, %v", answer, err)
	}
}

// renewing is a gate that lets the first request pass and takes what follows for a token; it tells when it has one.
type renewing struct{ taken chan struct{} }

func (g renewing) Session(*Conn) Session { return &renewingSession{gate: g} }

type renewingSession struct {
	gate  renewing
	after bool // the first request has passed
}

func (s *renewingSession) Open() bool { return false }

func (s *renewingSession) Frame(context.Context, []byte) ([]byte, bool, error) {
	if !s.after {
		return nil, false, nil
	}
	close(s.gate.taken)
	return []byte("welcome"), true, nil
}

func (s *renewingSession) Request(context.Context, *Request) (Reply, bool, error) {
	s.after = true
	return nil, true, nil
}

// What comes in the place of a login gets no room: neither for itself, nor for an answer of many times its size.
func TestNoRoomBeforeTheLogin(t *testing.T) {
	l, w := startGated(t)
	p := dial(t, l)
	p.ask(NewRequest(17, 1), 1)
	long := NewRequest(36, 2).(*kmsg.SASLAuthenticateRequest)
	long.SASLAuthBytes = make([]byte, 300<<10)
	p.send(frameOf(long, 2))
	p.closed()
	if why := w.ended(t, 1); why == nil || why.Error() != "wrong token" {
		t.Errorf("a long token ends with %v", why)
	}
	p = dial(t, l)
	p.ask(NewRequest(17, 1), 1)
	many := NewRequest(10, 4).(*kmsg.FindCoordinatorRequest)
	many.CoordinatorKeys = make([]string, 100_000)
	p.send(frameOf(many, 2))
	p.closed()
	if why := w.ended(t, 2); !errors.Is(why, ErrMemory) {
		t.Errorf("a large request ends with %v", why)
	}
}
