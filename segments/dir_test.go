package segments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"doze/disk"
)

func TestOpenDoesNotOpenPartitions(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	for i := range int32(200) {
		mustAppend(t, d.Partition(ID{topicA, i}, Config{}), made{producer: 3})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mem = mem.Crash(disk.KillProcess())
	mem.Trace()
	d = openTest(t, mem)
	if got := mem.TakeTrace(); !slices.Equal(got, []string{"open segments/checkpoint"}) {
		t.Fatal(got)
	}
	if n := len(d.List()); n != 200 {
		t.Fatal(n)
	}
	p := d.Partition(ID{topicA, 77}, Config{})
	if o, err := p.Offsets(); err != nil || o.HighWatermark != 1 {
		t.Fatal(o, err)
	}
	if got := mem.TakeTrace(); len(got) != 0 {
		t.Fatal("opening after a clean stop opens files:", got)
	}
	if ps, _ := p.Producers(); len(ps) != 1 {
		t.Fatal(ps)
	}
	if err := d.Close(); err != nil { // rows of the others are carried over
		t.Fatal(err)
	}
	mem = mem.Crash(disk.KillProcess())
	d = openTest(t, mem)
	mem.Trace()
	if ps, err := d.Partition(ID{topicA, 5}, Config{}).Producers(); err != nil || len(ps) != 1 {
		t.Fatal(ps, err)
	}
	if got := mem.TakeTrace(); len(got) != 0 {
		t.Fatal(got)
	}
}

func TestCheckpointDamageCostsOnlyTime(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	for i := range int32(3) {
		for sequence := range int32(7) {
			mustAppend(t, d.Partition(ID{topicA, i}, Config{SegmentBytes: 400}), made{producer: 3, sequence: sequence})
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := mem.Stat("segments/checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < info.Size(); at += 7 {
		hurt := mem.Crash(disk.KillProcess())
		flip(t, hurt, "segments/checkpoint", at, 0x40)
		d := openTest(t, hurt)
		for i := range int32(3) {
			ps, err := d.Partition(ID{topicA, i}, Config{SegmentBytes: 400}).Producers()
			if err != nil || len(ps) != 1 || ps[0].LastSequence() != 6 || len(ps[0].Batches) != 5 {
				t.Fatalf("byte %d, partition %d: %v %v", at, i, ps, err)
			}
		}
	}
}

func TestFileLimitHolds(t *testing.T) {
	opt := testOptions()
	opt.MaxOpenFiles = 10
	d, err := OpenDir(disk.NewMem(), "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	var held []Span
	for round := range 3 {
		for i := range int32(50) {
			p := d.Partition(ID{topicA, i}, Config{})
			mustAppend(t, p, made{})
			unsynced := int(d.files.unsynced.Load())
			if n := d.files.count(); n > 10+unsynced+len(held) || unsynced > 10*unsyncedMost {
				t.Fatalf("%d files open, %d unsynced", n, unsynced)
			}
			if got := offsetsIn(t, readAll(t, p, 0, 1<<20)); len(got) != round+1 {
				t.Fatal(got)
			}
			if round == 0 && i%10 == 0 {
				s, err := p.Read(Fetch{MaxBytes: 1000})
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, s)
			}
		}
		d.SyncDirty()
		readAll(t, d.Partition(ID{topicA, 0}, Config{}), 0, 1<<20)
		if n := d.files.count(); n > 10+len(held) || d.files.unsynced.Load() != 0 {
			t.Fatalf("%d files open, %d unsynced", n, d.files.unsynced.Load())
		}
	}
	for i := range held {
		if n, err := held[i].ReadAt(make([]byte, 50), 0); n != 50 || err != nil {
			t.Fatal(n, err)
		}
		held[i].Release()
		held[i].Release()
	}
}

func TestRemoveLetsReadersFinish(t *testing.T) {
	fsys, err := disk.OpenOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	d := openTest(t, fsys)
	p := d.Partition(ID{topicA, 0}, Config{})
	other := d.Partition(ID{[16]byte{0xb}, 0}, Config{})
	mustAppend(t, p, made{value: []byte("seen")})
	mustAppend(t, other, made{})
	s, err := p.Read(Fetch{MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	w := NewWaiter()
	p.Watch(w)
	if err := d.Remove(topicA); err != nil {
		t.Fatal(err)
	}
	<-w.C
	d.background.Wait()
	b := make([]byte, s.Len())
	if _, err := s.ReadAt(b, 0); err != nil || !bytes.Contains(b, []byte("seen")) {
		t.Fatal(err)
	}
	s.Release()
	if _, err := p.Append(made{}.batch(t), Admission{}); !errors.Is(err, ErrRemoved) {
		t.Fatal(err)
	}
	if _, err := p.Read(Fetch{}); !errors.Is(err, ErrRemoved) {
		t.Fatal(err)
	}
	if err := p.SyncTo(context.Background(), 1); !errors.Is(err, ErrRemoved) {
		t.Fatal(err)
	}
	// Who looked the topic up before it went must not bring its directory back.
	if _, err := d.Partition(ID{topicA, 1}, Config{}).Append(made{}.batch(t), Admission{}); !errors.Is(err, ErrRemoved) {
		t.Fatal(err)
	}
	if ids := d.List(); len(ids) != 1 || ids[0] != other.ID() {
		t.Fatal(ids)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	entries, _ := fsys.ReadDir("segments")
	for _, e := range entries {
		if strings.Contains(e.Name(), removedSuffix) {
			t.Fatal(e.Name())
		}
	}
}

func TestQuarantineKeepsTheBytes(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	id := ID{topicA, 4}
	mustAppend(t, d.Partition(id, Config{}), made{})
	d.Close()
	mem = mem.Crash(disk.KillProcess())
	d = openTest(t, mem)
	name, err := d.Quarantine(id)
	if err != nil || !strings.Contains(name, quarantineSuffix) {
		t.Fatal(name, err)
	}
	if v, err := Verify(mem, name, nil); err != nil || v.Batches != 1 {
		t.Fatal(v, err)
	}
	if o, err := d.Partition(id, Config{}).Offsets(); err != nil || o.HighWatermark != 0 || len(d.List()) != 0 {
		t.Fatal(o, err)
	}
}

// TestWaitersMissNothing has consumers that watch, look and wait against a producer; a lost wakeup hangs it.
func TestWaitersMissNothing(t *testing.T) {
	d := openTest(t, disk.NewMem())
	partitions := []*Partition{d.Partition(ID{topicA, 0}, Config{SegmentBytes: 2000}), d.Partition(ID{topicA, 1}, Config{})}
	const batches = 300
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			w := NewWaiter()
			for _, p := range partitions {
				p.Watch(w)
				defer p.Unwatch(w)
			}
			next := make([]int64, len(partitions))
			for next[0]+next[1] < 2*batches {
				progress := false
				for i, p := range partitions {
					s, err := p.Read(Fetch{Offset: next[i], MaxBytes: 1, MinOneBatch: true})
					if err != nil {
						panic(err)
					}
					if s.Len() > 0 {
						next[i]++
						progress = true
					}
					s.Release()
				}
				if !progress {
					<-w.C
				}
			}
		})
	}
	for range batches {
		for _, p := range partitions {
			mustAppend(t, p, made{value: make([]byte, 100)})
		}
	}
	wg.Wait()
	for _, p := range partitions {
		if len(p.waiters) != 0 {
			t.Fatal("waiters left")
		}
	}
}

// TestSyncsAreGrouped has many appenders wait for the disk: fewer syncs than batches, and none returns early.
func TestSyncsAreGrouped(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				b, err := CheckBatch(made{}.bytes(), &Rules{})
				if err != nil {
					panic(err)
				}
				a, err := p.Append(&b, Admission{})
				if err != nil {
					panic(err)
				}
				if err := p.SyncTo(context.Background(), a.LastOffset+1); err != nil {
					panic(err)
				}
				p.mu.Lock()
				if p.synced <= a.LastOffset {
					panic("returned before the sync")
				}
				p.mu.Unlock()
			}
		})
	}
	wg.Wait()
	p = openTest(t, mem.Crash(disk.PowerLoss())).Partition(ID{topicA, 0}, Config{})
	if o, err := p.Offsets(); err != nil || o.HighWatermark != 400 {
		t.Fatal(o, err)
	}
}

