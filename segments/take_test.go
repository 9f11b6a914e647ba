package segments

import (
	"errors"
	"strings"
	"testing"

	"doze/disk"
)

// asideFS calls back before a directory is renamed aside.
type asideFS struct {
	disk.FS
	before func()
}

func (f *asideFS) Rename(from, to string) error {
	if f.before != nil && (strings.Contains(to, removedSuffix) || strings.Contains(to, quarantineSuffix)) {
		f.before()
	}
	return f.FS.Rename(from, to)
}

// TestTakenAwayIsNotMadeAnew uses a partition whose directory is about to be renamed, through an old handle and a new
// one: the bytes that go aside are those that were there.
func TestTakenAwayIsNotMadeAnew(t *testing.T) {
	for _, way := range []string{"quarantine", "remove"} {
		m := disk.NewMem()
		d := openTest(t, m)
		id := ID{topicA, 0}
		mustAppend(t, d.Partition(id, Config{}), made{value: []byte("kept")})
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		aside := ""
		fsys := &asideFS{FS: m}
		d = openTest(t, fsys)
		fsys.before = func() {
			p := d.Partition(id, Config{})
			p.mu.Lock()
			err := p.usable()
			p.mu.Unlock()
			if !errors.Is(err, ErrRemoved) {
				t.Errorf("%s: %v", way, err)
			}
			name := "segments/" + id.String() + "/" + segmentName(0, "log")
			b, err := disk.ReadFile(m, name, 1000)
			if err != nil || !strings.Contains(string(b), "kept") {
				t.Errorf("%s: %q %v", way, b, err)
			}
			aside = name
		}
		var err error
		if way == "remove" {
			err = d.Remove(topicA)
		} else {
			_, err = d.Quarantine(id)
		}
		if err != nil || aside == "" || len(d.List()) != 0 || d.Known(id) != nil {
			t.Fatal(way, err, d.List())
		}
	}
}

// TestHandlesOfGoneTopicsAreNotKept: who has an old view of the cluster may ask for them as often as it likes.
func TestHandlesOfGoneTopicsAreNotKept(t *testing.T) {
	d := openTest(t, disk.NewMem())
	mustAppend(t, d.Partition(ID{topicA, 0}, Config{}), made{})
	if err := d.Remove(topicA); err != nil {
		t.Fatal(err)
	}
	for n := range int32(10) {
		if _, err := d.Partition(ID{topicA, n}, Config{}).Append(made{}.batch(t), Admission{}); !errors.Is(err, ErrRemoved) {
			t.Fatal(err)
		}
	}
	if len(d.partitions) != 0 {
		t.Fatal(len(d.partitions))
	}
}

// TestRemoveRacesWithAppends: whatever an unopened partition is appended to meanwhile, nothing is left at its name.
func TestRemoveRacesWithAppends(t *testing.T) {
	m := disk.NewMem()
	d := openTest(t, m)
	for n := range int32(20) {
		mustAppend(t, d.Partition(ID{topicA, n}, Config{}), made{})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openTest(t, m)
	done := make(chan error)
	for n := range int32(20) {
		p := d.Partition(ID{topicA, n}, Config{})
		go func() {
			var err error
			for err == nil {
				var a Appended
				if a, err = p.Append(made{}.batch(t), Admission{}); err == nil && a.BaseOffset == 0 {
					err = errors.New("opened as empty")
				}
			}
			done <- err
		}()
	}
	if err := d.Remove(topicA); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := <-done; !errors.Is(err, ErrRemoved) {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if ids, err := Partitions(m, "segments"); err != nil || len(ids) != 0 {
		t.Fatal(ids, err)
	}
}
