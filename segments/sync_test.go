package segments

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"doze/disk"
)

// renameFS calls back behind each rename of a snapshot to its name: that is the last that finishing a segment does.
type renameFS struct {
	disk.FS
	renamed func()
}

func (f *renameFS) Rename(from, to string) error {
	err := f.FS.Rename(from, to)
	if f.renamed != nil && strings.HasSuffix(to, ".snapshot") {
		f.renamed()
	}
	return err
}

// TestRemovedWhileSegmentsAreFinished removes the topic behind each of the segments that a coarse sync finishes.
func TestRemovedWhileSegmentsAreFinished(t *testing.T) {
	finished := 1
	for n := 1; n <= finished; n++ {
		fsys := &renameFS{FS: disk.NewMem()}
		d := openTest(t, fsys)
		p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 200})
		for range 6 {
			mustAppend(t, p, made{records: 3})
		}
		finished = len(p.sealed)
		seen := 0
		fsys.renamed = func() {
			if seen++; seen == n {
				if err := d.Remove(topicA); err != nil {
					t.Error(err)
				}
			}
		}
		d.SyncDirty()
		if len(p.sealed) != 0 || seen != n {
			t.Fatalf("%d segments left, %d finished after removal behind number %d", len(p.sealed), seen, n)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if finished < 2 {
		t.Fatal(finished)
	}
}

// noSnapshot makes the writing of the next snapshot fail.
func noSnapshot(m *disk.Mem, persistent bool) {
	m.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpCreate}, Persistent: persistent,
		Match: func(name string) bool { return strings.Contains(name, ".snapshot") }})
}

// threeSegments appends until two segments are full.
func threeSegments(t *testing.T, fsys disk.FS) (*Dir, *Partition) {
	t.Helper()
	d := openTest(t, fsys)
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 200})
	for len(p.sealed) < 2 {
		mustAppend(t, p, made{records: 3})
	}
	return d, p
}

func TestFinishingIsTriedAgain(t *testing.T) {
	m := disk.NewMem()
	d, p := threeSegments(t, m)
	noSnapshot(m, false)
	d.SyncDirty()
	if len(p.sealed) != 2 || !p.dirty || len(d.dirty) != 1 {
		t.Fatal(len(p.sealed), p.dirty, len(d.dirty))
	}
	d.SyncDirty() // nothing was appended in between
	if len(p.sealed) != 0 || p.dirty || len(d.dirty) != 0 {
		t.Fatal(len(p.sealed), p.dirty, len(d.dirty))
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := openTest(t, m).checkpoint.row(p.id); !ok {
		t.Fatal("no row")
	}
}

func TestFinishingMendsTheIndex(t *testing.T) {
	m := disk.NewMem()
	d, p := threeSegments(t, m)
	s := p.sealed[0]
	if err := p.flushIndex(s, 0, 0); err != nil {
		t.Fatal(err)
	}
	flip(t, m, s.index.name, entryPosition(s.flushed)-1, 1)
	d.SyncDirty()
	if len(p.sealed) != 0 || len(d.dirty) != 0 {
		t.Fatal(len(p.sealed), len(d.dirty))
	}
}

// TestCloseTellsWhatItCouldNotFinish: the partitions beside it are closed as ever.
func TestCloseTellsWhatItCouldNotFinish(t *testing.T) {
	m := disk.NewMem()
	d, p := threeSegments(t, m)
	other := d.Partition(ID{topicA, 1}, Config{})
	mustAppend(t, other, made{})
	noSnapshot(m, true)
	if err := d.Close(); !errors.Is(err, disk.ENOSPC) || !errors.Is(err, ErrStorage) {
		t.Fatal(err)
	}
	m.Clear()
	d = openTest(t, m)
	if _, ok := d.checkpoint.row(p.id); ok {
		t.Fatal("a partition that was not finished has a row")
	}
	if _, ok := d.checkpoint.row(other.id); !ok {
		t.Fatal("the other has none")
	}
	p = d.Partition(p.id, Config{SegmentBytes: 200})
	if got := offsetsIn(t, readAll(t, p, 0, 1<<20)); got[0] != 0 {
		t.Fatal(got)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStopVouchesForSyncedBytesOnly: an append that was under way when Close began comes behind its coarse sync.
func TestStopVouchesForSyncedBytesOnly(t *testing.T) {
	m := disk.NewMem()
	p := openTest(t, m).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{})
	m.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}})
	if s, err := p.stop(); !errors.Is(err, disk.EIO) || s.row != nil || s.vouched {
		t.Fatal(s, err)
	}

	m = disk.NewMem()
	p = openTest(t, m).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{})
	if s, err := p.stop(); err != nil || s.row == nil || !s.vouched || p.synced != 1 {
		t.Fatal(s, err, p.synced)
	}
}

