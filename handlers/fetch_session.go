package handlers

import (
	"cmp"
	"container/list"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// Fetch sessions (KIP-227): a consumer that fetches again and again names only the partitions that changed, and is answered
// only those that have something to say. Sessions are soft state: a broker that has forgotten one answers
// FETCH_SESSION_ID_NOT_FOUND and the client begins anew.

// fetchPartition is one partition that a request, or the session behind it, asks for.
type fetchPartition struct {
	topic    string         // by name, before v13
	topicID  projections.ID // by id, since v13
	number   int32
	offset   int64
	maxBytes int32
	// currentEpoch is the leader epoch that the client believes in, lastEpoch that of the record before offset; -1: not said.
	currentEpoch, lastEpoch int32

	// What the session answered last: a partition is answered again when one of them has changed.
	highWatermark, logStart int64
}

type fetchKey struct {
	topic  string
	id     projections.ID
	number int32
}

func (p *fetchPartition) key() fetchKey { return fetchKey{p.topic, p.topicID, p.number} }

// fetchSession remembers the partitions in the order in which they are served: those that had records go to the back.
type fetchSession struct {
	id       int32
	epoch    int32 // of the next request
	byID     bool  // names topics by id (v13+)
	order    *list.List
	index    map[fetchKey]*list.Element
	created  int64
	lastUsed int64
	bytes    int64 // of the partitions, as reckoned by fetchPartition.bytes
}

// Epochs of a session: 0 asks for a new one, -1 wants none (and closes the one it names).
const (
	initialFetchEpoch = 0
	finalFetchEpoch   = -1
	// fetchSessionEviction is how long a session must rest before another may take its slot, ms.
	fetchSessionEviction = 120_000
)

// maxFetchSessionBytes bounds the partitions of all sessions, which may be any that a client names. A session that would
// grow beyond is forgotten, and full fetches get none.
const maxFetchSessionBytes = 128 << 20

// bytes is what a partition takes in a session.
func (p *fetchPartition) bytes() int64 { return 320 + int64(len(p.topic)) }

// fetchSessions is the cache of sessions, bounded by max.incremental.fetch.session.cache.slots.
type fetchSessions struct {
	mu       sync.Mutex
	clock    journal.Clock
	slots    int
	sessions map[int32]*fetchSession
	room     int64 // bytes that sessions may still take
}

func newFetchSessions(slots int, clock journal.Clock) *fetchSessions {
	return &fetchSessions{clock: clock, slots: slots, sessions: map[int32]*fetchSession{}, room: maxFetchSessionBytes}
}

// fetchContext is one request seen through its session.
type fetchContext struct {
	partitions []*fetchPartition
	session    *fetchSession // of an incremental fetch
	wantsOne   bool          // a full fetch that would like a session
	byID       bool
	code       int16 // the request is refused as a whole
}

// open says what a request asks for.
func (s *fetchSessions) open(req *kmsg.FetchRequest) fetchContext {
	asked := askedPartitions(req)
	if req.Version < 7 {
		return fetchContext{partitions: asked}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.SessionEpoch == finalFetchEpoch || req.SessionEpoch == initialFetchEpoch {
		s.drop(s.sessions[req.SessionID])
		return fetchContext{partitions: asked, wantsOne: req.SessionEpoch == initialFetchEpoch, byID: req.Version >= 13}
	}
	return s.resume(req, asked)
}

func (s *fetchSessions) resume(req *kmsg.FetchRequest, asked []*fetchPartition) fetchContext {
	session := s.sessions[req.SessionID]
	switch {
	case session == nil:
		return fetchContext{code: fetchSessionIDNotFound}
	case session.epoch != req.SessionEpoch:
		return fetchContext{code: invalidFetchSessionEpoch}
	case session.byID != (req.Version >= 13):
		return fetchContext{code: fetchSessionTopicIDError}
	}
	before := session.bytes
	session.update(asked, req.ForgottenTopics)
	s.room -= session.bytes - before
	if s.room < 0 && session.bytes > before {
		s.drop(session)
		return fetchContext{code: fetchSessionIDNotFound}
	}
	if session.order.Len() == 0 {
		s.drop(session)
		return fetchContext{partitions: asked}
	}
	session.lastUsed = s.clock.NowMillis()
	session.epoch = nextFetchEpoch(session.epoch)
	return fetchContext{partitions: session.partitions(), session: session}
}

func nextFetchEpoch(epoch int32) int32 {
	if epoch == math.MaxInt32 {
		return 1
	}
	return epoch + 1
}

// askedPartitions are the partitions that the request names, each once: the last mention counts.
func askedPartitions(req *kmsg.FetchRequest) []*fetchPartition {
	var asked []*fetchPartition
	seen := map[fetchKey]int{}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			partition := &fetchPartition{
				topic: t.Topic, topicID: t.TopicID, number: p.Partition, offset: p.FetchOffset, maxBytes: p.PartitionMaxBytes,
				currentEpoch: max(p.CurrentLeaderEpoch, -1), lastEpoch: p.LastFetchedEpoch, highWatermark: -1, logStart: -1,
			}
			if at, again := seen[partition.key()]; again {
				asked[at] = partition
				continue
			}
			seen[partition.key()] = len(asked)
			asked = append(asked, partition)
		}
	}
	return asked
}

