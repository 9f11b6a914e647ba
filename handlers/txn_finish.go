package handlers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// The end of a transaction has three steps. The verdict is durable (TxnEnding); then every partition gets a marker; then
// one entry says that the transaction is over and commits what it had staged. The markers are not synced here: until they
// are known to be on disk the state keeps what they say (projections.UnsyncedMarkers), and a start writes again what a
// power failure took.

// endingTxn is a verdict at work. It belongs to whoever carries it out.
type endingTxn struct {
	id string
	// recovers: a start found it. Markers that are there already are not written a second time.
	recovers bool
	done     map[journal.TxnPartition]bool
	markers  []journal.TxnMarker
	busy     bool
	again    bool // a verdict was made while somebody was at work on one before it
}

// finish carries the verdict out. What fails is tried again later.
func (c *txnCoordinator) finish(id string) { c.carryOut(id, false) }

func (c *txnCoordinator) carryOut(id string, recovers bool) {
	for e := c.takeUp(id, recovers); e != nil; {
		e = c.putDown(e, c.tryToEnd(e))
	}
}

// tryToEnd writes the markers that are missing, and then ends the transaction. When none is ending no entry is made: it could
// end one whose verdict was made since this look, and whose markers nobody has written.
func (c *txnCoordinator) tryToEnd(e *endingTxn) error {
	state, _ := c.view()
	t := state.Transactions.Get(e.id)
	if t == nil || !t.State.Ending() {
		return nil
	}
	if err := c.writeMarkers(e, t); err != nil {
		return err
	}
	return c.endIn(e)
}

// takeUp gives the verdict to whoever asks first; nil when somebody is at work on one of the transactional id already, who
// looks again before he goes.
func (c *txnCoordinator) takeUp(id string, recovers bool) *endingTxn {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.ending[id]
	if e == nil {
		e = &endingTxn{id: id, recovers: recovers, done: map[journal.TxnPartition]bool{}}
		c.ending[id] = e
	}
	if e.busy {
		e.again = true
		return nil
	}
	e.busy = true
	return e
}

// putDown is the end of a try. It gives the next verdict when one was made in the meantime: once the entry that ends a
// transaction is published, the next one may be begun and ended before its work is put down.
func (c *txnCoordinator) putDown(e *endingTxn, err error) *endingTxn {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := e.again
	e.busy, e.again = false, false
	if err != nil {
		return nil // the retry loop comes back to it
	}
	delete(c.ending, e.id)
	if !again {
		return nil
	}
	next := &endingTxn{id: e.id, done: map[journal.TxnPartition]bool{}, busy: true}
	c.ending[e.id] = next
	return next
}

// retryLoop comes back to verdicts that could not be carried out, and to partitions that could not be decided on.
func (c *txnCoordinator) retryLoop() {
	c.every(retryMs, func() {
		ids, partitions := c.left()
		for _, id := range ids {
			c.finish(id)
		}
		for _, u := range partitions {
			c.settleAll(u)
		}
		if state, _ := c.view(); c.keepsOld(state) {
			c.syncMarkers()
		}
	})
}

// left is what nobody is at work on.
func (c *txnCoordinator) left() (ids []string, partitions []*unsettled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, e := range c.ending {
		if !e.busy {
			ids = append(ids, id)
		}
	}
	return ids, slices.Collect(maps.Values(c.unsettled))
}

// writeMarkers writes the markers that are missing, in as many partitions as it can.
func (c *txnCoordinator) writeMarkers(e *endingTxn, t *projections.Transaction) error {
	var failed error
	for _, p := range t.Partitions {
		if e.done[p] {
			continue
		}
		if err := c.writeMarker(e, t, p); err != nil {
			failed = fmt.Errorf("end transaction of %q in partition %s: %w", t.ID, segments.ID{Topic: p.Topic, Partition: p.Partition}, err)
			c.log.Warn("a transaction cannot be ended yet; it is tried again", "error", failed)
			continue
		}
		e.done[p] = true
	}
	return failed
}

func (c *txnCoordinator) writeMarker(e *endingTxn, t *projections.Transaction, p journal.TxnPartition) error {
	state, _ := c.view()
	log := c.logOf(state, p)
	if log == nil {
		return nil // the topic is gone
	}
	if err := c.mend(log); err != nil {
		return err
	}
	offset, there, err := c.appendVerdict(log, t, e.recovers)
	switch {
	case err != nil:
		return err
	case there:
		return c.syncAll(log) // perhaps it is only in memory
	case offset >= 0:
		e.markers = append(e.markers, journal.TxnMarker{Topic: p.Topic, Partition: p.Partition, Offset: offset})
	}
	return nil
}

// appendVerdict appends the marker. With look it first looks whether the transaction is open: when not, it has no records
// there, or its marker is there.
func (c *txnCoordinator) appendVerdict(log *segments.Partition, t *projections.Transaction, look bool) (offset int64, there bool, err error) {
	if look {
		c.mending.Lock()
		defer c.mending.Unlock()
		open, err := log.OpenTxnOf(t.ProducerID)
		if err != nil || open == nil || isLater(t, open) {
			return -1, err == nil, err
		}
	}
	offset, err = c.appendMarker(log, segments.Marker{
		ProducerID: t.ProducerID, ProducerEpoch: t.Epoch, Commit: t.State == projections.TxnPrepareCommit, TxnVersion: int16(t.Version),
	})
	return offset, false, err
}

// logOf is the log of a transaction's partition; nil when there is none any more.
func (c *txnCoordinator) logOf(state *projections.State, p journal.TxnPartition) *segments.Partition {
	return c.partition(state, state.Topics.WithID(p.Topic), p.Partition)
}

