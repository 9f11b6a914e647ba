package segments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"doze/disk"
)

// model is what a test knows that a partition must have.
type model struct {
	acked  [][]byte // batches as they must be stored, by order; offsets rise by one record each
	synced int      // how many of acked were acknowledged as synced
	start  int64
}

func (m *model) end() int64 {
	if n := len(m.acked); n > 0 {
		h := parseHeader(m.acked[n-1])
		return h.LastOffset() + 1
	}
	return m.start
}

// stored reads everything from the log's start.
func stored(p *Partition) ([][]byte, error) {
	o, err := p.Offsets()
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for offset := o.LogStart; offset < o.HighWatermark; {
		s, err := p.Read(Fetch{Offset: offset, MaxBytes: 1, MinOneBatch: true})
		if err != nil {
			return nil, err
		}
		b := make([]byte, s.Len())
		_, err = s.ReadAt(b, 0)
		s.Release()
		if err != nil {
			return nil, err
		}
		if len(b) == 0 {
			return nil, fmt.Errorf("nothing at offset %d below the high watermark %d", offset, o.HighWatermark)
		}
		h := parseHeader(b)
		if int(h.Size) != len(b) || seal(slices.Clone(b))[atCRC] != b[atCRC] {
			return nil, fmt.Errorf("offset %d: not a batch", offset)
		}
		out = append(out, b)
		offset = h.LastOffset() + 1
	}
	return out, nil
}

// mustHave checks that what is stored is a prefix of what was acknowledged, at least n batches long.
func (m *model) mustHave(t *testing.T, p *Partition, n int, note string) {
	t.Helper()
	got, err := stored(p)
	if err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	want := m.acked
	for len(want) > 0 && parseHeader2(want[0]).LastOffset() < p.start {
		want = want[1:]
		n--
	}
	if len(got) > len(want) || len(got) < n {
		t.Fatalf("%s: %d batches stored, %d acknowledged, %d must be there", note, len(got), len(want), n)
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: batch %d is another one", note, i)
		}
	}
}

func parseHeader2(b []byte) *Header { h := parseHeader(b); return &h }

// workload does a seeded mixture of operations and keeps the model up to date. It stops at the first ErrStorage of a
// sync, as a broker would refuse the partition from there on.
func workload(t *testing.T, p *Partition, m *model, r *rand.Rand, steps int) {
	for range steps {
		switch r.IntN(10) {
		case 0, 1:
			upTo := len(m.acked)
			if err := p.SyncTo(context.Background(), m.end()); err == nil {
				m.synced = upTo
			} else if !errors.Is(err, ErrStorage) {
				t.Fatal(err)
			}
		case 2:
			p.dir.SyncDirty()
		case 3:
			m.mark(t, p, 1+r.Int64N(2), r.IntN(2) == 0)
		default:
			b := made{records: 1 + r.IntN(3), value: bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(1200)),
				producer: int64(1 + r.IntN(3)), sequence: -1}
			b.txn = b.producer < 3
			b.sequence = nextSequence(m, b.producer)
			batch := b.batch(t)
			a, err := p.Append(batch, Admission{Now: 1_000_000, JournalSeq: uint64(len(m.acked))})
			switch {
			case err == nil:
				if a.BaseOffset != m.end() {
					t.Fatalf("appended at %d, expected %d", a.BaseOffset, m.end())
				}
				m.acked = append(m.acked, slices.Clone(batch.Bytes()))
			case errors.Is(err, ErrStorage):
			default:
				t.Fatal(err)
			}
		}
	}
}

// mark ends a producer's transaction.
func (m *model) mark(t *testing.T, p *Partition, producer int64, commit bool) {
	marker := Marker{ProducerID: producer, CoordinatorEpoch: int32(len(m.acked)), Commit: commit}
	a, err := p.AppendMarker(marker, Admission{Now: 1_000_000, JournalSeq: uint64(len(m.acked))})
	switch {
	case err == nil:
		b := marker.batch(1_000_000)
		b.place(a.BaseOffset, 0)
		m.acked = append(m.acked, b.Bytes())
	case !errors.Is(err, ErrStorage):
		t.Fatal(err)
	}
}

