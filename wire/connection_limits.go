package wire

import "math"

// ConnectionLimits are what can change while a server runs; Options has them for a start.
type ConnectionLimits struct {
	Total    int            // max.connections: beyond it, accepting waits; 0: no limit
	PerIP    int            // max.connections.per.ip: beyond it, a connection is closed at once; math.MaxInt32: no limit
	OtherIPs map[string]int // max.connections.per.ip.overrides: another limit for single addresses
}

// limitsOf are those of the options, where 0 is no limit.
func limitsOf(opt Options) *ConnectionLimits {
	limits := ConnectionLimits{Total: opt.MaxConnections, PerIP: opt.MaxConnectionsByIP}
	if limits.PerIP <= 0 {
		limits.PerIP = math.MaxInt32
	}
	return &limits
}

// SetConnectionLimits holds connections from now on to other limits; those that there are stay. The map is not changed and
// must not be.
func (s *Server) SetConnectionLimits(limits ConnectionLimits) {
	s.limits.Store(&limits)
	s.mu.Lock()
	s.room.Broadcast()
	s.mu.Unlock()
}

// crowded says whether there are as many connections as there may be; the caller holds the lock.
func (s *Server) crowded() bool {
	limit := s.limits.Load().Total
	return limit > 0 && len(s.conns) >= limit
}

// full says whether an address has as many connections as it may have.
func (s *Server) full(ip string) bool {
	limits := s.limits.Load()
	limit, other := limits.OtherIPs[ip]
	if !other {
		limit = limits.PerIP
	}
	if ip == "" || limit >= math.MaxInt32 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byIP[ip] >= limit
}
