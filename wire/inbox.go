package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// inbox is the reading half of a connection. Between requests it holds no buffer: it waits for the socket to become
// readable and takes a chunk only then.
type inbox struct {
	nc    net.Conn
	raw   syscall.RawConn // nil: not a plain socket
	try   func(fd uintptr) bool
	mem   *budget
	done  <-chan struct{} // closed when the connection is
	touch func()          // called when bytes have come
	pace  pace

	c    *chunk
	r, w int // c.buf[r:w] is read and not yet consumed

	ended error    // the stream's end, found by reading ahead
	n     int      // what the last try read
	err   error    // or why it could not
	first [64]byte // for connections that cannot be tried: what wakes them
}

func newInbox(nc net.Conn, mem *budget, done <-chan struct{}, touch func()) *inbox {
	in := &inbox{nc: nc, mem: mem, done: done, touch: touch}
	if in.raw = rawConn(nc); in.raw != nil {
		in.try = in.tryRead
	}
	return in
}

func (in *inbox) buffered() int { return in.w - in.r }

// room is the free part of the chunk; it takes a chunk when there is none.
func (in *inbox) room() []byte {
	if in.c == nil {
		in.c, in.r, in.w = getChunk(), 0, 0
	}
	return in.c.buf[in.w:]
}

// shed lets go of the chunk when all of it is consumed.
func (in *inbox) shed() {
	if in.c != nil && in.r == in.w {
		in.c.release()
		in.c, in.r, in.w = nil, 0, 0
	}
}

// fill reads at least one byte more. The caller has seen to it that the chunk has room.
func (in *inbox) fill() error {
	if in.ended != nil {
		return in.ended
	}
	in.shed()
	var err error
	switch {
	case in.raw != nil:
		if err = in.raw.Read(in.try); err == nil {
			err = in.err
		}
	case in.c != nil:
		in.n, err = in.nc.Read(in.room())
	default:
		if in.n, err = in.nc.Read(in.first[:]); in.n > 0 {
			copy(in.room(), in.first[:in.n])
		}
	}
	if in.n > 0 {
		in.w += in.n
		in.n = 0
		in.touch()
		return nil
	}
	in.shed()
	return err
}

// need reads until n bytes are buffered; n fits a chunk.
func (in *inbox) need(n int) error {
	for in.buffered() < n {
		if in.buffered() > 0 && in.r+n > chunkSize {
			in.compact()
		}
		if err := in.fill(); err != nil {
			return err
		}
	}
	return nil
}

// compact moves what is buffered to the start of a chunk: of this one if no frame lies in it, else of a fresh one.
func (in *inbox) compact() {
	to := in.c
	if to.refs.Load() > 1 {
		to = getChunk()
	}
	n := copy(to.buf[:], in.c.buf[in.r:in.w])
	if to != in.c {
		in.c.release()
	}
	in.c, in.r, in.w = to, 0, n
}

// next reads one frame. io.EOF: the peer closed between two frames.
func (in *inbox) next(limit int32) (frame, error) {
	if err := in.need(4); err != nil {
		if in.buffered() > 0 {
			err = inside(err)
		}
		return frame{}, err
	}
	n, err := checkLength(in.c.buf[in.r:in.w], limit)
	if err != nil {
		return frame{}, err
	}
	if n+4 > chunkSize {
		return in.nextBig(n)
	}
	if err := in.need(4 + n); err != nil {
		return frame{}, inside(err)
	}
	from := in.r + 4
	in.r = from + n
	in.c.refs.Add(1)
	f := frame{body: in.c.buf[from:in.r:in.r], chunk: in.c}
	in.shed()
	return f, nil
}

// growth bounds a big frame's buffer: it is never larger than 64 KiB or growth times the bytes that have come. A frame
// of 1 MiB is copied for its first 64 KiB only.
const (
	growth   = 16
	firstBig = 64 << 10
)

// nextBig reads a frame that does not fit a chunk into a buffer of its own. Its whole length is reserved in one step
// once the first bytes of it are there (two frames can never wait for each other's half), but allocated as they come.
func (in *inbox) nextBig(n int) (frame, error) {
	in.r += 4
	if err := in.mem.take(int64(n), in.done); err != nil {
		return frame{}, err
	}
	f := frame{big: getBuffer(min(n, firstBig)), mem: in.mem, charged: int64(n)}
	in.pace.begin()
	err := in.readBig(&f, n)
	in.pace.end()
	if err != nil {
		f.release()
		return frame{}, err
	}
	return f, nil
}

func (in *inbox) readBig(f *frame, n int) error {
	got := copy(f.big.b[:min(n, cap(f.big.b))], in.c.buf[in.r:in.w])
	in.r += got
	in.shed()
	for got < n {
		if got == cap(f.big.b) {
			f.big = regrow(f.big, got, min(n, growth*got))
		}
		m, err := in.nc.Read(f.big.b[got:min(n, cap(f.big.b))])
		if m == 0 && err != nil {
			return inside(err)
		}
		got += m
		in.pace.got.Store(int64(got))
		in.touch()
	}
	f.body = f.big.b[:n:n]
	return nil
}

// pace is how fast a big frame comes.
type pace struct {
	since atomic.Int64 // when its reading began, Unix ns; 0: none is being read
	got   atomic.Int64 // bytes so far
}

func (p *pace) begin() {
	p.got.Store(0)
	p.since.Store(time.Now().UnixNano())
}

func (p *pace) end() { p.since.Store(0) }

// slow says that a big frame is being read and comes slower than a modem's worth, after a second's grace.
func (p *pace) slow(now time.Time) bool {
	const leastPerSecond = 64 << 10
	since := p.since.Load()
	took := now.Sub(time.Unix(0, since))
	return since != 0 && took > time.Second && float64(p.got.Load()) < leastPerSecond*took.Seconds()
}

// regrow moves the first got bytes of b to a buffer with room for size.
func regrow(b *buffer, got, size int) *buffer {
	to := getBuffer(size)
	copy(to.b[:got], b.b[:got])
	b.release()
	return to
}

// ahead reads on until the stream ends, which it reports with true, until the chunk is full, or until a deadline stops
// it. Nobody else may use the inbox meanwhile.
func (in *inbox) ahead() bool {
	for {
		if in.buffered() > 0 && in.w == chunkSize {
			if in.r == 0 {
				return false
			}
			in.compact()
		}
		err := in.fill()
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return false
		}
		in.ended = err
		return true
	}
}

// close lets go of what the inbox holds.
func (in *inbox) close() {
	in.r = in.w
	in.shed()
}

// inside turns the end of the stream within a frame into io.ErrUnexpectedEOF.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