// appendMarker writes a marker and gives its offset: -1 when the partition has gone, or has seen a later producer.
func (c *txnCoordinator) appendMarker(log *segments.Partition, m segments.Marker) (int64, error) {
	state, seq := c.view()
	m.CoordinatorEpoch, m.Own = coordinatorEpoch(state), true
	appended, err := log.AppendMarker(m, c.markerAdmission(state, seq, log.ID()))
	var refused *segments.ProducerError
	if errors.Is(err, segments.ErrRemoved) || errors.As(err, &refused) {
		return -1, nil
	}
	return appended.BaseOffset, err
}

func (c *txnCoordinator) markerAdmission(state *projections.State, seq uint64, id segments.ID) segments.Admission {
	a := segments.Admission{JournalSeq: seq, Now: c.clock.NowMillis()}
	if topic := state.Topics.WithID(id.Topic); topic != nil {
		a.LeaderEpoch = topic.LeaderEpoch(id.Partition, state.Starts)
		a.LogAppendTime = c.Broker.settings(state).topic(state, topic.Name).LogAppendTime
	}
	return a
}

// coordinatorEpoch is the epoch of the transaction coordinator: like a leader's epoch it is raised by two at a start.
func coordinatorEpoch(state *projections.State) int32 { return 2 * max(state.Starts-1, 0) }

// syncAll puts all of a log on disk.
func (c *txnCoordinator) syncAll(log *segments.Partition) error {
	offsets, err := log.Offsets()
	if err != nil {
		return err
	}
	return log.SyncTo(c.ctx, offsets.HighWatermark)
}

// endIn makes the entry that ends the transaction.
func (c *txnCoordinator) endIn(e *endingTxn) error {
	if state, _ := c.view(); state.Markers.Len() > mostUnsynced {
		c.syncMarkers()
	}
	err := c.store.Update(c.ctx, journal.Timed("transaction end"), func(tx *tx) {
		decideTxnEnded(tx, e.id, e.markers, tx.Emit)
	})
	if err == nil && len(e.markers) > 0 {
		c.wakeSync()
	}
	return err
}

// decideTxnEnded ends a transaction whose partitions all say how it ended.
func decideTxnEnded(tx *tx, id string, markers []journal.TxnMarker, emit func(journal.Event)) {
	t := tx.State.Transactions.Get(id)
	if t == nil || !t.State.Ending() {
		return
	}
	commit := t.State == projections.TxnPrepareCommit
	var offsets []*journal.OffsetsCommitted
	if commit {
		offsets = stagedOffsets(tx.State, id)
	}
	emit(&journal.TxnEnded{ID: id, Commit: commit, Markers: markers})
	for _, e := range offsets {
		emit(e)
	}
}

// stagedOffsets is what a transaction commits, by group. An offset that was committed otherwise since it was staged stays.
func stagedOffsets(state *projections.State, id string) (all []*journal.OffsetsCommitted) {
	state.Staged.OfTxn(id, func(o *projections.StagedOffset) bool {
		if o.Superseded {
			return true
		}
		if len(all) == 0 || all[len(all)-1].Group != o.Group {
			all = append(all, &journal.OffsetsCommitted{Group: o.Group})
		}
		e := all[len(all)-1]
		e.Offsets = append(e.Offsets, journal.CommittedOffset{
			Topic: o.Topic, TopicID: o.TopicID, Partition: o.Partition, Offset: o.Offset, LeaderEpoch: o.LeaderEpoch,
			Metadata: o.Metadata, CommitAt: o.CommitAt, ExpireAt: -1,
		})
		return true
	})
	return all
}

// Markers are put on disk this long after the first of them; at once when there are as many as that.
const (
	syncMarkersEvery = time.Second
	manyUnsynced     = 5_000
	mostUnsynced     = 20_000
)

func (c *txnCoordinator) wakeSync() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// syncLoop puts markers on disk, as they come.
func (c *txnCoordinator) syncLoop() {
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		if state, _ := c.view(); state.Markers.Len() < manyUnsynced && !c.pause(syncMarkersEvery) {
			return
		}
		c.syncMarkers()
	}
}

// syncMarkers puts the markers that there are on disk and lets the state forget them.
func (c *txnCoordinator) syncMarkers() {
	c.syncing.Lock()
	defer c.syncing.Unlock()
	state, seq := c.view()
	synced := &journal.TxnMarkersSynced{UpTo: seq}
	some := false
	for p, end := range unsyncedEnds(state) {
		if log := c.logOf(state, p); log != nil && c.syncMarkersIn(log, end) != nil {
			synced.Failed = append(synced.Failed, p)
			continue
		}
		some = true
	}
	if !some {
		return
	}
	sortPartitions(synced.Failed)
	_ = c.store.Update(c.ctx, journal.Timed("transaction markers"), func(tx *tx) { tx.Emit(synced) }) // else they are synced again
}

// syncMarkersIn puts the markers of a log on disk, up to an end that the state knows. Those that a power failure took are
// written again and synced first; then the log may still be shorter than that.
func (c *txnCoordinator) syncMarkersIn(log *segments.Partition, end int64) error {
	if err := c.mend(log); err != nil {
		return err
	}
	offsets, err := log.Offsets()
	if err != nil {
		return err
	}
	return log.SyncTo(c.ctx, min(end, offsets.HighWatermark))
}

// unsyncedEnds are the ends up to which logs must be synced for the markers in them.
func unsyncedEnds(state *projections.State) map[journal.TxnPartition]int64 {
	ends := map[journal.TxnPartition]int64{}
	state.Markers.Each(func(m projections.UnsyncedMarker) bool {
		p := journal.TxnPartition{Topic: m.Topic, Partition: m.Partition}
		ends[p] = max(ends[p], m.Offset+1)
		return true
	})
	return ends
}
