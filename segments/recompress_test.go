package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// plainRecord is a record as a reader sees it, with what follows its offset as bytes.
type plainRecord struct {
	timestamp int64
	offset    int64
	rest      string
}

// plainRecords reads a batch in the simplest way.
func plainRecords(t testing.TB, raw []byte) []plainRecord {
	t.Helper()
	h := parseHeader(raw)
	payload := raw[headerBytes:]
	if h.Codec() != None {
		var err error
		if payload, err = inflate(h.Codec(), payload, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	var out []plainRecord
	for len(payload) > 0 {
		size, n := binary.Varint(payload)
		body := payload[n : n+int(size)]
		payload = payload[n+int(size):]
		stamp, n := binary.Varint(body[1:])
		offset, m := binary.Varint(body[1+n:])
		timestamp := h.BaseTimestamp + stamp
		if h.LogAppendTime() {
			timestamp = h.MaxTimestamp
		}
		out = append(out, plainRecord{timestamp, offset, string(body[1+n+m:])})
	}
	return out
}

func anew(codec Codec, level int) *Rules { return &Rules{Compression: &Compression{codec, level}} }

// checkAnewHolds says what must be true of a batch that was written anew from sent.
func checkAnewHolds(t testing.TB, sent []byte, b *Batch, codec Codec) {
	t.Helper()
	raw := b.Bytes()
	if got, want := plainRecords(t, raw), plainRecords(t, sent); !slices.Equal(got, want) {
		t.Fatalf("records %v, sent %v", short3(got), short3(want))
	}
	was := parseHeader(sent)
	again, err := CheckBatch(slices.Clone(raw), &Rules{InflateBytes: math.MaxInt64})
	if err != nil || again.MaxTimestamp != b.MaxTimestamp || int(b.Size) != len(raw) || b.Codec() != codec || parseHeader(raw) != b.Header {
		t.Fatal(err, b.Header)
	}
	if b.ProducerID != was.ProducerID || b.ProducerEpoch != was.ProducerEpoch || b.BaseSequence != was.BaseSequence ||
		b.Records != was.Records || b.LastOffsetDelta != was.LastOffsetDelta || b.Transactional() != was.Transactional() {
		t.Fatalf("%+v of %+v", b.Header, was)
	}
	if first := plainRecords(t, raw)[0]; b.BaseTimestamp != first.timestamp {
		t.Fatalf("base timestamp %d, first record %d", b.BaseTimestamp, first.timestamp)
	}
}

func short3(r []plainRecord) string { return fmt.Sprintf("%d: %.300v", len(r), r[:min(len(r), 3)]) }

// Every codec is written anew with every other, with records of all sizes around the chunks and blocks.
func TestWrittenAnewInEveryCodec(t *testing.T) {
	sources := []made{{}, {codec: Gzip}, {codec: Snappy}, {codec: Snappy, xerial: true}, {codec: LZ4}, {codec: Zstd}}
	for _, m := range sources {
		for _, size := range []int{0, 100, 64<<10 - 9, 150_000} {
			m := m
			m.records, m.key, m.value, m.headers, m.base, m.times = 4, []byte("key"), noise(size), 2, 1000, []int64{1003, 1001, 2000, 0}
			m.producer, m.epoch, m.sequence, m.txn = 9, 3, 70, size%2 == 0
			for target := None; target <= Zstd; target++ {
				if target == m.codec {
					continue
				}
				sent := m.bytes()
				b, err := CheckBatch(slices.Clone(sent), anew(target, 3))
				if err != nil {
					t.Fatal(m.codec, target, size, err)
				}
				checkAnewHolds(t, sent, &b, target)
				b.Done()
			}
		}
	}
	nothingIsHeld(t)
}

// noise is bytes of which half compress.
func noise(n int) []byte {
	b := make([]byte, n)
	for i, x := 0, uint32(1); i < n; i++ {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 28)
	}
	return b
}

func nothingIsHeld(t *testing.T) {
	t.Helper()
	if len(rewriting) != 0 || len(thorough) != 0 || len(large) != 0 || len(inflating) != 0 {
		t.Fatalf("%d rewritings, %d large ones, %d streams are still held", len(rewriting), len(large), len(inflating))
	}
}

// The bytes of uncompressed records are those that Kafka writes: short heads and no attributes.
func TestWrittenAnewUncompressedIsCanonical(t *testing.T) {
	m := made{records: 5, key: []byte("k"), value: []byte("v"), base: 77}
	want := m.bytes()
	m.codec = LZ4
	b, err := CheckBatch(m.bytes(), anew(None, 0))
	if err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Fatalf("%v\n%x\n%x", err, b.Bytes(), want)
	}
	b.Done()
	odd := []byte{22, 0xff, 0x80, 0x00, 0x80, 0x00, 1, 2, 'x', 0, 0, 0}[:10] // attributes, and numbers longer than they need to be
	odd[0] = byte(2 * (len(odd) - 1))
	plain := []byte{14, 0, 0, 0, 1, 2, 'x', 0}
	b, err = CheckBatch(withRecords(t, compress(Gzip, false, odd), Gzip, 1), anew(None, 0))
	if err != nil || !bytes.Equal(b.Bytes()[headerBytes:], plain) {
		t.Fatalf("%v %x", err, b.Bytes())
	}
	b.Done()
}

func withRecords(t testing.TB, payload []byte, codec Codec, n int) []byte {
	t.Helper()
	b := append(made{records: n}.bytes()[:headerBytes], payload...)
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-logOverhead))
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(codec))
	return seal(b)
}

