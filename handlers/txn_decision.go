package handlers

import (
	"math"

	"doze/journal"
	"doze/projections"
)

// txnDecision is one decision of the transaction coordinator: state, command and time in, events and an answer out. It
// reads no clock and nothing that is not in the state. What must be done in partitions follows once its events are safe
// (txn_finish.go).
//
// Kafka's coordinator has a state between its decision and the write of it into its log, in which it answers
// CONCURRENT_TRANSACTIONS to all. Here the two are one step.
type txnDecision struct {
	state    *projections.State
	at       int64 // ms
	emit     func(journal.Event)
	durable  func() // has the entry fsynced before anybody sees it
	settings *txnSettings
	// ending is set when the decision has ended a transaction: what follows is due.
	ending string
}

// lastUsableEpoch is the highest epoch that a client is given: the one above it is kept for fencing.
const lastUsableEpoch = math.MaxInt16 - 1

func exhausted(epoch int16) bool { return epoch >= lastUsableEpoch }

// newProducerID takes a producer id for good.
func (d *txnDecision) newProducerID() int64 {
	id := d.state.NextProducerID
	d.emit(&journal.ProducerIDsAllocated{First: id, Count: 1})
	return id
}

// producerIdentity is a producer id with an epoch.
type producerIdentity struct {
	id    int64
	epoch int16
}

var noIdentity = producerIdentity{-1, -1}

// initCommand is an InitProducerId with a transactional id.
type initCommand struct {
	id        string
	timeoutMs int32
	expected  *producerIdentity // what the producer has now (KIP-360), nil when it does not say
}

// initialize gives a producer its identity, and fences whoever had the transactional id before. A transaction that is open
// is aborted first; the producer asks again.
func (d *txnDecision) initialize(c *initCommand) (producerIdentity, int16) {
	t := d.state.Transactions.Get(c.id)
	switch {
	case t == nil:
		return d.initializeNew(c)
	case t.State.Ending():
		return noIdentity, concurrentTransactions
	case c.expected != nil && !mayContinue(t, c.expected):
		return noIdentity, producerFenced
	case t.State == projections.TxnOngoing:
		d.fence(t, journal.EndReplaced, nil)
		return noIdentity, concurrentTransactions
	}
	return d.initializeAgain(t, c)
}

// mayContinue says whether the identity is the current one, or the one before it whose epochs were used up.
func mayContinue(t *projections.Transaction, p *producerIdentity) bool {
	return p.id == t.ProducerID || p.id == t.PrevProducerID && exhausted(p.epoch)
}

func (d *txnDecision) initializeNew(c *initCommand) (producerIdentity, int16) {
	if d.state.Transactions.Len() >= d.settings.limits.ids {
		return noIdentity, policyViolation
	}
	return d.initialized(c, producerIdentity{d.newProducerID(), 0}, -1), none
}

// initializeAgain raises the epoch of a producer that has no transaction open.
func (d *txnDecision) initializeAgain(t *projections.Transaction, c *initCommand) (producerIdentity, int16) {
	now := producerIdentity{t.ProducerID, t.Epoch}
	switch {
	case exhausted(t.Epoch) && (c.expected == nil || c.expected.epoch == t.Epoch):
		last := int16(-1)
		if c.expected != nil {
			last = t.Epoch
		}
		return d.initialized(c, producerIdentity{d.newProducerID(), 0}, last), none
	case exhausted(t.Epoch): // Kafka trips over its own check
		return noIdentity, unknownServerError
	case c.expected == nil:
		return d.initialized(c, producerIdentity{now.id, now.epoch + 1}, -1), none
	case c.expected.epoch == t.Epoch:
		return d.initialized(c, producerIdentity{now.id, now.epoch + 1}, t.Epoch), none
	case c.expected.epoch == t.LastEpoch: // asked before, and did not hear the answer
		return d.initialized(c, now, t.LastEpoch), none
	}
	return noIdentity, producerFenced
}

func (d *txnDecision) initialized(c *initCommand, p producerIdentity, last int16) producerIdentity {
	d.emit(&journal.TxnProducerInitialized{ID: c.id, ProducerID: p.id, Epoch: p.epoch, LastEpoch: last, TimeoutMs: c.timeoutMs})
	return p
}

// fence aborts an open transaction (or, with orphans, one that nobody knew of) under an epoch that no client has.
func (d *txnDecision) fence(t *projections.Transaction, why journal.EndReason, orphans []journal.TxnPartition) {
	e := &journal.TxnEnding{
		ID: t.ID, Reason: why, Epoch: min(t.Epoch, math.MaxInt16-1) + 1, LastEpoch: -1, NextProducerID: -1, Orphans: orphans,
	}
	if d.settings.version >= 2 {
		e.Version, e.LastEpoch = 2, t.Epoch
		if exhausted(t.Epoch) {
			e.NextProducerID = d.newProducerID()
		}
	}
	d.end(e)
}

