package journal

import (
	"errors"
	"io"
	"testing"

	"doze/disk"
)

// dying is a journal in one file whose last entries are of both classes; stopped cleanly or killed.
func dying(t testing.TB, clean bool, last ...Event) (*disk.Mem, *past, []Position) {
	t.Helper()
	p := newPast(disk.NewMem())
	p.opt.RollBytes = 1 << 20
	if !p.start(t) {
		t.Fatal(p.err)
	}
	p.emit(t, topic("a"))
	p.emit(t, commit("g", 1, 2))
	for _, e := range last {
		p.emit(t, e)
	}
	if clean {
		if err := p.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	image, positions := imageOf(t, p.fsys)
	if !clean {
		t.Cleanup(func() { _ = p.store.Close() })
		for last[len(last)-1].Kind().Durability() == Durable && !vouchFollows(t, image, positions) {
			yield() // an entry is answered before the vouch behind it is written
			image, positions = imageOf(t, p.fsys)
		}
	}
	end := positions[len(positions)-1]
	changeFile(t, image, theFile, func(b []byte) []byte { // most of the space reserved ahead goes, for speed
		return b[:min(int64(len(b)), end.Offset+end.Bytes+frameHead+600)]
	})
	return image, p, positions
}

// imageOf is what a killed process would leave, and where the entries lie in it.
func imageOf(t testing.TB, fsys *disk.Mem) (*disk.Mem, []Position) {
	t.Helper()
	image := fsys.Crash(disk.KillProcess())
	_, positions, _, err := readAll(t, image, "journal")
	if err != io.EOF {
		t.Fatal(err)
	}
	return image, positions
}

// vouchFollows says whether anything stands behind the last entry.
func vouchFollows(t testing.TB, image *disk.Mem, positions []Position) bool {
	t.Helper()
	end := positions[len(positions)-1]
	behind := readFile(t, image, theFile)[end.Offset+end.Bytes:]
	return !allZero(behind[:min(frameHead, len(behind))])
}

// opened gives what Open makes of a changed journal: the last entry kept, or the damage.
func opened(t *testing.T, p *past, fsys disk.FS) (last uint64, damage *DamageError) {
	t.Helper()
	s, rec, err := Open(fsys, p.opt, newLedger)
	if errors.As(err, &damage) {
		return 0, damage
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer s.Close()
	state, seq := s.View()
	if hashOf(t, state) != p.after(t, seq) {
		t.Fatalf("the state after entry %d is not the history's: %+v", seq, rec)
	}
	return seq, nil
}

const theFile = "journal/00000000000000000001.journal"

// wholeFrames is the last entry that lies wholly before a place.
func wholeFrames(positions []Position, place int64) (last uint64) {
	for _, p := range positions {
		if p.Offset+p.Bytes <= place {
			last++
		}
	}
	return last
}

// TestCutAtEveryByte: a file that ends early, or is zero from a place on, gives the entries before that place; or, when a
// marker or a snapshot says that there was more, it is refused.
func TestCutAtEveryByte(t *testing.T) {
	for _, clean := range []bool{false, true} {
		image, p, positions := dying(t, clean, topic("b"), commit("g", 2, 3), commit("g", 3, 4))
		first, end := positions[1].Offset, positions[len(positions)-1].Offset+positions[len(positions)-1].Bytes
		for _, zero := range []bool{false, true} {
			for cut := first; cut <= end; cut++ {
				fsys := image.Crash(disk.KillProcess())
				changeFile(t, fsys, theFile, func(b []byte) []byte {
					if zero {
						clear(b[cut:])
						return b
					}
					return b[:cut]
				})
				last, damage := opened(t, p, fsys)
				whole := wholeFrames(positions, cut)
				switch {
				case clean && cut < end && damage == nil && !lostZerosOnly(t, image, cut, zero):
					t.Fatalf("cut at %d after a clean stop: opened with %d entries", cut, last)
				case !clean && (damage != nil || last != whole):
					t.Fatalf("cut at %d (zero %v): %d entries, %d are whole; %v", cut, zero, last, whole, damage)
				}
			}
		}
	}
}

// lostZerosOnly says whether zeroing from a place on changed nothing: the bytes there were zero.
func lostZerosOnly(t *testing.T, image *disk.Mem, cut int64, zero bool) bool {
	t.Helper()
	return zero && allZero(readFile(t, image, theFile)[cut:])
}

// TestEveryBitCounts: a changed bit in what is known to have been on disk is damage, and never another state.
func TestEveryBitCounts(t *testing.T) {
	for _, c := range []struct {
		name    string
		clean   bool
		last    []Event
		vouched int // so many entries are known to have been on disk
	}{
		{"vouched", false, []Event{topic("b"), commit("g", 2, 3), topic("c")}, 5},
		{"buffered at the end", false, []Event{topic("b"), commit("g", 2, 3), commit("g", 3, 4)}, 3},
		{"clean stop", true, []Event{topic("b"), commit("g", 2, 3)}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			image, p, positions := dying(t, c.clean, c.last...)
			if c.clean {
				removeAll(t, image, snapshotSuffix) // else a start does not read the entries at all
			}
			end := positions[len(positions)-1]
			size := min(end.Offset+end.Bytes+frameHead, int64(len(readFile(t, image, theFile))))
			known := positions[c.vouched-1]
			for flip := range 8 * size {
				place, bit := flip/8, flip%8
				fsys := image.Crash(disk.KillProcess())
				changeFile(t, fsys, theFile, func(b []byte) []byte { b[place] ^= 1 << bit; return b })
				last, damage := opened(t, p, fsys)
				switch {
				case damage != nil:
				case place < known.Offset+known.Bytes && wholeFrames(positions, place) < uint64(c.vouched):
					t.Fatalf("bit %d of byte %d: opened with %d entries", bit, place, last)
				case last < wholeFrames(positions, place):
					t.Fatalf("bit %d of byte %d: opened with %d entries, %d come before it", bit, place, last, wholeFrames(positions, place))
				}
			}
		})
	}
}

// TestSnapshotsAndMarkersWithAFlippedBit, or cut anywhere, cost time or a note, never an entry.
func TestSnapshotsAndMarkersWithAFlippedBit(t *testing.T) {
	image, p, positions := dying(t, true, topic("b"), commit("g", 2, 3))
	l, err := list(image, "journal")
	if err != nil || len(l.snapshots) == 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, name := range []string{"journal/" + markerName, "journal/" + snapshotName(l.snapshots[0])} {
		for place := range readFile(t, image, name) {
			for bit := range 9 {
				fsys := image.Crash(disk.KillProcess())
				changeFile(t, fsys, name, func(b []byte) []byte {
					if bit == 8 {
						return b[:place]
					}
					b[place] ^= 1 << bit
					return b
				})
				if last, damage := opened(t, p, fsys); damage != nil || last < uint64(len(positions)) {
					t.Fatalf("bit %d of byte %d of %s: %d entries, %v", bit, place, name, last, damage)
				}
			}
		}
	}
}

// TestEveryReadFails: a disk that cannot be read is not damage, and nothing is changed because of it.
func TestEveryReadFails(t *testing.T) {
	p := newPast(disk.NewMem())
	p.live(t)
	if p.err != nil {
		t.Fatal(p.err)
	}
	for n := 0; ; n++ {
		fsys := p.fsys.Crash(disk.KillProcess())
		before := fsys.Dump()
		fault := &disk.Fault{After: n, Err: disk.EIO, Only: []disk.Op{disk.OpRead, disk.OpOpen}}
		fsys.Inject(fault)
		s, rec, err := Open(fsys, p.opt, newLedger)
		fsys.Clear()
		if fsys.Fired(fault) == 0 {
			_ = s.Close()
			return
		}
		var damage *DamageError
		switch {
		case errors.As(err, &damage):
			t.Fatalf("read %d: %v", n, err)
		case err != nil && !errors.Is(err, disk.EIO) || fsys.Dump() != before:
			t.Fatalf("read %d: %v, then\n%s", n, err, fsys.Dump())
		case err == nil:
			if state, seq := s.View(); seq < p.acked || hashOf(t, state) != p.after(t, seq) {
				t.Fatalf("read %d: %+v", n, rec)
			}
			_ = s.Close()
		}
	}
}

// TestBrokenReadsOfReaders: the same for those who only read.
func TestBrokenReadsOfReaders(t *testing.T) {
	image, _, _ := dying(t, true, topic("b"))
	for n := 0; ; n++ {
		fault := &disk.Fault{After: n, Err: disk.EIO, Only: []disk.Op{disk.OpRead, disk.OpOpen}}
		fsys := image.Crash(disk.KillProcess())
		fsys.Inject(fault)
		_, _, _, err := readAll(t, fsys, "journal")
		if fsys.Fired(fault) == 0 {
			return
		}
		if !errors.Is(err, disk.EIO) {
			t.Fatalf("read %d: %v", n, err)
		}
	}
}
