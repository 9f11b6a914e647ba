package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// serve is a connection's goroutine, from its acceptance to its end.
func (c *Conn) serve() {
	defer c.server.ended(c)
	defer c.endLogin()
	defer c.recovered()
	err := c.secure()
	if err == nil {
		err = c.requests()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	c.out.wait() // answers to what was asked before the peer closed its half
	c.Close(err)
}

// recovered turns a panic of an observer, a gate or the server itself into the end of one connection.
func (c *Conn) recovered() {
	if p := recover(); p != nil {
		c.Close(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		c.out.wait()
	}
}

// requests takes one request after the other in hand until the connection ends.
func (c *Conn) requests() error {
	defer c.in.close()
	for {
		c.state.Store(stateIdle)
		c.waitOutMute()
		if c.server.stopping.Load() {
			return ErrServerClosed
		}
		f, err := c.in.next(c.frameLimit())
		if err != nil {
			return err
		}
		c.state.Store(stateBusy)
		if err := c.request(f); err != nil {
			return err
		}
		c.loggedIn()
		if c.why.Load() != nil {
			return c.reason()
		}
	}
}

// request serves one frame. An error closes the connection, once the answers before it are written. However it ends, by a
// panic too, what the request holds is given back: here, or by the goroutine that writes its answer.
func (c *Conn) request(f frame) error {
	r := &Request{Conn: c, Received: time.Now(), Size: len(f.body), frame: f}
	defer func() {
		if !r.queued {
			r.release()
		}
	}()
	if c.gate != nil && !c.gate.Open() {
		if taken, err := c.token(f.body); taken || err != nil {
			return err
		}
	}
	handle, err := c.decode(r)
	if err != nil {
		return err
	}
	if r.Body == nil && !c.toGate(r.Key) {
		return c.tooNew(r)
	}
	if o := c.server.opt.Observer; o != nil && r.Body != nil {
		o.Request(observed(r))
	}
	reply, err := c.handle(r, handle)
	if err != nil {
		c.out.wait()
		if r.Body == nil {
			r.Body = kmsg.NewPtrApiVersionsRequest()
		}
		c.finish(r, nil, err)
		return err
	}
	if last, ok := reply.(Last); ok {
		c.out.wait()
		c.finish(r, last.Response, nil)
		return last.Why
	}
	if r.Body == nil {
		return c.tooNew(r) // the gate let it pass
	}
	c.answer(r, reply)
	return nil
}

// handle calls the gate or the table's handler, whose panic becomes an error: the request is let go of as after any
// other, and other connections do not notice.
func (c *Conn) handle(r *Request, handle Handle) (reply Reply, err error) {
	c.beginHandling()
	defer c.endHandling()
	defer func() {
		if p := recover(); p != nil {
			reply, err = nil, fmt.Errorf("panic in a handler: %v\n%s", p, debug.Stack())
		}
	}()
	if c.toGate(r.Key) {
		reply, pass, err := c.gate.Request(&c.ctx, r)
		if err != nil || !pass || r.Body == nil {
			return reply, err
		}
	}
	return handle(&c.ctx, r)
}

// token shows a frame without a header to the gate. What was asked before, in a session that is being renewed, is answered
// first.
func (c *Conn) token(body []byte) (bool, error) {
	answer, taken, err := c.gate.Frame(&c.ctx, body)
	if err != nil || !taken || answer == nil {
		return taken, err
	}
	c.out.wait()
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(answer)), uint32(len(answer)))
	_, err = c.nc.Write(append(b, answer...))
	return true, err
}

// finish writes an answer (unless there is none, or the connection has ended) and lets go of the request.
func (c *Conn) finish(r *Request, reply Reply, err error) {
	var a Answer
	o := c.server.opt.Observer
	if o != nil {
		a.Handled = time.Now()
	}
	if err == nil && reply != nil {
		if err = c.reason(); err == nil {
			a.Size, err = c.write(r, reply)
		} else if ch, ok := reply.(*Chunked); ok {
			ch.Release()
		}
	}
	if err != nil {
		c.Close(err)
	}
	if o != nil {
		a.Written, a.Err, a.Response = time.Now(), err, answerWithoutSecrets(described(reply))
		o.Answer(observed(r), a)
	}
	r.release()
	c.touch()
}
