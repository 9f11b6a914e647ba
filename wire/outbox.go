package wire

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// maxPending bounds the answers of a connection that wait behind a Later. Kafka's clients have at most five requests in
// flight; what a client pipelines beyond this waits in its socket.
const maxPending = 32

// pending is a request whose answer is to be written, in its turn.
type pending struct {
	r     *Request
	reply Reply
}

// outbox keeps answers in the order of their requests once there is a Later among them: it and everything behind it are
// written by a goroutine that lives as long as something waits.
type outbox struct {
	mu      sync.Mutex
	cond    sync.Cond
	queue   []pending
	running bool
}

// empty says that nothing waits: an answer may be written at once.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.running
}

// push adds an answer, waiting for a place. It returns true when the caller must start the writing goroutine.
func (o *outbox) push(p pending) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) >= maxPending {
		o.cond.Wait()
	}
	o.queue = append(o.queue, p)
	start := !o.running
	o.running = true
	return start
}

// pop gives the oldest; false means that nothing is left and the writing goroutine has ended.
func (o *outbox) pop() (pending, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cond.Broadcast()
	if len(o.queue) == 0 {
		o.running, o.queue = false, nil
		return pending{}, false
	}
	p := o.queue[0]
	o.queue[0] = pending{}
	o.queue = o.queue[1:]
	return p, true
}

// wait returns when nothing is pending.
func (o *outbox) wait() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.running {
		o.cond.Wait()
	}
}

// answer writes a reply, or puts it in its place behind those that wait.
func (c *Conn) answer(r *Request, reply Reply) {
	_, later := reply.(Later)
	if !later && (reply == nil || c.out.empty()) {
		c.finish(r, reply, nil)
		return
	}
	r.queued = true
	if c.out.push(pending{r, reply}) {
		go c.drain()
	}
}

// drain writes what waits, in order, until nothing does.
func (c *Conn) drain() {
	for {
		p, ok := c.out.pop()
		if !ok {
			return
		}
		c.complete(p)
	}
}

// complete writes one answer that waited. A panic on the way, of an observer or of what encodes the answer, ends the
// connection and nothing else.
func (c *Conn) complete(p pending) {
	defer func() {
		if v := recover(); v != nil {
			c.Close(fmt.Errorf("panic while answering: %v\n%s", v, debug.Stack()))
			p.r.release()
		}
	}()
	reply := p.reply
	var err error
	if later, ok := reply.(Later); ok {
		reply, err = c.resolve(later)
	}
	c.finish(p.r, reply, err)
}

// resolve waits for a Later.
func (c *Conn) resolve(later Later) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = nil, fmt.Errorf("panic in a Later: %v\n%s", p, debug.Stack())
		}
	}()
	return later(c.ctx.Context)
}
