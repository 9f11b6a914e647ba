package wire

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Anonymous is the principal of a connection that did not log in.
const Anonymous = "User:ANONYMOUS"

// Conn is a client's connection, as handlers see it.
type Conn struct {
	ID       uint64 // 1, 2, 3, ... in order of acceptance
	Listener *Listener

	server *Server
	nc     net.Conn
	in     *inbox
	out    outbox
	ctx    requestContext
	gate   Session     // nil: open
	login  *time.Timer // ends a connection that does not log in; nil: nobody has to

	hostOnce sync.Once
	host     string // see Host

	mu        sync.Mutex
	software  string
	version   string
	principal string

	state   atomic.Int32 // stateIdle or stateBusy
	writing atomic.Bool  // an answer is being written
	touched atomic.Int64 // when bytes last came or went, Unix ns
	muted   atomic.Pointer[<-chan struct{}]
	why     atomic.Pointer[error]
	watch   watcher
}

// What the sweeper and Shutdown need to know of a connection.
const (
	stateIdle int32 = iota // waiting for a request, or inside its frame
	stateBusy              // a request is in hand
)

// Remote is the peer's address.
func (c *Conn) Remote() net.Addr { return c.nc.RemoteAddr() }

// Local is the connection's address at this end.
func (c *Conn) Local() net.Addr { return c.nc.LocalAddr() }

// Advertised is the address that answers on this connection must name for this broker.
func (c *Conn) Advertised() (host string, port int32) {
	return c.Listener.advertisedTo(c.nc.LocalAddr())
}

// ClientSoftware is what the ApiVersions handler noted with SetClientSoftware.
func (c *Conn) ClientSoftware() (name, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.software, c.version
}

// SetClientSoftware notes the client's name and version (KIP-511).
func (c *Conn) SetClientSoftware(name, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.software, c.version = name, version
}

// Principal is who the connection is, "User:ANONYMOUS" without a login.
func (c *Conn) Principal() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.principal
}

// SetPrincipal is called by the gate when a login succeeds.
func (c *Conn) SetPrincipal(p string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.principal = p
}

// Mute makes the connection's next request wait until the channel is closed: the client has used too much and has been told
// so. Answers leave meanwhile, and who is idle for too long is closed as ever. Of several, the last counts.
func (c *Conn) Mute(until <-chan struct{}) { c.muted.Store(&until) }

// waitOutMute returns when the connection is not muted, or has ended.
func (c *Conn) waitOutMute() {
	until := c.muted.Swap(nil)
	if until == nil {
		return
	}
	select {
	case <-*until:
	case <-c.ended():
	}
}

// Worked is how long the request in hand has been worked at: until now, or until its handler began to wait for something.
func (c *Conn) Worked(since time.Time) time.Duration {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	if c.watch.armed && !c.watch.waiting.IsZero() {
		return max(c.watch.waiting.Sub(since), 0)
	}
	return time.Since(since)
}

// Session is the connection's way through the gate; nil on a listener that has none.
func (c *Conn) Session() Session { return c.gate }

// Context ends when the connection does. Asking for Done on it does not make the server look for the peer's close; asking
// on the context given to a Handle does.
func (c *Conn) Context() context.Context { return c.ctx.Context }

// Close ends the connection; why is told to the Observer. Only the first call counts.
func (c *Conn) Close(why error) {
	if c.why.CompareAndSwap(nil, &why) {
		c.ctx.cancel()
		c.nc.Close()
	}
}

// ended is closed when the connection is.
func (c *Conn) ended() <-chan struct{} { return c.ctx.Context.Done() }

func (c *Conn) reason() error {
	if p := c.why.Load(); p != nil {
		return *p
	}
	return nil
}

// busy says that a request is in hand or an answer is not yet written.
func (c *Conn) busy() bool { return c.state.Load() == stateBusy || !c.out.empty() }

func (c *Conn) touch() { c.touched.Store(time.Now().UnixNano()) }

// requestContext is a connection's context as handlers get it: who asks for Done is going to wait, and from then on the
// peer's close must be noticed while the request is in hand.
type requestContext struct {
	context.Context
	cancel context.CancelFunc
	parks  func()
}

func (c *requestContext) Done() <-chan struct{} {
	c.parks()
	return c.Context.Done()
}
