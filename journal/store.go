package journal

import (
	"context"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"doze/disk"
)

// Store is a journal that is open for writing, and the state it folds into. One goroutine decides, writes and publishes;
// any number may call Update and View.
type Store[S State[S]] struct {
	fs    disk.FS
	opt   Options
	fresh func() S

	view atomic.Pointer[view[S]]

	mu      sync.Mutex
	waiting []*update[S]
	syncs   []*syncWait // who waits for entries that were answered after write(2)
	closing bool
	onDisk  atomic.Uint64 // the last entry known to be on disk
	lowest  atomic.Int64  // reading of the clock since the last entry
	wake    chan struct{} // holds one token when there is something to do
	done    chan struct{} // closed when the loop has ended
	closed  error         // how it ended

	w writer[S] // the loop's own
}

// view is what was last published.
type view[S any] struct {
	state S
	seq   uint64
	at    int64
	clock int64 // what the clock said when at last moved
	chain uint32
}

// Tx is one Update in progress: valid only inside its decision.
type Tx[S State[S]] struct {
	State S      // the working state; Emit applies to it at once
	At    int64  // the entry's time, ms
	Seq   uint64 // the entry's sequence, if it emits anything

	ids     IDs
	events  []Event
	effects []func()
	durable bool
	frees   bool
}

// Emit applies the event to the state and adds it to the entry. An event that does not fit ends the decision: its Update
// returns the error, and nothing happened.
func (tx *Tx[S]) Emit(e Event) {
	tx.events = append(tx.events, e)
	if _, own := e.(*StateHashed); own {
		return
	}
	if err := tx.State.Apply(tx.Seq, tx.At, e); err != nil {
		panic(misfit{fmt.Errorf("fold %s of entry %d: %w", e.Kind().Name(), tx.Seq, err)})
	}
}

// Durable has the entry fsynced before it is published and answered, whatever its events are: for what must not be seen
// before it, and all entries before it, survive a power failure.
func (tx *Tx[S]) Durable() { tx.durable = true }

// Frees says that space is freed when the entry is written: it may take the last space that the journal has reserved, which
// other entries leave alone. The decision may run a second time, when those that it shared a write with had no room.
func (tx *Tx[S]) Frees() { tx.frees = true }

// Drop ends the decision: its Update returns ErrDropped, and nothing happened. For a request that only wants to know what
// would happen.
func (tx *Tx[S]) Drop() { panic(misfit{ErrDropped}) }

// Then adds an effect, to run once the entry is acknowledged and before Update returns; not at all when it fails. An
// effect must not block and must not call Update.
func (tx *Tx[S]) Then(effect func()) { tx.effects = append(tx.effects, effect) }

// NewUUID is the only source of ids for a decision.
func (tx *Tx[S]) NewUUID() [16]byte { return tx.ids.NewUUID() }

// misfit carries the error of Apply out of a decision.
type misfit struct{ err error }

// DecisionPanic is what the Update of a decision that panicked returns. Nothing happened.
type DecisionPanic struct {
	Value any
	Stack []byte
}

func (p *DecisionPanic) Error() string { return fmt.Sprintf("decision panicked: %v", p.Value) }

// update is one call of Update on its way through the loop.
type update[S State[S]] struct {
	cause  Cause
	decide func(*Tx[S])
	state  atomic.Int32 // waiting, then taken or abandoned
	result chan error

	effects []func()
	err     error
	frees   bool
	after   bool // decided on a state that earlier entries of the batch have made
}

const (
	stateWaiting = iota
	stateTaken
	stateAbandoned
)

// Update runs decide in the store's loop and returns when what it emitted is written, and fsynced if an event is
// durable or the decision asked for it. An Update without Emit writes nothing. Errors: ErrFull, ErrWrite, ErrTooLarge, ErrClosed, an event's misfit,
// *DecisionPanic, ctx.Err() before the decision ran: nothing happened; ErrPoisoned: not known before a restart.
func (s *Store[S]) Update(ctx context.Context, cause Cause, decide func(*Tx[S])) error {
	u := &update[S]{cause: cause, decide: decide, result: make(chan error, 1)}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ErrClosed
	}
	s.waiting = append(s.waiting, u)
	s.mu.Unlock()
	s.signal()
	select {
	case err := <-u.result:
		return err
	case <-ctx.Done():
	}
	if u.state.CompareAndSwap(stateWaiting, stateAbandoned) {
		return ctx.Err()
	}
	return <-u.result
}

func (s *Store[S]) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// View returns the last published state and the sequence it is after. The state never changes: read it, do not clone it.
func (s *Store[S]) View() (S, uint64) {
	v := s.view.Load()
	return v.state, v.seq
}

// At is the time of the last published entry, in ms: no later entry has an earlier one.
func (s *Store[S]) At() int64 { return s.view.Load().at }

// Now is the time that an entry would have now: the clock's, unless that was set back. Who asks for it now and then has the time
// go on from there although nothing is written.
func (s *Store[S]) Now() int64 {
	v := s.view.Load()
	now := s.opt.Clock.NowMillis()
	at, _ := moved(v.at, s.sinceSetBack(v.clock, now), now)
	return at
}

// sinceSetBack is the clock's lowest reading, as far as anybody has looked at it, since the last entry, when that was.
func (s *Store[S]) sinceSetBack(was, now int64) int64 {
	for {
		lowest := s.lowest.Load()
		if lowest <= now {
			return min(was, lowest)
		}
		if s.lowest.CompareAndSwap(lowest, now) {
			return min(was, now)
		}
	}
}

// ClusterID is the one in the files' headers.
func (s *Store[S]) ClusterID() [16]byte { return s.w.header.ClusterID }

// Close answers what is waiting, syncs, writes the state's hash, a snapshot and the clean-stop marker.
func (s *Store[S]) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.signal()
	<-s.done
	return s.closed
}

// take gives the updates that wait and whether the store is being closed.
func (s *Store[S]) take(into []*update[S]) ([]*update[S], bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.waiting
	s.waiting = into[:0]
	return batch, s.closing
}

func (s *Store[S]) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) == 0
}

func newStore[S State[S]](o *opening[S], f disk.File) *Store[S] {
	s := &Store[S]{fs: o.fs, opt: *o.opt, fresh: o.fresh, wake: make(chan struct{}, 1), done: make(chan struct{})}
	s.w = writer[S]{
		Store: s, file: f, header: o.last, base: o.parts[0].header.before(), files: o.list.journals, work: o.state,
		end: o.end, size: o.size, seq: o.rec.LastSeq, at: o.at, clock: o.opt.Clock.NowMillis(), chain: o.chain,
		durable: o.rec.LastSeq, clean: o.rec.Clean,
	}
	s.w.timer = time.NewTimer(time.Hour)
	s.w.timer.Stop()
	s.w.synced = make(chan error, 1)
	s.w.snapped = make(chan snapped, 1)
	s.w.publish()
	go s.w.loop()
	return s
}

func (s *Store[S]) path(name string) string { return path.Join(s.opt.Dir, name) }
