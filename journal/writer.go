package journal

import (
	"errors"
	"fmt"
	"runtime/debug"
	"syscall"
	"time"

	"doze/disk"
)

// writer is the store's loop and what belongs to it alone.
type writer[S State[S]] struct {
	*Store[S]
	file   disk.File
	header FileHeader
	base   uint64   // the entry before the first file's
	files  []uint64 // first sequences of all files, the last is file's

	work     S      // the published state and what the batch in hand has emitted
	end      int64  // where the next frame goes
	size     int64  // of the file, with the zeros reserved ahead
	rollAt   int64  // after a failed roll: try again when the file has this size
	seq      uint64 // last entry written
	at       int64  // its time
	clock    int64  // what the clock said when at last moved
	chain    uint32
	durable  uint64 // last entry known to be on disk
	clean    bool   // nothing was written since a clean stop
	poison   error  // set by a failed fsync: every later update gets it
	reported string // the failure that was reported last; empty after a write that succeeded
	stopping bool

	// the batch in hand
	buf      []byte
	entries  []Entry
	mustSync bool
	ordinary bool // it has an entry that frees no space

	timer    *time.Timer // runs while written entries are not on disk
	ticking  bool
	syncing  bool // a background fsync is under way
	syncUpto uint64
	synced   chan error
	snapping bool
	snapStop chan struct{}
	snapped  chan snapped
}

// maxBatch bounds how many updates share a write.
const maxBatch = 4096

// reserveStep is how much space is reserved ahead of the entries. The last keptSpace of it is for entries that free space
// (Tx.Frees): on a full disk retention must be able to say what it deletes, or nothing is ever deleted.
const (
	reserveStep = 1 << 20
	keptSpace   = 128 << 10
)

func (w *writer[S]) loop() {
	defer close(w.done)
	var spare []*update[S]
	for {
		select {
		case <-w.wake:
		case <-w.timer.C:
			w.ticking = false
			w.beginSync()
		case err := <-w.synced:
			w.endSync(err)
		case result := <-w.snapped:
			w.endSnapshot(result)
		}
		batch, closing := w.take(spare)
		for rest := batch; len(rest) > 0; {
			n := min(len(rest), maxBatch)
			w.run(rest[:n])
			rest = rest[n:]
		}
		clear(batch)
		spare = batch
		w.answerSyncs()
		if closing {
			w.Store.closed = w.stop()
			w.takeSyncs(ErrClosed)
			return
		}
	}
}

// run takes a batch of updates through: decide, write, sync, publish, answer.
func (w *writer[S]) run(batch []*update[S]) {
	w.buf, w.entries, w.mustSync = w.buf[:0], w.entries[:0], false
	w.ordinary = false
	seq, at, clock, chain := w.seq, w.at, w.clock, w.chain
	now := w.opt.Clock.NowMillis()
	w.at, w.clock = moved(w.at, w.sinceSetBack(w.clock, now), now)
	tx := &Tx[S]{ids: w.opt.IDs}
	for _, u := range batch {
		if u.state.CompareAndSwap(stateWaiting, stateTaken) {
			w.decide(u, tx)
		}
	}
	if len(w.entries) == 0 {
		w.at, w.clock = at, clock
		w.answer(batch, nil)
		return
	}
	if err := w.commit(); err != nil {
		w.work = w.view.Load().state.Clone()
		w.seq, w.at, w.clock, w.chain = seq, at, clock, chain
		freeing := w.freeing(batch, err)
		w.answer(batch, err)
		if len(freeing) > 0 {
			w.run(freeing)
		}
		return
	}
	w.publish()
	w.answer(batch, nil)
	w.afterCommit()
}

// moved is the time of the next entry, by the clock. A clock that was set back leaves it ahead: then it goes on at half the pace
// until the clock is there again. It must not stand still: what waits for a time that is reckoned from an entry, as the timeout
// of a transaction is, would wait for as long as the clock was set back.
func moved(at, was, now int64) (movedTo, clock int64) {
	steps := (now - was) / 2
	switch {
	case now >= at:
		return now, now
	case steps < 0:
		return at, now
	}
	return at + steps, was + 2*steps
}