func nextSequence(m *model, producer int64) int32 {
	for _, b := range slices.Backward(m.acked) {
		if h := parseHeader(b); h.ProducerID == producer && !h.Control() {
			return addSequence(h.LastSequence(), 1)
		}
	}
	return 0
}

var crashConfig = Config{SegmentBytes: 4000}

func openCrashed(t *testing.T, mem *disk.Mem, boot string) (*Dir, *Partition) {
	t.Helper()
	opt := testOptions()
	opt.BootID = boot
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	return d, d.Partition(ID{topicA, 0}, crashConfig)
}

// sameProducers checks that the table is what the log's batches fold into.
func sameProducers(t *testing.T, p *Partition, note string) {
	t.Helper()
	batches, err := stored(p)
	if err != nil {
		t.Fatal(err)
	}
	want, txns := producers{}, newTxnModel()
	for _, b := range batches {
		h := parseHeader(b)
		h.Marker, _ = parseMarker(b[headerBytes:])
		e := entryOf(&h, 0, 0, nil)
		want.apply(&e, &openTxns{})
		txns.batches = append(txns.batches, modelBatch{first: h.BaseOffset, last: h.LastOffset(), producer: h.ProducerID,
			txn: h.Transactional(), marker: h.Control(), commit: h.Marker.Commit})
	}
	for i, b := range txns.batches {
		if i == 0 {
			txns.start = b.first
		}
		if b.first < txns.stable() {
			txns.checkRead(t, p, b.last, 3000, note)
		}
	}
	got, err := p.Producers()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(got), fmt.Sprint(want.list()); a != b {
		t.Fatalf("%s: producers\n%s\nwant\n%s", note, a, b)
	}
}

func TestKilledProcessLosesNothing(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		mem := disk.NewMem()
		m := &model{}
		for run := range 3 {
			_, p := openCrashed(t, mem, "same")
			note := fmt.Sprintf("seed %d run %d", seed, run)
			m.mustHave(t, p, len(m.acked), note)
			sameProducers(t, p, note)
			workload(t, p, m, r, 40)
			mem = mem.Crash(disk.KillProcess())
		}
		verifyClean(t, mem, true)
	}
}

func TestCleanStopKeepsEverything(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		mem := disk.NewMem()
		m := &model{}
		for run := range 3 {
			d, p := openCrashed(t, mem, "same")
			note := fmt.Sprintf("seed %d run %d", seed, run)
			m.mustHave(t, p, len(m.acked), note)
			sameProducers(t, p, note)
			workload(t, p, m, r, 40)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			verifyClean(t, mem, false)
			if run == 1 {
				mem = mem.Crash(disk.PowerLoss()) // a clean stop outlives that
			}
		}
	}
}