func TestClosedTakesNoAppend(t *testing.T) {
	d := openTest(t, disk.NewMem())
	p := d.Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{})
	d.closed.Store(true) // Close has begun and has not come to this partition
	if _, err := p.Append(made{}.batch(t), Admission{}); !errors.Is(err, ErrRemoved) {
		t.Fatal(err)
	}
	if _, err := p.DeleteRecords(-1); !errors.Is(err, ErrRemoved) {
		t.Fatal(err)
	}
}

// TestAppendsBesideCoarseSyncs is for the race detector: both look at the index entries in memory.
func TestAppendsBesideCoarseSyncs(t *testing.T) {
	d := openTest(t, disk.NewMem())
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 20000})
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 300 {
			mustAppend(t, p, made{})
		}
	})
	wg.Go(func() {
		for range 100 {
			d.SyncDirty()
		}
	})
	wg.Wait()
	mustAppend(t, p, made{})
	late := make(chan struct{})
	go func() { defer close(late); d.SyncDirty() }() // a timer that has fired
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	<-late
}

// TestSyncToWhatIsNotThere: no sync gets beyond the log's end, and none helps a partition that is damaged.
func TestSyncToWhatIsNotThere(t *testing.T) {
	mem := disk.NewMem()
	p := openTest(t, mem).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{records: 2})
	mustAppend(t, p, made{records: 2})
	if err := p.SyncTo(context.Background(), 4); err != nil {
		t.Fatal(err)
	}
	if err := p.SyncTo(context.Background(), 5); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Errorf("beyond the end: %v", err)
	}
	killed := mem.Crash(disk.KillProcess())
	again := openTest(t, killed).Partition(ID{topicA, 0}, Config{})
	if err := again.SyncTo(context.Background(), 4); err != nil {
		t.Errorf("not opened yet: %v", err)
	}
	hurt := mem.Crash(disk.KillProcess())
	flip(t, hurt, partitionFile(0, "log"), 30, 0xff)
	if err := openTest(t, hurt).Partition(ID{topicA, 0}, Config{}).SyncTo(context.Background(), 4); !errors.Is(err, ErrStorage) {
		t.Errorf("damaged: %v", err)
	}
}

// TestEndAtOpen: what is appended later does not move it.
func TestEndAtOpen(t *testing.T) {
	mem := disk.NewMem()
	p := openTest(t, mem).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{records: 2})
	if end, err := p.EndAtOpen(); err != nil || end != 0 {
		t.Errorf("of a new log: %d %v", end, err)
	}
	p = openTest(t, mem.Crash(disk.KillProcess())).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{records: 2})
	if end, err := p.EndAtOpen(); err != nil || end != 2 {
		t.Errorf("%d %v", end, err)
	}
}

// TestFullSegmentsAreFinishedOnce: a segment that retention ends is finished at once, while a coarse sync does the same. What
// is known of producers is in the snapshot behind it, whoever comes first.
func TestFullSegmentsAreFinishedOnce(t *testing.T) {
	d := openTest(t, disk.NewMem())
	p := d.Partition(ID{topicA, 0}, Config{})
	for i := range int32(200) {
		mustAppend(t, p, made{records: 1, producer: 7, sequence: i})
		var wg sync.WaitGroup
		wg.Go(d.SyncDirty)
		wg.Go(func() {
			if err := p.Roll(1000); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if _, known, err := p.readSnapshot(endOf(p)); err != nil || known[7] == nil {
			t.Fatalf("the snapshot behind segment %d: %v %v", i, known, err)
		}
	}
}

// TestStatesThatWaitAreBounded rolls faster than full segments are finished, with many producers to be remembered behind each.
func TestStatesThatWaitAreBounded(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 200})
	const producers = 800
	for i := range int64(producers) {
		mustAppend(t, p, made{records: 1, producer: 1 + i, key: make([]byte, 100)})
	}
	check := func(p *Partition, note string) {
		t.Helper()
		waiting := 0
		for _, s := range p.sealed {
			waiting += len(s.state)
		}
		if waiting > statesMost+producers*(producerBytes+keptBatchBytes*keptBatches) || len(p.sealed) == 0 || p.sealed[len(p.sealed)-1].state == nil {
			t.Errorf("%s: %d bytes wait behind %d segments", note, waiting, len(p.sealed))
		}
	}
	check(p, "live")
	again := openTest(t, mem.Crash(disk.KillProcess())).Partition(ID{topicA, 0}, Config{SegmentBytes: 200})
	if known, err := again.Producers(); err != nil || len(known) != producers {
		t.Fatalf("%d producers %v", len(known), err)
	}
	check(again, "after a kill")
	d.SyncDirty()
	if _, known, err := p.readSnapshot(p.segments[len(p.segments)-1].base); err != nil || len(known) < producers-1 {
		t.Errorf("the newest snapshot: %d %v", len(known), err)
	}
}
