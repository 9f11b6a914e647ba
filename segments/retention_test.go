package segments

import (
	"context"
	"fmt"
	"os"
	"path"
	"testing"
	"time"

	"doze/disk"
)

// aged is a partition of five segments, of which each has one batch, a second older than that of the next.
func aged(t *testing.T, mem *disk.Mem) (*Partition, int64) {
	_, p := openCrashed(t, mem, "same")
	for i := range 5 {
		if i > 0 {
			rolled(t, p)
		}
		mustAppend(t, p, made{records: 2, times: []int64{0, int64(1000 * (i + 1))}})
	}
	if err := p.SyncTo(context.Background(), 10); err != nil {
		t.Fatal(err)
	}
	infos, err := p.Segments()
	if err != nil || len(infos) != 5 {
		t.Fatal(infos, err)
	}
	return p, infos[0].Bytes
}

func TestExpired(t *testing.T) {
	p, size := aged(t, disk.NewMem())
	none := int64(-1)
	for _, c := range []struct {
		bytes, ms, now, before int64
	}{
		{none, none, 1 << 40, 0},
		{none, 500, 1500, 0},     // just as old as it may be
		{none, 500, 1501, 2},     // the largest timestamp counts
		{none, 500, 3501, 6},     //
		{5 * size, none, 0, 0},   // nothing is over
		{5*size - 1, none, 0, 0}, // what is left would be smaller than the bound
		{4 * size, none, 0, 2},
		{2*size + 1, none, 0, 4},
		{4 * size, 500, 2501, 4}, // the one by size, and then the next by time
		{4 * size, 500, 1501, 2},
	} {
		before, err := p.Expired(RetentionRules{Bytes: c.bytes, Ms: c.ms}, c.now)
		if err != nil || before != c.before {
			t.Errorf("%+v: %d %v", c, before, err)
		}
	}
}

// TestTheSegmentThatIsWrittenExpires: when all is too old, nothing stays but the end of the log and what is known of
// producers, after any crash.
func TestTheSegmentThatIsWrittenExpires(t *testing.T) {
	mem := disk.NewMem()
	p, _ := aged(t, mem)
	mustAppend(t, p, made{producer: 4, sequence: 0, base: 5000})
	before, err := p.Expired(RetentionRules{Bytes: -1, Ms: 10}, 9000)
	if err != nil || before != 11 {
		t.Fatal(before, err)
	}
	if _, err := p.DeleteRecords(before); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Size(); n != 0 || err != nil {
		t.Fatalf("%d bytes are left, %v", n, err)
	}
	if again, err := p.Expired(RetentionRules{Bytes: 0, Ms: 0}, 1<<40); again != 0 || err != nil {
		t.Fatal("the empty segment expired:", again, err)
	}
	for name, crash := range map[string]*disk.Mem{"killed": mem.Crash(disk.KillProcess()), "power lost": mem.Crash(disk.PowerLoss()),
		"torn": mem.Crash(disk.TornPowerLoss(1)), "torn otherwise": mem.Crash(disk.TornPowerLoss(2))} {
		opt := testOptions()
		if opt.BootID = "other"; name == "killed" {
			opt.BootID = "same"
		}
		d, err := OpenDir(crash, "segments", opt)
		if err != nil {
			t.Fatal(err)
		}
		p := d.Partition(ID{topicA, 0}, Config{LogStart: before})
		o, err := p.Offsets()
		if err != nil || o.LogStart != 11 || o.HighWatermark != 11 {
			t.Fatalf("%s: %+v %v", name, o, err)
		}
		if list, err := p.Producers(); err != nil || len(list) != 1 || list[0].LastSequence() != 0 {
			t.Fatalf("%s: producers %+v %v", name, list, err)
		}
	}
}