func (s *fetchSession) update(asked []*fetchPartition, forgotten []kmsg.FetchRequestForgottenTopic) {
	for _, p := range asked {
		at, known := s.index[p.key()]
		if !known {
			s.index[p.key()] = s.order.PushBack(p)
			s.bytes += p.bytes()
			continue
		}
		// Partitions of an answer in the making are never changed: store another.
		was := at.Value.(*fetchPartition)
		p.highWatermark, p.logStart = was.highWatermark, was.logStart
		at.Value = p
	}
	for _, t := range forgotten {
		for _, number := range t.Partitions {
			key := fetchKey{t.Topic, t.TopicID, number}
			if at, known := s.index[key]; known {
				s.bytes -= s.order.Remove(at).(*fetchPartition).bytes()
				delete(s.index, key)
			}
		}
	}
}

func (s *fetchSession) partitions() []*fetchPartition {
	all := make([]*fetchPartition, 0, s.order.Len())
	for at := s.order.Front(); at != nil; at = at.Next() {
		all = append(all, at.Value.(*fetchPartition))
	}
	return all
}

// answer says which results go into the answer and which session id stands in it; results are those of c.partitions.
func (s *fetchSessions) answer(c fetchContext, results []fetchResult) (id int32, included []fetchResult) {
	switch {
	case c.session != nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		return c.session.id, c.session.changed(results)
	case c.wantsOne:
		return s.create(c, results), results
	}
	return 0, results
}

// changed picks what the client does not know yet, and remembers it as known. Partitions with records move to the back, so
// that those behind them are served next time.
func (s *fetchSession) changed(results []fetchResult) []fetchResult {
	included := results[:0]
	for _, r := range results {
		at := s.index[r.partition.key()]
		if at == nil { // another request of the session has forgotten it
			r.release()
			continue
		}
		if at.Value.(*fetchPartition).learn(&r) {
			included = append(included, r)
		}
		if r.size() > 0 {
			s.order.MoveToBack(at)
		}
	}
	return included
}

// wouldAnswer picks what answer would, and changes nothing.
func (s *fetchSessions) wouldAnswer(c fetchContext, results []fetchResult) (included []fetchResult) {
	if c.session == nil {
		return results
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range results {
		if at := c.session.index[r.partition.key()]; at != nil {
			if seen := *at.Value.(*fetchPartition); seen.learn(&r) {
				included = append(included, r)
			}
		}
	}
	return included
}

// throttled is the session id, or the error, in the empty answer to a request that is throttled: the session stays as it was.
func (s *fetchSessions) throttled(c fetchContext, epoch int32) (id int32, code int16) {
	if c.session == nil {
		return 0, none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.session.epoch != nextFetchEpoch(epoch) {
		return c.session.id, invalidFetchSessionEpoch
	}
	return c.session.id, none
}

// learn remembers what is answered and tells whether any of it is new. After an error the high watermark counts as
// unknown, so that its end is told.
func (p *fetchPartition) learn(r *fetchResult) bool {
	isNew := r.size() > 0 || r.code != none || p.highWatermark != r.highWatermark || p.logStart != r.logStart || r.diverged
	p.highWatermark, p.logStart = r.highWatermark, r.logStart
	if r.code != none {
		p.highWatermark = -1
	}
	return isNew
}

// create makes a session of a full fetch, 0 when there is no room: then every fetch of this client is a full one.
func (s *fetchSessions) create(c fetchContext, results []fetchResult) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.NowMillis()
	bytes := int64(0)
	for _, p := range c.partitions {
		bytes += p.bytes()
	}
	for len(s.sessions) >= s.slots || bytes > s.room {
		if !s.evict(len(c.partitions), now) {
			return 0
		}
	}
	session := &fetchSession{
		id: s.freeID(), epoch: initialFetchEpoch + 1, byID: c.byID,
		order: list.New(), index: map[fetchKey]*list.Element{}, created: now, lastUsed: now,
	}
	for i, p := range c.partitions {
		p.learn(&results[i])
		session.index[p.key()] = session.order.PushBack(p)
		session.bytes += p.bytes()
	}
	s.sessions[session.id] = session
	s.room -= session.bytes
	return session.id
}

// drop forgets a session, nil for none.
func (s *fetchSessions) drop(session *fetchSession) {
	if session != nil {
		delete(s.sessions, session.id)
		s.room += session.bytes
	}
}

func (s *fetchSessions) freeID() int32 {
	for {
		id := rand.Int32N(math.MaxInt32-1) + 1
		if s.sessions[id] == nil {
			return id
		}
	}
}

// evict makes room: the session that rested longest when it rested long enough, else a smaller one that has lived long
// enough.
func (s *fetchSessions) evict(size int, now int64) bool {
	var stalest, smallest *fetchSession
	for _, one := range s.sessions {
		if stalest == nil || cmp.Or(cmp.Compare(one.lastUsed, stalest.lastUsed), cmp.Compare(one.id, stalest.id)) < 0 {
			stalest = one
		}
		if now-one.created > fetchSessionEviction && one.order.Len() < size && (smallest == nil || one.order.Len() < smallest.order.Len()) {
			smallest = one
		}
	}
	if stalest != nil && now-stalest.lastUsed > fetchSessionEviction {
		smallest = stalest
	}
	if smallest == nil {
		return false
	}
	s.drop(smallest)
	return true
}
