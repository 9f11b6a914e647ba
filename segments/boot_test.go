package segments

import (
	"testing"

	"doze/disk"
)

// TestBootFile follows the file over sessions: it says clean only when no partition is left to be recovered.
func TestBootFile(t *testing.T) {
	m := disk.NewMem()
	var d *Dir
	says := func(when, want string) {
		t.Helper()
		b, err := disk.ReadFile(m, "segments/boot", bootMost)
		if err != nil || string(b) != want {
			t.Fatalf("%s: %q, not %q (%v)", when, b, want, err)
		}
	}
	open := func(boot string, lost bool) {
		t.Helper()
		o := testOptions()
		o.BootID = boot
		var err error
		if d, err = OpenDir(m, "segments", o); err != nil || d.powerLost != lost {
			t.Fatal(err, d.powerLost)
		}
	}
	use := func(n int32) {
		t.Helper()
		mustAppend(t, d.Partition(ID{topicA, n}, Config{}), made{})
	}
	stop := func() {
		t.Helper()
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}

	open("one", false)
	says("first start", "one")
	use(0)
	stop()
	says("a session that made a partition", bootClean)
	open("one", false)
	stop()
	says("a session that opened none", bootClean)

	open("one", false)
	use(1)
	d.SyncDirty() // power is lost: no stop
	open("two", true)
	says("power lost", "two"+bootLost)
	use(2)
	stop()
	says("one without a row was not opened, one is new", "two"+bootLost)
	open("two", true)
	use(1)
	stop()
	says("one with a row of before the power loss was not opened", "two"+bootLost)
	open("two", true)
	use(0)
	use(1)
	use(2)
	stop()
	says("all were opened", bootClean)
	open("two", false)
	use(0)
	d.DoubtStop()
	stop()
	says("the journal beside may not be on disk", "two")
}

// TestBootFileOfADamagedPartition: a clean stop does not make its damage what a power loss explains.
func TestBootFileOfADamagedPartition(t *testing.T) {
	m := disk.NewMem()
	d, p := openCrashed(t, m, "one")
	for range 3 {
		mustAppend(t, p, made{})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, p = openCrashed(t, m, "one")
	mustAppend(t, p, made{})
	at := p.segments[0].size - 1
	mustAppend(t, p, made{})
	flip(t, m, p.segments[0].log.name, at, 1)
	for range 3 {
		d, p = openCrashed(t, m, "one")
		if _, err := p.Offsets(); err == nil {
			t.Fatal("damage was forgiven")
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
