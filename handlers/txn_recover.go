package handlers

import (
	"errors"
	"slices"

	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// recover finishes what was under way when the broker stopped: markers that a power failure took are written again, and
// verdicts that were not carried out everywhere are.
func (c *txnCoordinator) recover() {
	state, _ := c.view()
	for p := range unsyncedEnds(state) {
		if log := c.logOf(state, p); log != nil {
			if err := c.mend(log); err != nil {
				c.log.Warn("the markers of a partition cannot be written again yet", "partition", log.ID().String(), "error", err)
			}
		}
	}
	if state.Markers.Len() > 0 {
		c.syncMarkers()
	}
	for _, id := range transactionsThat(state, func(t *projections.Transaction) bool { return t.State.Ending() }) {
		c.carryOut(id, true)
	}
}

// mend writes the markers that the state keeps and the partition has lost.
func (c *txnCoordinator) mend(log *segments.Partition) error {
	c.mending.Lock()
	defer c.mending.Unlock()
	open, err := log.OpenTxns()
	if err != nil || len(open) == 0 {
		return err
	}
	offsets, err := log.Offsets()
	if err != nil {
		return err
	}
	state, _ := c.view()
	for _, o := range open {
		m := lostMarker(state, log.ID(), o.ProducerID, offsets.HighWatermark)
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
	return c.syncAll(log)
}

// lostMarker is the first marker of the producer that would be at or behind the end of the partition: that of the
// transaction which is open there. Whatever came behind it was lost too.
func lostMarker(state *projections.State, id segments.ID, producer, end int64) (lost *projections.UnsyncedMarker) {
	state.Markers.Each(func(m projections.UnsyncedMarker) bool {
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
	b.txns.settleAll(&unsettled{log: log, open: open})
}

// unsettled is a partition with transactions that nobody has decided on.
type unsettled struct {
	log  *segments.Partition
	open []segments.OpenTxn
}

func (c *txnCoordinator) settleAll(u *unsettled) {
	left := u.open[:0:0]
	for _, o := range u.open {
		err := c.settle(u.log, o)
		if err != nil && !lost(err) {
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

// lost says whether the error is a log's that takes no batches any more either.
func lost(err error) bool {
	return errors.Is(err, segments.ErrRemoved) || errors.Is(err, segments.ErrStorage)
}

// isUnsettled says whether a partition holds transactions that nobody has decided on.
func (c *txnCoordinator) isUnsettled(log *segments.Partition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsettled[log.ID()] != nil
}

// settle decides on one open transaction.
func (c *txnCoordinator) settle(log *segments.Partition, o segments.OpenTxn) error {
	if err := c.mend(log); err != nil {
		return err
	}
	if still, err := opensIn(log, o.ProducerID); err != nil || still == nil {
		return err
	}
	p := journal.TxnPartition{Topic: log.ID().Topic, Partition: log.ID().Partition}
	orphan := false
	err := c.take(c.ctx, journal.Timed("unfinished transaction"), func(d *txnDecision) { orphan = d.orphan(p, o) })
	if err != nil || !orphan {
		return err
	}
	return c.abortOrphan(log, o)
}

// orphan decides on an open transaction of a partition: whether the partition must be given an abort that has no place in
// any transaction. A transaction of the producer that is alive is aborted as a whole, and its producer fenced: what it was
// told of this partition is not true any more.
func (d *txnDecision) orphan(p journal.TxnPartition, o segments.OpenTxn) bool {
	t := d.state.Transactions.OfProducer(o.ProducerID)
	switch {
	case t == nil && !d.settings.verify:
		return false // clients may write what nobody knows, and it is theirs to end
	case t != nil && t.Has(p) && !isLater(t, &o) && (t.State.Ending() || t.Epoch == o.ProducerEpoch):
		return false
	case t != nil && !t.State.Ending() && t.Epoch == o.ProducerEpoch:
		d.fence(t, journal.EndOrphan, []journal.TxnPartition{p})
		return false
	}
	d.emit(&journal.TxnOrphanAborted{
		Topic: p.Topic, Partition: p.Partition, ProducerID: o.ProducerID, Epoch: o.ProducerEpoch, FirstOffset: o.FirstOffset,
	})
	return true
}

// isLater says whether what is open in a partition came after the transaction that is ending: a power failure took what the
// journal knew of it. An end of transactions v2 raises the epoch, so batches of the ending one have an older epoch.
func isLater(t *projections.Transaction, o *segments.OpenTxn) bool {
	return t.State.Ending() && t.Version >= 2 && o.ProducerEpoch >= t.Epoch
}

func (c *txnCoordinator) abortOrphan(log *segments.Partition, o segments.OpenTxn) error {
	c.log.Warn("aborted a transaction that the journal does not know", "partition", log.ID().String(), "producer", o.ProducerID,
		"epoch", o.ProducerEpoch, "offset", o.FirstOffset)
	if _, err := c.appendMarker(log, segments.Marker{ProducerID: o.ProducerID, ProducerEpoch: o.ProducerEpoch}); err != nil {
		return err
	}
	return c.syncAll(log)
}

// settleJoining looks at a partition before it joins a transaction of the producer: what it has open of the producer already
// must not become part of it.
func (c *txnCoordinator) settleJoining(log *segments.Partition, producer int64) error {
	open, err := opensIn(log, producer)
	if err != nil || open == nil {
		return err
	}
	return c.settle(log, *open)
}

func sortPartitions(p []journal.TxnPartition) { slices.SortFunc(p, projections.ComparePartitions) }
