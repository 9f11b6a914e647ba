package handlers

import (
	"context"
	"math"
	"slices"
	"sync"

	"doze/projections"
)

// Share sessions (KIP-932): a member of a share group names the partitions it reads once, and from then on only what
// changes. Unlike those of Fetch a session belongs to a member and holds something: what the member has acquired is released
// when it ends, be it by its last request or with its connection.

// sharePlace is a partition that a session reads.
type sharePlace struct {
	topic     projections.ID
	partition int32
}

// shareSessionPlace is a place in a session; news says that the member is to be told of it though it has no records.
type shareSessionPlace struct {
	sharePlace
	news bool
}

type shareMemberKey struct{ group, member string }

// shareSession is one member's.
type shareSession struct {
	key    shareMemberKey
	epoch  int32 // of the next request
	conn   uint64
	places []*shareSessionPlace // in the order in which they are served
	index  map[sharePlace]*shareSessionPlace
}

// Epochs of a share session: 0 begins one, -1 ends it.
const (
	initialShareEpoch = 0
	finalShareEpoch   = -1
)

// maxSharePlaces bounds the places of all sessions, which may be any that a client names.
const maxSharePlaces = 1 << 20

// shareSessions is all of them, bounded by group.share.max.share.sessions.
type shareSessions struct {
	mu       sync.Mutex
	most     int
	sessions map[shareMemberKey]*shareSession
	perGroup map[string]int // sessions
	conns    map[uint64]*shareConn
	places   int
	// left is called when a session ended with its connection, empty when a group's last one did.
	left  func(key shareMemberKey, places []sharePlace)
	empty func(group string)

	ending  int // sessions that are removed and of which left has not returned yet
	closed  bool
	settled *sync.Cond
}

// shareConn is a connection on which a session began: the last of them counts, as in Kafka.
type shareConn struct {
	key   shareMemberKey
	stale bool // its session ended before it
}

func newShareSessions(most int) *shareSessions {
	s := &shareSessions{
		most: most, sessions: map[shareMemberKey]*shareSession{}, perGroup: map[string]int{}, conns: map[uint64]*shareConn{},
	}
	s.settled = sync.NewCond(&s.mu)
	return s
}

// shareRequest is a ShareFetch as its session sees it.
type shareRequest struct {
	key     shareMemberKey
	epoch   int32
	asked   []sharePlace
	forgets []sharePlace
	acks    bool
	conn    uint64
	ended   context.Context // done when the connection is
}

// shareContext is one request seen through its session.
type shareContext struct {
	places  []sharePlace
	session *shareSession // of a request that is not the first or last
	epoch   int32         // that the session has after it
	code    int16
}

// open says what a request asks for.
func (s *shareSessions) open(r *shareRequest) shareContext {
	c, replaced := s.resume(r)
	if replaced != nil { // by the member on another connection: the old one is gone, or will be
		s.left(replaced.key, replaced.list())
	}
	return c
}

func (s *shareSessions) resume(r *shareRequest) (c shareContext, replaced *shareSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[r.key]
	if r.epoch == initialShareEpoch && session != nil && session.conn != r.conn {
		replaced = session
	}
	return s.see(r, session), replaced
}

// see looks at a request through the member's session, nil when there is none.
func (s *shareSessions) see(r *shareRequest, session *shareSession) shareContext {
	switch {
	case r.epoch == initialShareEpoch:
		return s.begin(r)
	case session == nil:
		return shareContext{code: shareSessionNotFound}
	case r.epoch == finalShareEpoch:
		return shareContext{}
	case r.epoch != session.epoch:
		return shareContext{code: invalidShareSessionEpoch}
	}
	s.places -= len(session.places)
	session.update(r.asked, r.forgets)
	s.places += len(session.places)
	if s.places > maxSharePlaces {
		s.remove(session)
		return shareContext{code: shareSessionNotFound}
	}
	session.epoch = nextShareEpoch(session.epoch)
	return shareContext{places: session.list(), session: session, epoch: session.epoch}
}

func nextShareEpoch(epoch int32) int32 {
	if epoch == math.MaxInt32 {
		return 1
	}
	return epoch + 1
}

