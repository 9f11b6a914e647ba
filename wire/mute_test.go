package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// muted is a table whose ApiVersions mutes the connection until a channel is closed.
func muted(until <-chan struct{}) table {
	return table{keyAPIVersions: func(_ context.Context, r *Request) (Reply, error) {
		r.Conn.Mute(until)
		return NewResponse(r.Key, r.Version), nil
	}}
}

func askVersions(t *testing.T, nc net.Conn) error {
	t.Helper()
	frame := kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrApiVersionsRequest(), 1)
	if _, err := nc.Write(frame); err != nil {
		return err
	}
	nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	_, err := io.ReadAtLeast(nc, make([]byte, 1<<10), 8)
	return err
}

func TestMutedConnectionWaitsAndGoesOn(t *testing.T) {
	until := make(chan struct{})
	s := NewServer(Options{}, muted(until))
	client, server := net.Pipe()
	s.ServeConn(&Listener{Name: "PLAINTEXT"}, server)
	defer client.Close()
	if err := askVersions(t, client); err != nil {
		t.Fatalf("the answer that mutes does not leave: %v", err)
	}
	client.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)) // what nobody reads cannot be written to a pipe
	if _, err := client.Write([]byte{0}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a muted connection is read: %v", err)
	}
	client.SetWriteDeadline(time.Time{})
	close(until)
	if err := askVersions(t, client); err != nil {
		t.Fatalf("after the mute: %v", err)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestMutedConnectionIsIdle(t *testing.T) {
	_, l := start(t, Options{MaxIdle: time.Second}, muted(make(chan struct{})))
	c := dial(t, l)
	if err := askVersions(t, c); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a connection that is muted for longer than any may be idle: %v", err)
	}
}

func TestRefusedConnectionsAreHeld(t *testing.T) {
	asked := make(chan netip.Addr, 1)
	s, l := start(t, Options{Admit: func(from netip.Addr) Admission {
		asked <- from
		return Admission{Wait: time.Millisecond, Refuse: 300 * time.Millisecond}
	}}, table{})
	began := time.Now()
	c := dial(t, l)
	if from := <-asked; from != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("asked about %s", from)
	}
	if err := askVersions(t, c); err == nil {
		t.Error("a refused connection is answered")
	}
	if held := time.Since(began); held < 300*time.Millisecond {
		t.Errorf("it is closed after %s", held)
	}
	s.mu.Lock()
	s.refused = maxRefused
	s.mu.Unlock()
	c = dial(t, l)
	<-asked
	if err := askVersions(t, c); err == nil {
		t.Error("a connection beyond those that are held is answered")
	}
	s.mu.Lock()
	s.refused = 0
	s.mu.Unlock()
}

func TestShutdownEndsWhatIsHeld(t *testing.T) {
	s := NewServer(Options{Admit: func(netip.Addr) Admission { return Admission{Refuse: time.Hour} }}, table{})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	c := dial(t, l)
	for {
		s.mu.Lock()
		held := s.refused
		s.mu.Unlock()
		if held == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-served
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a held connection after the stop: %v", err)
	}
}
