package wire

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrServerClosed ends connections when the server stops; Serve returns it after Shutdown.
var ErrServerClosed = errors.New("server closed")

// Options of a server. The zero value is Kafka's defaults.
type Options struct {
	MaxFrame           int32         // longest request frame; 0: 104,857,600 (socket.request.max.bytes)
	MaxIdle            time.Duration // connections.max.idle.ms; 0: 10 minutes; negative: never
	MaxConnections     int           // max.connections: beyond it, accepting waits; 0: no limit
	MaxConnectionsByIP int           // max.connections.per.ip: beyond it, a connection is closed at once; 0: no limit
	// MaxLogin is how long a client may take for the handshake of TLS and its login, together; 0: 30 seconds.
	MaxLogin     time.Duration
	FrameMemory  int64 // bytes of request frames over 16 KiB in memory at a time; 0: 256 MiB
	DecodeMemory int64 // bytes that decoded requests may take at a time, and one of them at most; 0: 128 MiB
	Observer     Observer
	// Admit is asked about every connection that is accepted on a TCP listener; nil: all are served at once.
	Admit func(from netip.Addr) Admission
}

// Admission says what becomes of a connection.
type Admission struct {
	// Wait is how long accepting waits before this connection is served: all together make too many.
	Wait time.Duration
	// Refuse is how long the connection is held without being read, then closed; 0: it is served.
	Refuse time.Duration
}

func (o Options) withDefaults() Options {
	if o.MaxFrame == 0 {
		o.MaxFrame = 100 << 20
	}
	if o.MaxIdle == 0 {
		o.MaxIdle = 10 * time.Minute
	}
	if o.MaxLogin == 0 {
		o.MaxLogin = 30 * time.Second
	}
	if o.FrameMemory == 0 {
		o.FrameMemory = 256 << 20
	}
	o.FrameMemory = max(o.FrameMemory, int64(o.MaxFrame))
	if o.DecodeMemory == 0 {
		o.DecodeMemory = 128 << 20
	}
	return o
}

// memoryPatience is how long a request waits for memory before its connection is closed.
const memoryPatience = 10 * time.Second

// Server serves the Kafka protocol on any number of listeners.
type Server struct {
	opt      Options
	apis     APIs
	frames   *budget
	decoding *budget
	ids      atomic.Uint64
	stopping atomic.Bool
	limits   atomic.Pointer[ConnectionLimits]
	ctx      context.Context
	cancel   context.CancelFunc

	mu        sync.Mutex
	listeners []*Listener
	conns     map[*Conn]struct{}
	byIP      map[string]int
	room      *sync.Cond // signalled when a connection ends
	sweeping  bool
	closing   chan struct{}  // closed when Shutdown begins
	refused   int            // connections that are held until they are closed
	done      sync.WaitGroup // connections and the sweeper
}

// NewServer makes a server that listens nowhere yet.
func NewServer(opt Options, apis APIs) *Server {
	opt = opt.withDefaults()
	s := &Server{
		opt: opt, apis: apis,
		frames:   newBudget(opt.FrameMemory, memoryPatience),
		decoding: newBudget(opt.DecodeMemory, memoryPatience),
		conns:    make(map[*Conn]struct{}),
		byIP:     make(map[string]int),
		closing:  make(chan struct{}),
	}
	s.frames.starved = s.closeSlow
	s.limits.Store(limitsOf(opt))
	s.room = sync.NewCond(&s.mu)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// ServeConn serves one connection that was accepted elsewhere (or is one end of a net.Pipe) as if l had accepted it. It
// returns at once.
func (s *Server) ServeConn(l *Listener, nc net.Conn) {
	c := &Conn{ID: s.ids.Add(1), Listener: l, server: s, nc: nc, principal: Anonymous}
	ctx, cancel := context.WithCancel(s.ctx)
	c.ctx = requestContext{Context: ctx, cancel: cancel, parks: c.parks}
	c.out.cond.L = &c.out.mu
	c.in = newInbox(nc, s.frames, c.ended(), c.touch)
	if l.gate != nil {
		c.gate = l.gate.Session(c)
	}
	c.limitLogin()
	c.touch()
	s.mu.Lock()
	if s.stopping.Load() {
		s.mu.Unlock()
		c.Close(ErrServerClosed)
		return
	}
	s.conns[c] = struct{}{}
	s.byIP[peerIP(nc)]++
	s.done.Add(1)
	s.mu.Unlock()
	go c.serve()
}

// ended forgets a connection.
func (s *Server) ended(c *Conn) {
	ip := peerIP(c.nc)
	s.mu.Lock()
	delete(s.conns, c)
	if s.byIP[ip]--; s.byIP[ip] <= 0 {
		delete(s.byIP, ip)
	}
	s.room.Broadcast()
	s.mu.Unlock()
	if o := s.opt.Observer; o != nil {
		o.Closed(c, c.reason())
	}
	s.done.Done()
}

// peerIP is what max.connections.per.ip counts by; connections without an IP address are not counted ("").
func peerIP(nc net.Conn) string {
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		return a.IP.String()
	}
	return ""
}

// Shutdown stops accepting and closes: idle connections at once, a parked request is told by its context, any other
// request in hand may finish until ctx ends; then every connection is closed. It returns when all have ended.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.stopping.Swap(true) {
		close(s.closing)
	}
	s.mu.Lock()
	for _, l := range s.listeners {
		l.close()
	}
	s.room.Broadcast()
	s.mu.Unlock()
	finished := make(chan struct{})
	go func() {
		s.done.Wait()
		close(finished)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s.closeWhere(ErrServerClosed, func(c *Conn) bool { return !c.busy() })
		s.cancelParked()
		select {
		case <-finished:
			s.cancel()
			return nil
		case <-ctx.Done():
			s.cancel()
			s.closeWhere(ErrServerClosed, func(*Conn) bool { return true })
			<-finished
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *Server) closeWhere(why error, match func(*Conn) bool) {
	s.mu.Lock()
	var found []*Conn
	for c := range s.conns {
		if match(c) {
			found = append(found, c)
		}
	}
	s.mu.Unlock()
	for _, c := range found {
		if c.in.raw == nil {
			go c.Close(why) // the end of a TLS connection is told to the peer, who may not read
			continue
		}
		c.Close(why)
	}
}

func (s *Server) cancelParked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.parked() {
			c.ctx.cancel()
		}
	}
}

// described is what an observer is shown of a reply.
func described(reply Reply) kmsg.Response {
	switch reply := reply.(type) {
	case kmsg.Response:
		return reply
	case *Chunked:
		if reply.Describe != nil {
			return reply.Describe()
		}
	}
	return nil
}
