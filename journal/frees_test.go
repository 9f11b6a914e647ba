package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"doze/disk"
)

// fullDisk is one on which nothing grows.
func fullDisk() *disk.Fault {
	return &disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite, disk.OpPreallocate, disk.OpCreate}, Grows: true, Persistent: true}
}

// untilFull writes until the journal says that it is full.
func untilFull(t *testing.T, s *Store[*ledger]) {
	t.Helper()
	for _, size := range []int{10_000, 1} {
		group, err := strings.Repeat("x", size), error(nil)
		for i := int32(0); err == nil; i++ {
			err = s.Update(bg, Timed("test"), func(tx *Tx[*ledger]) { tx.Emit(commit(group, i, 1)) })
		}
		if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
	}
}

// TestWhatFreesSpaceHasRoom: on a full disk, when everything else is refused for want of space, entries that free space are
// written, also when they share a write with others, and after a kill they are there. With space again the others go on.
func TestWhatFreesSpaceHasRoom(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	s, _ := open(t, fsys, opt)
	emit(t, s, topic("first"))
	fsys.Inject(fullDisk())
	untilFull(t, s)
	for i := range 50 {
		if err := s.Update(bg, Timed("retention"), func(tx *Tx[*ledger]) { tx.Frees(); tx.Emit(topic(fmt.Sprint("freed", i))) }); err != nil {
			t.Fatalf("entry %d that frees space: %v", i, err)
		}
	}
	other, freeing := together(s, topic("other"), topic("both"))
	if !errors.Is(other, ErrFull) || freeing != nil {
		t.Errorf("together: %v; %v", other, freeing)
	}
	before, _ := s.View()
	again, _ := open(t, fsys.Crash(disk.KillProcess()), opt)
	after, _ := again.View()
	mustEqualStates(t, before, after)
	fsys.Clear()
	emit(t, s, topic("more"))
}

// together has two updates decided in one batch: one that waits until both are there comes before them.
func together(s *Store[*ledger], other, freeing Event) (of, ff error) {
	held, let := make(chan struct{}), make(chan struct{})
	first, a, b := make(chan error), make(chan error), make(chan error)
	go func() { first <- s.Update(bg, Timed("held"), func(*Tx[*ledger]) { close(held); <-let }) }()
	<-held
	go func() { a <- s.Update(bg, Timed("other"), func(tx *Tx[*ledger]) { tx.Emit(other) }) }()
	go func() { b <- s.Update(bg, Timed("freeing"), func(tx *Tx[*ledger]) { tx.Frees(); tx.Emit(freeing) }) }()
	for waiting := 0; waiting < 2; yield() {
		s.mu.Lock()
		waiting = len(s.waiting)
		s.mu.Unlock()
	}
	close(let)
	<-first
	return <-a, <-b
}

// TestStopOnAnAlmostFullDisk: what is kept for entries that free space is not wanted for the last entry of a clean stop.
func TestStopOnAnAlmostFullDisk(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	s, _ := open(t, fsys, opt)
	emit(t, s, topic("first"))
	fsys.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpPreallocate}, Persistent: true})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, rec := open(t, fsys.Crash(disk.KillProcess()), opt); !rec.Clean {
		t.Errorf("recovery: %+v", rec)
	}
}
