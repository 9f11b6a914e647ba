package handlers

import (
	"context"
	"errors"

	"doze/journal"
	"doze/wire"
)

// decide makes an Update, or for a request that only wants to know (validate_only) runs the decision and drops what it
// emitted.
func (b *Broker) decide(ctx context.Context, r *wire.Request, validateOnly bool, decision func(*tx)) error {
	if !validateOnly {
		return b.update(ctx, r, decision)
	}
	err := b.update(ctx, r, func(tx *tx) {
		decision(tx)
		tx.Drop()
	})
	if errors.Is(err, journal.ErrDropped) {
		return nil
	}
	return err
}

// storageRefusal is what a request is told whose entry could not be written: it is too large, or the journal is full or
// latched.
func storageRefusal(err error) *refusal {
	if errors.Is(err, journal.ErrTooLarge) {
		return refuse(policyViolation, "Unable to perform excessively large batch operation.")
	}
	return refuse(kafkaStorageError, "Disk error when trying to access log file on the disk.")
}

// diskRefused tells whether an entry could not be written because of the disk.
func diskRefused(err error) bool {
	return errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrWrite) || errors.Is(err, journal.ErrPoisoned)
}

// removalCode is what the removal of a group, or of its offsets, is told whose entry could not be written.
func removalCode(err error) int16 {
	if diskRefused(err) {
		return kafkaStorageError
	}
	return notCoordinator
}
