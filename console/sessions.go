package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Bounds of sessions.
const (
	maxSessions     = 100
	longestSession  = 12 * time.Hour
	longestIdleness = 2 * time.Hour
)

// sessions are who has logged in. They are in memory only: a restart ends them. What is kept of a session's id is a hash, so that
// finding one tells nothing by the time that it takes.
type sessions struct {
	opt      Options
	common   common
	lifetime time.Duration

	mu   sync.Mutex
	byID map[[sha256.Size]byte]*loggedIn
}

// loggedIn is one session: the pages as its user sees them, by a client of his own.
type loggedIn struct {
	inside, outside *Console
	begun, used     time.Time
}

func newSessions(c *Console) *sessions {
	s := &sessions{opt: c.opt, common: c.common, lifetime: c.opt.Login.Lifetime, byID: map[[sha256.Size]byte]*loggedIn{}}
	if s.lifetime <= 0 || s.lifetime > longestSession {
		s.lifetime = longestSession
	}
	return s
}

// pages are the pages that the user may see now.
func (l *loggedIn) pages(ctx context.Context) *Console {
	if l.inside.kafka.mayLookInside(ctx) {
		return l.inside
	}
	return l.outside
}

// begin makes a session and gives its id. When there are too many, the one that was not used for longest ends.
func (s *sessions) begin(r *http.Request, user, password string) (string, error) {
	opt := s.opt
	opt.Login = nil
	if dial := s.opt.Login.Dial; dial != nil {
		opt.Dial = dial(user, addressOf(r))
	}
	if as := s.opt.Login.As; as != nil {
		opt.Client, opt.RegistryTransport = as(user, password)
	}
	if opt.RegistryHandler != nil {
		opt.RegistryHandler = s.opt.Login.Registry(user)
	}
	k, err := newKafka(opt)
	if err != nil {
		return "", fmt.Errorf("begin a session: %w", err)
	}
	l := &loggedIn{inside: newPages(opt, k, s.common), outside: newPages(outsider(opt), k, s.common), begun: s.opt.Now()}
	l.inside.user, l.outside.user, l.outside.outside, l.used = user, user, true, l.begun
	secret := make([]byte, 32)
	rand.Read(secret)
	id := base64.RawURLEncoding.EncodeToString(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if len(s.byID) >= maxSessions {
		s.drop(s.leastUsed())
	}
	s.byID[sha256.Sum256([]byte(id))] = l
	return id, nil
}

// addressOf is where a browser is.
func addressOf(r *http.Request) net.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return nil
	}
	return net.TCPAddrFromAddrPort(at)
}

// of is the session of a request; nil: there is none.
func (s *sessions) of(r *http.Request) *loggedIn {
	id, ok := idOf(r)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	l := s.byID[id]
	if l != nil {
		l.used = s.opt.Now()
	}
	return l
}

func idOf(r *http.Request) (id [sha256.Size]byte, ok bool) {
	cookie, err := r.Cookie(sessionCookie(r))
	if err != nil {
		return id, false
	}
	return sha256.Sum256([]byte(cookie.Value)), true
}

// end ends the session of a request, if there is one.
func (s *sessions) end(r *http.Request) {
	if id, ok := idOf(r); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(id)
	}
}

// sweep ends what has lasted too long. The caller holds mu.
func (s *sessions) sweep() {
	now := s.opt.Now()
	for id, l := range s.byID {
		if now.Sub(l.begun) > s.lifetime || now.Sub(l.used) > longestIdleness {
			s.drop(id)
		}
	}
}

// leastUsed is the session that was not used for longest. The caller holds mu.
func (s *sessions) leastUsed() (least [sha256.Size]byte) {
	var oldest *loggedIn
	for id, l := range s.byID {
		if oldest == nil || l.used.Before(oldest.used) {
			oldest, least = l, id
		}
	}
	return least
}

// drop ends a session: requests of it that are in hand fail. The caller holds mu.
func (s *sessions) drop(id [sha256.Size]byte) {
	if l := s.byID[id]; l != nil {
		delete(s.byID, id)
		go l.inside.kafka.close()
	}
}

func (s *sessions) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.byID {
		delete(s.byID, id)
		l.inside.kafka.close()
	}
}