// TestRetentionCrashes: the journal knew before the files went, so whatever a crash leaves of them is no damage.
func TestRetentionCrashes(t *testing.T) {
	for n, fired := 0, true; fired; n++ {
		mem := disk.NewMem()
		p, _ := aged(t, mem)
		stop := &disk.Fault{Err: disk.EIO, After: n, Persistent: true}
		mem.Inject(stop)
		before, err := p.Expired(RetentionRules{Bytes: -1, Ms: 500}, 4501)
		if err != nil || before != 8 {
			t.Fatal(before, err)
		}
		_, _ = p.DeleteRecords(before)
		p.dir.SyncDirty()
		fired = mem.Fired(stop) > 0
		for seed := range uint64(6) {
			loss, boot := disk.TornPowerLoss(seed), "other"
			if seed == 0 {
				loss, boot = disk.KillProcess(), "same"
			}
			opt := testOptions()
			opt.BootID = boot
			d, err := OpenDir(mem.Crash(loss), "segments", opt)
			if err != nil {
				t.Fatal(err)
			}
			p := d.Partition(ID{topicA, 0}, Config{LogStart: before})
			o, err := p.Offsets()
			if err != nil || o.LogStart != 8 || o.HighWatermark != 10 {
				t.Fatalf("operation %d, crash %d: %+v %v", n, seed, o, err)
			}
		}
	}
}

// TestSegmentsWithoutTimesExpireByTheirLastWrite needs a file system that knows one.
func TestSegmentsWithoutTimesExpireByTheirLastWrite(t *testing.T) {
	root := t.TempDir()
	fsys, err := disk.OpenOS(root)
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(fsys, "segments", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p := d.Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{times: []int64{-1}})
	rolled(t, p)
	mustAppend(t, p, made{times: []int64{-1}})
	written := time.UnixMilli(50_000)
	if err := os.Chtimes(path.Join(root, "segments", p.id.String(), segmentName(0, "log")), written, written); err != nil {
		t.Fatal(err)
	}
	for now, want := range map[int64]int64{50_500: 0, 50_501: 1} {
		if before, err := p.Expired(RetentionRules{Bytes: -1, Ms: 500}, now); err != nil || before != want {
			t.Errorf("at %d: %d %v", now, before, err)
		}
	}
}

func TestRolledDoesNotOpen(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	two, one := d.Partition(ID{topicA, 0}, Config{}), d.Partition(ID{topicA, 1}, Config{})
	mustAppend(t, two, made{})
	mustAppend(t, one, made{})
	rolled(t, two)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openTest(t, mem)
	for range 2 {
		if !d.Rolled(two.id) || d.Rolled(one.id) {
			t.Fatal("two segments, and one")
		}
	}
	if len(d.opened()) != 0 {
		t.Fatal("it opened them")
	}
	one = d.Partition(one.id, Config{})
	mustAppend(t, one, made{})
	rolled(t, one)
	if !d.Rolled(one.id) {
		t.Fatal("it was opened and has two by now")
	}
}

func TestFlushMessages(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{FlushMessages: 3})
	at := func(want int64) {
		t.Helper()
		q := openCrashedAt(t, mem.Crash(disk.PowerLoss()))
		if o, err := q.Offsets(); err != nil || o.HighWatermark != want {
			t.Fatalf("after a power loss: %+v %v, want %d", o, err, want)
		}
	}
	mustAppend(t, p, made{records: 2})
	at(0)
	mustAppend(t, p, made{})
	at(3)
	mustAppend(t, p, made{})
	at(3)
	mem.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}})
	if _, err := p.Append(made{records: 2}.batch(t), Admission{}); err == nil {
		t.Fatal("the sync failed and the append did not")
	}
}

func openCrashedAt(t *testing.T, mem *disk.Mem) *Partition {
	_, p := openCrashed(t, mem, "other")
	return p
}

func TestFlushMs(t *testing.T) {
	mem := disk.NewMem()
	opt := testOptions()
	opt.SyncEvery = time.Hour
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	p := d.Partition(ID{topicA, 0}, Config{FlushMs: 1})
	for i := range int64(3) {
		mustAppend(t, p, made{})
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			p.mu.Lock()
			synced := p.synced
			p.mu.Unlock()
			if synced > i {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(fmt.Sprint("not synced: ", synced))
			}
		}
	}
}
