package wire

import (
	"sync"
	"time"
)

// parkedAfter is how long a request may wait before somebody looks after its peer.
const parkedAfter = 50 * time.Millisecond

// watcher notices the peer's close while a request is parked. A handler that asks for ctx.Done() arms a timer; if the
// handler is still there when it fires, a goroutine reads ahead into the connection's chunk until the end of the stream,
// or until the chunk is full. What it reads is the next request, and is found there by the connection's goroutine.
//
// The connection's goroutine calls begin before the handler and end after it; it does not touch the inbox in between.
// end stops a timer that did not fire, or makes the reading goroutine's read fail at once by a deadline in the past and
// waits for it.
type watcher struct {
	mu      sync.Mutex
	inHand  bool
	armed   bool
	waiting time.Time // since when, if armed
	timer   *time.Timer
	reading chan struct{} // closed when the goroutine has gone; nil: there is none
}

func (c *Conn) beginHandling() {
	c.watch.mu.Lock()
	c.watch.inHand, c.watch.armed = true, false
	c.watch.mu.Unlock()
}

// parks is what requestContext.Done calls.
func (c *Conn) parks() {
	w := &c.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.inHand || w.armed {
		return
	}
	w.armed, w.waiting = true, time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(parkedAfter, c.watchPeer)
		return
	}
	w.timer.Reset(parkedAfter)
}

func (c *Conn) watchPeer() {
	w := &c.watch
	w.mu.Lock()
	if !w.inHand || !w.armed || w.reading != nil {
		w.mu.Unlock()
		return
	}
	done := make(chan struct{})
	w.reading = done
	w.mu.Unlock()
	defer close(done)
	if c.server.stopping.Load() {
		c.ctx.cancel()
	}
	if c.in.ahead() {
		c.ctx.cancel()
	}
}

func (c *Conn) endHandling() {
	w := &c.watch
	w.mu.Lock()
	w.inHand = false
	if w.armed && w.timer != nil {
		w.timer.Stop()
	}
	reading := w.reading
	w.mu.Unlock()
	if reading == nil {
		return
	}
	c.nc.SetReadDeadline(time.Unix(1, 0))
	<-reading
	c.nc.SetReadDeadline(time.Time{})
	w.mu.Lock()
	w.reading = nil
	w.mu.Unlock()
}

// parked says whether a request has been waiting for longer than parkedAfter.
func (c *Conn) parked() bool {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	return c.watch.reading != nil
}
