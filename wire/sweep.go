package wire

import (
	"errors"
	"time"
)

// ErrIdle ends a connection that was idle for longer than connections.max.idle.ms.
var ErrIdle = errors.New("idle for too long")

// startSweeper starts the one goroutine that looks for idle connections of the whole server.
func (s *Server) startSweeper() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeping || s.opt.MaxIdle < 0 || s.stopping.Load() {
		return
	}
	s.sweeping = true
	every := min(max(s.opt.MaxIdle/20, 10*time.Millisecond), 10*time.Second)
	go s.sweep(every)
}

func (s *Server) sweep(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.closeIdle(time.Now())
		case <-s.ctx.Done():
			return
		}
	}
}

// closeIdle closes what has been idle until now for too long. A connection with a request in hand is not idle, unless
// its peer does not read the answer.
func (s *Server) closeIdle(now time.Time) {
	limit := now.Add(-s.opt.MaxIdle).UnixNano()
	s.closeWhere(ErrIdle, func(c *Conn) bool {
		return c.touched.Load() < limit && (c.writing.Load() || !c.busy())
	})
}

// ErrSlow ends a connection whose large frame comes so slowly that others wait for the memory it has reserved.
var ErrSlow = errors.New("frame comes too slowly")

func (s *Server) closeSlow() {
	now := time.Now()
	s.closeWhere(ErrSlow, func(c *Conn) bool { return c.in.pace.slow(now) })
}
