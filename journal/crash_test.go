package journal

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"doze/disk"
)

// past is what a test remembers of a history of updates, to hold a recovered state against.
type past struct {
	fsys    *disk.Mem
	opt     Options
	store   *Store[*ledger]
	states  map[uint64][32]byte // the state's hash after each entry that was, or may have been, written
	acked   uint64              // last entry that was acknowledged
	durable uint64              // last entry that was acknowledged as durable
	err     error               // what ended it
}

func newPast(fsys *disk.Mem) *past {
	opt := testOptions()
	opt.RollBytes = 1 << 10
	opt.SyncEvery = time.Hour // syncs happen where the history says so
	return &past{fsys: fsys, opt: opt, states: map[uint64][32]byte{}}
}

func (p *past) start(t testing.TB) bool {
	t.Helper()
	p.store, _, p.err = Open(p.fsys, p.opt, newLedger)
	if p.err == nil {
		p.remember(t)
	}
	return p.err == nil
}

// remember notes the published state. The journal's own entries, which may be behind the last that was noted, do not
// change it.
func (p *past) remember(t testing.TB) {
	t.Helper()
	p.store.settled()
	state, seq := p.store.View()
	p.states[seq] = hashOf(t, state)
}

// emit makes one entry. It notes the state that the entry leads to before the disk has a say.
func (p *past) emit(t testing.TB, events ...Event) {
	t.Helper()
	durable, made := false, uint64(0)
	err := p.store.Update(bg, Timed("test"), func(tx *Tx[*ledger]) {
		for _, e := range events {
			durable = durable || e.Kind().Durability() == Durable
			tx.Emit(e)
		}
		made = tx.Seq
		p.states[made] = hashOf(t, tx.State)
	})
	if err != nil {
		if !errors.Is(err, ErrPoisoned) {
			delete(p.states, made) // it did not happen: another entry may get the number
		}
		p.err = err
		return
	}
	p.remember(t)
	_, p.acked = p.store.View()
	if durable {
		p.durable = p.acked
	}
}

// syncInBackground does what the timer does.
func (p *past) syncInBackground() {
	_ = p.store.Update(bg, Timed("test"), func(*Tx[*ledger]) { p.store.w.beginSync() })
	p.store.settled()
}

// live is a history with everything in it: two sessions, rolls with snapshots, durable and buffered entries in turn.
func (p *past) live(t testing.TB) {
	t.Helper()
	for session := range 2 {
		if !p.start(t) {
			return
		}
		p.emit(t, topic(fmt.Sprint("start", session)))
		for i := range 9 {
			name := fmt.Sprint("session", session, "-", i)
			p.emit(t, commit(name, int32(i), int64(i)))
			if i%3 == 1 {
				p.syncInBackground()
			}
			if i%4 == 2 {
				p.emit(t, topic(name), commit(name, 3, 4))
			}
		}
		if err := p.store.Close(); err != nil {
			p.err = err
			return
		}
	}
}

// mustRecover opens what a crash left. All that was acknowledged is there (durable says whether only as far as it was
// durable), and the state is one of the history's.
func (p *past) mustRecover(t *testing.T, fsys *disk.Mem, least uint64) {
	t.Helper()
	s, rec, err := Open(fsys, p.opt, newLedger)
	if err != nil {
		if least == 0 && errors.Is(err, ErrMissing) {
			return // nothing was ever acknowledged
		}
		t.Fatalf("open: %v\n%s", err, fsys.Dump())
	}
	state, seq := s.View()
	if seq < least {
		t.Fatalf("entries up to %d are there, up to %d were acknowledged: %+v", seq, least, rec)
	}
	if hashOf(t, state) != p.after(t, seq) {
		t.Fatalf("the state after entry %d is not the history's: %+v", seq, rec)
	}
	emit(t, s, topic("after the crash"))
	if err := s.Close(); err != nil {
		t.Fatalf("close after a recovery: %v", err)
	}
	if _, rec, err := Open(fsys, p.opt, newLedger); err != nil || !rec.Clean {
		t.Fatalf("open after a recovery: %+v, %v", rec, err)
	}
}

// after is the state's hash after an entry. Entries that were not noted are the journal's own and change nothing.
func (p *past) after(t testing.TB, seq uint64) [32]byte {
	for ; seq > 0; seq-- {
		if hash, noted := p.states[seq]; noted {
			return hash
		}
	}
	return hashOf(t, newLedger())
}

func (p *past) crashes(t *testing.T, n int) {
	t.Helper()
	p.mustRecover(t, p.fsys.Crash(disk.KillProcess()), p.acked)
	p.mustRecover(t, p.fsys.Crash(disk.PowerLoss()), p.durable)
	for i := range 2 {
		p.mustRecover(t, p.fsys.Crash(disk.TornPowerLoss(uint64(2*n+i))), p.durable)
	}
}

// TestEveryOperationFails: whichever operation of the disk fails, once or from then on, and whatever a crash takes with
// it afterwards: what was acknowledged is there, and nothing is taken for damage.
func TestEveryOperationFails(t *testing.T) {
	for _, fault := range []disk.Fault{
		{Err: disk.EIO},
		{Err: disk.EIO, Persistent: true},
		{Err: disk.ENOSPC, Short: true},
		{Err: disk.ENOSPC, Short: true, Persistent: true},
	} {
		name := fmt.Sprintf("%v, for good %v", fault.Err, fault.Persistent)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; ; n++ {
				fault := fault
				fault.After = n
				p := newPast(disk.NewMem())
				p.fsys.Inject(&fault)
				p.live(t)
				if p.fsys.Fired(&fault) == 0 {
					if n < 100 {
						t.Errorf("the history has %d operations only", n)
					}
					return
				}
				p.crashes(t, n)
				if p.store != nil {
					_ = p.store.Close()
				}
			}
		})
	}
}
