package wire

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// startSecured is a server whose connections have a handshake before their first request.
func startSecured(t *testing.T, opt Options, handshake func(context.Context, net.Conn) (string, error)) (*Server, *Listener, *watch) {
	t.Helper()
	w := &watch{}
	opt.Observer = w
	s := NewServer(opt, table{})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{
		Wrap: func(nc net.Conn) net.Conn { return struct{ net.Conn }{nc} }, Handshake: handshake,
	})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	return s, l, w
}

// byteOf reads the one byte that a handshake takes here.
func byteOf(_ context.Context, nc net.Conn) (string, error) {
	var b [1]byte
	if _, err := nc.Read(b[:]); err != nil {
		return "", err
	}
	if b[0] != '!' {
		return "", errors.New("no handshake")
	}
	return "User:known", nil
}

func TestHandshakeComesFirst(t *testing.T) {
	_, l, w := startSecured(t, Options{}, byteOf)
	p := dial(t, l)
	p.send([]byte("!"))
	p.ask(NewRequest(3, 12), 1)
	p = dial(t, l)
	p.send(frameOf(NewRequest(3, 12), 1))
	p.closed()
	if why := w.ended(t, 1); why == nil || why.Error() != "no handshake" {
		t.Errorf("closed for %v", why)
	}
}

// Who does not finish the handshake, or the login behind it, is closed; who did may be idle.
func TestHandshakeAndLoginAreBounded(t *testing.T) {
	s, l, w := startSecured(t, Options{MaxLogin: 300 * time.Millisecond}, byteOf)
	known := dial(t, l)
	known.send([]byte("!"))
	known.ask(NewRequest(3, 12), 1)
	dial(t, l).closed()
	if why := w.ended(t, 1); !errors.Is(why, ErrLogin) {
		t.Errorf("closed for %v", why)
	}
	known.ask(NewRequest(3, 12), 2)
	if n := s.count(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestLoginIsBounded(t *testing.T) {
	w := &watch{}
	s := NewServer(Options{MaxLogin: 200 * time.Millisecond, Observer: w}, table{})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{Gate: neverOpen{}})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	dial(t, l).closed()
	if why := w.ended(t, 1); !errors.Is(why, ErrLogin) {
		t.Errorf("closed for %v", why)
	}
}

type neverOpen struct{}

func (neverOpen) Session(*Conn) Session { return neverOpen{} }
func (neverOpen) Open() bool            { return false }
func (neverOpen) Frame(context.Context, []byte) ([]byte, bool, error) {
	return nil, false, nil
}
func (neverOpen) Request(context.Context, *Request) (Reply, bool, error) { return nil, true, nil }

// TestForeignProtocolsAreClosedAtOnce: what knocks at the wrong door is closed by its first four bytes, and costs nothing.
func TestForeignProtocolsAreClosedAtOnce(t *testing.T) {
	w := &watch{}
	_, l := start(t, Options{Observer: w}, table{})
	for i, first := range []string{
		"GET / HTTP/1.1\r\n\r\n", "POST /topics HTTP/1.1\r\n", "PUT / HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "SSH-2.0-OpenSSH_9.6\r\n", "PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n",
		"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c",
	} {
		p := dial(t, l)
		began := time.Now()
		p.send([]byte(first))
		p.closed()
		if took := time.Since(began); took > 5*time.Second { // idle ones are closed after ten minutes
			t.Errorf("%q: closed after %v", first, took)
		}
		var frame *FrameError
		if why := w.ended(t, i+1); !errors.As(why, &frame) || frame.Error() == "" {
			t.Errorf("%q: closed for %v", first, why)
		}
	}
}
