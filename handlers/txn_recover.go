package handlers

import (
	"errors"
	"math"
	"slices"

	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// recover finishes what was under way when the broker stopped: markers that a power failure took are written again, and
// verdicts that were not carried out everywhere are.
func (c *txnCoordinator) recover() {
	if state, _ := c.view(); state.Markers.Len() > 0 {
		c.syncMarkers()
	}
	state, _ := c.view()
	if c.keepsOld(state) {
		c.log.Warn("markers of transactions could not all be put on disk again; it is tried again", "markers", state.Markers.Len())
	}
	for _, id := range transactionsThat(state, func(t *projections.Transaction) bool { return t.State.Ending() }) {
		c.carryOut(id, true)
	}
}

// keepsOld says whether the state keeps markers of before this start, so that logs may lack them. They come first.
func (c *txnCoordinator) keepsOld(state *projections.State) (old bool) {
	state.Markers.Each(func(m projections.UnsyncedMarker) bool {
		old = m.Seq <= c.since
		return false
	})
	return old
}

// mend writes the markers that the state keeps and the partition has lost, and puts them on disk. It is called before
// anything else is said of transactions that the partition may have open since before this start.
func (c *txnCoordinator) mend(log *segments.Partition) error {
	if state, _ := c.view(); !c.keepsOld(state) {
		return nil
	}
	if synced, err := c.writeLost(log); synced || err != nil {
		return err
	}
	if err := c.syncAll(log); err != nil {
		return err
	}
	c.mending.Lock()
	defer c.mending.Unlock()
	c.mended[log.ID()] = true
	return nil
}

// writeLost writes them, once: what the producers open later is not what those markers are of.
func (c *txnCoordinator) writeLost(log *segments.Partition) (synced bool, err error) {
	c.mending.Lock()
	defer c.mending.Unlock()
	synced, written := c.mended[log.ID()]
	if written {
		return synced, nil
	}
	if err := c.appendLost(log); err != nil {
		return false, err
	}
	c.mended[log.ID()] = false
	return false, nil
}

func (c *txnCoordinator) appendLost(log *segments.Partition) error {
	open, err := log.OpenTxns()
	if err != nil || len(open) == 0 {
		return err
	}
	end, err := log.EndAtOpen()
	if err != nil {
		return err
	}
	state, _ := c.view()
	for _, o := range open {
		m := c.lostMarker(state, log.ID(), o.ProducerID, end)
		if m == nil {
			continue
		}
		_, err := c.appendMarker(log, segments.Marker{
			ProducerID: m.ProducerID, ProducerEpoch: m.Epoch, Commit: m.Commit, TxnVersion: int16(m.Version),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lostMarker is the first marker of the producer from before this start that would be at or behind the end with which the
// partition was opened: that of the transaction which is open there. Whatever came behind it was lost too.
func (c *txnCoordinator) lostMarker(state *projections.State, id segments.ID, producer, end int64) (lost *projections.UnsyncedMarker) {
	state.Markers.Each(func(m projections.UnsyncedMarker) bool {
		if m.Seq > c.since {
			return false
		}
		if m.Topic == id.Topic && m.Partition == id.Partition && m.ProducerID == producer && m.Offset >= end {
			lost = &m
		}
		return lost == nil
	})
	return lost
}

// Unfinished looks at transactions that a partition was opened with (segments.Options.Unfinished). What the journal knows
// stays; a marker that was lost is written again; what nobody knows is aborted. Until it returns nothing is appended to the
// partition by producers: a producer that repeats its batch must not be told that it is there already, for what is there
// is aborted. What cannot be decided, say on a full disk, is tried again; until then the partition takes no batch of a
// transaction.
func (b *Broker) Unfinished(log *segments.Partition, open []segments.OpenTxn) {
	u := &unsettled{log: log}
	for _, o := range open {
		u.open = append(u.open, unsettledTxn{OpenTxn: o})
	}
	b.txns.settleAll(u)
}

// unsettled is a partition with transactions that nobody has decided on.
type unsettled struct {
	log  *segments.Partition
	open []unsettledTxn
}

type unsettledTxn struct {
	segments.OpenTxn
	noted bool // the journal has it that it is aborted
}

func (c *txnCoordinator) settleAll(u *unsettled) {
	left := u.open[:0:0]
	for _, o := range u.open {
		if err := c.settle(u.log, &o); err != nil && !unusable(err) {
			left = append(left, o)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(left) == 0 {
		delete(c.unsettled, u.log.ID())
		return
	}
	c.unsettled[u.log.ID()] = &unsettled{u.log, left}
}

// unusable says whether the error is of a log that takes no batches in this run any more. A disk that cannot be written now
// is none.
func unusable(err error) bool {
	var damage *segments.Damage
	return errors.Is(err, segments.ErrRemoved) || errors.As(err, &damage)
}

// isUnsettled says whether a partition holds transactions that nobody has decided on.
func (c *txnCoordinator) isUnsettled(log *segments.Partition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsettled[log.ID()] != nil
}

// settle decides on one open transaction. The decision counts while the transactional id is as it was when the partition was
// seen to have it open: when it was ended meanwhile its marker is there by now.
func (c *txnCoordinator) settle(log *segments.Partition, o *unsettledTxn) error {
	p := journal.TxnPartition{Topic: log.ID().Topic, Partition: log.ID().Partition}
	for {
		if err := c.mend(log); err != nil {
			return err
		}
		state, _ := c.view()
		seen := state.Transactions.OfProducer(o.ProducerID)
		if still, err := stillOpen(log, o.OpenTxn); err != nil || !still {
			return err
		}
		changed, orphan, err := c.settleAsSeen(p, o, seen)
		switch {
		case err != nil:
			return err
		case orphan:
			o.noted = true
			return c.abortOrphan(log, o.OpenTxn)
		case !changed:
			return nil
		}
	}
}

// settleAsSeen takes the decision, unless the producer's transactional id is another than was seen.
func (c *txnCoordinator) settleAsSeen(p journal.TxnPartition, o *unsettledTxn, seen *projections.Transaction) (changed, orphan bool, err error) {
	err = c.take(c.ctx, journal.Timed("unfinished transaction"), func(d *txnDecision) {
		if changed = d.state.Transactions.OfProducer(o.ProducerID) != seen; !changed {
			orphan = d.orphan(p, o)
		}
	})
	return changed, orphan, err
}

// stillOpen says whether the log has just that transaction open.
func stillOpen(log *segments.Partition, o segments.OpenTxn) (bool, error) {
	open, err := log.OpenTxnOf(o.ProducerID)
	return open != nil && open.FirstOffset == o.FirstOffset, err
}

// orphan decides on an open transaction of a partition: whether the partition must be given an abort that has no place in
// any transaction. A transaction of the producer that is alive is aborted as a whole, and its producer fenced: what it was
// told of this partition is not true any more.
func (d *txnDecision) orphan(p journal.TxnPartition, o *unsettledTxn) bool {
	t := d.state.Transactions.OfProducer(o.ProducerID)
	switch {
	case t == nil && !d.settings.verify:
		return false // clients may write what nobody knows, and it is theirs to end
	case t != nil && t.Has(p) && !isLater(t, &o.OpenTxn) && (t.State.Ending() || t.Epoch == o.ProducerEpoch):
		return false
	case t != nil && !t.State.Ending() && t.Epoch == o.ProducerEpoch:
		d.fence(t, journal.EndOrphan, []journal.TxnPartition{p})
		return false
	}
	if !o.noted {
		d.emit(&journal.TxnOrphanAborted{
			Topic: p.Topic, Partition: p.Partition, ProducerID: o.ProducerID, Epoch: o.ProducerEpoch, FirstOffset: o.FirstOffset,
		})
	}
	return true
}

// isLater says whether what is open in a partition came after the transaction that is ending: a power failure took what the
// journal knew of it. An end of transactions v2 raises the epoch, so batches of the ending one have an older epoch. Behind an
// end of transactions v1 there is no such thing (beginDurably).
func isLater(t *projections.Transaction, o *segments.OpenTxn) bool {
	return t.State.Ending() && t.Version >= 2 && o.ProducerEpoch >= t.Epoch
}

// abortOrphan ends a transaction that has no place in any. Its marker has the next epoch: a producer that goes on under its own
// is refused here, and above all a batch that it sends again is not taken for the one that is aborted.
func (c *txnCoordinator) abortOrphan(log *segments.Partition, o segments.OpenTxn) error {
	c.log.Warn("aborted a transaction that the journal does not know", "partition", log.ID().String(), "producer", o.ProducerID,
		"epoch", o.ProducerEpoch, "offset", o.FirstOffset)
	if err := c.appendAbort(log, o); err != nil {
		return err
	}
	return c.syncAll(log)
}

func (c *txnCoordinator) appendAbort(log *segments.Partition, o segments.OpenTxn) error {
	c.mending.Lock()
	defer c.mending.Unlock()
	if still, err := stillOpen(log, o); err != nil || !still {
		return err
	}
	_, err := c.appendMarker(log, segments.Marker{
		ProducerID: o.ProducerID, ProducerEpoch: min(o.ProducerEpoch, math.MaxInt16-1) + 1, TxnVersion: 2,
	})
	return err
}

// settleJoining looks at a partition before it joins a transaction of the producer: what it has open of the producer already
// must not become part of it.
func (c *txnCoordinator) settleJoining(log *segments.Partition, producer int64) error {
	open, err := log.OpenTxnOf(producer)
	if err != nil || open == nil {
		return err
	}
	return c.settle(log, &unsettledTxn{OpenTxn: *open})
}

func sortPartitions(p []journal.TxnPartition) { slices.SortFunc(p, projections.ComparePartitions) }
