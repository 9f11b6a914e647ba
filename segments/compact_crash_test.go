package segments

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"doze/disk"
)

// halfClean is a partition on disk that has been compacted once, with segments that wait for the next time, and a checkpoint
// whose row describes a segment that is among them.
func halfClean(t *testing.T) (mem *disk.Mem, all []kept) {
	mem = disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 500})
	for i := range 8 {
		put(t, p, fmt.Sprintf("a%d=%d", i%3, i), fmt.Sprintf("b%d=%d", i%2, i))
		keyedBatch{made: made{base: 1000, producer: 7, sequence: int32(i)}, records: []string{fmt.Sprintf("c=%d", i)}}.append(t, p)
	}
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	put(t, p, "a0=20", "c=20") // the segment that the row will know
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p = openTest(t, mem).Partition(ID{topicA, 0}, Config{SegmentBytes: 500})
	for i := range 8 {
		put(t, p, fmt.Sprintf("a%d=%d", i%3, 30+i), fmt.Sprintf("d=%d", i))
	}
	rolled(t, p)
	put(t, p, "a1=99")
	if err := p.SyncTo(context.Background(), endOf(p)); err != nil {
		t.Fatal(err)
	}
	return mem, mustRecords(t, p)
}

func openHalfClean(t *testing.T, mem *disk.Mem, boot string) *Partition {
	t.Helper()
	opt := testOptions()
	opt.BootID = boot
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	return d.Partition(ID{topicA, 0}, Config{SegmentBytes: 500})
}

// TestCompactionCrashes stops a compaction at each operation on the disk, and loses power there, in part or whole, or kills
// the process. Every record that a key's reader may need is there, nothing is there that was not written, the read-only
// tools see the same, and the next compaction ends where one that was not stopped does.
func TestCompactionCrashes(t *testing.T) {
	start, all := halfClean(t)
	for n, fired := 0, true; fired; n++ {
		mem := start.Crash(disk.KillProcess())
		p := openHalfClean(t, mem, "same")
		if _, err := p.Offsets(); err != nil {
			t.Fatal(err)
		}
		stop := &disk.Fault{Err: disk.EIO, After: n, Persistent: true}
		mem.Inject(stop)
		_, err := p.Clean(context.Background(), CleanRules{}, cleaner(5000))
		if fired = mem.Fired(stop) > 0; fired != (err != nil) {
			t.Fatalf("operation %d: fired %v, compaction said %v", n, fired, err)
		}
		mem.Clear()
		note := fmt.Sprint("operation ", n)
		mayHave(t, all, p, note+", going on")
		for name, crash := range map[string]*disk.Mem{
			"killed": mem.Crash(disk.KillProcess()), "power lost": mem.Crash(disk.PowerLoss()), "torn 1": mem.Crash(disk.TornPowerLoss(uint64(n))),
			"torn 2": mem.Crash(disk.TornPowerLoss(uint64(1000 + n))), "torn 3": mem.Crash(disk.TornPowerLoss(uint64(2000 + n))),
		} {
			boot := "same"
			if name != "killed" {
				boot = "other"
			}
			afterCrash(t, crash, all, boot, note+", "+name)
		}
	}
}