func TestSyncToGivesUpWithItsContext(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{})
	p.round = make(chan struct{}) // a sync that hangs
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.SyncTo(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestIdleDoesNothing: the timer of the coarse sync runs only while something is dirty.
func TestIdleDoesNothing(t *testing.T) {
	opt := testOptions()
	opt.SyncEvery = time.Hour
	d, err := OpenDir(disk.NewMem(), "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	if d.timer != nil {
		t.Fatal("a timer at the start")
	}
	mustAppend(t, d.Partition(ID{topicA, 0}, Config{}), made{})
	if d.timer == nil {
		t.Fatal("no timer")
	}
	d.SyncDirty()
	if d.timer != nil || len(d.dirty) != 0 {
		t.Fatal("a timer with nothing to do")
	}
}

func TestDeleteRecords(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 300, LeaderEpoch: 2})
	for range 20 {
		mustAppend(t, p, made{records: 2, value: []byte("0123456789")})
	}
	before, _ := p.Segments()
	for _, c := range []struct {
		before, start int64
		bad           bool
	}{{0, 0, false}, {-2, 0, true}, {41, 0, true}, {13, 13, false}, {5, 13, false}, {13, 13, false}} {
		start, err := p.DeleteRecords(c.before)
		if start != c.start || errors.Is(err, ErrOffsetOutOfRange) != c.bad {
			t.Fatalf("%+v: %d %v", c, start, err)
		}
	}
	after, _ := p.Segments()
	if len(after) >= len(before) || after[0].Base > 13 || after[1].Base <= 13 {
		t.Fatal(before, after)
	}
	if _, err := p.Read(Fetch{Offset: 12}); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Fatal(err)
	}
	if got := offsetsIn(t, readAll(t, p, 13, 1)); got[0] != 12 {
		t.Fatal(got)
	}
	if start, err := p.DeleteRecords(-1); start != 40 || err != nil {
		t.Fatal(start, err)
	}
	if o, _ := p.Offsets(); o != (Offsets{40, 40, 40}) {
		t.Fatal(o)
	}
	if epoch, end, _ := p.EndOfEpoch(1); epoch != 1 || end != 40 {
		t.Fatal(epoch, end)
	}
	mustAppend(t, p, made{})
	_ = d.Close()
	for _, logStart := range []int64{40, 41, 50} { // 50: a power loss took records that were deleted anyway
		p = openTest(t, mem.Crash(disk.KillProcess())).Partition(ID{topicA, 0}, Config{LogStart: logStart})
		want := max(41, logStart)
		if o, err := p.Offsets(); err != nil || o.LogStart != logStart || o.HighWatermark != want {
			t.Fatal(logStart, o, err)
		}
		if a := mustAppend(t, p, made{}); a.BaseOffset != want {
			t.Fatal(a)
		}
		if got := offsetsIn(t, readAll(t, p, want, 1)); got[0] != want {
			t.Fatal(got)
		}
	}
}

