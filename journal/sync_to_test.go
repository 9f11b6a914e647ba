package journal

import (
	"context"
	"errors"
	"testing"

	"doze/disk"
)

// What SyncTo waited for survives a power failure; what is only written may not.
func TestSyncToSurvivesAPowerFailure(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	s, _ := open(t, fsys, opt)
	emit(t, s, topic("a")) // makes the file
	emit(t, s, commit("g", 0, 1))
	_, seq := s.View()
	if err := s.SyncTo(seq)(bg); err != nil {
		t.Fatal(err)
	}
	if err := s.SyncTo(seq)(bg); err != nil {
		t.Fatalf("a second time: %v", err)
	}
	after, rec := open(t, fsys.Crash(disk.PowerLoss()), opt)
	if rec.LastSeq != seq {
		t.Errorf("the journal ends at entry %d, want %d", rec.LastSeq, seq)
	}
	if err := errors.Join(s.Close(), after.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.SyncTo(1 << 40)(bg); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestSyncToOfManyAtOnce(t *testing.T) {
	s, _ := open(t, disk.NewMem(), testOptions())
	var waits []func(context.Context) error
	for i := range 100 {
		emit(t, s, commit("g", int32(i), 1))
		_, seq := s.View()
		waits = append(waits, s.SyncTo(seq))
	}
	for _, wait := range waits {
		if err := wait(bg); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(bg)
	cancel()
	if err := s.SyncTo(1 << 40)(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a decision asks to be durable is on disk when it is seen, with all that came before.
func TestDurableDecision(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	s, _ := open(t, fsys, opt)
	emit(t, s, topic("a")) // makes the file
	emit(t, s, commit("g", 0, 1))
	err := s.Update(bg, Timed("test"), func(tx *Tx[*ledger]) {
		tx.Emit(commit("g", 0, 2))
		tx.Durable()
	})
	if err != nil {
		t.Fatal(err)
	}
	_, seq := s.View()
	emit(t, s, commit("g", 0, 3))
	after, rec := open(t, fsys.Crash(disk.PowerLoss()), opt)
	if rec.LastSeq != seq {
		t.Errorf("the journal ends at entry %d, want %d", rec.LastSeq, seq)
	}
	if err := errors.Join(s.Close(), after.Close()); err != nil {
		t.Fatal(err)
	}
}