// freeing takes what frees space out of a batch that had no room because of others, to be tried by itself.
func (w *writer[S]) freeing(batch []*update[S], err error) (again []*update[S]) {
	if !w.ordinary || !errors.Is(err, ErrFull) {
		return nil
	}
	for _, u := range batch {
		if u.frees && u.err == nil && u.state.CompareAndSwap(stateTaken, stateAbandoned) {
			again = append(again, &update[S]{cause: u.cause, decide: u.decide, result: u.result})
		}
	}
	return again
}

// decide runs one decision and adds its entry to the batch.
func (w *writer[S]) decide(u *update[S], tx *Tx[S]) {
	if w.poison != nil {
		u.err = w.poison
		return
	}
	tx.State, tx.At, tx.Seq = w.work, w.at, w.seq+1
	tx.events, tx.effects, tx.durable, tx.frees = nil, nil, false, false
	u.after = len(w.entries) > 0
	err := guard(u.decide, tx)
	if err == nil && len(tx.events) > 0 {
		u.after = true
		err = w.add(Entry{Seq: tx.Seq, At: tx.At, Cause: u.cause, Events: tx.events})
		w.mustSync = w.mustSync || tx.durable
		w.ordinary, u.frees = w.ordinary || !tx.frees, tx.frees
	}
	if err != nil {
		u.err = err
		if len(tx.events) > 0 {
			w.redo()
		}
		return
	}
	u.effects = tx.effects
}

// guard runs the decision and turns a panic into its error.
func guard[S State[S]](decide func(*Tx[S]), tx *Tx[S]) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case misfit:
			err = p.err
		default:
			err = &DecisionPanic{Value: p, Stack: debug.Stack()}
		}
	}()
	decide(tx)
	return nil
}

// add encodes an entry into the batch.
func (w *writer[S]) add(e Entry) error {
	start := len(w.buf)
	buf, err := appendBody(beginFrame(w.buf), &e)
	if err != nil {
		w.buf = w.buf[:start]
		return err
	}
	w.buf, w.chain = sealFrame(buf, start, frameHeader{Seq: e.Seq, Durable: w.durable}, w.header.Salt, w.chain)
	w.seq = e.Seq
	w.entries = append(w.entries, e)
	for _, event := range e.Events {
		if w.opt.SyncAlways || event.Kind().Durability() == Durable {
			w.mustSync = true
		}
	}
	return nil
}

// redo makes the working state anew from the published one and the entries of the batch: a decision that failed left
// its marks in it. Those entries have been applied before, in the same order and at the same time.
func (w *writer[S]) redo() {
	w.work = w.view.Load().state.Clone()
	for i := range w.entries {
		if err := ApplyEntry(w.work, &w.entries[i]); err != nil {
			panic(fmt.Sprintf("journal: the same entry does not fit twice: %v", err))
		}
	}
}

// commit writes the batch, and syncs it if it must. After an error nothing of it is in the file, or the journal is
// poisoned.
func (w *writer[S]) commit() error {
	if err := w.reserve(int64(len(w.buf))); err != nil && w.ordinary {
		w.report(err)
		return err
	}
	if _, err := w.file.WriteAt(w.buf, w.end); err != nil {
		return w.takeBack(err)
	}
	w.clean = false
	end := w.end + int64(len(w.buf))
	if w.mustSync {
		if err := w.syncNow(); err != nil {
			return err
		}
		w.durable = w.seq
	}
	w.end, w.size, w.reported = end, max(w.size, end), ""
	return nil
}