func TestDeletedSegmentsStayReadable(t *testing.T) {
	fsys, err := disk.OpenOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	d := openTest(t, fsys)
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 200})
	for range 10 {
		mustAppend(t, p, made{value: []byte("0123456789")})
	}
	s, err := p.Read(Fetch{MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DeleteRecords(9); err != nil {
		t.Fatal(err)
	}
	if got := offsetsIn(t, spanBytes(t, &s)); len(got) != 1 || got[0] != 0 {
		t.Fatal(got)
	}
	name := path.Join("segments", p.id.String(), segmentName(0, "log"))
	if _, err := fsys.Stat(name); err != nil {
		t.Fatal("gone while it is read")
	}
	s.Release()
	if _, err := fsys.Stat(name); err == nil {
		t.Fatal("still there")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func spanBytes(t *testing.T, s *Span) []byte {
	t.Helper()
	b := make([]byte, s.Len())
	if _, err := s.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRollByTime(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{SegmentMs: 100})
	for _, base := range []int64{1000, 1100, 1101, 1150} {
		mustAppend(t, p, made{base: base})
	}
	infos, err := p.Segments()
	if err != nil || len(infos) != 2 || infos[1].Base != 2 {
		t.Fatal(infos, err)
	}
}

// TestWholeLifeOnARealDisk goes through the life of a partition on the file system that the tests run on.
func TestWholeLifeOnARealDisk(t *testing.T) {
	fsys, err := disk.OpenOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	for run := range 4 {
		d, err := OpenDir(fsys, "segments", Options{SyncEvery: -1, MaxOpenFiles: 4, Now: func() int64 { return 1_000_000 }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int32(3) {
			p := d.Partition(ID{topicA, i}, Config{SegmentBytes: 5000, LeaderEpoch: int32(run)})
			for range 40 {
				mustAppend(t, p, made{records: 2, value: bytes.Repeat([]byte{byte(run)}, 300), codec: Codec(run)})
			}
			if err := p.SyncTo(context.Background(), int64(80*(run+1))); err != nil {
				t.Fatal(err)
			}
			if got, err := stored(p); err != nil || len(got) != 40*(run+1) {
				t.Fatal(len(got), err)
			}
		}
		if run%2 == 0 {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			d.closed.Store(true) // as killed: nothing is flushed
			closeFiles(d)
		}
	}
	err = VerifyAll(fsys, "segments", func(id ID, v Verified) error {
		if v.Damaged() || v.Batches != 160 || v.End != 320 {
			return fmt.Errorf("%s: %+v", id, v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func closeFiles(d *Dir) {
	for _, p := range d.opened() {
		for _, s := range p.segments {
			s.log.close()
			s.index.close()
		}
	}
}
