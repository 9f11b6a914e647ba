package segments

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"doze/disk"
)

// txnModel is a partition's transactions as a list of all that was appended, and every answer worked out from it anew.
type txnModel struct {
	batches []modelBatch
	start   int64
	next    map[int64]int32 // sequences
	epoch   map[int64]int16
}

type modelBatch struct {
	first, last int64
	producer    int64
	epoch       int16
	txn         bool
	marker      bool
	commit      bool
}

func newTxnModel() *txnModel { return &txnModel{next: map[int64]int32{}, epoch: map[int64]int16{}} }

func (m *txnModel) end() int64 {
	if n := len(m.batches); n > 0 {
		return m.batches[n-1].last + 1
	}
	return 0
}

// modelTxn is a transaction with batches; its marker is -1 while it is open.
type modelTxn struct {
	producer, first, marker int64
	commit                  bool
}

// txns lists transactions, the ended ones by their markers.
func (m *txnModel) txns() (ended, open []modelTxn) {
	at := map[int64]modelTxn{}
	for _, b := range m.batches {
		one, has := at[b.producer]
		switch {
		case b.marker && has:
			one.marker, one.commit = b.last, b.commit
			ended = append(ended, one)
			delete(at, b.producer)
		case !b.marker && b.txn && !has:
			at[b.producer] = modelTxn{b.producer, b.first, -1, false}
		}
	}
	for _, one := range at {
		open = append(open, one)
	}
	slices.SortFunc(open, func(a, b modelTxn) int { return int(a.first - b.first) })
	return ended, open
}

func (m *txnModel) stable() int64 {
	if _, open := m.txns(); len(open) > 0 {
		return max(open[0].first, m.start)
	}
	return m.end()
}

// check compares everything that the partition answers of transactions.
func (m *txnModel) check(t *testing.T, p *Partition, r *rand.Rand, note string) {
	t.Helper()
	o, err := p.Offsets()
	if err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	if want := (Offsets{m.start, m.end(), m.stable()}); o != want {
		t.Fatalf("%s: offsets %+v, expected %+v", note, o, want)
	}
	_, open := m.txns()
	got, err := p.OpenTxns()
	if err != nil || len(got) != len(open) {
		t.Fatalf("%s: open %+v %v, expected %+v", note, got, err, open)
	}
	for i := range open {
		if got[i].ProducerID != open[i].producer || got[i].FirstOffset != open[i].first || got[i].ProducerEpoch != m.epoch[open[i].producer] {
			t.Fatalf("%s: open %+v, expected %+v", note, got[i], open[i])
		}
	}
	for range 3 {
		from := m.start + r.Int64N(m.end()-m.start+1)
		m.checkRead(t, p, from, 1+r.IntN(5000), fmt.Sprintf("%s, from %d", note, from))
	}
}

// checkRead compares a read_committed read.
func (m *txnModel) checkRead(t *testing.T, p *Partition, from int64, most int, note string) {
	t.Helper()
	s, err := p.Read(Fetch{Offset: from, MaxBytes: most, MinOneBatch: true, ReadCommitted: true})
	if err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	defer s.Release()
	if from >= m.stable() {
		if s.Len() != 0 || len(s.Aborted) != 0 {
			t.Fatalf("%s: %d bytes, aborted %v behind the last stable offset %d", note, s.Len(), s.Aborted, m.stable())
		}
		return
	}
	to := wholeEnd(t, &s, note)
	if to > m.stable() {
		t.Fatalf("%s: read up to %d, the last stable offset is %d", note, to, m.stable())
	}
	ended, _ := m.txns()
	i := 0
	for _, txn := range ended {
		listed := i < len(s.Aborted) && s.Aborted[i] == AbortedTxn{txn.producer, txn.first}
		overlaps := !txn.commit && txn.marker >= from && txn.first < to
		if overlaps && !listed {
			t.Fatalf("%s: %v lacks %+v (read up to %d)", note, s.Aborted, txn, to)
		}
		if listed && !txn.commit && txn.marker >= from {
			i++
		}
	}
	if i != len(s.Aborted) {
		t.Fatalf("%s: %v has more than there is: %+v", note, s.Aborted, ended)
	}
}

// wholeEnd is the offset behind the last whole batch of a span.
func wholeEnd(t *testing.T, s *Span, note string) (end int64) {
	t.Helper()
	b := make([]byte, s.Len())
	if _, err := s.ReadAt(b, 0); err != nil {
		t.Fatalf("%s: %v", note, err)
	}
	for len(b) >= headerBytes {
		n := int(binary.BigEndian.Uint32(b[atLength:])) + logOverhead
		if n > len(b) {
			break
		}
		end = parseHeader2(b).LastOffset() + 1
		b = b[n:]
	}
	return end
}

