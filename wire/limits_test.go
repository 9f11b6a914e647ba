package wire

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"
)

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long until %s", what)
		}
	}
}

// watch is an Observer that keeps what it is told.
type watch struct {
	mu       sync.Mutex
	requests []int16
	answers  []Answer
	closed   []error
}

func (w *watch) Request(r *Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r.Key)
}

func (w *watch) Answer(_ *Request, a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = append(w.answers, a)
}

func (w *watch) Closed(_ *Conn, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = append(w.closed, why)
}

// ended waits until a number of connections have ended, and gives the last one's reason.
func (w *watch) ended(t testing.TB, n int) error {
	t.Helper()
	var why error
	until(t, "connections ended", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.closed) < n {
			return false
		}
		why = w.closed[n-1]
		return true
	})
	return why
}

func (s *Server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func TestIdleConnectionIsClosed(t *testing.T) {
	w := &watch{}
	_, l := start(t, Options{MaxIdle: 60 * time.Millisecond, Observer: w}, table{})
	dial(t, l).closed()
	if why := w.ended(t, 1); !errors.Is(why, ErrIdle) {
		t.Errorf("closed for %v", why)
	}
}

func TestParkedConnectionIsNotIdle(t *testing.T) {
	answer := make(chan struct{})
	s, l := start(t, Options{}, table{1: func(ctx context.Context, r *Request) (Reply, error) {
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return answerDefault(ctx, r)
	}})
	p := dial(t, l)
	p.send(frameOf(NewRequest(1, 12), 1))
	until(t, "the request is parked", func() bool { return s.parkedCount() == 1 })
	s.closeIdle(time.Now().Add(time.Hour))
	close(answer)
	p.answerTo(NewRequest(1, 12), 1)
	until(t, "it is idle, and closed", func() bool {
		s.closeIdle(time.Now().Add(time.Hour))
		return s.count() == 0
	})
}

// parkFor is a long poll.
func parkFor(d time.Duration) Handle {
	return func(ctx context.Context, r *Request) (Reply, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return answerDefault(ctx, r)
	}
}

// A peer that asks for much and reads nothing is closed as an idle one.
func TestPeerThatDoesNotReadIsClosed(t *testing.T) {
	w := &watch{}
	huge := func(context.Context, *Request) (Reply, error) {
		return &Chunked{Parts: []Part{{Bytes: make([]byte, 32<<20)}}}, nil
	}
	_, l := start(t, Options{MaxIdle: 100 * time.Millisecond, Observer: w}, table{1: huge})
	dial(t, l).send(frameOf(NewRequest(1, 12), 1))
	if why := w.ended(t, 1); !errors.Is(why, ErrIdle) {
		t.Errorf("closed for %v", why)
	}
}

func TestConnectionsBeyondTheCapWait(t *testing.T) {
	s, l := start(t, Options{MaxConnections: 2}, table{})
	a, b := dial(t, l), dial(t, l)
	a.ask(NewRequest(3, 12), 1)
	b.ask(NewRequest(3, 12), 1)
	c := dial(t, l)
	c.send(frameOf(NewRequest(3, 12), 7))
	if n := s.count(); n != 2 {
		t.Errorf("%d connections", n)
	}
	a.Close()
	c.answerTo(NewRequest(3, 12), 7)
}

func TestConnectionsBeyondTheCapOfAnAddressAreClosed(t *testing.T) {
	s, l := start(t, Options{MaxConnectionsByIP: 2}, table{})
	a, b := dial(t, l), dial(t, l)
	a.ask(NewRequest(3, 12), 1)
	b.ask(NewRequest(3, 12), 1)
	dial(t, l).closed()
	a.Close()
	until(t, "the first has ended", func() bool { return s.count() == 1 })
	dial(t, l).ask(NewRequest(3, 12), 1)
}

// tired is a listener whose Accept fails a few times as if there were no descriptors left.
type tired struct {
	net.Listener
	fails chan error
}

func (l *tired) Accept() (net.Conn, error) {
	select {
	case err := <-l.fails:
		return nil, err
	default:
		return l.Listener.Accept()
	}
}

// noDescriptors is like EMFILE and ENFILE.
type noDescriptors struct{}

func (noDescriptors) Error() string   { return "too many open files" }
func (noDescriptors) Temporary() bool { return true }

func TestAcceptGoesOnWithoutDescriptors(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fails := make(chan error, 3)
	for range cap(fails) {
		fails <- noDescriptors{}
	}
	s := NewServer(Options{}, table{})
	l, err := s.ListenOn(&tired{ln, fails}, ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	dial(t, l).ask(NewRequest(3, 12), 1)
}

func TestAcceptErrorEndsServe(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	broken := errors.New("broken")
	fails := make(chan error, 1)
	fails <- broken
	s := NewServer(Options{}, table{})
	if _, err := s.ListenOn(&tired{ln, fails}, ListenOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(context.Background()); !errors.Is(err, broken) {
		t.Errorf("served until %v", err)
	}
	s.Shutdown(context.Background())
}

func TestPanicEndsOneConnection(t *testing.T) {
	w := &watch{}
	s, l := start(t, Options{Observer: w, DecodeMemory: 1 << 20}, table{3: func(context.Context, *Request) (Reply, error) {
		panic("handler")
	}})
	other := dial(t, l)
	other.ask(NewRequest(12, 4), 1)
	p := dial(t, l)
	b := builder{length: 20000}
	b.put(shapeOf(3, 4))
	p.send(frameWith(header1(3, 4), b.b))
	p.closed()
	if why := w.ended(t, 1); why == nil {
		t.Error("no reason is told")
	}
	until(t, "the requests' memory is given back", func() bool { return s.decoding.reserved() == 0 && s.frames.reserved() == 0 })
	other.ask(NewRequest(12, 4), 2)
}

// Nothing is left running when a server has shut down.
func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	s := NewServer(Options{}, table{1: parkFor(time.Hour), 0: laterFor(10 * time.Millisecond)})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	for range 10 {
		dial(t, l).ask(NewRequest(3, 12), 1)
		p := dial(t, l)
		p.send(append(frameOf(NewRequest(0, 9), 1), frameOf(NewRequest(1, 12), 2)...))
		p.answerTo(NewRequest(0, 9), 1)
		dial(t, l).send([]byte{0, 1, 0, 0, 1})
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	until(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
}

func laterFor(d time.Duration) Handle {
	return func(context.Context, *Request) (Reply, error) {
		return Later(func(ctx context.Context) (Reply, error) {
			time.Sleep(d)
			return NewResponse(0, 9), nil
		}), nil
	}
}

// header1 is a request header v1 without client id.
func header1(key, version int16) []byte {
	return []byte{byte(key >> 8), byte(key), byte(version >> 8), byte(version), 0, 0, 0, 1, 0xff, 0xff}
}

func frameWith(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	n := len(b)
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, b...)
}

// A connection that has not ended its frame holds a buffer in proportion to what has come, and is closed when others
// wait for the memory that it has reserved.
func TestSlowFrameIsClosedWhenMemoryIsWanted(t *testing.T) {
	w := &watch{}
	_, l := start(t, Options{MaxFrame: 1 << 20, FrameMemory: 1 << 20, Observer: w}, table{})
	slow := dial(t, l)
	slow.send([]byte{0, 0x10, 0, 0, 1, 2, 3})
	slow.send(make([]byte, 20<<10)) // well into the frame
	p := dial(t, l)
	b := builder{length: 40000}
	b.put(shapeOf(3, 4))
	until(t, "the slow one has reserved its memory", func() bool {
		return l.server.frames.reserved() == 1<<20
	})
	p.send(frameWith(header1(3, 4), b.b))
	if id, _ := p.receive(); id != 1 {
		t.Errorf("answer to %d", id)
	}
	if why := w.ended(t, 1); !errors.Is(why, ErrSlow) {
		t.Errorf("closed for %v", why)
	}
	if n, err := slow.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes: %v", n, err)
	}
}

func (b *budget) reserved() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size - b.free
}
