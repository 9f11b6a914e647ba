package handlers

import (
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/segments"
	"doze/shares"
)

// sharePartitionKey names a share partition: a partition as one group reads it.
type sharePartitionKey struct {
	group string
	sharePlace
}

// sharePartitions holds the share partitions that somebody reads. They are soft state over what the journal knows of them:
// one that is given up, or lost in a crash, is taken up again from there, and nothing is acquired.
type sharePartitions struct {
	broker *Broker
	mu     sync.Mutex
	live   map[sharePartitionKey]*livePartition
	closed bool
}

// livePartition is a share partition that somebody reads.
type livePartition struct {
	key sharePartitionKey

	mu         sync.Mutex // held through a change and the entry that writes it down
	ready      bool
	gone       bool // given up: whoever still has it looks again
	state      *shares.Partition
	stateEpoch int32
	timer      *time.Timer // of the first lock that ends
	waiters    []*segments.Waiter
}

// serveShares makes what share groups need beside their members.
func (b *Broker) serveShares() {
	b.shares = &sharePartitions{broker: b, live: map[sharePartitionKey]*livePartition{}}
	b.shareSessions = newShareSessions(int(b.static.Int("group.share.max.share.sessions")))
	b.shareSessions.left = b.shares.release
	b.shareSessions.empty = func(group string) {
		b.shares.dropAll(func(key sharePartitionKey) bool { return key.group == group })
	}
}

// shareGroupsOff ends all sessions when share groups were switched off.
func (b *Broker) shareGroupsOff() {
	if !b.shareGroupsOn() {
		b.shareSessions.clear()
		b.shares.dropAll(func(sharePartitionKey) bool { return true })
	}
}

// take gives a live partition, locked; a refusal when it cannot be taken up.
func (s *sharePartitions) take(key sharePartitionKey) (*livePartition, *refusal) {
	for {
		p := s.entry(key)
		if p == nil {
			return nil, &refusal{code: leaderNotAvailable}
		}
		p.mu.Lock()
		switch {
		case p.gone, p.ready && (s.orphaned(p) || s.outdated(p)):
			p.mu.Unlock()
			continue
		case p.ready:
			return p, nil
		}
		refused := s.load(p)
		if refused == nil {
			p.ready = true
			return p, nil
		}
		s.drop(p)
		p.mu.Unlock()
		return nil, refused
	}
}

// known gives a live partition that is there already, locked, or nil.
func (s *sharePartitions) known(key sharePartitionKey) *livePartition {
	s.mu.Lock()
	p := s.live[key]
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	p.mu.Lock()
	if p.gone || !p.ready || s.orphaned(p) {
		p.mu.Unlock()
		return nil
	}
	return p
}

// orphaned gives a partition up whose topic was deleted, and says whether it was.
func (s *sharePartitions) orphaned(p *livePartition) bool {
	state, _ := s.broker.view()
	if state.Topics.WithID(p.key.topic) != nil {
		return false
	}
	s.drop(p)
	return true
}

// outdated gives a partition up whose state was made anew since it was loaded, after offsets were deleted or altered, and says
// whether it was: members of before may still have records acquired in it, which a member of now would wait for.
func (s *sharePartitions) outdated(p *livePartition) bool {
	state, _ := s.broker.view()
	written := state.ShareStates.Get(p.key.group, p.key.topic, p.key.partition)
	if written == nil || written.StateEpoch <= p.stateEpoch {
		return false
	}
	s.drop(p)
	return true
}

func (s *sharePartitions) entry(key sharePartitionKey) *livePartition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	p := s.live[key]
	if p == nil {
		p = &livePartition{key: key}
		s.live[key] = p
	}
	return p
}

// drop gives a partition up; its lock is held.
func (s *sharePartitions) drop(p *livePartition) {
	s.mu.Lock()
	if s.live[p.key] == p {
		delete(s.live, p.key)
	}
	s.mu.Unlock()
	p.gone = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.wake()
}

