package handlers

import (
	"context"
	"sync"
	"time"

	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// txnCoordinator is the frame around the decisions on transactions: it writes what they decided into the partitions, and
// comes back to what could not be done. docs/transactions.md says in which order things happen, and why.
type txnCoordinator struct {
	*Broker
	settings txnSettings

	mu     sync.Mutex
	ending map[string]*endingTxn // transactions whose verdict is being carried out
	// unsettled are partitions that were opened with transactions which could not be decided on.
	unsettled map[segments.ID]*unsettled

	since   uint64               // the journal's last entry before this start
	mending sync.Mutex           // held while a partition is asked what it has open and given markers for it
	mended  map[segments.ID]bool // under mending: partitions that lack no marker of before this start; true: they are on disk
	syncing sync.Mutex           // held while markers are put on disk
	wake    chan struct{}

	ctx     context.Context // ends with stop
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newTxnCoordinator(b *Broker) *txnCoordinator {
	c := &txnCoordinator{
		Broker: b, settings: txnSettingsOf(b.static), ending: map[string]*endingTxn{}, unsettled: map[segments.ID]*unsettled{},
		wake: make(chan struct{}, 1), mended: map[segments.ID]bool{},
	}
	_, c.since = c.view()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// start finishes what a stop or a crash left, and begins the timers. It does nothing after stop.
func (c *txnCoordinator) start() {
	c.recover()
	c.background(c.syncLoop)
	c.background(c.retryLoop)
	c.background(func() { c.every(c.settings.abortCheckMs, c.abortTimedOut) })
	c.background(func() { c.every(c.settings.expiryCheckMs, c.expireIDs) })
}

func (c *txnCoordinator) stop() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.running.Wait()
}

// background runs f unless the coordinator is stopped; stop waits for it.
func (c *txnCoordinator) background(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.running.Go(f)
	}
}

// every runs f again and again.
func (c *txnCoordinator) every(ms int64, f func()) {
	for c.pause(time.Duration(ms) * time.Millisecond) {
		f()
	}
}

// pause says whether the coordinator still runs after that time.
func (c *txnCoordinator) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// decision is a decision over a transaction of the journal.
func (c *txnCoordinator) decision(tx *tx) *txnDecision {
	settings := c.settings
	settings.version, settings.verify = c.txnVersion(tx.State), c.verifies(tx.State)
	return &txnDecision{state: tx.State, at: tx.At, emit: tx.Emit, durable: tx.Durable, settings: &settings}
}

// verifies says whether clients of transactions v1 must have added a partition before they write to it.
func (c *txnCoordinator) verifies(state *projections.State) bool {
	return c.Broker.settings(state).Bool("transaction.partition.verification.enable")
}

// take takes a decision in one Update. A transaction that it ends is finished before take returns, if it can be.
func (c *txnCoordinator) take(ctx context.Context, cause journal.Cause, decide func(*txnDecision)) error {
	ending := ""
	err := c.store.Update(ctx, cause, func(tx *tx) {
		d := c.decision(tx)
		decide(d)
		ending = d.ending
	})
	if err == nil && ending != "" {
		c.finish(ending)
	}
	return err
}

// abortTimedOut aborts transactions that have been open for too long.
func (c *txnCoordinator) abortTimedOut() {
	state, _ := c.view()
	now := c.store.Now() // as the transactions' beginnings are reckoned: the clock may have been set back
	for _, id := range transactionsThat(state, func(t *projections.Transaction) bool { return timedOut(t, now) }) {
		err := c.take(c.ctx, journal.Timed("transaction timeout"), func(d *txnDecision) { d.abortTimedOut(id) })
		if err != nil {
			return // the journal reports why; they are looked for again
		}
	}
}

// maxExpiredIDs is how many transactional ids one entry forgets, whatever their names.
const maxExpiredIDs = 1_000

// expireIDs forgets transactional ids that nobody has used for long.
func (c *txnCoordinator) expireIDs() {
	state, _ := c.view()
	now := c.store.Now() // as above
	ids := transactionsThat(state, func(t *projections.Transaction) bool { return expiredID(t, now, c.settings.idExpirationMs) })
	for len(ids) > 0 {
		some := ids[:min(len(ids), maxExpiredIDs)]
		ids = ids[len(some):]
		err := c.take(c.ctx, journal.Timed("transactional id expiration"), func(d *txnDecision) {
			for _, id := range some {
				d.expireID(id)
			}
		})
		if err != nil {
			return
		}
	}
}

func transactionsThat(state *projections.State, are func(*projections.Transaction) bool) (ids []string) {
	state.Transactions.Each(func(t *projections.Transaction) bool {
		if are(t) {
			ids = append(ids, t.ID)
		}
		return true
	})
	return ids
}
