package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// stream is a connection from which bytes can be read, a few at a time, and nothing else.
type stream struct {
	net.Conn
	b    []byte
	step int
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b[:min(s.step, len(s.b))])
	s.b = s.b[n:]
	return n, nil
}

// FuzzReadFrame reads a stream in frames: each is what stands in the stream, its buffer is in proportion to the bytes
// that came, and all memory is given back.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 1, 9}, 2)
	f.Add([]byte{0, 0, 0xff, 0xff, 1, 2, 3}, 100)
	f.Add(append([]byte{0, 0, 0x50, 0}, make([]byte, 0x5004)...), 1000)
	f.Add([]byte("GET / HTTP/1.1\r\n"), 1)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 4)
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		const limit = 1 << 20
		mem := newBudget(limit, time.Millisecond)
		in := newInbox(&stream{b: b, step: max(step, 1)}, mem, nil, func() {})
		at := 0
		for {
			f, err := in.next(limit)
			if err != nil {
				break
			}
			if want := b[at+4 : at+4+len(f.body)]; !bytes.Equal(f.body, want) {
				t.Fatalf("frame at %d: % x, want % x", at, f.body, want)
			}
			if f.big != nil && cap(f.big.b) > max(firstBig, growth*len(f.body)) {
				t.Fatalf("a buffer of %d for %d bytes", cap(f.big.b), len(f.body))
			}
			at += 4 + len(f.body)
			f.release()
		}
		in.close()
		if mem.free != limit {
			t.Fatalf("%d bytes are not given back", limit-mem.free)
		}
	})
}

func FuzzParseHeader(f *testing.F) {
	f.Add([]byte{0, 18, 0, 3, 0, 0, 0, 1, 0, 1, 'x', 0})
	f.Add([]byte{0, 18, 0, 3, 0, 0, 0, 1, 0x7f, 0xff})
	f.Add([]byte{0, 18, 0, 3, 0, 0, 0, 1, 0xff, 0xfe})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, rest, err := parseHeader(b)
		if err == nil && 10+len(h.clientID)+len(rest) != len(b) {
			t.Fatalf("%d bytes of client id and %d after it, of %d", len(h.clientID), len(rest), len(b))
		}
	})
}

func FuzzSkipTags(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 5, 2, 'a', 'b', 9})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		rest, err := skipTags(b)
		if err == nil && !bytes.HasSuffix(b, rest) {
			t.Fatalf("% x is no end of % x", rest, b)
		}
	})
}

func FuzzUvarint(f *testing.F) {
	f.Add([]byte{0x82, 0x80, 0x80, 0x80, 0})
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, rest, err := uvarint(b)
		if err != nil {
			return
		}
		again, more, err := uvarint(append(appendUvarint(nil, v), rest...))
		if err != nil || again != v || !bytes.Equal(more, rest) {
			t.Fatalf("%d parses again to %d: %v", v, again, err)
		}
	})
}

// FuzzValidText makes any bytes valid, in one step and for good, and leaves what is valid alone.
func FuzzValidText(f *testing.F) {
	f.Add([]byte("name"))
	f.Add([]byte("\xff\xfe\xe2\x82 \xed\xa0\x80 \xf0\x9f\x98 \xc0\x80"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := validText(b)
		if !utf8.ValidString(s) || len(s) > 3*len(b) || utf8.Valid(b) && s != string(b) {
			t.Fatalf("% x becomes %q", b, s)
		}
	})
}

// addBodies seeds a target with a body of every API and version.
func addBodies(f *testing.F) {
	every(func(key, version int16) {
		for _, length := range []int{0, 1, 3} {
			w := builder{length: length}
			w.put(shapeOf(key, version))
			f.Add(key, version, w.b)
		}
	})
}

// FuzzCheck walks any body by any shape: what it lets pass ends within the body, and so does the part it passed over.
func FuzzCheck(f *testing.F) {
	addBodies(f)
	f.Fuzz(func(t *testing.T, key, version int16, b []byte) {
		s := shapeOf(key, version)
		w := walker{b: b, limit: 1 << 20}
		if err := w.walk(s); err != nil {
			return
		}
		if !bytes.HasSuffix(b, w.b) {
			t.Fatalf("% x is no end of % x", w.b, b)
		}
		whole := walker{b: b[: len(b)-len(w.b) : len(b)-len(w.b)], limit: 1 << 20}
		if err := whole.walk(s); err != nil || whole.measure != w.measure {
			t.Fatalf("without the bytes after it: %v, %+v and %+v", err, whole.measure, w.measure)
		}
	})
}

// FuzzDecodeBody decodes any body of any API and version. What is decoded encodes to something that decodes again, and
// took no more memory than was reckoned.
func FuzzDecodeBody(f *testing.F) {
	addBodies(f)
	s := NewServer(Options{DecodeMemory: 1 << 20}, table{})
	f.Fuzz(func(t *testing.T, key, version int16, b []byte) {
		c := &Conn{server: s}
		c.ctx.Context = background
		r := &Request{Conn: c, Key: key, Version: version}
		body, err := s.decodeBody(r, b)
		if err == nil {
			checkDecoded(t, body, b)
		}
		r.release()
		if s.decoding.free != s.decoding.size {
			t.Fatalf("%d bytes are not given back", s.decoding.size-s.decoding.free)
		}
	})
}

func checkDecoded(t *testing.T, body kmsg.Request, b []byte) {
	t.Helper()
	if body.IsFlexible() {
		b, _ = skipTags(b)
	}
	m, _ := shapeOf(body.Key(), body.GetVersion()).check(b, 1<<20)
	if took := allocated(t, body.Key(), body.GetVersion(), b, covered(m.cost)); took > covered(m.cost)+64<<10 { // the fuzzer allocates too
		t.Fatalf("reckoned %d bytes, decoding took %d", m.cost, took)
	}
	encoded := body.AppendTo(nil)
	again := kmsg.RequestForKey(body.Key())
	again.SetVersion(body.GetVersion())
	if err := again.ReadFrom(encoded); err != nil {
		t.Fatalf("what was decoded does not decode again: %v", err)
	}
	if !bytes.Equal(again.AppendTo(nil), encoded) {
		t.Fatal("what was decoded decodes to something else")
	}
}

// closings takes the reasons of closed connections.
type closings chan error

func (closings) Request(*Request)        {}
func (closings) Answer(*Request, Answer) {}
func (c closings) Closed(_ *Conn, why error) {
	c <- why
}

// FuzzConnection serves any bytes: the connection ends when they do, and never by a panic.
func FuzzConnection(f *testing.F) {
	every(func(key, version int16) { f.Add(frameOf(NewRequest(key, version), 1)) })
	f.Add([]byte{0, 0, 0, 14, 0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0, 0xde, 0xad, 0})
	ended := make(closings)
	s := NewServer(Options{MaxFrame: 1 << 20, Observer: ended}, table{})
	l, err := s.ListenOn(nowhere{}, ListenOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		here, there := net.Pipe()
		s.ServeConn(l, there)
		go io.Copy(io.Discard, here)
		here.Write(b)
		here.Close()
		if why := <-ended; why != nil && strings.HasPrefix(why.Error(), "panic") {
			t.Fatal(why)
		}
	})
}

// nowhere is a listener at which nobody arrives.
type nowhere struct{}

func (nowhere) Accept() (net.Conn, error) { return nil, errors.New("nowhere") }
func (nowhere) Close() error              { return nil }
func (nowhere) Addr() net.Addr            { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092} }
