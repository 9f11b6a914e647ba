package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// table is a fake APIs: every key that kmsg knows, at every version, answered by a default response unless a handler is
// set for its key.
type table map[int16]Handle

func (t table) Lookup(key, version int16) (Handle, bool) {
	low, high, ok := t.Versions(key)
	if !ok || version < low || version > high {
		return nil, false
	}
	if h := t[key]; h != nil {
		return h, true
	}
	return answerDefault, true
}

func (t table) Versions(key int16) (int16, int16, bool) {
	r := kmsg.RequestForKey(key)
	if r == nil {
		return 0, 0, false
	}
	return 0, r.MaxVersion(), true
}

func answerDefault(_ context.Context, r *Request) (Reply, error) {
	return NewResponse(r.Key, r.Version), nil
}

// start runs a server on a loopback port until the test ends.
func start(t testing.TB, opt Options, apis APIs) (*Server, *Listener) {
	t.Helper()
	s := NewServer(opt, apis)
	l, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	return s, l
}

func serve(t testing.TB, s *Server) {
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// peer is a client that speaks bytes.
type peer struct {
	testing.TB
	net.Conn
}

func dial(t testing.TB, l *Listener) *peer {
	t.Helper()
	nc, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	return &peer{t, nc}
}

// frameOf is a request as a client sends it.
func frameOf(r kmsg.Request, correlation int32) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, r, correlation)
}

func (p *peer) send(b []byte) {
	p.Helper()
	if _, err := p.Write(b); err != nil {
		p.Fatalf("send: %v", err)
	}
}

// receive reads one answer frame: its correlation id and what follows it.
func (p *peer) receive() (int32, []byte) {
	p.Helper()
	var n [4]byte
	if _, err := io.ReadFull(p, n[:]); err != nil {
		p.Fatalf("receive: %v", err)
	}
	b := make([]byte, binary.BigEndian.Uint32(n[:]))
	if _, err := io.ReadFull(p, b); err != nil {
		p.Fatalf("receive: %v", err)
	}
	return int32(binary.BigEndian.Uint32(b)), b[4:]
}

// ask sends a request and decodes its answer.
func (p *peer) ask(r kmsg.Request, correlation int32) kmsg.Response {
	p.Helper()
	p.send(frameOf(r, correlation))
	return p.answerTo(r, correlation)
}

func (p *peer) answerTo(r kmsg.Request, correlation int32) kmsg.Response {
	p.Helper()
	got, b := p.receive()
	if got != correlation {
		p.Fatalf("correlation id %d, want %d", got, correlation)
	}
	resp := r.ResponseKind()
	if resp.IsFlexible() && r.Key() != keyAPIVersions {
		if b[0] != 0 {
			p.Fatalf("answer header has tags: % x", b[:8])
		}
		b = b[1:]
	}
	if err := resp.ReadFrom(b); err != nil {
		p.Fatalf("decode answer to %s v%d: %v", kmsg.NameForKey(r.Key()), r.GetVersion(), err)
	}
	return resp
}

// closed checks that the server closes without a byte more.
func (p *peer) closed() {
	p.Helper()
	n, err := p.Read(make([]byte, 64))
	if n != 0 {
		p.Fatalf("%d bytes instead of the end", n)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		p.Fatal("still open")
	}
}
