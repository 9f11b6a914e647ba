package journal

import (
	"errors"
	"io"
	"strings"
	"testing"

	"doze/disk"
)

// damaged is a journal of several files with snapshots, and one way to damage it.
type damaged struct {
	name   string
	damage func(t *testing.T, fsys disk.FS, files []uint64)
	last   uint64 // last entry that a repair can keep; 0: see want
	want   string // in the words for people
}

// at gives the positions of a good journal's entries; entry n is at n-1.
func at(t *testing.T, fsys disk.FS) []Position {
	t.Helper()
	_, positions, _, err := readAll(t, fsys, "journal")
	if err != io.EOF {
		t.Fatal(err)
	}
	return positions
}

// spoil changes a byte of an entry's body.
func spoil(t *testing.T, fsys disk.FS, p Position) {
	t.Helper()
	changeFile(t, fsys, p.File, func(b []byte) []byte { b[p.Offset+frameHead+3] ^= 0x55; return b })
}

func removeAll(t *testing.T, fsys disk.FS, suffix string) {
	t.Helper()
	entries, err := fsys.ReadDir("journal")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			if err := fsys.Remove("journal/" + e.Name()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var damages = []damaged{
	{"an entry in the middle, no snapshot", func(t *testing.T, fsys disk.FS, files []uint64) {
		removeAll(t, fsys, snapshotSuffix)
		spoil(t, fsys, at(t, fsys)[29])
	}, 29, "are given up"},
	{"an entry in the middle, snapshots behind it", func(t *testing.T, fsys disk.FS, files []uint64) {
		all := at(t, fsys)
		changeFile(t, fsys, all[0].File, func(b []byte) []byte { b[all[5].Offset+30] ^= 1; return b })
		removeAll(t, fsys, markerName)
		l, _ := list(fsys, "journal")
		// Without the newest snapshot a start has to read the damaged file.
		for _, seq := range l.snapshots[1:] {
			_ = fsys.Remove("journal/" + snapshotName(seq))
		}
		spoil(t, fsys, all[len(all)-5])
	}, 0, "replaying them is given up"},
	{"the last file's header", func(t *testing.T, fsys disk.FS, files []uint64) {
		removeAll(t, fsys, snapshotSuffix)
		changeFile(t, fsys, "journal/"+journalName(files[len(files)-1]), func(b []byte) []byte { b[20] ^= 1; return b })
	}, 0, "are given up"},
	{"the first file is missing, snapshots cover it", func(t *testing.T, fsys disk.FS, files []uint64) {
		_ = fsys.Remove("journal/" + journalName(1))
		removeAll(t, fsys, markerName)
		l, _ := list(fsys, "journal")
		for _, seq := range l.snapshots[:len(l.snapshots)-1] {
			_ = fsys.Remove("journal/" + snapshotName(seq))
		}
		spoil(t, fsys, at(t, fsys)[0])
		spoil(t, fsys, Position{File: "journal/" + snapshotName(l.snapshots[len(l.snapshots)-1]), Offset: 60})
	}, 0, "Nothing can be kept"},
	{"all files are missing, a snapshot is there", func(t *testing.T, fsys disk.FS, files []uint64) {
		removeAll(t, fsys, journalSuffix)
	}, 0, "are given up"},
	{"the last file is cut, the marker says more", func(t *testing.T, fsys disk.FS, files []uint64) {
		p := at(t, fsys)[len(at(t, fsys))-4]
		changeFile(t, fsys, p.File, func(b []byte) []byte { return b[:p.Offset+9] })
		removeAll(t, fsys, snapshotSuffix)
	}, 0, "are given up"},
	{"a snapshot in the middle of a damaged file", func(t *testing.T, fsys disk.FS, files []uint64) {
		removeAll(t, fsys, markerName)
		l, _ := list(fsys, "journal")
		newest := l.snapshots[len(l.snapshots)-1]
		all := at(t, fsys)
		for _, p := range all {
			if p.File == all[newest-1].File { // the first entry of the snapshot's file
				spoil(t, fsys, p)
				break
			}
		}
	}, 0, "replaying them is given up"},
}

// prefix folds the first entries of a journal that is good.
func prefix(t *testing.T, fsys disk.FS, n uint64) *ledger {
	t.Helper()
	entries, _, _, err := readAll(t, fsys, "journal")
	if err != io.EOF {
		t.Fatal(err)
	}
	state := newLedger()
	for i := range entries[:n] {
		if err := ApplyEntry(state, &entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

func (d *damaged) make(t *testing.T) (good, bad *disk.Mem) {
	t.Helper()
	fsys, files := written(t, 100, true)
	good, bad = fsys.(*disk.Mem).Crash(disk.KillProcess()), fsys.(*disk.Mem)
	d.damage(t, bad, files)
	return good, bad
}

func plan(t *testing.T, fsys disk.FS) *Repair {
	t.Helper()
	r, err := PlanRepair(fsys, testOptions(), newLedger)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRepairKeepsWhatCanBeKept(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			good, bad := d.make(t)
			opt := testOptions()
			opt.MustExist = true
			var damage *DamageError
			if _, _, err := Open(bad.Crash(disk.KillProcess()), opt, newLedger); !errors.As(err, &damage) && !errors.Is(err, ErrMissing) {
				t.Fatalf("open: %v", err)
			}
			before := bad.Dump()
			r := plan(t, bad)
			if r == nil || bad.Dump() != before {
				t.Fatalf("plan %v", r)
			}
			if !strings.Contains(r.String(), d.want) || d.last > 0 && r.LastSeq != d.last {
				t.Errorf("keeps up to %d:\n%s", r.LastSeq, r)
			}
			kept, err := r.Accept()
			if err != nil {
				t.Fatal(err)
			}
			checkRepaired(t, good, bad, r.LastSeq)
			for _, name := range kept {
				if _, err := bad.Stat("journal/" + name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkRepaired opens a repaired journal: it holds the state after entry last and says what was given up, it can be
// written, stopped, read from its beginning.
func checkRepaired(t *testing.T, good *disk.Mem, bad disk.FS, last uint64) {
	t.Helper()
	if again := plan(t, bad); again != nil {
		t.Fatalf("still damaged:\n%s", again)
	}
	s, rec := open(t, bad, testOptions())
	got, seq := s.View()
	want := prefix(t, good, last)
	damages := 0
	entries, _, _, err := readAll(t, bad, "journal")
	if err != io.EOF {
		t.Fatal(err)
	}
	for i := range entries {
		for _, e := range entries[i].Events {
			if _, ok := e.(*DamageAccepted); ok {
				damages++
				_ = want.Apply(entries[i].Seq, entries[i].At, e)
			}
		}
	}
	mustEqualStates(t, want, got)
	if damages == 0 || seq <= last || len(rec.Notes) > 0 {
		t.Errorf("%d damages, entry %d, %+v", damages, seq, rec)
	}
	emit(t, s, topic("after"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, rec := open(t, bad, testOptions())
	if state, _ := again.View(); !state.has("topic/"+string(topic("after").ID[:])) || !rec.Clean {
		t.Errorf("after another stop: %+v", rec)
	}
}

// TestRepairStoppedHalfWay: whatever operation fails, Open refuses until another repair has finished the work.
func TestRepairStoppedHalfWay(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			good, bad := d.make(t)
			for n := 0; ; n++ {
				attempt := bad.Crash(disk.KillProcess())
				fault := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
				r := plan(t, attempt)
				attempt.Inject(fault)
				_, err := r.Accept()
				attempt.Clear()
				if attempt.Fired(fault) == 0 {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				for _, loss := range []disk.Loss{disk.KillProcess(), disk.PowerLoss(), disk.TornPowerLoss(uint64(n))} {
					finishRepair(t, n, good, attempt.Crash(loss), r.LastSeq)
				}
			}
		})
	}
}

func finishRepair(t *testing.T, n int, good, fsys *disk.Mem, last uint64) {
	t.Helper()
	r := plan(t, fsys)
	if r != nil {
		if r.LastSeq != last {
			t.Fatalf("operation %d failed: then up to entry %d is kept, not %d\n%s", n, r.LastSeq, last, r)
		}
		if _, err := r.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	checkRepaired(t, good, fsys, last)
}

func TestNothingToRepair(t *testing.T) {
	if r := plan(t, disk.NewMem()); r != nil {
		t.Errorf("of nothing: %s", r)
	}
	fsys, _ := written(t, 50, false)
	if r := plan(t, fsys); r != nil {
		t.Errorf("of a good journal: %s", r)
	}
}