// reserve asks the file system for the space of what is written next, so that an fsync has only data to write, and for what
// is kept behind it. Where it cannot reserve space a write just grows the file. The error is ErrFull: there is no room for
// both, though perhaps for what is written next.
func (w *writer[S]) reserve(n int64) error {
	need := w.end + n + keptSpace
	if need <= w.size {
		return nil
	}
	err := w.file.Preallocate(need/reserveStep*reserveStep + reserveStep)
	if isFull(err) {
		err = w.file.Preallocate(need)
	}
	switch {
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case err != nil:
		return nil
	}
	if got, err := w.file.Size(); err == nil {
		w.size = got
	}
	return nil
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// takeBack removes what a failed write may have left.
func (w *writer[S]) takeBack(cause error) error {
	if err := w.file.Truncate(w.end); err != nil {
		return w.poisoned(fmt.Errorf("take back a failed write: %w", errors.Join(err, cause)))
	}
	w.size = w.end
	err := fmt.Errorf("%w: %w", ErrWrite, cause)
	if isFull(cause) {
		err = fmt.Errorf("%w: %w", ErrFull, cause)
	}
	w.report(err)
	return err
}

func (w *writer[S]) poisoned(cause error) error {
	w.poison = fmt.Errorf("%w: %w", ErrPoisoned, cause)
	w.report(w.poison)
	return w.poison
}

// report tells of a failure, unless it is the one that was told last.
func (w *writer[S]) report(err error) {
	if text := err.Error(); text != w.reported {
		w.reported = text
		w.opt.Report(err)
	}
}

// publish shows the working state to readers.
func (w *writer[S]) publish() {
	w.lowest.Store(w.clock)
	w.view.Store(&view[S]{state: w.work.Clone(), seq: w.seq, at: w.at, clock: w.clock, chain: w.chain})
}

// answer runs the effects of each update and answers it. An update that emitted nothing shares the fate of the batch only
// if it saw something of it.
func (w *writer[S]) answer(batch []*update[S], err error) {
	for _, u := range batch {
		if u.state.Load() != stateTaken {
			continue
		}
		if u.err == nil && u.after {
			u.err = err
		}
		if u.err == nil {
			for _, effect := range u.effects {
				effect()
			}
		}
		u.result <- u.err
	}
}

// afterCommit does what follows a batch without holding anyone up: the vouch, the timer, the roll.
func (w *writer[S]) afterCommit() {
	if w.stopping {
		return
	}
	if w.durable == w.seq {
		w.vouch()
	} else if !w.ticking && !w.syncing {
		w.timer.Reset(w.opt.SyncEvery)
		w.ticking = true
	}
	if w.end >= max(w.opt.RollBytes, w.rollAt) {
		w.roll()
	}
}

// vouch notes behind the last entry that all of it is on disk, when no entry is about to say so. See frame.go.
func (w *writer[S]) vouch() {
	if w.end+frameHead <= w.size && w.idle() {
		_, _ = w.file.WriteAt(vouch(w.seq, w.header.Salt), w.end)
	}
}

// syncNow puts everything written on disk. A failure poisons: after it the kernel may have dropped what it could not
// write, and a later fsync that succeeds proves nothing.
func (w *writer[S]) syncNow() error {
	if w.syncing {
		// Two fsyncs at once would share one error between them: the other must not swallow ours.
		w.endSync(<-w.synced)
	}
	if w.poison != nil {
		return w.poison
	}
	if err := w.file.Sync(); err != nil {
		return w.poisoned(err)
	}
	if w.ticking {
		w.timer.Stop()
		w.ticking = false
	}
	return nil
}

// beginSync puts what was written on disk without holding up the loop.
func (w *writer[S]) beginSync() {
	if w.syncing || w.poison != nil || w.durable == w.seq {
		return
	}
	w.syncing, w.syncUpto = true, w.seq
	go func(f disk.File) { w.synced <- f.Sync() }(w.file)
}

func (w *writer[S]) endSync(err error) {
	w.syncing = false
	if err != nil {
		_ = w.poisoned(err)
		return
	}
	w.durable = max(w.durable, w.syncUpto)
	if w.durable == w.seq {
		w.vouch()
	} else if !w.ticking {
		w.timer.Reset(w.opt.SyncEvery)
		w.ticking = true
	}
}

// appendOwn writes one entry of the journal's own, outside any batch.
func (w *writer[S]) appendOwn(timer string, e Event) error {
	done := make(chan error, 1)
	u := &update[S]{cause: Timed(timer), decide: func(tx *Tx[S]) {
		if w.stopping {
			tx.Frees() // nothing comes behind it
		}
		tx.Emit(e)
	}, result: done}
	w.run([]*update[S]{u})
	return <-done
}
