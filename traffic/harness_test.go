package traffic

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// peer is a client of a server whose observer is a ring.
type peer struct {
	testing.TB
	net.Conn
}

// serveRing runs a server with the ring as its observer until the test ends, and connects to it.
func serveRing(t testing.TB, ring *Ring, apis wire.APIs) *peer {
	t.Helper()
	s := wire.NewServer(wire.Options{Observer: ring}, apis)
	l, err := s.Listen("127.0.0.1:0", wire.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		<-served
	})
	return dial(t, l.Addr().String())
}

func dial(t testing.TB, addr string) *peer {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &peer{t, nc}
}

// send writes a request.
func (p *peer) send(correlation int32, req kmsg.Request) {
	p.Helper()
	b := make([]byte, 4, 256)
	b = binary.BigEndian.AppendUint16(b, uint16(req.Key()))
	b = binary.BigEndian.AppendUint16(b, uint16(req.GetVersion()))
	b = binary.BigEndian.AppendUint32(b, uint32(correlation))
	b = append(b, 0, 4, 't', 'e', 's', 't')
	if req.IsFlexible() {
		b = append(b, 0)
	}
	b = req.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	if _, err := p.Write(b); err != nil {
		p.Fatal(err)
	}
}

// ask sends a request and waits for its answer.
func (p *peer) ask(correlation int32, req kmsg.Request) {
	p.Helper()
	p.send(correlation, req)
	var n [4]byte
	if _, err := io.ReadFull(p, n[:]); err != nil {
		p.Fatalf("%T v%d: %v", req, req.GetVersion(), err)
	}
	if _, err := io.CopyN(io.Discard, p, int64(binary.BigEndian.Uint32(n[:]))); err != nil {
		p.Fatal(err)
	}
}

// waitClosed waits until the server has closed the connection.
func (p *peer) waitClosed() {
	p.Helper()
	if _, err := io.Copy(io.Discard, p); err != nil {
		p.Fatal(err)
	}
}

// waitFor waits until something is so.
func waitFor(t testing.TB, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}
