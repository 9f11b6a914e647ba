package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"doze/disk"
)

var bg = context.Background()

func TestReopenGivesTheSameState(t *testing.T) {
	for _, how := range []string{"clean stop", "killed"} {
		t.Run(how, func(t *testing.T) {
			fsys, opt := disk.NewMem(), testOptions()
			s, rec := open(t, fsys, opt)
			if !rec.Fresh || rec.LastSeq != 0 {
				t.Errorf("recovery of nothing: %+v", rec)
			}
			for i := range 20 {
				emit(t, s, topic(fmt.Sprint("t", i)))
				emit(t, s, commit("g", int32(i), int64(i)), commit("h", int32(i), 5))
			}
			before, seq := s.View()
			if how == "clean stop" {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			again, rec := open(t, fsys.Crash(disk.KillProcess()), opt)
			after, _ := again.View()
			mustEqualStates(t, before, after)
			if clean := how == "clean stop"; rec.Clean != clean || rec.Tail != nil || len(rec.Notes) > 0 {
				t.Errorf("recovery: %+v", rec)
			} else if clean && (rec.SnapshotSeq != seq || rec.Applied != 1 || rec.LastSeq != seq+1) {
				t.Errorf("recovery: %+v", rec)
			}
			if again.ClusterID() != s.ClusterID() {
				t.Error("the cluster id changed")
			}
			emit(t, again, topic("more"))
		})
	}
}

func TestOpenAndCloseWithoutWritingChangesNothing(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	s, _ := open(t, fsys, opt)
	emit(t, s, topic("a"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := fileNames(t, fsys)
	for range 3 {
		s, rec := open(t, fsys, opt)
		if !rec.Clean || rec.LastSeq != 2 {
			t.Errorf("recovery: %+v", rec)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := fileNames(t, fsys); !reflect.DeepEqual(got, want) {
		t.Errorf("files are %v, were %v", got, want)
	}
}

func fileNames(t *testing.T, fsys *disk.Mem) (names []string) {
	t.Helper()
	entries, err := fsys.ReadDir("journal")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%s %d", e.Name(), info.Size()))
	}
	return names
}

func TestUpdateWithoutEmitWritesNothing(t *testing.T) {
	s, _ := open(t, disk.NewMem(), testOptions())
	ran := false
	err := s.Update(bg, Timed("x"), func(tx *Tx[*ledger]) { tx.Then(func() { ran = true }) })
	if err != nil || !ran {
		t.Errorf("error %v, effect ran: %v", err, ran)
	}
	if _, seq := s.View(); seq != 0 {
		t.Errorf("sequence %d", seq)
	}
}

func TestEffectsRunInOrderAndOnlyAfterSuccess(t *testing.T) {
	s, _ := open(t, disk.NewMem(), testOptions())
	var got []string
	for _, name := range []string{"a", "a", "b"} { // the second does not fit
		_ = s.Update(bg, Timed("x"), func(tx *Tx[*ledger]) {
			tx.Then(func() {
				state, _ := s.View()
				got = append(got, fmt.Sprint(name, state.topics()))
			})
			tx.Emit(topic(name))
		})
	}
	if want := []string{"a[a]", "b[a b]"}; !reflect.DeepEqual(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
}

func TestFailingDecisionsLeaveNoTrace(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	s, _ := open(t, fsys, opt)
	hold, held := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.Update(bg, Timed("hold"), func(*Tx[*ledger]) { close(held); <-hold })
	}()
	<-held
	// All of these wait and so share one batch.
	decisions := []func(*Tx[*ledger]){
		func(tx *Tx[*ledger]) { tx.Emit(topic("a")) },
		func(tx *Tx[*ledger]) { tx.Emit(topic("lost")); panic("boom") },
		func(tx *Tx[*ledger]) { tx.Emit(topic("b")) },
		func(tx *Tx[*ledger]) { tx.Emit(topic("c")); tx.Emit(topic("a")) },
		func(tx *Tx[*ledger]) { tx.Emit(topic("lost")) },
		func(tx *Tx[*ledger]) { panic("before anything") },
		func(tx *Tx[*ledger]) { tx.Emit(&OffsetsCommitted{Group: strings.Repeat("x", MaxBody)}) },
		func(tx *Tx[*ledger]) { tx.Emit(topic("d")) },
	}
	errs := make([]error, len(decisions))
	var wg sync.WaitGroup
	for i, decide := range decisions {
		before := s.queued()
		wg.Go(func() { errs[i] = s.Update(bg, Timed("x"), decide) })
		for s.queued() == before {
			yield()
		}
	}
	close(hold)
	wg.Wait()
	var panicked *DecisionPanic
	if !errors.As(errs[1], &panicked) || panicked.Value != "boom" || !errors.As(errs[5], &panicked) {
		t.Errorf("panics gave %v and %v", errs[1], errs[5])
	}
	if errs[3] == nil || !strings.Contains(errs[3].Error(), "topic a exists") {
		t.Errorf("misfit gave %v", errs[3])
	}
	if !errors.Is(errs[6], ErrTooLarge) {
		t.Errorf("large entry gave %v", errs[6])
	}
	for _, i := range []int{0, 2, 4, 7} {
		if errs[i] != nil {
			t.Errorf("decision %d: %v", i, errs[i])
		}
	}
	state, seq := s.View()
	if want := []string{"a", "b", "d", "lost"}; !reflect.DeepEqual(state.topics(), want) || seq != 4 {
		t.Errorf("topics %v after entry %d, want %v after 4", state.topics(), seq, want)
	}
	again, _ := open(t, fsys.Crash(disk.KillProcess()), opt)
	folded, _ := again.View()
	mustEqualStates(t, state, folded)
}

func (s *Store[S]) queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

func TestCancelledUpdateDoesNotHappen(t *testing.T) {
	s, _ := open(t, disk.NewMem(), testOptions())
	hold, held := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.Update(bg, Timed("hold"), func(*Tx[*ledger]) { close(held); <-hold })
	}()
	<-held
	ctx, cancel := context.WithCancel(bg)
	result := make(chan error, 1)
	go func() {
		result <- s.Update(ctx, Timed("x"), func(tx *Tx[*ledger]) { tx.Emit(topic("a")) })
	}()
	for s.queued() == 0 {
		yield()
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(hold)
	emit(t, s, topic("b"))
	if state, _ := s.View(); !reflect.DeepEqual(state.topics(), []string{"b"}) {
		t.Errorf("topics %v", state.topics())
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s, _ := open(t, disk.NewMem(), testOptions())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tryEmit(s, topic("a")); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	clock := opt.Clock.(*testClock)
	s, _ := open(t, fsys, opt)
	emit(t, s, topic("a"))
	at := s.At()
	clock.ms.Add(-3_600_000)
	emit(t, s, topic("b"))
	if s.At() != at {
		t.Errorf("time %d after %d", s.At(), at)
	}
	again, _ := open(t, fsys.Crash(disk.KillProcess()), opt)
	emit(t, again, topic("c"))
	if again.At() != at {
		t.Errorf("time %d after %d", again.At(), at)
	}
}

func TestRollingKeepsEverything(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	opt.RollBytes = 4 << 10
	s, _ := open(t, fsys, opt)
	for i := range 300 {
		emit(t, s, commit("g", int32(i%7), int64(i)))
	}
	s.settled()
	want, _ := s.View()
	again, rec := open(t, fsys.Crash(disk.KillProcess()), opt)
	got, _ := again.View()
	mustEqualStates(t, want, got)
	if len(again.w.files) < 5 || rec.SnapshotSeq == 0 {
		t.Errorf("files %v, recovery %+v", again.w.files, rec)
	}
}

func TestRetentionDropsOldFiles(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	opt.RollBytes, opt.Retention = 4<<10, 1_000_000_000 // 1 s
	clock := opt.Clock.(*testClock)
	s, _ := open(t, fsys, opt)
	for i := range 300 {
		clock.ms.Add(50)
		emit(t, s, commit("g", int32(i%7), int64(i)))
	}
	want, _ := s.View()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, rec := open(t, fsys, opt)
	got, _ := again.View()
	mustEqualStates(t, want, got)
	if rec.FirstSeq == 1 || len(rec.Notes) > 0 {
		t.Errorf("recovery %+v", rec)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove("journal/" + snapshotName(rec.SnapshotSeq)); err != nil {
		t.Fatal(err)
	}
	third, rec := open(t, fsys, opt)
	got, _ = third.View()
	mustEqualStates(t, want, got)
	if rec.SnapshotSeq == 0 {
		t.Errorf("recovery %+v", rec)
	}
}

// What fails is reported once, and again after a write that succeeded.
func TestFailuresAreReportedOnce(t *testing.T) {
	fsys := disk.NewMem()
	var reports []error
	opt := testOptions()
	opt.Report = func(err error) { reports = append(reports, err) }
	s, _ := open(t, fsys, opt)
	for round := range 2 {
		fsys.Inject(&disk.Fault{Err: syscall.ENOSPC, Only: []disk.Op{disk.OpWrite}, Persistent: true})
		for range 3 {
			if err := tryEmit(s, &ProducerIDsAllocated{First: int64(round), Count: 1}); !errors.Is(err, ErrFull) {
				t.Fatalf("on a full disk: %v", err)
			}
		}
		fsys.Clear()
		if err := tryEmit(s, &ProducerIDsAllocated{First: int64(round), Count: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 2 || !errors.Is(reports[0], ErrFull) {
		t.Errorf("reported %v", reports)
	}
}