// append appends a batch of a producer, 0 for one without id.
func (m *txnModel) append(t *testing.T, p *Partition, producer int64, txn bool, records int, seq uint64) {
	t.Helper()
	b := made{records: records, producer: producer, txn: txn, epoch: m.epoch[producer], sequence: m.next[producer], base: 1_000_000}
	a, err := p.Append(b.batch(t), Admission{Now: 1_000_000, JournalSeq: seq, Admit: func() error { return nil }})
	if err != nil || a.BaseOffset != m.end() {
		t.Fatalf("append %+v: %+v %v", b, a, err)
	}
	m.next[producer] += int32(records)
	id := producer
	if id == 0 {
		id = -1
	}
	m.batches = append(m.batches, modelBatch{first: a.BaseOffset, last: a.LastOffset, producer: id, epoch: b.epoch, txn: txn})
}

// finish writes a marker, of transactions v2 with a new epoch.
func (m *txnModel) finish(t *testing.T, p *Partition, producer int64, commit bool, version int16, seq uint64) {
	t.Helper()
	if version == 2 {
		m.epoch[producer]++
		m.next[producer] = 0
	}
	a, err := p.AppendMarker(Marker{ProducerID: producer, ProducerEpoch: m.epoch[producer], CoordinatorEpoch: 3, Commit: commit, TxnVersion: version},
		Admission{Now: 1_000_000, JournalSeq: seq})
	if err != nil || a.BaseOffset != m.end() {
		t.Fatalf("marker of %d: %+v %v", producer, a, err)
	}
	m.batches = append(m.batches, modelBatch{first: a.BaseOffset, last: a.LastOffset, producer: producer, marker: true, commit: commit})
}

// step does something at random.
func (m *txnModel) step(t *testing.T, p *Partition, r *rand.Rand, seq uint64) {
	producer := 1 + r.Int64N(5)
	_, open := m.txns()
	opened := slices.ContainsFunc(open, func(o modelTxn) bool { return o.producer == producer })
	switch r.IntN(12) {
	case 0:
		p.dir.SyncDirty()
	case 1:
		m.append(t, p, 0, false, 1+r.IntN(3), seq)
	case 2, 3, 4:
		m.finish(t, p, producer, r.IntN(3) == 0, int16(1+r.IntN(2)), seq)
	case 5:
		if before := m.start + r.Int64N(4); r.IntN(4) == 0 && before <= m.end() {
			start, err := p.DeleteRecords(before)
			if err != nil {
				t.Fatal(err)
			}
			m.start = start
		}
	default:
		m.append(t, p, producer, opened || r.IntN(4) > 0, 1+r.IntN(4), seq)
	}
}

// TestTransactionsAgainstModel appends transactions at random, with restarts of every kind between, and compares after each step.
func TestTransactionsAgainstModel(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			mem, m := disk.NewMem(), newTxnModel()
			d, p := openModel(t, mem, m, "boot 0")
			for i := range 150 {
				m.step(t, p, r, uint64(i))
				m.check(t, p, r, fmt.Sprint("step ", i))
				if r.IntN(12) > 0 {
					continue
				}
				note, boot := fmt.Sprint("restart at step ", i), "boot 0"
				switch r.IntN(4) {
				case 0:
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
					mem = mem.Crash(disk.KillProcess())
				case 1:
					mem = mem.Crash(disk.KillProcess())
				case 2:
					if err := p.SyncTo(context.Background(), m.end()); err != nil {
						t.Fatal(err)
					}
					boot = fmt.Sprint("boot ", i)
					mem = mem.Crash(disk.TornPowerLoss(uint64(i)))
				default:
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
					mem = mem.Crash(disk.KillProcess())
					spoilLists(t, mem, r)
				}
				if wrong := wrongLists(t, mem); len(wrong) > 0 {
					t.Fatalf("%s: wrong lists: %q", note, wrong)
				}
				d, p = openModel(t, mem, m, boot)
				m.check(t, p, r, note)
			}
		})
	}
}

func openModel(t *testing.T, mem *disk.Mem, m *txnModel, boot string) (*Dir, *Partition) {
	t.Helper()
	opt := testOptions()
	opt.BootID = boot
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	return d, d.Partition(ID{topicA, 0}, Config{SegmentBytes: 1500, LogStart: m.start})
}

// spoilLists removes, cuts or changes lists of aborted transactions.
func spoilLists(t *testing.T, mem *disk.Mem, r *rand.Rand) {
	t.Helper()
	dir := path.Join("segments", ID{topicA, 0}.String())
	entries, _ := mem.ReadDir(dir)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !strings.HasSuffix(name, abortedExt) {
			continue
		}
		b, err := disk.ReadFile(mem, name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		switch r.IntN(4) {
		case 0:
			mem.Remove(name)
			continue
		case 1:
			b = b[:r.IntN(len(b))]
		case 2:
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		if err := disk.WriteFile(mem, dir, name, b); err != nil {
			t.Fatal(err)
		}
	}
}