func (d *txnDecision) end(e *journal.TxnEnding) {
	d.emit(e)
	d.ending = e.ID
}

// mayAdd finds the transactional id of a request that adds to its transaction, and says what stands against it. While a
// verdict is carried out Kafka does not look at the identity.
func (d *txnDecision) mayAdd(id string, p producerIdentity) (*projections.Transaction, int16) {
	t := d.state.Transactions.Get(id)
	if t != nil && t.State.Ending() {
		return t, concurrentTransactions
	}
	return t, checkIdentity(t, id, p)
}

// checkIdentity says what stands against a request's identity.
func checkIdentity(t *projections.Transaction, id string, p producerIdentity) int16 {
	switch {
	case id == "" || len(id) > maxName:
		return invalidRequest
	case t == nil || t.ProducerID != p.id:
		return invalidProducerIDMapping
	case t.Epoch != p.epoch:
		return producerFenced
	case t.State.Ending():
		return concurrentTransactions
	}
	return none
}

// addPartitions makes partitions part of the transaction, and begins one when none is open.
func (d *txnDecision) addPartitions(id string, p producerIdentity, partitions []journal.TxnPartition, version int8) int16 {
	t, code := d.mayAdd(id, p)
	if code != none {
		return code
	}
	more := missingFrom(t, partitions)
	switch {
	case t.State == projections.TxnOngoing && len(more) == 0:
		return none
	case d.tooOldFor(version):
		return unsupportedVersion
	}
	if d.state.Transactions.Bytes()+int64(20*len(more)) > d.settings.limits.bytes {
		return policyViolation
	}
	d.beginDurably(t)
	d.emit(&journal.TxnPartitionsAdded{ID: id, Version: version, Partitions: more})
	return none
}

// beginDurably is asked about what is about to be added to. A transaction that begins under the epoch of the one before, whose
// end left the epoch as it was (transactions v1), has records that look like that one's. So it begins on disk before
// anybody sees that it is open: no power failure can take the end of the one before and leave records of this one.
func (d *txnDecision) beginDurably(t *projections.Transaction) {
	if t.State.Complete() && t.Version < 2 {
		d.durable()
	}
}

// tooOldFor says whether the cluster cannot write down a transaction of that version: transaction.version 0 has no place for
// it. Kafka then answers CONCURRENT_TRANSACTIONS for the transactional id until it is restarted.
func (d *txnDecision) tooOldFor(version int8) bool { return version >= 2 && d.settings.version < 1 }

// missingFrom are those partitions that the transaction does not have, each once.
func missingFrom(t *projections.Transaction, partitions []journal.TxnPartition) []journal.TxnPartition {
	var more []journal.TxnPartition
	seen := map[journal.TxnPartition]bool{}
	for _, p := range partitions {
		if !seen[p] && !t.Has(p) {
			more = append(more, p)
		}
		seen[p] = true
	}
	return more
}

// addGroup makes a group's offsets part of the transaction.
func (d *txnDecision) addGroup(id string, p producerIdentity, group string, version int8) int16 {
	t, code := d.mayAdd(id, p)
	if code != none {
		return code
	}
	partition := d.settings.offsetsPartition(group)
	switch {
	case t.State == projections.TxnOngoing && t.HasGroup(partition):
		return none
	case d.tooOldFor(version):
		return unsupportedVersion
	}
	d.beginDurably(t)
	d.emit(&journal.TxnGroupAdded{ID: id, Version: version, Group: group, Partition: partition})
	return none
}

// abortTimedOut aborts a transaction that has been open for longer than its producer asked for.
func (d *txnDecision) abortTimedOut(id string) {
	if t := d.state.Transactions.Get(id); t != nil && timedOut(t, d.at) {
		d.fence(t, journal.EndTimeout, nil)
	}
}

func timedOut(t *projections.Transaction, now int64) bool {
	return t.State == projections.TxnOngoing && t.StartAt+int64(t.TimeoutMs) < now
}

// expireID forgets a transactional id that nobody has used for long.
func (d *txnDecision) expireID(id string) {
	if t := d.state.Transactions.Get(id); t != nil && expiredID(t, d.at, d.settings.idExpirationMs) {
		d.emit(&journal.TransactionalIDExpired{ID: id})
	}
}

func expiredID(t *projections.Transaction, now, after int64) bool {
	return !t.State.Open() && t.UpdatedAt <= now-after
}
