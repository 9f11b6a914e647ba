package segments

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"doze/disk"
)

// takenAway is what may be missing of a partition of several segments.
var takenAway = []struct {
	name   string
	do     func(mem *disk.Mem, bases []int64) error
	killed bool // found after a kill too
}{
	{"last log", func(mem *disk.Mem, bases []int64) error {
		return mem.Remove(partitionFile(bases[len(bases)-1], "log"))
	}, true},
	{"first log", func(mem *disk.Mem, bases []int64) error { return mem.Remove(partitionFile(bases[0], "log")) }, true},
	{"middle log", func(mem *disk.Mem, bases []int64) error { return mem.Remove(partitionFile(bases[1], "log")) }, true},
	{"middle segment", func(mem *disk.Mem, bases []int64) error {
		return errors.Join(mem.Remove(partitionFile(bases[1], "log")), mem.Remove(partitionFile(bases[1], "index")))
	}, true},
	{"first two and the last", func(mem *disk.Mem, bases []int64) error {
		return errors.Join(mem.Remove(partitionFile(bases[0], "log")), mem.Remove(partitionFile(bases[1], "log")),
			mem.Remove(partitionFile(bases[len(bases)-1], "log")))
	}, true},
	{"all logs", func(mem *disk.Mem, bases []int64) (err error) {
		for _, base := range bases {
			err = errors.Join(err, mem.Remove(partitionFile(base, "log")))
		}
		return err
	}, true},
	{"last segment", func(mem *disk.Mem, bases []int64) (err error) {
		for _, ext := range []string{"log", "index", "snapshot"} {
			err = errors.Join(err, mem.Remove(partitionFile(bases[len(bases)-1], ext)))
		}
		return err
	}, false},
	{"directory", func(mem *disk.Mem, _ []int64) error {
		return mem.RemoveAll(path.Join("segments", repaired.String()))
	}, false},
	{"a file instead of the directory", func(mem *disk.Mem, _ []int64) error {
		name := path.Join("segments", repaired.String())
		if err := mem.RemoveAll(name); err != nil {
			return err
		}
		f, err := mem.OpenFile(name, 0x42)
		if err != nil {
			return err
		}
		return f.Close()
	}, true},
	{"a directory instead of a log", func(mem *disk.Mem, bases []int64) error {
		name := partitionFile(bases[1], "log")
		return errors.Join(mem.Remove(name), mem.MkdirAll(name))
	}, true},
}

// TestMissingFilesAreDamage: a start names them, start for start, and so does Examine; a repair is the way on.
func TestMissingFilesAreDamage(t *testing.T) {
	for _, c := range takenAway {
		for _, clean := range []bool{true, false} {
			if !clean && !c.killed {
				continue
			}
			t.Run(fmt.Sprint(c.name, clean), func(t *testing.T) {
				mem, m, bases := severalSegments(t, clean)
				if err := c.do(mem, bases); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					refusedAsDamaged(t, mem)
				}
				ids, err := Partitions(mem, "segments")
				if err != nil || len(ids) != 1 || ids[0] != repaired {
					t.Fatal(ids, err)
				}
				r := examined(t, mem)
				if !r.Damaged() {
					t.Fatal("not found by Examine")
				}
				if err := r.Accept(); err != nil {
					t.Fatal(err)
				}
				goesOn(t, mem, m)
			})
		}
	}
}

