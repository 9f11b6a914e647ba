package wire

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

var background = context.Background()

// keepAlive turns TCP keep-alive on, as Kafka does, with the system's own intervals: one system call instead of four.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: -1, Interval: -1, Count: -1}

// Serve accepts on every listener until ctx ends or Shutdown is called, and returns when accepting has ended: nil after
// either. It closes no connection: that is Shutdown's.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	var ended bool // under mu
	end := func() {
		s.mu.Lock()
		ended = true
		s.mu.Unlock()
		s.room.Broadcast()
		for _, l := range listeners {
			l.close()
		}
	}
	defer context.AfterFunc(ctx, end)()
	s.startSweeper()
	var all sync.WaitGroup
	errs := make([]error, len(listeners))
	for i, l := range listeners {
		all.Go(func() {
			if errs[i] = s.accept(l, &ended); errs[i] != nil {
				end() // a broker that has lost a listener stops, rather than be there for some and not for others
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// accept takes connections from one listener. When the process is out of descriptors it waits and tries again: a
// connection that ends gives one back.
func (s *Server) accept(l *Listener, ended *bool) error {
	const longest = time.Second
	pause := 5 * time.Millisecond
	for {
		if !s.waitForRoom(ended) {
			return nil
		}
		nc, err := l.ln.Accept()
		if err == nil {
			pause = 5 * time.Millisecond
			s.accepted(l, nc)
			continue
		}
		if s.stopping.Load() || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if !passing(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
		}
		pause = min(2*pause, longest)
	}
}

// passing says that an accept error is one that time mends: no descriptor or memory left, a peer gone before its turn.
func passing(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// waitForRoom waits until there are fewer connections than allowed. false: accepting has ended.
func (s *Server) waitForRoom(ended *bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.crowded() && !s.stopping.Load() && !*ended {
		s.room.Wait()
	}
	return !s.stopping.Load() && !*ended
}

// accepted serves a connection, or closes it when its address has too many.
func (s *Server) accepted(l *Listener, nc net.Conn) {
	if s.opt.Admit != nil && !s.admitted(nc) {
		return
	}
	if s.full(peerIP(nc)) {
		nc.Close()
		return
	}
	if l.wrap != nil {
		nc = l.wrap(nc)
	}
	s.ServeConn(l, nc)
}

// maxRefused is how many refused connections are held at a time; those beyond are closed at once.
const maxRefused = 1000

// admitted asks whether a connection may be served now. One that may not is held for a while, so that a client that tries again
// at once does not, and closed.
func (s *Server) admitted(nc net.Conn) bool {
	from, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return true
	}
	a := s.opt.Admit(from.AddrPort().Addr().Unmap().WithZone(""))
	if a.Wait > 0 {
		select {
		case <-time.After(a.Wait):
		case <-s.closing:
		}
	}
	if a.Refuse > 0 {
		s.hold(nc, a.Refuse)
		return false
	}
	return true
}

func (s *Server) hold(nc net.Conn, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused >= maxRefused || s.stopping.Load() {
		nc.Close()
		return
	}
	s.refused++
	s.done.Go(func() {
		select {
		case <-time.After(d):
		case <-s.closing:
		}
		nc.Close()
		s.mu.Lock()
		s.refused--
		s.mu.Unlock()
	})
}
