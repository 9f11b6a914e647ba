package replay

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// aged is a session whose first files are gone: a snapshot holds what they made. ids moves the ids of its cluster and its
// topics, which are named after prefix.
func aged(t *testing.T, ids uint64, prefix string) *session {
	t.Helper()
	s := &session{t: t, fs: disk.NewMem(), clock: &testClock{}}
	s.clock.ms.Store(1_764_444_798_000)
	counter := &testIDs{}
	counter.n.Store(ids)
	s.opt = journal.Options{Clock: s.clock, IDs: counter, RollBytes: 1 << 10, Retention: 5 * time.Second}
	for i := range 40 {
		s.start()
		s.create(fmt.Sprint(prefix, i))
		s.stop()
	}
	return s
}

func (s *session) files(suffix string) (names []string) {
	s.t.Helper()
	entries, err := s.fs.ReadDir("journal")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, "journal/"+e.Name())
		}
	}
	return names
}

func TestReplayBeginsWithASnapshot(t *testing.T) {
	s := aged(t, 0, "t")
	res, _ := replayed(t, s, Options{Check: true})
	if res.Status != Replayed || res.FirstSeq == 1 || res.Base == 0 || res.State == nil {
		t.Errorf("%+v", res)
	}
}

// TestForeignSnapshots: a snapshot of another journal is no base, whether it is of another cluster or of another history
// of the same one.
func TestForeignSnapshots(t *testing.T) {
	for name, ids := range map[string]uint64{"of another cluster": 100_000, "of another history": 0} {
		t.Run(name, func(t *testing.T) {
			s, other := aged(t, 0, "t"), aged(t, ids, "u")
			for _, snapshot := range s.files(".snapshot") {
				if err := s.fs.Remove(snapshot); err != nil {
					t.Fatal(err)
				}
			}
			before := s.files(".journal")[0]
			foreign := other.files(".snapshot")
			copyTo(t, other.fs, foreign[len(foreign)-1], s.fs)
			for _, nearest := range []bool{false, true} {
				res, out := replayed(t, s, Options{Print: Text, Nearest: nearest})
				if res.Status != Damaged || res.State != nil || res.Entries == 0 || out == "" {
					t.Errorf("%+v", res)
				}
				if !strings.Contains(res.Verdict, before) || !strings.Contains(res.Verdict, "no snapshot that verifies and belongs to it") {
					t.Errorf("verdict %s", res.Verdict)
				}
			}
			res, err := Run(s.fs, before, Options{})
			if err != nil || res.Status != Replayed || res.State != nil {
				t.Errorf("the file alone: %+v, %v", res, err)
			}
		})
	}
}

// TestSnapshotAheadOfItsJournal: the end of the journal is gone, and nothing in its files says so.
func TestSnapshotAheadOfItsJournal(t *testing.T) {
	s := usualRolling(t, 0)
	early := s.fs.Crash(disk.KillProcess())
	s.start()
	s.create("more")
	s.stop()
	snapshots := s.files(".snapshot")
	copyTo(t, s.fs, snapshots[len(snapshots)-1], early)
	s.fs = early
	for _, nearest := range []bool{false, true} {
		res, _ := replayed(t, s, Options{Nearest: nearest})
		if res.Status != Damaged || res.Damage == nil || !strings.Contains(res.Verdict, "a snapshot says that entry 28 was on disk") {
			t.Errorf("%+v", res)
		}
	}
	if _, _, err := journal.Open(s.fs, s.opt, projections.New); err == nil {
		t.Error("a start takes it")
	}
}

func copyTo(t *testing.T, from disk.FS, name string, to disk.FS) {
	t.Helper()
	b, err := disk.ReadFile(from, name, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	f, err := to.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
