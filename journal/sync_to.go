package journal

import "context"

// syncWait waits until an entry is on disk.
type syncWait struct {
	seq    uint64
	result chan error
}

// SyncTo begins to put everything up to the entry on disk, unless it is there, and gives the function that waits for it. An
// entry with only buffered events is answered after write(2); whoever needs it to survive a power failure asks here. The
// error is [ErrPoisoned], [ErrClosed] or the context's.
func (s *Store[S]) SyncTo(seq uint64) (wait func(context.Context) error) {
	if seq <= s.onDisk.Load() {
		return func(context.Context) error { return nil }
	}
	w := &syncWait{seq: seq, result: make(chan error, 1)}
	s.mu.Lock()
	closing := s.closing
	if !closing {
		s.syncs = append(s.syncs, w)
	}
	s.mu.Unlock()
	if closing {
		return func(context.Context) error { return ErrClosed }
	}
	s.signal()
	return func(ctx context.Context) error {
		select {
		case err := <-w.result:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answerSyncs answers who waits for what is on disk now, and begins an fsync for the others. The loop calls it whenever it
// has done something.
func (w *writer[S]) answerSyncs() {
	if w.takeSyncs(nil) > 0 {
		w.beginSync()
	}
}

// takeSyncs answers who waits for what is on disk now, and the others with an error if there is one. It says how many wait on.
func (w *writer[S]) takeSyncs(otherwise error) int {
	w.onDisk.Store(w.durable)
	if w.poison != nil {
		otherwise = w.poison
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.syncs[:0]
	for _, waits := range w.syncs {
		switch {
		case waits.seq <= w.durable:
			waits.result <- nil
		case otherwise != nil:
			waits.result <- otherwise
		default:
			left = append(left, waits)
		}
	}
	clear(w.syncs[len(left):])
	w.syncs = left
	return len(left)
}
