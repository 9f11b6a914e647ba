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