// verifyClean runs Verify; harmless problems are allowed after a crash.
func verifyClean(t *testing.T, mem *disk.Mem, harmless bool) {
	t.Helper()
	v, err := Verify(mem, path.Join("segments", ID{topicA, 0}.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Damaged() || !harmless && len(v.Problems) > 0 {
		t.Fatal(v.Problems)
	}
}

func TestPowerLossKeepsWhatWasSynced(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		mem := disk.NewMem()
		m := &model{}
		for run := range 3 {
			_, p := openCrashed(t, mem, fmt.Sprint("boot", run))
			note := fmt.Sprintf("seed %d run %d", seed, run)
			m.mustHave(t, p, m.synced, note)
			sameProducers(t, p, note)
			got, _ := stored(p)
			m.acked = m.acked[:min(len(m.acked), len(got))] // the rest is lost, which it may
			if o, _ := p.Offsets(); o.HighWatermark != m.end() {
				m.acked, m.start, m.synced = nil, o.HighWatermark, 0 // the log goes on behind a gap
				break
			}
			workload(t, p, m, r, 40)
			if seed%2 == 0 {
				mem = mem.Crash(disk.TornPowerLoss(seed))
			} else {
				mem = mem.Crash(disk.PowerLoss())
			}
		}
	}
}

// TestEveryFailingOperation fails each operation of a short workload in turn: refused batches leave no trace, the rest
// works again when the disk does, and a restart finds what was acknowledged.
func TestEveryFailingOperation(t *testing.T) {
	for _, kind := range []disk.Fault{{Err: disk.EIO}, {Err: disk.ENOSPC}, {Err: disk.ENOSPC, Short: true},
		{Err: disk.EIO, Persistent: true}} {
		fired := true
		for n := 0; fired; n++ {
			note := fmt.Sprintf("%v short=%v persistent=%v operation %d", kind.Err, kind.Short, kind.Persistent, n)
			mem := disk.NewMem()
			_, p := openCrashed(t, mem, "same")
			fault := kind
			fault.After = n
			mem.Inject(&fault)
			m := &model{}
			workload(t, p, m, rand.New(rand.NewPCG(7, 7)), 18)
			fired = mem.Fired(&fault) > 0
			mem.Clear()
			m.mustHave(t, p, len(m.acked), note)
			if p.failed == nil {
				workload(t, p, m, rand.New(rand.NewPCG(8, 8)), 10)
				m.mustHave(t, p, len(m.acked), note+", disk mended")
			}
			d, p := openCrashed(t, mem.Crash(disk.KillProcess()), "same")
			m.mustHave(t, p, len(m.acked), note+", killed")
			sameProducers(t, p, note)
			if err := d.Close(); err != nil {
				t.Fatal(note, err)
			}
			_, p = openCrashed(t, mem.Crash(disk.PowerLoss()), "other")
			m.mustHave(t, p, m.synced, note+", power lost")
		}
	}
}

func TestFailedSyncIsLatched(t *testing.T) {
	mem := disk.NewMem()
	_, p := openCrashed(t, mem, "")
	mustAppend(t, p, made{})
	mem.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}})
	if err := p.SyncTo(context.Background(), 1); !errors.Is(err, ErrStorage) || !errors.Is(err, disk.EIO) {
		t.Fatal(err)
	}
	if err := p.SyncTo(context.Background(), 1); !errors.Is(err, ErrStorage) {
		t.Fatal("a second sync proved something:", err)
	}
	if _, err := p.Append(made{}.batch(t), Admission{}); !errors.Is(err, ErrStorage) {
		t.Fatal(err)
	}
	if got := readAll(t, p, 0, 1000); len(got) == 0 {
		t.Fatal("not readable")
	}
}

