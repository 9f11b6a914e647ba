package wire

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// every calls f with every key and version that kmsg knows.
func every(f func(key, version int16)) {
	for key := range int16(kmsg.MaxKey + 1) {
		r := kmsg.RequestForKey(key)
		if r == nil || 4 <= key && key <= 7 { // between brokers of the ZooKeeper era; one has a header of its own
			continue
		}
		for v := range r.MaxVersion() + 1 {
			f(key, v)
		}
	}
}

func TestEveryAPIAtEveryVersion(t *testing.T) {
	_, l := start(t, Options{}, table{})
	p := dial(t, l)
	id := int32(0)
	every(func(key, version int16) {
		id++
		p.ask(NewRequest(key, version), id)
	})
}

func TestAnswersKeepTheOrderOfRequests(t *testing.T) {
	release := make(chan struct{})
	later := func(_ context.Context, r *Request) (Reply, error) {
		return Later(func(context.Context) (Reply, error) {
			<-release
			return NewResponse(r.Key, r.Version), nil
		}), nil
	}
	seen := make(chan int32, 10)
	metadata := func(ctx context.Context, r *Request) (Reply, error) {
		seen <- r.Correlation
		return answerDefault(ctx, r)
	}
	_, l := start(t, Options{}, table{0: later, 3: metadata})
	p := dial(t, l)
	produce, meta := NewRequest(0, 9), NewRequest(3, 12)
	p.send(append(frameOf(produce, 1), frameOf(meta, 2)...))
	if id := <-seen; id != 2 {
		t.Fatalf("request %d is in hand", id)
	}
	close(release)
	p.answerTo(produce, 1)
	p.answerTo(meta, 2)
}

func TestNoAnswerTakesNoPlace(t *testing.T) {
	silent := func(context.Context, *Request) (Reply, error) { return nil, nil }
	_, l := start(t, Options{}, table{0: silent})
	p := dial(t, l)
	p.send(frameOf(NewRequest(0, 9), 1))
	p.ask(NewRequest(3, 12), 2)
}

func TestApiVersionsTooNew(t *testing.T) {
	_, l := start(t, Options{}, table{})
	p := dial(t, l)
	body := []byte{0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0, 0xde, 0xad}
	p.send(append([]byte{0, 0, 0, byte(len(body))}, body...))
	id, b := p.receive()
	resp := kmsg.NewPtrApiVersionsResponse()
	if err := resp.ReadFrom(b); err != nil || id != 7 {
		t.Fatalf("answer %d: %v", id, err)
	}
	if resp.ErrorCode != 35 || len(resp.ApiKeys) != 1 || resp.ApiKeys[0].ApiKey != 18 {
		t.Errorf("answer %+v", resp)
	}
	p.ask(NewRequest(18, 4), 8)
}

func TestUnknownClosesTheConnection(t *testing.T) {
	_, l := start(t, Options{}, table{})
	for _, request := range [][]byte{
		{0, 0, 0, 12, 3, 0xe7, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0, 0}, // key 999
		{0, 0, 0, 12, 0, 3, 0, 99, 0, 0, 0, 1, 0xff, 0xff, 0, 0},   // Metadata v99
		{0, 0, 0, 3, 0, 3, 0},
		{0, 0, 0, 0},
		{0xff, 0xff, 0xff, 0xff},
		[]byte("GET / HTTP/1.1\r\n"),
	} {
		p := dial(t, l)
		p.send(request)
		p.closed()
	}
}
