package handlers

import (
	"context"
	"sync"
	"time"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// coordinator is the frame around the state machines of all types of groups. It keeps what is nowhere on disk:
// requests that wait for an answer, and deadlines. Decisions are taken inside the store's loop; what they leave to do here
// is done once their events are safe.
type coordinator struct {
	// update runs a decision in one Update of the store, and then runs its effects.
	update   func(ctx context.Context, cause journal.Cause, decide func(*groupDecision)) error
	view     func() *projections.State
	clock    journal.Clock // of deadlines
	now      func() int64  // the time of the journal, in which the state is reckoned
	settings groupSettings
	// configs are the broker's own as they are in a state, level that of a feature.
	configs func(*projections.State) *configs.Broker
	level   func(state *projections.State, feature string) int16

	// guard is the broker's authorizer, nil without one.
	guard *authorizer

	streams     streamsSofts
	topicErrors topicErrors

	mu        sync.Mutex
	waiters   map[deadlineKey]*waiter
	deadlines *deadlines
	current   map[string]knownTopics
	wake      chan struct{} // has room for one: the earliest deadline changed
	wakeAt    int64
	stopped   bool

	ctx     context.Context // of the deadlines; ends with stop
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// newCoordinator gives a coordinator over the broker's store. It answers at once; start begins its deadlines.
func newCoordinator(b *Broker) *coordinator {
	c := &coordinator{
		view: func() *projections.State { state, _ := b.view(); return state }, clock: b.steady, now: b.store.Now, settings: groupSettingsOf(b.static),
		waiters: map[deadlineKey]*waiter{}, deadlines: newDeadlines(), current: map[string]knownTopics{}, wake: make(chan struct{}, 1),
		configs: func(state *projections.State) *configs.Broker { return b.settings(state).Broker },
		level:   b.profile.level,
		guard:   b.authorizer,
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.update = func(ctx context.Context, cause journal.Cause, decide func(*groupDecision)) error {
		return b.store.Update(ctx, cause, func(tx *tx) {
			d := &groupDecision{
				state: tx.State, seq: tx.Seq, at: tx.At, emit: tx.Emit, newUUID: tx.NewUUID, settings: &c.settings,
				configs: c.configs(tx.State), drop: tx.Drop, streams: &c.streams,
			}
			decide(d)
			if len(d.effects) > 0 {
				tx.Then(func() { c.apply(d.effects) })
			}
		})
	}
	return c
}

// start takes up the groups that the state has and runs deadlines until stop.
func (c *coordinator) start() {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	c.running.Add(1) // while stop cannot be waiting yet
	c.mu.Unlock()
	resumed := c.resumeGroups(c.ctx)
	c.mu.Lock()
	c.setDeadline(deadlineKey{kind: deadlineRetention}, c.clock.NowMillis()+c.settings.offsetsCheckMs, 0)
	c.mu.Unlock()
	go func() {
		defer c.running.Done()
		if c.resumeAgain(c.ctx, resumed) {
			c.run(c.ctx)
		}
	}()
}

// stop ends the deadlines and tells who waits to look for another coordinator, as Kafka does when it stops. It may come
// before start, which then does nothing.
func (c *coordinator) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.cancel()
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, w := range c.waiters {
		delete(c.waiters, key)
		w.answer <- stoppedAnswer(key)
	}
}

func stoppedAnswer(key deadlineKey) any {
	if key.kind == waitJoin {
		return refuseJoin(key.member, notCoordinator)
	}
	return refuseSync(notCoordinator)
}

// knownTopics is what a group knows of the topics; soft, so that a start looks anew.
type knownTopics struct {
	changed    *projections.Revision // those that its epoch is of
	created    *projections.Revision // those that its regular expressions were held against
	resolvedAt int64                 // ms: when that was
	caller     access                // whose heartbeat had them held against the topics last
}

// waiter is a request that waits for its answer.
type waiter struct {
	key    deadlineKey // set when the request is parked
	answer chan any
}

func newWaiter() *waiter { return &waiter{answer: make(chan any, 1)} }

// retryMs is how long a deadline waits whose decision could not be written down, say on a full disk.
const retryMs = 1_000

// apply does what a decision left to do, in order. It runs in the store's loop and does not block.
func (c *coordinator) apply(effects []groupEffect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.NowMillis()
	for _, e := range effects {
		switch e.do {
		case effectArm:
			c.setDeadline(e.key, now+int64(e.delay), e.token)
		case effectArmIfAbsent:
			if c.deadlines.byKey[e.key] == nil {
				c.setDeadline(e.key, now+int64(e.delay), 0)
			}
		case effectDisarm:
			c.deadlines.remove(e.key)
		case effectPutOff:
			c.deadlines.putOff(e.key, now+int64(e.delay))
		case effectCurrent:
			known := c.current[e.key.group]
			known.changed = e.topics
			c.current[e.key.group] = known
		case effectResolve:
			if known := c.current[e.key.group]; e.force || known.created != e.topics {
				known.caller = e.caller
				c.current[e.key.group] = known
				c.setDeadline(e.key, max(now, known.resolvedAt+regexIntervalMs), 0)
			}
		case effectForget:
			delete(c.current, e.key.group)
		case effectPark:
			c.park(e.key, e.wait)
		case effectReply:
			if w := c.waiters[e.key]; w != nil {
				delete(c.waiters, e.key)
				w.answer <- e.reply
			}
		}
	}
}

func (c *coordinator) park(key deadlineKey, w *waiter) {
	if c.stopped {
		w.answer <- stoppedAnswer(key)
		return
	}
	w.key = key
	c.waiters[key] = w
}

func (c *coordinator) setDeadline(key deadlineKey, due int64, token uint64) {
	c.deadlines.set(key, due, token)
	if due < c.wakeAt {
		c.wakeAt = due
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// armIfAbsent sets a deadline that is not set yet.
func (c *coordinator) armIfAbsent(key deadlineKey, delayMs int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadlines.byKey[key] == nil {
		c.setDeadline(key, c.clock.NowMillis()+int64(delayMs), 0)
	}
}

// touch begins the session of a member of any type of group anew.
func (c *coordinator) touch(group, member string, timeoutMs int32) {
	now := c.clock.NowMillis()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines.putOff(sessionOf(group, member), now+int64(timeoutMs))
}

// knowsTopics says whether the group has looked at the topics as they are in the state: a heartbeat need not do so again.
func (c *coordinator) knowsTopics(group string, state *projections.State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current[group].changed == state.Topics.Changed()
}

// groupInt is the effective whole number of a group's key: the group's own value, held to the broker's bounds, else the
// broker's.
func (c *coordinator) groupInt(state *projections.State, group, key string) int32 {
	return int32(c.configs(state).GroupInt(key, state.Configs.Map(projections.GroupResource, group)))
}

// await returns the answer, or nil when the request's connection is gone first. Kafka does not notice a member that goes
// away while it waits, and neither does the group here: only the place to answer to is given up.
func (c *coordinator) await(ctx context.Context, w *waiter) any {
	select {
	case answer := <-w.answer:
		return answer
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.waiters[w.key] == w {
			delete(c.waiters, w.key)
		}
		return nil
	}
}

// run waits for deadlines until ctx is done.
func (c *coordinator) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-timer.C:
		}
		c.firePassed(ctx)
		timer.Reset(c.untilNext())
	}
}

const idle = 24 * time.Hour

// untilNext says how long to sleep, and notes it, so that an earlier deadline knows to wake the sleeper.
func (c *coordinator) untilNext() time.Duration {
	now := c.clock.NowMillis()
	c.mu.Lock()
	defer c.mu.Unlock()
	next, ok := c.deadlines.next()
	if !ok {
		next = now + idle.Milliseconds()
	}
	c.wakeAt = next
	return max(time.Duration(next-now)*time.Millisecond, 0)
}

// firePassed takes the decisions of all deadlines that have passed.
func (c *coordinator) firePassed(ctx context.Context) {
	for ctx.Err() == nil {
		now := c.clock.NowMillis()
		c.mu.Lock()
		d := c.deadlines.take(now)
		c.mu.Unlock()
		if d == nil {
			return
		}
		c.fire(ctx, d)
	}
}

func (c *coordinator) fire(ctx context.Context, d *deadline) {
	switch d.key.kind {
	case deadlineRetention:
		c.checkRetention(ctx)
		return
	case deadlineRegex:
		c.resolve(ctx, d)
		return
	}
	err := c.update(ctx, journal.Timed(d.key.kind.String()), func(g *groupDecision) {
		if c.stillPassed(d) {
			g.deadlinePassed(d.key, d.token)
		}
	})
	c.fired(d, err)
}

// fired drops a deadline whose decision was taken; one that could not be written down comes again.
func (c *coordinator) fired(d *deadline, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.deadlines.putOff(d.key, c.clock.NowMillis()+retryMs)
		return
	}
	c.deadlines.drop(d)
}

// stillPassed says whether nobody put the deadline off while its decision waited for its turn.
func (c *coordinator) stillPassed(d *deadline) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadlines.byKey[d.key] == d && d.index < 0
}

// resumeAgain tries until the groups are taken up, should a full disk have prevented it, or ctx is done.
func (c *coordinator) resumeAgain(ctx context.Context, err error) bool {
	for err != nil {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(retryMs * time.Millisecond):
			err = c.resumeGroups(ctx)
		}
	}
	return true
}

// resumeGroups takes up every group after a start, a few hundred in an entry.
func (c *coordinator) resumeGroups(ctx context.Context) error {
	var ids []string
	c.view().Groups.Each("", func(g *projections.Group) bool {
		ids = append(ids, g.ID)
		return true
	})
	const at = 256
	for len(ids) > 0 {
		some := ids[:min(at, len(ids))]
		ids = ids[len(some):]
		err := c.update(ctx, journal.Timed("start"), func(d *groupDecision) {
			for _, id := range some {
				d.resume(id)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
