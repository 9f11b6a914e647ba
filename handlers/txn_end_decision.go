package handlers

import (
	"math"

	"doze/journal"
	"doze/projections"
)

// endCommand is an EndTxn.
type endCommand struct {
	id       string
	producer producerIdentity
	commit   bool
	version  int8 // transaction.version that the producer speaks: 0, or 2 from EndTxn v5 on
}

// endTxn ends a transaction. The identity is the producer's from here on (transactions v2), else none.
func (d *txnDecision) endTxn(c *endCommand) (producerIdentity, int16) {
	t := d.state.Transactions.Get(c.id)
	switch {
	case c.id == "" || len(c.id) > maxName:
		return noIdentity, invalidRequest
	case t == nil:
		return noIdentity, invalidProducerIDMapping
	case c.version < 2:
		return noIdentity, d.endV1(t, c)
	}
	return d.endV2(t, c)
}

// endV1: the epoch stays; an end that comes again is taken as long as it is the same.
func (d *txnDecision) endV1(t *projections.Transaction, c *endCommand) int16 {
	switch {
	case t.ProducerID != c.producer.id:
		return invalidProducerIDMapping
	case t.Epoch != c.producer.epoch:
		return producerFenced
	}
	switch t.State {
	case projections.TxnOngoing:
		d.end(&journal.TxnEnding{
			ID: t.ID, Commit: c.commit, Reason: journal.EndAsked, Epoch: t.Epoch, LastEpoch: t.LastEpoch, NextProducerID: -1,
		})
		return none
	case endedAs(c.commit):
		return none
	case projections.TxnPrepareCommit, projections.TxnPrepareAbort:
		return concurrentTransactions
	}
	return invalidTxnState
}

func endedAs(commit bool) projections.TxnState {
	if commit {
		return projections.TxnCompleteCommit
	}
	return projections.TxnCompleteAbort
}

// endV2 (KIP-890): each end raises the epoch, so the epoch of a request says whether it comes again.
//
//	                 asked again      with the current epoch
//	Prepare...       CONCURRENT_TRANSACTIONS, whatever the identity and the verdict
//	Empty            PRODUCER_FENCED  abort: raises the epoch; commit: INVALID_TXN_STATE
//	CompleteAbort    abort: 0, commit: INVALID_TXN_STATE      the same
//	CompleteCommit   commit: 0, abort: INVALID_TXN_STATE      the same
func (d *txnDecision) endV2(t *projections.Transaction, c *endCommand) (producerIdentity, int16) {
	overflown := t.PrevProducerID == c.producer.id && c.producer.epoch == lastUsableEpoch && t.Epoch == 0
	raised := int(t.Epoch) == int(c.producer.epoch)+1
	switch {
	case t.State.Ending():
		return noIdentity, concurrentTransactions
	case t.ProducerID != c.producer.id && !overflown:
		return noIdentity, invalidProducerIDMapping
	case !validEndEpoch(t, c.producer.epoch, raised, overflown):
		return noIdentity, producerFenced
	}
	again := raised || overflown
	switch {
	case t.State == projections.TxnOngoing:
		return d.endRaising(t, c)
	case again && t.State == endedAs(c.commit):
		return producerIdentity{t.ProducerID, t.Epoch}, none
	case c.commit, again && t.State == projections.TxnCompleteCommit:
		return noIdentity, invalidTxnState
	}
	return d.endRaising(t, c) // an abort of nothing
}

func validEndEpoch(t *projections.Transaction, epoch int16, raised, overflown bool) bool {
	again := t.State.Complete() && (raised || overflown)
	return again || epoch == t.Epoch
}

// endRaising ends the transaction with a new epoch, or a new producer id when the epochs are used up.
func (d *txnDecision) endRaising(t *projections.Transaction, c *endCommand) (producerIdentity, int16) {
	if d.tooOldFor(c.version) {
		return noIdentity, unsupportedVersion
	}
	e := &journal.TxnEnding{
		ID: t.ID, Commit: c.commit, Reason: journal.EndAsked, Version: 2,
		Epoch: min(t.Epoch, math.MaxInt16-1) + 1, LastEpoch: t.Epoch, NextProducerID: -1,
	}
	next := producerIdentity{t.ProducerID, e.Epoch}
	if exhausted(t.Epoch) {
		e.NextProducerID = d.newProducerID()
		next = producerIdentity{e.NextProducerID, 0}
	}
	d.end(e)
	return next, none
}