// afterCrash checks what is on disk, with the read-only tools and by opening it, and compacts it to the end.
func afterCrash(t *testing.T, mem *disk.Mem, all []kept, boot, note string) {
	t.Helper()
	id := ID{topicA, 0}
	examined, err := Examine(mem, "segments", id, boot)
	if err != nil || examined.Damaged() {
		t.Fatalf("%s: %v %v", note, err, examined.GivenUp)
	}
	looked, err := Look(mem, "segments", id, 0)
	if err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	v, err := Verify(mem, path.Join("segments", id.String()), nil)
	if err != nil || v.Damaged() {
		t.Fatalf("%s: %v %v", note, err, v.Problems)
	}
	p := openHalfClean(t, mem, boot)
	mayHave(t, all, p, note)
	o, err := p.Offsets()
	if err != nil || o.HighWatermark != looked.End || o.LogStart != looked.Start || o.HighWatermark != v.End {
		t.Fatalf("%s: offsets %+v %v, looked %+v", note, o, err, looked)
	}
	if producers, err := p.Producers(); err != nil || len(producers) != 1 || producers[0].LastSequence() != 7 {
		t.Fatalf("%s: producers %+v %v", note, producers, err)
	}
	if _, err := p.Clean(context.Background(), CleanRules{}, cleaner(5000)); err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	last := len(all) - 1
	sameFold(t, all[:last], mustRecords(t, p)[:len(mustRecords(t, p))-1], note+", compacted again")
	put(t, p, "z=1")
	if err := p.dir.Close(); err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	verifyClean(t, mem, false)
}

// mayHave checks that a log is somewhere between what it was and what a compaction makes of it.
func mayHave(t *testing.T, all []kept, p *Partition, note string) {
	t.Helper()
	got, err := recordsOf(p)
	if err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	have := map[int64]kept{}
	for _, k := range got {
		have[k.offset] = k
		if !slices.Contains(all, k) {
			t.Fatalf("%s: a record that was not written: %v", note, k)
		}
	}
	last := map[string]kept{}
	for _, k := range all {
		last[k.key] = k
	}
	for _, k := range last {
		if have[k.offset] != k {
			t.Fatalf("%s: the last record of its key is missing: %v", note, k)
		}
	}
}

// TestEveryFailingOperationOfACompaction fails one operation in turn: the partition goes on as it was, and the next
// compaction, or the one after the next start, does the work.
func TestEveryFailingOperationOfACompaction(t *testing.T) {
	start, all := halfClean(t)
	for n, fired := 0, true; fired; n++ {
		mem := start.Crash(disk.KillProcess())
		p := openHalfClean(t, mem, "same")
		if _, err := p.Offsets(); err != nil {
			t.Fatal(err)
		}
		fault := &disk.Fault{Err: disk.ENOSPC, After: n, Short: n%2 == 0}
		mem.Inject(fault)
		_, first := p.Clean(context.Background(), CleanRules{}, cleaner(5000))
		fired = mem.Fired(fault) > 0
		mem.Clear()
		note := fmt.Sprint("operation ", n)
		if p.failed != nil {
			t.Fatalf("%s: the partition takes no write: %v", note, p.failed)
		}
		mayHave(t, all, p, note)
		if _, err := p.Clean(context.Background(), CleanRules{}, cleaner(5000)); err != nil && p.stuck == nil {
			t.Fatalf("%s: %v, after %v", note, err, first)
		}
		mayHave(t, all, p, note)
		afterCrash(t, mem.Crash(disk.KillProcess()), all, "same", note)
	}
}

// TestCompactionGoesOnAfterAFullDisk: without room for the few bytes that note what it did, a compaction changes nothing, and
// the next one goes on.
func TestCompactionGoesOnAfterAFullDisk(t *testing.T) {
	mem := disk.NewMem()
	p := openTest(t, mem).Partition(ID{topicA, 0}, Config{})
	for i := range 3 {
		put(t, p, fmt.Sprintf("a=%d", i))
		rolled(t, p)
		for n := range 3 { // the swap, its end, the end of the pass
			mem.Inject(&disk.Fault{After: n, Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite},
				Match: func(name string) bool { return strings.Contains(name, cleanedFile+".new") }})
			_, err := p.Clean(context.Background(), CleanRules{}, cleaner(5000))
			mem.Clear()
			if err == nil {
				break
			}
			if !errors.Is(err, disk.ENOSPC) {
				t.Fatal(err)
			}
		}
		clean(t, p, CleanRules{}, 5000)
		wantRecords(t, p, fmt.Sprintf("%d:a=%d", i, i))
		verifyClean(t, mem, true)
	}
}