// dropAll gives up the partitions that fit.
func (s *sharePartitions) dropAll(fits func(sharePartitionKey) bool) {
	s.mu.Lock()
	var all []*livePartition
	for key, p := range s.live {
		if fits(key) {
			all = append(all, p)
		}
	}
	s.mu.Unlock()
	for _, p := range all {
		p.mu.Lock()
		s.drop(p)
		p.mu.Unlock()
	}
}

// dropGroups gives up what groups read that were deleted: one that is made anew has nothing of them.
func (s *sharePartitions) dropGroups(resp *kmsg.DeleteGroupsResponse) {
	gone := map[string]bool{}
	for _, g := range resp.Groups {
		gone[g.Group] = g.ErrorCode == none
	}
	s.dropAll(func(key sharePartitionKey) bool { return gone[key.group] })
}

// close releases what the sessions hold and gives all up, for good: the broker stops.
func (s *sharePartitions) close(sessions []*shareSession) {
	for _, session := range sessions {
		s.release(session.key, session.list())
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.dropAll(func(sharePartitionKey) bool { return true })
}

// change makes a change and writes it down; without success nothing has changed. The partition's lock is held.
func (s *sharePartitions) change(cause journal.Cause, p *livePartition, do func(*shares.Partition) (shares.Write, *refusal)) *refusal {
	next := p.state.Clone()
	write, refused := do(next)
	if refused == nil && !write.Empty() {
		refused = s.write(cause, p, write)
	}
	if refused != nil {
		if refused.code == notLeaderOrFollower || refused.code == unknownTopicOrPartition {
			s.drop(p)
		}
		return refused
	}
	p.state = next
	s.changed(p)
	return nil
}

// changed sets the timer of the locks anew and wakes who waits. The partition's lock is held.
func (s *sharePartitions) changed(p *livePartition) {
	s.watchLocks(p)
	p.wake()
}

// watchLocks sets the timer to the first lock that ends.
func (s *sharePartitions) watchLocks(p *livePartition) {
	until, any := p.state.NextLock()
	switch {
	case !any && p.timer != nil:
		p.timer.Stop()
	case any:
		wait := time.Duration(max(until-s.broker.steady.NowMillis(), 0)) * time.Millisecond
		if p.timer == nil {
			p.timer = time.AfterFunc(wait, func() { s.expire(p) })
		} else {
			p.timer.Reset(wait)
		}
	}
}

// expire gives back what was acquired and whose lock has ended.
func (s *sharePartitions) expire(p *livePartition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	state, _ := s.broker.view()
	limits := s.broker.shareLimits(state, p.key.group)
	refused := s.change(journal.Timed("share lock"), p, func(next *shares.Partition) (shares.Write, *refusal) {
		return next.Expire(s.broker.steady.NowMillis(), limits), nil
	})
	if refused != nil && !p.gone {
		p.timer.Reset(retryMs * time.Millisecond)
	}
}

// release gives back what a member has acquired of partitions: its session is over.
func (s *sharePartitions) release(key shareMemberKey, places []sharePlace) {
	state, _ := s.broker.view()
	limits := s.broker.shareLimits(state, key.group)
	for _, place := range places {
		p := s.known(sharePartitionKey{key.group, place})
		if p == nil {
			continue
		}
		// What cannot be written down comes back when its lock ends.
		_ = s.change(journal.Timed("share session"), p, func(next *shares.Partition) (shares.Write, *refusal) {
			return next.Release(key.member, limits), nil
		})
		p.mu.Unlock()
	}
}

func (p *livePartition) wake() {
	for _, w := range p.waiters {
		w.Notify()
	}
}

// watch has w notified of changes; the lock is held.
func (p *livePartition) watch(w *segments.Waiter) { p.waiters = append(p.waiters, w) }

// unwatch ends a watch.
func (p *livePartition) unwatch(w *segments.Waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		p.waiters = slices.Delete(p.waiters, i, i+1)
	}
}
