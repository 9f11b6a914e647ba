package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// section is a part of a file; fromFile offers it to sendfile.
type section struct {
	*io.SectionReader
	released *atomic.Int32
}

func (s section) Release() { s.released.Add(1) }

type fileSection struct {
	section
	file   *os.File
	offset int64
}

func (s fileSection) OS() (*os.File, int64) { return s.file, s.offset }

// stored is a file of 8 MiB of noise with its bytes.
func stored(t *testing.T) (*os.File, []byte) {
	t.Helper()
	b := make([]byte, 8<<20)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	path := filepath.Join(t.TempDir(), "segment")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, b
}

// chunkedFrom answers every Fetch with bytes, a short section, a long one and bytes again.
func chunkedFrom(f *os.File, sendfile bool, released *atomic.Int32) Handle {
	part := func(offset, size int64) Part {
		s := section{io.NewSectionReader(f, offset, size), released}
		if sendfile {
			return Part{File: fileSection{s, f, offset}}
		}
		return Part{File: s}
	}
	return func(context.Context, *Request) (Reply, error) {
		return &Chunked{Parts: []Part{{Bytes: []byte("head")}, part(100, 1000), {Bytes: []byte("mid")}, part(5000, 7<<20), part(1, 0), {Bytes: []byte("tail")}}}, nil
	}
}

func TestChunkedAnswers(t *testing.T) {
	f, b := stored(t)
	want := bytes.Join([][]byte{[]byte("head"), b[100:1100], []byte("mid"), b[5000 : 5000+7<<20], []byte("tail")}, nil)
	wrapped := ListenOptions{Wrap: func(nc net.Conn) net.Conn { return struct{ net.Conn }{nc} }}
	for name, c := range map[string]struct {
		addr     string
		opt      ListenOptions
		sendfile bool
	}{
		"sendfile to TCP":         {"127.0.0.1:0", ListenOptions{}, true},
		"sendfile to unix":        {"unix:" + filepath.Join(t.TempDir(), "s"), ListenOptions{}, true},
		"copied to TCP":           {"127.0.0.1:0", ListenOptions{}, false},
		"copied to a wrapped one": {"127.0.0.1:0", wrapped, true},
	} {
		t.Run(name, func(t *testing.T) {
			var released atomic.Int32
			s := NewServer(Options{}, table{1: chunkedFrom(f, c.sendfile, &released)})
			l, err := s.Listen(c.addr, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			serve(t, s)
			p := dial(t, l)
			request := frameOf(NewRequest(1, 12), 5)
			p.send(append(request, request...)) // the second is answered while the first is read slowly
			for range 2 {
				id, got := p.receive()
				if id != 5 || !bytes.Equal(got[1:], want) {
					t.Fatalf("answer to %d: %d bytes, want %d", id, len(got)-1, len(want))
				}
			}
			p.ask(NewRequest(3, 12), 6)
			if n := released.Load(); n != 6 {
				t.Errorf("%d sections released, want 6", n)
			}
		})
	}
}

func TestPeerClosesInTheMiddleOfAnAnswer(t *testing.T) {
	f, _ := stored(t)
	for _, sendfile := range []bool{true, false} {
		var released atomic.Int32
		w := &watch{}
		_, l := start(t, Options{Observer: w}, table{1: chunkedFrom(f, sendfile, &released)})
		p := dial(t, l)
		p.send(frameOf(NewRequest(1, 12), 5))
		io.ReadFull(p, make([]byte, 100<<10))
		p.Close()
		if why := w.ended(t, 1); why == nil {
			t.Error("no reason is told")
		}
		if n := released.Load(); n != 3 {
			t.Errorf("%d sections released, want 3", n)
		}
	}
}

func TestShortFileEndsTheConnection(t *testing.T) {
	f, _ := stored(t)
	var released atomic.Int32
	_, l := start(t, Options{}, table{1: func(context.Context, *Request) (Reply, error) {
		s := section{io.NewSectionReader(f, 7<<20, 2<<20), &released}
		return &Chunked{Parts: []Part{{File: fileSection{s, f, 7 << 20}}}}, nil
	}})
	p := dial(t, l)
	p.send(frameOf(NewRequest(1, 12), 5))
	if n, err := io.Copy(io.Discard, p); n < 1<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestObserverIsToldOfTraffic(t *testing.T) {
	w := &watch{}
	described := kmsg.NewPtrFetchResponse()
	apis := table{
		0: func(context.Context, *Request) (Reply, error) { return nil, nil },
		1: func(context.Context, *Request) (Reply, error) {
			return &Chunked{
				Parts:    []Part{{Bytes: described.AppendTo(nil)}},
				Describe: func() kmsg.Response { return described },
			}, nil
		},
		3: func(context.Context, *Request) (Reply, error) { return nil, errors.New("refused") },
	}
	_, l := start(t, Options{Observer: w}, apis)
	p := dial(t, l)
	p.send(frameOf(NewRequest(0, 9), 1))
	p.ask(NewRequest(12, 4), 2)
	p.send(frameOf(NewRequest(1, 4), 3))
	p.receive()
	p.send(frameOf(NewRequest(3, 12), 4))
	p.closed()
	if why := w.ended(t, 1); why == nil || why.Error() != "refused" {
		t.Errorf("closed for %v", why)
	}
	if len(w.requests) != 4 || len(w.answers) != 4 {
		t.Fatalf("told of %d requests and %d answers", len(w.requests), len(w.answers))
	}
	none, plain, chunked, failed := w.answers[0], w.answers[1], w.answers[2], w.answers[3]
	if none.Response != nil || none.Size != 0 || none.Err != nil {
		t.Errorf("no answer is told as %+v", none)
	}
	if plain.Response == nil || plain.Size == 0 || plain.Written.Before(plain.Handled) {
		t.Errorf("an answer is told as %+v", plain)
	}
	if chunked.Response != kmsg.Response(described) {
		t.Errorf("a chunked answer is told as %+v", chunked)
	}
	if failed.Err == nil || failed.Response != nil {
		t.Errorf("an error is told as %+v", failed)
	}
}

// Frames arrive whole, whatever their size.
func TestBigFrames(t *testing.T) {
	_, noise := stored(t)
	for _, size := range []int{chunkSize - 200, chunkSize - 50, chunkSize, chunkSize + 50, 64 << 10, 1 << 20, 6<<20 + 3} {
		records := noise[:size]
		s, l := start(t, Options{}, table{0: func(ctx context.Context, r *Request) (Reply, error) {
			if !bytes.Equal(r.Body.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records, records) {
				return nil, errors.New("damaged")
			}
			return answerDefault(ctx, r)
		}})
		produce := NewRequest(0, 9).(*kmsg.ProduceRequest)
		produce.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: records}}}}
		p := dial(t, l)
		frame := frameOf(produce, 1)
		p.send(append(frame, frame...))
		p.answerTo(produce, 1)
		p.answerTo(produce, 1)
		until(t, "its memory is given back", func() bool { return s.frames.reserved() == 0 })
	}
}