// TestTruncatedAnywhere cuts the log of a killed broker at every byte.
func TestTruncatedAnywhere(t *testing.T) {
	mem, m := sample(t)
	logName := path.Join("segments", ID{topicA, 0}.String(), segmentName(0, "log"))
	size := int64(0)
	for _, b := range m.acked {
		size += int64(len(b))
	}
	for cut := range size {
		crashed := mem.Crash(disk.KillProcess())
		f, err := crashed.OpenFile(logName, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(cut); err != nil {
			t.Fatal(err)
		}
		whole, pos := 0, int64(0)
		for _, b := range m.acked {
			if pos += int64(len(b)); pos <= cut {
				whole++
			}
		}
		_, p := openCrashed(t, crashed, "")
		m.mustHave(t, p, whole, fmt.Sprint("cut at ", cut))
		if got, _ := stored(p); len(got) != whole {
			t.Fatalf("cut at %d: %d batches, want %d", cut, len(got), whole)
		}
		mustAppend(t, p, made{})
	}
}

// sample is a killed broker's partition with a few batches that are not vouched for.
func sample(t *testing.T) (*disk.Mem, *model) {
	mem := disk.NewMem()
	_, p := openCrashed(t, mem, "")
	m := &model{}
	for i := range 4 {
		b := made{records: 2, value: []byte(fmt.Sprint("value", i)), codec: Codec(i), producer: 9, sequence: int32(2 * i)}.batch(t)
		if _, err := p.Append(b, Admission{Now: 1}); err != nil {
			t.Fatal(err)
		}
		m.acked = append(m.acked, slices.Clone(b.Bytes()))
	}
	return mem, m
}

// TestFlippedAnywhere flips each bit of the log of a killed broker: the partition never gives other bytes than those
// that were appended, and says so when batches that follow prove that something acknowledged is lost.
func TestFlippedAnywhere(t *testing.T) {
	mem, m := sample(t)
	logName := path.Join("segments", ID{topicA, 0}.String(), segmentName(0, "log"))
	var ends []int
	for pos, i := 0, 0; i < len(m.acked); i++ {
		pos += len(m.acked[i])
		ends = append(ends, pos)
	}
	for at := range ends[len(ends)-1] {
		for bit := range 8 {
			crashed := mem.Crash(disk.KillProcess())
			flip(t, crashed, logName, int64(at), byte(1<<bit))
			_, p := openCrashed(t, crashed, "")
			got, err := stored(p)
			in, _ := slices.BinarySearch(ends, at+1) // the batch that has the byte
			inEpoch := at-start(ends, in) >= atLeaderEpoch && at-start(ends, in) < atLeaderEpoch+4
			inOffset := at-start(ends, in) < atLength
			switch {
			case inEpoch || inOffset: // outside the checksum: only neighbours could tell
			case in < len(ends)-1 && !errors.Is(err, ErrStorage):
				t.Fatalf("byte %d bit %d in batch %d: %d batches, %v", at, bit, in, len(got), err)
			case in == len(ends)-1 && (err != nil || len(got) != in):
				t.Fatalf("byte %d bit %d in the last batch: %d batches, %v", at, bit, len(got), err)
			}
		}
	}
}

func start(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

func flip(t *testing.T, mem *disk.Mem, name string, at int64, mask byte) {
	t.Helper()
	f, err := mem.OpenFile(name, 2)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= mask
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// TestIndexIsACache damages each byte of an index, cuts it everywhere and removes it: nothing is lost by it, after a
// clean stop or a kill.
func TestIndexIsACache(t *testing.T) {
	killed, m := sample(t)
	clean := killed.Crash(disk.KillProcess())
	d, p := openCrashed(t, clean, "")
	if _, err := p.Offsets(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	killed = killed.Crash(disk.KillProcess())
	_, p = openCrashed(t, killed, "")
	if _, err := p.Offsets(); err != nil { // writes the index
		t.Fatal(err)
	}
	name := path.Join("segments", ID{topicA, 0}.String(), segmentName(0, "index"))
	size := entryPosition(4)
	check := func(mem *disk.Mem, note string) {
		t.Helper()
		_, p := openCrashed(t, mem, "")
		m.mustHave(t, p, 4, note)
		sameProducers(t, p, note)
		mustAppend(t, p, made{})
		if f, ok, err := p.OffsetForTime(0); !ok || err != nil || f.Offset != 0 {
			t.Fatal(note, f, ok, err)
		}
	}
	for kind, mem := range map[string]*disk.Mem{"clean": clean, "killed": killed} {
		for at := range size {
			hurt := mem.Crash(disk.KillProcess())
			flip(t, hurt, name, at, 0x10)
			check(hurt, fmt.Sprintf("%s, byte %d flipped", kind, at))
			hurt = mem.Crash(disk.KillProcess())
			f, _ := hurt.OpenFile(name, 2)
			f.Truncate(at)
			check(hurt, fmt.Sprintf("%s, cut at %d", kind, at))
		}
		hurt := mem.Crash(disk.KillProcess())
		hurt.Remove(name)
		check(hurt, kind+", removed")
	}
}