// begin makes a session in place of the one that the member had.
func (s *shareSessions) begin(r *shareRequest) shareContext {
	if r.acks {
		return shareContext{code: invalidRequest}
	}
	s.remove(s.sessions[r.key])
	if len(s.sessions) >= s.most || s.places+len(r.asked) > maxSharePlaces {
		return shareContext{code: shareSessionLimitReached}
	}
	session := &shareSession{key: r.key, epoch: nextShareEpoch(initialShareEpoch), conn: r.conn, index: map[sharePlace]*shareSessionPlace{}}
	for _, place := range r.asked {
		session.add(place, false)
	}
	s.sessions[r.key] = session
	s.perGroup[r.key.group]++
	s.places += len(session.places)
	if s.conns[r.conn] == nil {
		context.AfterFunc(r.ended, func() { s.connEnded(r.conn) })
	}
	s.conns[r.conn] = &shareConn{key: r.key}
	return shareContext{places: session.list()}
}

func (s *shareSession) add(place sharePlace, news bool) {
	if s.index[place] == nil {
		p := &shareSessionPlace{place, news}
		s.index[place] = p
		s.places = append(s.places, p)
	}
}

func (s *shareSession) update(asked, forgets []sharePlace) {
	for _, place := range asked {
		s.add(place, true)
	}
	if len(forgets) == 0 {
		return
	}
	for _, place := range forgets {
		delete(s.index, place)
	}
	s.places = slices.DeleteFunc(s.places, func(p *shareSessionPlace) bool { return s.index[p.sharePlace] != p })
}

func (s *shareSession) list() []sharePlace {
	all := make([]sharePlace, len(s.places))
	for i, p := range s.places {
		all[i] = p.sharePlace
	}
	return all
}

// acknowledge says whether a ShareAcknowledge comes at its turn; the session's epoch rises unless it is the last.
func (s *shareSessions) acknowledge(key shareMemberKey, epoch int32) int16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[key]
	switch {
	case epoch == initialShareEpoch:
		return invalidShareSessionEpoch
	case session == nil:
		return shareSessionNotFound
	case epoch == finalShareEpoch:
		return none
	case epoch != session.epoch:
		return invalidShareSessionEpoch
	}
	session.epoch = nextShareEpoch(session.epoch)
	return none
}

// answer says which results go into an answer: those with records or errors, and those that are new to the session. The
// ones with records move to the back, so that others are served before them. False: the session went on meanwhile.
func (s *shareSessions) answer(c shareContext, results []*shareResult) (told []*shareResult, inTurn bool) {
	if c.session == nil {
		return results, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.session.epoch != c.epoch {
		return nil, false
	}
	for _, r := range results {
		at := c.session.index[r.place]
		if at == nil {
			continue
		}
		if r.size() > 0 || r.code != none || at.news {
			told = append(told, r)
		}
		at.news = r.code != none
		if i := slices.Index(c.session.places, at); r.size() > 0 && i < len(c.session.places)-1 {
			c.session.places = append(slices.Delete(c.session.places, i, i+1), at)
		}
	}
	return told, true
}

// end ends a member's session and gives what it read; false: there is none.
func (s *shareSessions) end(key shareMemberKey) ([]sharePlace, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[key]
	if session == nil {
		return nil, false
	}
	s.remove(session)
	return session.list(), true
}

// remove forgets a session, nil for none.
func (s *shareSessions) remove(session *shareSession) {
	if session == nil {
		return
	}
	delete(s.sessions, session.key)
	s.places -= len(session.places)
	if s.perGroup[session.key.group]--; s.perGroup[session.key.group] == 0 {
		delete(s.perGroup, session.key.group)
	}
	if c := s.conns[session.conn]; c != nil {
		c.stale = true
	}
}

// connEnded ends the session that began last on the connection. Without any session left the group's partitions are given
// up: who fetches next takes them up anew.
func (s *shareSessions) connEnded(conn uint64) {
	s.mu.Lock()
	c := s.conns[conn]
	delete(s.conns, conn)
	var places []sharePlace
	session := s.sessions[c.key]
	ended := !c.stale && session != nil
	if ended {
		places = session.list()
		s.remove(session)
		s.ending++
	}
	last := s.perGroup[c.key.group] == 0 && !s.closed
	s.mu.Unlock()
	if ended {
		s.left(c.key, places)
		s.mu.Lock()
		s.ending--
		s.settled.Broadcast()
		s.mu.Unlock()
	}
	if last {
		s.empty(c.key.group)
	}
}

// close forgets all sessions, and gives them, for good: what they hold is the caller's to give back, so the end of their connections
// does not give partitions up any more.
func (s *shareSessions) close() []*shareSession {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.clear()
}

// clear forgets all sessions, and gives them. What sessions held that ended before is given back when it returns: a broker that
// stops writes down no delivery afterwards.
func (s *shareSessions) clear() (all []*shareSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		all = append(all, session)
		s.remove(session)
	}
	for s.ending > 0 {
		s.settled.Wait()
	}
	return all
}