func TestFrameOverTheLimit(t *testing.T) {
	_, l := start(t, Options{MaxFrame: 100}, table{})
	p := dial(t, l)
	p.send([]byte{0, 0, 0, 101, 1})
	p.closed()
}

func TestPeerLeavesWhileItsRequestIsParked(t *testing.T) {
	gone := make(chan time.Duration, 1)
	park := func(ctx context.Context, r *Request) (Reply, error) {
		began := time.Now()
		<-ctx.Done()
		gone <- time.Since(began)
		return answerDefault(ctx, r)
	}
	_, l := start(t, Options{}, table{1: park})
	p := dial(t, l)
	p.send(frameOf(NewRequest(1, 12), 1))
	p.Close()
	<-gone
	// With requests behind the parked one, too.
	p = dial(t, l)
	p.send(append(frameOf(NewRequest(1, 12), 1), frameOf(NewRequest(3, 12), 2)...))
	p.Close()
	<-gone
}

func TestRequestsBehindAParkedOne(t *testing.T) {
	answer := make(chan struct{})
	s, l := start(t, Options{}, table{1: func(ctx context.Context, r *Request) (Reply, error) {
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return answerDefault(ctx, r)
	}})
	p := dial(t, l)
	fetch, metadata := NewRequest(1, 12), NewRequest(3, 12)
	for range 3 {
		p.send(frameOf(fetch, 1))
		until(t, "the peer is watched", func() bool { return s.parkedCount() == 1 })
		for range 200 {
			p.send(frameOf(metadata, 2))
		}
		answer <- struct{}{}
		p.answerTo(fetch, 1)
		for range 200 {
			p.answerTo(metadata, 2)
		}
	}
}
