package wire

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// run starts a server that the test itself shuts down.
func run(t *testing.T, apis APIs) (*Server, *Listener) {
	t.Helper()
	s := NewServer(Options{}, apis)
	l, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(context.Background())
	return s, l
}

func shutdown(t *testing.T, s *Server, patience time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Shutdown(ctx)
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	slow := func(ctx context.Context, r *Request) (Reply, error) {
		close(entered)
		<-release
		return answerDefault(ctx, r)
	}
	s, l := run(t, table{3: slow})
	idle, p := dial(t, l), dial(t, l)
	idle.ask(NewRequest(12, 4), 1)
	p.send(frameOf(NewRequest(3, 12), 1))
	<-entered
	done := make(chan error)
	go func() { done <- shutdown(t, s, 30*time.Second) }()
	idle.closed()
	close(release)
	p.answerTo(NewRequest(3, 12), 1)
	p.closed()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if nc, err := net.Dial("tcp", l.Addr().String()); err == nil {
		nc.Close()
		t.Error("still listening")
	}
}

func TestShutdownWaitsForLaters(t *testing.T) {
	release := make(chan struct{})
	s, l := run(t, table{0: func(context.Context, *Request) (Reply, error) {
		return Later(func(context.Context) (Reply, error) {
			<-release
			return NewResponse(0, 9), nil
		}), nil
	}})
	p := dial(t, l)
	p.send(frameOf(NewRequest(0, 9), 1))
	until(t, "the request is in hand", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			return !c.out.empty()
		}
		return false
	})
	done := make(chan error)
	go func() { done <- shutdown(t, s, 30*time.Second) }()
	until(t, "the server stops", s.stopping.Load)
	close(release)
	p.answerTo(NewRequest(0, 9), 1)
	p.closed()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownWakesParkedRequests(t *testing.T) {
	s, l := run(t, table{1: parkFor(time.Hour)})
	p := dial(t, l)
	p.send(frameOf(NewRequest(1, 12), 1))
	until(t, "the request is parked", func() bool { return s.parkedCount() == 1 })
	if err := shutdown(t, s, 30*time.Second); err != nil {
		t.Error(err)
	}
	p.answerTo(NewRequest(1, 12), 1)
	p.closed()
}

func (s *Server) parkedCount() (n int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.parked() {
			n++
		}
	}
	return n
}

func TestShutdownLosesItsPatience(t *testing.T) {
	inHand := make(chan struct{})
	s, l := run(t, table{3: func(_ context.Context, r *Request) (Reply, error) {
		close(inHand)
		<-r.Conn.Context().Done() // and gives up only when its connection is cut off
		return nil, errors.New("cut off")
	}})
	p := dial(t, l)
	p.send(frameOf(NewRequest(3, 12), 1))
	<-inHand
	if err := shutdown(t, s, 50*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) && err != nil {
		t.Error(err)
	}
	p.closed()
}

func TestServeConnOfAPipe(t *testing.T) {
	s, l := start(t, Options{}, table{1: parkFor(80 * time.Millisecond)})
	here, there := net.Pipe()
	s.ServeConn(l, there)
	here.SetDeadline(time.Now().Add(30 * time.Second))
	p := &peer{t, here}
	p.ask(NewRequest(3, 12), 1)
	p.ask(NewRequest(1, 12), 2)
	p.ask(NewRequest(3, 12), 3)
	here.Close()
	until(t, "it has ended", func() bool { return s.count() == 0 })
}

func TestUnixListener(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes and abandoned sockets are Unix's
	}
	path := filepath.Join(t.TempDir(), "socket")
	s := NewServer(Options{}, table{})
	tcp, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Listen("unix:"+path, ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	dial(t, l).ask(NewRequest(3, 12), 1)
	wantHost, wantPort := tcp.Advertised()
	if host, port := l.Advertised(); host != wantHost || port != wantPort {
		t.Errorf("advertises %s:%d, want the TCP listener's %s:%d", host, port, wantHost, wantPort)
	}
	if _, err := NewServer(Options{}, table{}).Listen("unix:"+path, ListenOptions{}); err == nil {
		t.Error("a socket in use was taken over")
	}
}

func TestAbandonedUnixSocketIsTakenOver(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(t.TempDir(), "socket")
	old, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	old.Close()
	s := NewServer(Options{}, table{})
	l, err := s.Listen("unix:"+path, ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	dial(t, l).ask(NewRequest(3, 12), 1)
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	if _, err := s.Listen("unix:"+file, ListenOptions{}); err == nil {
		t.Error("a file was taken for a socket")
	}
}

func TestAdvertised(t *testing.T) {
	s := NewServer(Options{}, table{})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{Advertise: "kafka.example:19092"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(context.Background())
	if host, port := l.Advertised(); host != "kafka.example" || port != 19092 {
		t.Errorf("advertises %s:%d", host, port)
	}
	for _, bad := range []string{"host", "host:", ":9092", "host:0", "host:65536", "host:x"} {
		if _, err := s.Listen("127.0.0.1:0", ListenOptions{Advertise: bad}); err == nil {
			t.Errorf("advertises %q", bad)
		}
	}
}
