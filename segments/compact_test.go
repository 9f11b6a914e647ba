package segments

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"doze/disk"
)

// kept is a record as tests compare it.
type kept struct {
	offset, stamp int64
	key, value    string
	tombstone     bool
}

func (k kept) String() string {
	if k.tombstone {
		return fmt.Sprintf("%d:%s deleted", k.offset, k.key)
	}
	return fmt.Sprintf("%d:%s=%s", k.offset, k.key, k.value)
}

// keyedBatch describes a batch of records with keys: "k=v" is a record, "k" a tombstone.
type keyedBatch struct {
	made
	records []string
}

func (m keyedBatch) bytes() []byte {
	var payload []byte
	for i, r := range m.records {
		one := m.made
		key, value, has := bytes.Cut([]byte(r), []byte("="))
		if one.key = key; has {
			one.value = append([]byte{}, value...)
		}
		payload = appendRecord(payload, &one, i, int64(i))
	}
	m.made.records = len(m.records)
	b := m.made.bytes()
	b = append(b[:headerBytes], compress(m.codec, true, payload)...)
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-logOverhead))
	return seal(b)
}

func (m keyedBatch) append(t testing.TB, p *Partition) Appended {
	t.Helper()
	b, err := CheckBatch(m.bytes(), &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Append(&b, Admission{LeaderEpoch: 3, Now: 1000, JournalSeq: uint64(endOf(p) + 1)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// endOf is where a partition ends, as far as it was opened, whoever else is at it.
func endOf(p *Partition) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// put appends a batch of records with times from 1000 on.
func put(t testing.TB, p *Partition, records ...string) Appended {
	t.Helper()
	return keyedBatch{made: made{base: 1000}, records: records}.append(t, p)
}

// rolled ends the segment that is written and puts all on disk, so that it may be compacted.
func rolled(t testing.TB, p *Partition) {
	t.Helper()
	if err := p.Roll(1000); err != nil {
		t.Fatal(err)
	}
}

// recordsOf reads all records of a partition.
func recordsOf(p *Partition) ([]kept, error) {
	batches, err := stored(p)
	if err != nil {
		return nil, err
	}
	var out []kept
	for _, raw := range batches {
		h := parseHeader(raw)
		if h.Control() {
			continue
		}
		var w inflater
		records, err := w.records(&h, raw)
		if err != nil {
			return nil, err
		}
		if !eachKeyed(records, h.Records, func(r *keyedRecord) bool {
			one := kept{offset: h.BaseOffset + int64(r.offsetDelta), stamp: h.BaseTimestamp + r.timestampDelta, key: string(r.key), tombstone: r.tombstone}
			if !r.tombstone {
				one.value = valueOf(r)
			}
			out = append(out, one)
			return true
		}) {
			return nil, fmt.Errorf("batch at %d: malformed records", h.BaseOffset)
		}
	}
	return out, nil
}

func valueOf(r *keyedRecord) string {
	_, n := binary.Varint(r.rest) // offset
	_, b, _ := nullable(r.rest[n:])
	v, _, _ := nullable(b)
	return string(v)
}

func mustRecords(t testing.TB, p *Partition) []kept {
	t.Helper()
	got, err := recordsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantRecords(t testing.TB, p *Partition, want ...string) {
	t.Helper()
	got := mustRecords(t, p)
	var shown []string
	for _, k := range got {
		shown = append(shown, k.String())
	}
	if !slices.Equal(shown, want) {
		t.Fatalf("the log has\n%q\nwant\n%q", shown, want)
	}
}

// cleaner compacts at a time.
func cleaner(now int64) *Cleaner { return NewCleaner(CleanerOptions{Now: func() int64 { return now }}) }

func clean(t testing.TB, p *Partition, r CleanRules, now int64) Cleaned {
	t.Helper()
	done, err := p.Clean(context.Background(), r, cleaner(now))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestCompactionKeepsTheLastOfEachKey(t *testing.T) {
	for codec := None; codec <= Zstd; codec++ {
		mem := disk.NewMem()
		p := openTest(t, mem).Partition(ID{topicA, 0}, Config{})
		keyedBatch{made: made{base: 1000, codec: codec, headers: 2}, records: []string{"a=1", "b=1", "c=1"}}.append(t, p)
		keyedBatch{made: made{base: 1000, codec: codec}, records: []string{"a=2", "b=2"}}.append(t, p)
		put(t, p, "b=3")
		rolled(t, p)
		put(t, p, "a=4") // in the segment that is written
		if done := clean(t, p, CleanRules{}, 5000); done.To != 6 || done.Passes != 1 {
			t.Fatalf("%v: %+v", codec, done)
		}
		wantRecords(t, p, "2:c=1", "3:a=2", "5:b=3", "6:a=4")
		raw := readAll(t, p, 0, 1<<20)
		if h := parseHeader(raw); h.BaseOffset != 0 || h.LastOffsetDelta != 2 || h.Records != 1 || h.Codec() != codec || h.BaseTimestamp != 1002 || h.MaxTimestamp != 1002 {
			t.Fatalf("%v: %+v", codec, h)
		}
		if again := clean(t, p, CleanRules{}, 5000); again.Passes != 0 {
			t.Fatalf("nothing is dirty: %+v", again)
		}
	}
}

// TestCompactedHeaderKeepsRecordsTogether: what stays of a record is all of it (known fault B-94).
func TestCompactedRecordsStayWhole(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	b := made{base: 1000, key: []byte("gone"), value: []byte("1"), headers: 1, records: 1}
	mustAppend(t, p, b)
	b.key, b.value, b.headers, b.base = []byte("stays"), []byte("2"), 3, 2000
	mustAppend(t, p, b)
	want := readAll(t, p, 1, 1<<20)
	put(t, p, "gone=3")
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	if got := readAll(t, p, 0, len(want)); !bytes.Equal(got, want) {
		t.Fatal("another record at the offset of one that was removed")
	}
}

func TestTombstonesStayForTheirTime(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	rules := CleanRules{DeleteRetentionMs: 100}
	put(t, p, "a=1", "b=1")
	put(t, p, "a")
	put(t, p, "c=1")
	rolled(t, p)
	clean(t, p, rules, 5000)
	wantRecords(t, p, "1:b=1", "2:a deleted", "3:c=1")
	h := parseHeader(readAll(t, p, 2, 1<<20))
	if horizon, set := h.deleteHorizon(); !set || horizon != 5100 || h.MaxTimestamp != 1000 {
		t.Fatalf("delete horizon %d %v, max timestamp %d", horizon, set, h.MaxTimestamp)
	}
	if got := mustRecords(t, p); got[1].stamp != 1000 {
		t.Fatalf("the tombstone's time became %d", got[1].stamp)
	}
	put(t, p, "d=1")
	rolled(t, p)
	clean(t, p, rules, 5099)
	wantRecords(t, p, "1:b=1", "2:a deleted", "3:c=1", "4:d=1")
	put(t, p, "e=1")
	rolled(t, p)
	clean(t, p, rules, 5100)
	wantRecords(t, p, "1:b=1", "3:c=1", "4:d=1", "5:e=1")
}

func TestRecordsWithoutKeyGo(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{value: []byte("no key")})
	put(t, p, "a=1")
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	wantRecords(t, p, "1:a=1")
}

// TestLastBatchesKeepTheirHeaders: the last batch of a producer stays known without records.
func TestLastBatchesKeepTheirHeaders(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	of := func(producer int64, sequence int32, records ...string) {
		keyedBatch{made: made{base: 1000, producer: producer, sequence: sequence}, records: records}.append(t, p)
	}
	of(1, 0, "a=1")
	of(1, 1, "a=2", "b=2") // the last of 1
	of(2, 0, "a=3")
	of(2, 1, "b=3", "a=4")
	rolled(t, p)
	of(2, 3, "b=5", "a=6") // the last of 2
	put(t, p, "x=1")
	put(t, p, "x=2") // the end
	rolled(t, p)
	put(t, p, "x=3")
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	var shape []string
	batches, err := stored(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		h := parseHeader(b)
		shape = append(shape, fmt.Sprintf("%d-%d producer %d sequence %d records %d", h.BaseOffset, h.LastOffset(), h.ProducerID, h.BaseSequence, h.Records))
	}
	want := []string{"1-2 producer 1 sequence 1 records 0", "6-7 producer 2 sequence 3 records 2", "10-10 producer -1 sequence -1 records 1"}
	if !slices.Equal(shape, want) {
		t.Fatalf("%q", shape)
	}
	d.Close()
	p = openTest(t, mem).Partition(ID{topicA, 0}, Config{})
	a, err := p.Append(keyedBatch{made: made{base: 1000, producer: 1, sequence: 1}, records: []string{"a=2", "b=2"}}.must(t), Admission{})
	if err != nil || !a.Duplicate || a.BaseOffset != 1 {
		t.Fatalf("the duplicate of a batch whose records are gone: %+v %v", a, err)
	}
	of(1, 3, "a=7")
}

// TestEachSegmentKeepsItsEnd: a segment ends where the next one begins, with a batch without records if need be. Kafka keeps
// such a batch only at the end of all that it compacts at once (docs/differences.md, emptied-batches).
func TestEachSegmentKeepsItsEnd(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{SegmentBytes: 150})
	for range 7 { // two to a segment
		put(t, p, "a=1")
	}
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	infos, err := p.Segments()
	if err != nil {
		t.Fatal(err)
	}
	batches, err := stored(p)
	if err != nil {
		t.Fatal(err)
	}
	var shape []string
	for _, b := range batches {
		h := parseHeader(b)
		shape = append(shape, fmt.Sprintf("%d-%d: %d", h.BaseOffset, h.LastOffset(), h.Records))
	}
	if want := []string{"1-1: 0", "3-3: 0", "5-5: 0", "6-6: 1"}; len(infos) < 4 || !slices.Equal(shape, want) {
		t.Fatalf("%q in %+v", shape, infos)
	}
}

func (m keyedBatch) must(t testing.TB) *Batch {
	t.Helper()
	b, err := CheckBatch(m.bytes(), &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestCompactionWaitsForItsTime(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	put(t, p, "a=1") // at 1000
	rolled(t, p)
	put(t, p, "a=2")
	rolled(t, p)
	at := func(r CleanRules, now int64) Cleanable {
		c, err := p.Cleanable(r, now)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := at(CleanRules{MinLagMs: 500}, 1499); c.DirtyBytes != 0 || c.Due(CleanRules{}) {
		t.Fatalf("younger than the lag: %+v", c)
	}
	if c := at(CleanRules{MinLagMs: 500}, 1500); c.To != 2 || !c.Due(CleanRules{}) {
		t.Fatalf("as old as the lag: %+v", c)
	}
	if done := clean(t, p, CleanRules{}, 2000); done.To != 2 {
		t.Fatalf("%+v", done)
	}
	put(t, p, "b=1")
	rolled(t, p)
	c := at(CleanRules{}, 2000)
	if r := c.Ratio(); c.From != 2 || r <= 0.4 || r > 0.5 {
		t.Fatalf("ratio %v of %+v", r, c)
	}
	if c.Due(CleanRules{MinDirtyRatio: 0.5}) {
		t.Fatal("due below its ratio")
	}
	if c := at(CleanRules{MaxLagMs: 500}, 1500); c.Overdue {
		t.Fatal("overdue before its time")
	}
	if c := at(CleanRules{MaxLagMs: 500}, 1501); !c.Due(CleanRules{MinDirtyRatio: 0.5}) {
		t.Fatal("not overdue")
	}
}

// TestCompactionIsTheFold compacts random logs with maps that are too small, again and again, and compares with what a map
// of all keys says.
func TestCompactionIsTheFold(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 5))
		mem := disk.NewMem()
		d := openTest(t, mem)
		p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 900})
		var all []kept
		for range 4 {
			for range 40 {
				m := keyedBatch{made: made{base: 1000, codec: Codec(r.IntN(4))}}
				for range 1 + r.IntN(4) {
					m.records = append(m.records, fmt.Sprintf("k%d=%d", r.IntN(25), r.IntN(1000)))
				}
				m.append(t, p)
			}
			rolled(t, p)
			all = mustRecords(t, p)
			c := NewCleaner(CleanerOptions{MapBytes: int64(24 * (4 << r.IntN(6)))})
			if _, err := p.Clean(context.Background(), CleanRules{}, c); err != nil {
				t.Fatal(err)
			}
			sameFold(t, all, mustRecords(t, p), fmt.Sprint("seed ", seed))
			verifyClean(t, mem, true)
			if r.IntN(2) == 0 {
				d.Close()
				verifyClean(t, mem, false)
				d = openTest(t, mem)
				p = d.Partition(ID{topicA, 0}, Config{SegmentBytes: 900})
			}
		}
	}
}

// sameFold checks that what is left of a log is the last record of each key, and nothing else.
func sameFold(t *testing.T, before, after []kept, note string) {
	t.Helper()
	last := map[string]kept{}
	for _, k := range before {
		last[k.key] = k
	}
	var want []kept
	for _, k := range before {
		if last[k.key].offset == k.offset {
			want = append(want, k)
		}
	}
	if !slices.Equal(after, want) {
		t.Fatalf("%s: left are\n%v\nwant\n%v", note, after, want)
	}
}

// TestTombstonesThatAreKeptForEver: when delete.retention.ms is so long that its end has no number, a tombstone stays, as in
// Kafka.
func TestTombstonesThatAreKeptForEver(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	rules := CleanRules{DeleteRetentionMs: math.MaxInt64}
	put(t, p, "a=1")
	put(t, p, "a", "b=1")
	rolled(t, p)
	clean(t, p, rules, 2000)
	wantRecords(t, p, "1:a deleted", "2:b=1")
	put(t, p, "b=2")
	rolled(t, p)
	clean(t, p, rules, 3000)
	wantRecords(t, p, "1:a deleted", "3:b=2")
}
