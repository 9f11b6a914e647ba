package handlers

import (
	"context"

	"doze/wire"
)

// decide makes an Update, or for a request that only wants to know (validate_only) runs the decision on a copy of the
// state and drops it.
func (b *Broker) decide(ctx context.Context, r *wire.Request, validateOnly bool, decision func(*tx)) error {
	if validateOnly {
		return b.store.Try(decision)
	}
	return b.update(ctx, r, decision)
}

// storageRefusal is what a request is told whose entry could not be written: the journal is full or latched.
func storageRefusal(error) *refusal {
	return refuse(kafkaStorageError, "Disk error when trying to access log file on the disk.")
}
