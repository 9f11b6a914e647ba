package doze

import (
	"context"
	"errors"
	"time"

	"doze/journal"
	"doze/projections"
)

// noteStart writes down that the broker was started. A disk that is full keeps nobody from what is there: the broker
// serves, refuses writes as it does on any full disk, and notes its start when there is space. Until then its leader epochs
// are those of the run before; the log ends where that run left it.
func (b *Broker) noteStart() error {
	err := b.writeStart(context.Background())
	state, seq := b.store.View()
	if err == nil {
		b.started = seq // it is durable
	}
	if !errors.Is(err, journal.ErrFull) || state.ClusterID == "" { // a new directory has nothing to serve
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		b.noteStartLater(ctx)
	}()
	b.onClose(func() error { // before the journal is closed
		cancel()
		<-noted
		return nil
	})
	return nil
}

// startRetry is how long a start that could not be written down waits for space.
const startRetry = time.Second

func (b *Broker) noteStartLater(ctx context.Context) {
	timer := time.NewTicker(startRetry)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if b.writeStart(ctx) == nil {
			return
		}
	}
}

func (b *Broker) writeStart(ctx context.Context) error {
	return b.store.Update(ctx, journal.Timed("start"), func(tx *journal.Tx[*projections.State]) {
		if tx.State.ClusterID == "" {
			tx.Emit(&journal.ClusterCreated{ClusterID: b.store.ClusterID()})
		}
		tx.Emit(&journal.BrokerStarted{Version: Version()})
		if b.lostEntries {
			skipProducerIDs(tx)
		}
	})
}