// refusedAsDamaged starts and stops: the partition answers ErrStorage, one that is whole serves.
func refusedAsDamaged(t *testing.T, mem *disk.Mem) {
	t.Helper()
	var told []Report
	opt := testOptions()
	opt.BootID = "same"
	opt.Report = func(r Report) { told = append(told, r) }
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Partition(repaired, crashConfig).Offsets(); !errors.Is(err, ErrStorage) {
		t.Fatal("not refused:", err)
	}
	if len(told) != 1 || told[0].Damage == nil || !strings.Contains(told[0].Damage.File, repaired.String()) {
		t.Fatal(told)
	}
	mustAppend(t, d.Partition(ID{[16]byte{0xb}, 1}, Config{}), made{})
	if err := d.Remove([16]byte{0xb}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// goesOn: what is there was written, and the log takes more.
func goesOn(t *testing.T, mem *disk.Mem, m *model) {
	t.Helper()
	if r := examined(t, mem); r.Damaged() {
		t.Fatal(r.GivenUp)
	}
	d, p := openCrashed(t, mem, "same")
	got, err := stored(p)
	if err != nil || len(got) >= len(m.acked) {
		t.Fatal(len(got), err)
	}
	mustAppend(t, p, made{})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, p = openCrashed(t, mem, "same")
	if again, err := stored(p); err != nil || len(again) != len(got)+1 {
		t.Fatal(len(again), err)
	}
}

// TestUnopenedMissingPartitionKeepsItsRow: the row is the only evidence, and a partition that is not opened, or is refused, keeps it.
func TestUnopenedMissingPartitionKeepsItsRow(t *testing.T) {
	mem, _, _ := severalSegments(t, true)
	if err := mem.RemoveAll(path.Join("segments", repaired.String())); err != nil {
		t.Fatal(err)
	}
	d, _ := openCrashed(t, mem, "same")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	refusedAsDamaged(t, mem)
	d, _ = openCrashed(t, mem, "same")
	if err := d.Remove(repaired.Topic); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, _ = openCrashed(t, mem, "same"); len(d.List()) != 0 {
		t.Fatal("a removed topic is remembered:", d.List())
	}
}

// TestMissingBelowTheLogStart: what was deleted is not missed.
func TestMissingBelowTheLogStart(t *testing.T) {
	mem, m, bases := severalSegments(t, true)
	d, p := openCrashed(t, mem, "same")
	if _, err := p.DeleteRecords(-1); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, p = openCrashed(t, mem, "same")
		config := crashConfig
		config.LogStart = m.end()
		p.Configure(config)
		if o, err := p.Offsets(); err != nil || o.HighWatermark != m.end() {
			t.Fatal(o, err)
		}
		mem = mem.Crash(disk.KillProcess())
		for _, ext := range []string{"log", "index", "snapshot"} {
			_ = mem.Remove(partitionFile(bases[len(bases)-1], ext))
		}
	}
}

// TestUnknownBootExcusesNothing: only another run's id speaks of a power loss.
func TestUnknownBootExcusesNothing(t *testing.T) {
	for says, want := range map[string]bool{"": false, bootClean: false, "same": false, "other": true, "same" + bootLost: true} {
		if got := lostPower(says, "same"); got != want {
			t.Errorf("%q: %v", says, got)
		}
	}
	mem, _, bases := severalSegments(t, false)
	change(t, mem, partitionFile(bases[len(bases)-1], "log"), spoilBatch(0))
	if err := errors.Join(mem.Remove("segments/boot"), mem.Remove(partitionFile(bases[len(bases)-1], "index"))); err != nil {
		t.Fatal(err)
	}
	_, p := openCrashed(t, mem, "another")
	if _, err := p.Offsets(); !errors.Is(err, ErrStorage) {
		t.Fatal(err)
	}
}

// TestSpoiledEndWithoutIndex: what was there at a clean stop is no torn write.
func TestSpoiledEndWithoutIndex(t *testing.T) {
	mem, _, bases := severalSegments(t, true)
	last := bases[len(bases)-1]
	change(t, mem, partitionFile(last, "log"), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	if err := mem.Remove(partitionFile(last, "index")); err != nil {
		t.Fatal(err)
	}
	refusedAsDamaged(t, mem)
}

// TestLeftoversOfARemoval: a log that a reader had open when it was deleted, and no index of it, is set aside.
func TestLeftoversOfARemoval(t *testing.T) {
	mem, _, bases := severalSegments(t, false)
	for _, name := range []string{partitionFile(bases[0], "index"), partitionFile(bases[1], "index"), partitionFile(bases[1], "log")} {
		if err := mem.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	_, p := openCrashed(t, mem, "same")
	if o, err := p.Offsets(); err != nil || o.LogStart != bases[2] {
		t.Fatal(o, err)
	}
	if _, err := mem.Stat(partitionFile(bases[0], "log") + ".0.torn"); err != nil {
		t.Fatal(err)
	}
}
