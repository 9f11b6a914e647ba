package wire

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The answer to an earlier request is written before a later one's failure closes the connection.
func TestAnErrorClosesBehindTheAnswersBeforeIt(t *testing.T) {
	release, refused := make(chan struct{}), make(chan struct{})
	apis := table{
		0: func(_ context.Context, r *Request) (Reply, error) {
			return Later(func(context.Context) (Reply, error) { <-release; return NewResponse(r.Key, r.Version), nil }), nil
		},
		12: func(context.Context, *Request) (Reply, error) { close(refused); return nil, errors.New("refused") },
	}
	_, l := start(t, Options{}, apis)
	p := dial(t, l)
	produce := kmsg.NewPtrProduceRequest()
	produce.Version, produce.Acks = 9, -1
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Version = 3
	p.send(append(frameOf(produce, 1), frameOf(heartbeat, 2)...))
	<-refused
	close(release)
	answer, err := io.ReadAll(p)
	if err != nil || len(answer) == 0 {
		t.Errorf("read %d bytes, %v", len(answer), err)
	}
}

// A panic while an answer that waited is written ends its connection; the server goes on.
func TestAPanicBehindALaterEndsOnlyItsConnection(t *testing.T) {
	apis := table{
		0: func(_ context.Context, r *Request) (Reply, error) {
			return Later(func(context.Context) (Reply, error) { return NewResponse(r.Key, r.Version), nil }), nil
		},
		12: func(_ context.Context, r *Request) (Reply, error) { return NewResponse(r.Key, r.Version), nil },
	}
	_, l := start(t, Options{Observer: produceHater{}}, apis)
	produce := kmsg.NewPtrProduceRequest()
	produce.Version = 9
	p := dial(t, l)
	p.send(frameOf(produce, 1))
	if _, err := io.Copy(io.Discard, p); err != nil {
		t.Fatal(err)
	}
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Version = 3
	other := dial(t, l)
	other.send(frameOf(heartbeat, 1))
	if n, err := other.Read(make([]byte, 64)); n == 0 || err != nil {
		t.Errorf("another connection read %d bytes, %v", n, err)
	}
}

// produceHater is an observer that panics at the answer of a Produce.
type produceHater struct{}

func (produceHater) Request(*Request)    {}
func (produceHater) Closed(*Conn, error) {}
func (produceHater) Answer(r *Request, _ Answer) {
	if r.Key == 0 {
		panic("a Produce was answered")
	}
}

// What a request has reserved is given back when an observer panics, before the handler or behind the answer.
func TestAPanicOfAnObserverGivesTheMemoryBack(t *testing.T) {
	answered := table{3: func(_ context.Context, r *Request) (Reply, error) { return NewResponse(r.Key, r.Version), nil }}
	for _, o := range []panicking{{request: true}, {answer: true}} {
		s, l := start(t, Options{Observer: o, DecodeMemory: 1 << 20}, answered)
		p := dial(t, l)
		b := builder{length: 20000}
		b.put(shapeOf(3, 4))
		p.send(frameWith(header1(3, 4), b.b))
		if _, err := io.Copy(io.Discard, p); err != nil {
			t.Fatal(err)
		}
		until(t, "the request's memory is given back", func() bool { return s.decoding.reserved() == 0 && s.frames.reserved() == 0 })
	}
}

// panicking is an observer that panics at requests, or at answers.
type panicking struct{ request, answer bool }

func (o panicking) Request(*Request) {
	if o.request {
		panic("a request came")
	}
}

func (o panicking) Answer(*Request, Answer) {
	if o.answer {
		panic("a request was answered")
	}
}

func (panicking) Closed(*Conn, error) {}

// A server that is full stops accepting when it is told to.
func TestServeEndsThoughThereIsNoRoom(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := NewServer(Options{MaxConnections: 1}, table{
		12: func(_ context.Context, r *Request) (Reply, error) { return NewResponse(r.Key, r.Version), nil },
	})
	l, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Version = 3
	p := dial(t, l)
	p.send(frameOf(heartbeat, 1))
	if _, err := p.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("Serve did not return")
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