func TestWrittenAnewIsMeasured(t *testing.T) {
	m := made{records: 3, value: bytes.Repeat([]byte("0123456789"), 500), codec: Gzip}
	plain := m
	plain.codec = None
	size := len(plain.bytes())
	rules := anew(None, 0)
	for most, want := range map[int]bool{size: true, size - 1: false, len(m.bytes()): false} {
		rules.MaxBatchBytes = most
		b, err := CheckBatch(m.bytes(), rules)
		if check := (*CheckError)(nil); (err == nil) != want || err != nil && (!errors.As(err, &check) || check.Reason != BatchTooLarge) {
			t.Error(most, err)
		}
		b.Done()
	}
	rules.MaxBatchBytes, rules.NeedKey = len(m.bytes()), true // records come first
	if _, err := CheckBatch(m.bytes(), rules); err.(*CheckError).Reason != Rejected {
		t.Error(err)
	}
	rules.NeedKey, rules.InflateBytes = false, 5000
	if _, err := CheckBatch(m.bytes(), rules); err.(*CheckError).Reason != InflateLimit {
		t.Error(err)
	}
	nothingIsHeld(t)
}

func TestWrittenAnewRefuses(t *testing.T) {
	for name, m := range map[string]made{
		"a time below -1": {records: 2, base: 5, times: []int64{5, -7}},
		"no epoch":        {producer: 4, epoch: -1},
	} {
		if b, err := CheckBatch(m.bytes(), &Rules{}); err != nil {
			t.Error(name, "as it was sent:", err)
		} else {
			b.Done()
		}
		_, err := CheckBatch(m.bytes(), anew(Zstd, 3))
		if check := (*CheckError)(nil); !errors.As(err, &check) || check.Reason != Unstorable {
			t.Error(name, err)
		}
	}
	nothingIsHeld(t)
}

func TestEveryLevelWritesTheSameRecords(t *testing.T) {
	sent := made{records: 20, value: bytes.Repeat([]byte("level "), 5000), codec: Snappy}.bytes()
	levels := map[Codec][]int{Gzip: {-1, 1, 5, 9}, LZ4: {1, 5, 9, 10, 17}, Zstd: {math.MinInt32, -131072, -1, 0, 1, 3, 7, 12, 22}}
	for codec, of := range levels {
		for _, level := range of {
			b, err := CheckBatch(slices.Clone(sent), anew(codec, level))
			if err != nil || len(b.Bytes()) > 40_000 {
				t.Fatal(codec, level, err, len(b.Bytes()))
			}
			checkAnewHolds(t, sent, &b, codec)
			b.Done()
		}
	}
	nothingIsHeld(t)
}

// However many connections send bombs to be unpacked at once, what they take stays below 256 MiB in all, and each waits
// its turn.
func TestWritingAnewIsBoundedForAll(t *testing.T) {
	var wide bytes.Buffer
	w := gzip.NewWriter(&wide)
	plain, _ := made{records: 1, value: make([]byte, 16<<20)}.payload()
	_, _ = w.Write(plain)
	_ = w.Close()
	sent := withRecords(t, wide.Bytes(), Gzip, 1)
	plain = nil
	runtime.GC()
	before := heapObjects()
	var peak, stored atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			target := []Codec{None, Zstd, LZ4, Snappy}[i%4]
			b, err := CheckBatch(slices.Clone(sent), &Rules{MaxBatchBytes: 20 << 20, Compression: &Compression{target, 19}})
			if err != nil {
				t.Error(target, err)
				return
			}
			for now, was := int64(heapObjects()), peak.Load(); now > was && !peak.CompareAndSwap(was, now); was = peak.Load() {
			}
			stored.Add(1)
			b.Done()
		})
	}
	all.Wait()
	runtime.GC()
	if stored.Load() != 8 || peak.Load()-int64(before) > 256<<20 {
		t.Errorf("%d batches took %d MiB", stored.Load(), (peak.Load()-int64(before))>>20)
	}
	nothingIsHeld(t)
}

// FuzzRecompress: a batch of any records is written anew just when it could be stored as it was sent, and holds them.
func FuzzRecompress(f *testing.F) {
	for i, b := range seeds() {
		plain, _ := made{records: 3, key: []byte("k"), value: []byte("v"), headers: 1}.payload()
		f.Add(plain, uint8(i), uint8(i+1), int16(3))
		f.Add(b[headerBytes:], uint8(0), uint8(i), int16(3))
	}
	f.Fuzz(func(t *testing.T, records []byte, from, to uint8, count int16) {
		source, target := Codec(from%5), Codec(to%5)
		if source == target {
			return
		}
		sent := withRecords(t, compress(source, from > 128, records), source, int(min(max(count, 1), 1000)))
		kept, errKept := CheckBatch(slices.Clone(sent), &Rules{InflateBytes: 1 << 20})
		b, err := CheckBatch(slices.Clone(sent), &Rules{InflateBytes: 1 << 20, Compression: &Compression{target, int(to)}})
		if check := (*CheckError)(nil); err != nil && errKept == nil && (!errors.As(err, &check) || check.Reason != Unstorable) {
			t.Fatal("not written anew:", err)
		}
		if err == nil {
			if errKept != nil || b.MaxTimestamp != kept.MaxTimestamp {
				t.Fatal(errKept, b.Header, kept.Header)
			}
			checkAnewHolds(t, sent, &b, target)
			b.Done()
		}
		nothingIsHeld(t)
	})
}
