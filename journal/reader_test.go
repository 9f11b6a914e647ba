package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"testing"

	"doze/disk"
)

// readAll reads a journal to its end and gives what stopped it.
func readAll(t testing.TB, fsys disk.FS, name string) (entries []Entry, positions []Position, r *Reader, err error) {
	t.Helper()
	r, err = OpenReader(fsys, name)
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if err != nil {
			return entries, positions, r, err
		}
		entries, positions = append(entries, *e), append(positions, r.Position())
	}
}

// written makes a journal of several files, killed or cleanly stopped, and gives the names of its files.
func written(t testing.TB, n int, clean bool) (disk.FS, []uint64) {
	t.Helper()
	fsys, opt := disk.NewMem(), testOptions()
	opt.RollBytes = 2 << 10
	s, _ := open(t, fsys, opt)
	for i := range n {
		emit(t, s, commit("g", int32(i), int64(i)))
		s.settled() // so that the snapshots are always the same
	}
	if clean {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l, err := list(fsys, "journal")
	if err != nil {
		t.Fatal(err)
	}
	return fsys, l.journals
}

// settled waits until the store has done all that it does beside its updates: syncs and snapshots.
func (s *Store[S]) settled() {
	for busy := true; busy; yield() {
		busy = false
		_ = s.Update(bg, Timed("wait"), func(*Tx[S]) { busy = s.w.snapping || s.w.syncing })
	}
}

func TestReaderGivesWhatWasWritten(t *testing.T) {
	fsys, files := written(t, 100, true)
	entries, positions, r, err := readAll(t, fsys, "journal")
	if err != io.EOF || r.Tail() != nil || r.Before() != 0 || r.FirstSeq() != 1 || len(files) < 3 {
		t.Fatalf("stopped by %v, tail %v, files %v", err, r.Tail(), files)
	}
	offset := 0
	for i, e := range entries {
		if e.Seq != uint64(i+1) {
			t.Fatalf("entry %d is %d", i+1, e.Seq)
		}
		if c, ok := e.Events[0].(*OffsetsCommitted); ok {
			if !reflect.DeepEqual(c, commit("g", int32(offset), int64(offset))) {
				t.Fatalf("entry %d: %s", e.Seq, Line(c))
			}
			offset++
		}
	}
	if last := entries[len(entries)-1]; offset != 100 || !r.CleanStop(last.Seq) || last.Cause.Timer != "stop" {
		t.Errorf("%d commits, last entry %+v", offset, last)
	}
	if done, total := r.Progress(); done != total || total == 0 {
		t.Errorf("progress %d of %d", done, total)
	}
	one, inOne, r, err := readAll(t, fsys, "journal/"+journalName(files[1]))
	if err != io.EOF || r.Before() != files[1]-1 || r.FirstSeq() != files[1] {
		t.Errorf("one file: stopped by %v", err)
	}
	from := files[1] - 1
	if !reflect.DeepEqual(one, entries[from:files[2]-1]) || !reflect.DeepEqual(inOne, positions[from:files[2]-1]) {
		t.Error("a file alone reads differently")
	}
}

func TestReaderLoadsSnapshots(t *testing.T) {
	fsys, _ := written(t, 100, true)
	r, err := OpenReader(fsys, "journal")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	state := newLedger()
	found := 0
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		if err := ApplyEntry(state, e); err != nil {
			t.Fatal(err)
		}
		for _, seq := range r.Snapshots() {
			if seq != e.Seq {
				continue
			}
			found++
			loaded, at, err := LoadSnapshot(r, seq, newLedger)
			if err != nil {
				t.Fatal(err)
			}
			mustEqualStates(t, state, loaded)
			if at.Chain != r.Position().Chain || at.Hash != hashOf(t, state) || at.At != e.At {
				t.Errorf("snapshot %+v at %+v", at, r.Position())
			}
		}
	}
	if found == 0 || found != len(r.Snapshots()) {
		t.Errorf("met %d of %d snapshots", found, len(r.Snapshots()))
	}
}

func TestReaderReportsTearAndDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b []byte, end int64) []byte
		tail   bool
	}{
		{"torn", func(b []byte, end int64) []byte { return append(b[:end], "dzJ1 and half of a frame"...) }, true},
		{"damaged", func(b []byte, end int64) []byte { b[end-60] ^= 1; return b }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, files := written(t, 60, true)
			_ = fsys.Remove("journal/" + markerName)
			entries, positions, _, _ := readAll(t, fsys, "journal")
			last := positions[len(positions)-1]
			changeFile(t, fsys, "journal/"+journalName(files[len(files)-1]), func(b []byte) []byte {
				return c.change(b, last.Offset+last.Bytes)
			})
			got, _, r, err := readAll(t, fsys, "journal")
			var damage *DamageError
			if c.tail {
				if err != io.EOF || r.Tail() == nil || len(got) != len(entries) {
					t.Errorf("%d of %d entries, then %v", len(got), len(entries), err)
				}
			} else if !errors.As(err, &damage) && (err != io.EOF || r.Tail() == nil) || len(got) != len(entries)-1 {
				t.Errorf("%d of %d entries, then %v", len(got), len(entries), err)
			}
		})
	}
}

func TestReaderOfAMissingJournal(t *testing.T) {
	fsys := disk.NewMem()
	if _, err := OpenReader(fsys, "journal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := fsys.MkdirAll("journal"); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReader(fsys, "journal"); !errors.Is(err, ErrMissing) {
		t.Errorf("error %v", err)
	}
	writeFile(t, fsys, "journal/x", []byte("not a journal"))
	var damage *DamageError
	if _, err := OpenReader(fsys, "journal/x"); !errors.As(err, &damage) {
		t.Errorf("error %v", err)
	}
}

// TestReaderBesideAWriter: what a running broker is writing is never damage to a reader.
func TestReaderBesideAWriter(t *testing.T) {
	fsys, opt := disk.NewMem(), testOptions()
	opt.RollBytes = 64 << 10
	s, _ := open(t, fsys, opt)
	done := make(chan error, 1)
	go func() {
		for i := range 2000 {
			if err := tryEmit(s, commit(fmt.Sprint("group", i%9), 1, int64(i))); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		entries, _, _, err := readAll(t, fsys, "journal")
		if err != nil && err != io.EOF {
			t.Fatalf("after %d entries: %v", len(entries), err)
		}
	}
}

func TestDroppedDecisionsAnswerAndChangeNothing(t *testing.T) {
	s, _ := open(t, disk.NewMem(), testOptions())
	emit(t, s, topic("a"))
	answer, effect := 0, false
	err := s.Update(bg, Cause{API: 19}, func(tx *Tx[*ledger]) {
		tx.Then(func() { effect = true })
		tx.Emit(topic("b"))
		answer = len(tx.State.topics())
		tx.Drop()
	})
	if !errors.Is(err, ErrDropped) || answer != 2 || effect {
		t.Errorf("error %v, answer %d, effect ran: %v", err, answer, effect)
	}
	if state, seq := s.View(); seq != 1 || len(state.topics()) != 1 {
		t.Errorf("state after entry %d has %v", seq, state.topics())
	}
}
