package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

func put16(at int, v uint16) func([]byte) []byte {
	return func(b []byte) []byte { binary.BigEndian.PutUint16(b[at:], v); return seal(b) }
}

func put32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return seal(b) }
}

func TestCheckRefuses(t *testing.T) {
	good := made{records: 3, key: []byte("k"), value: []byte("v"), headers: 2, base: 1000}
	for _, c := range []struct {
		name   string
		made   made
		change func([]byte) []byte
		rules  Rules
		want   Reason
	}{
		{"nothing", good, func([]byte) []byte { return nil }, Rules{}, NoBatch},
		{"less than a length", good, func(b []byte) []byte { return b[:11] }, Rules{}, NoBatch},
		{"a batch cut short", good, func(b []byte) []byte { return b[:len(b)-1] }, Rules{}, NoBatch},
		{"two batches", good, func(b []byte) []byte { return append(b, b...) }, Rules{}, MoreBatches},
		{"a second length that is too small", good, func(b []byte) []byte { return append(b, make([]byte, 12)...) }, Rules{}, Corrupt},
		{"a length that is too small", good, put32(atLength, 13), Rules{}, Corrupt},
		{"a negative length", good, put32(atLength, 1<<31), Rules{}, Corrupt},
		{"less than a header", good, put32(atLength, 48), Rules{}, Corrupt},
		{"magic 1", good, func(b []byte) []byte { b[atMagic] = 1; return b }, Rules{}, OldFormat},
		{"magic 3", good, func(b []byte) []byte { b[atMagic] = 3; return b }, Rules{}, Corrupt},
		{"magic -1", good, func(b []byte) []byte { b[atMagic] = 0xff; return b }, Rules{}, Corrupt},
		{"a base offset", good, func(b []byte) []byte { b[7] = 1; return b }, Rules{}, BadHeader},
		{"too large", good, nop, Rules{MaxBatchBytes: 100}, BatchTooLarge},
		{"a flipped bit", good, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, Rules{}, Corrupt},
		{"codec 5", good, put16(atAttributes, 5), Rules{}, UnknownCodec},
		{"control", made{control: true}, nop, Rules{}, BadHeader},
		{"no records", good, put32(atRecords, 0), Rules{}, BadHeader},
		{"fewer records than offsets", good, put32(atRecords, 2), Rules{}, BadHeader},
		{"a negative last offset", good, put32(atLastOffsetDelta, 0xffffffff), Rules{}, BadHeader},
		{"a sequence of -1", made{producer: 5, sequence: -1}, nop, Rules{}, BadHeader},
		{"zstd too early", made{codec: Zstd}, nop, Rules{NoZstd: true}, ZstdTooEarly},
		{"a record too few", good, more, Rules{}, BadRecord},
		{"a record left over", good, fewer, Rules{}, BadRecord},
		{"a record left over, compressed", made{records: 3, codec: Gzip}, fewer, Rules{}, BadRecord},
		{"not gzip", good, put16(atAttributes, uint16(Gzip)), Rules{}, Undecodable},
		{"not snappy", good, put16(atAttributes, uint16(Snappy)), Rules{}, Undecodable},
		{"not lz4", good, put16(atAttributes, uint16(LZ4)), Rules{}, Undecodable},
		{"not zstd", good, put16(atAttributes, uint16(Zstd)), Rules{}, Undecodable},
		{"no key", made{records: 2}, nop, Rules{NeedKey: true}, Rejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := CheckBatch(c.change(c.made.bytes()), &c.rules)
			check := (*CheckError)(nil)
			if !errors.As(err, &check) || check.Reason != c.want {
				t.Fatalf("%v, want %v", err, c.want)
			}
		})
	}
}

func nop(b []byte) []byte   { return b }
func more(b []byte) []byte  { return put32(atRecords, 4)(put32(atLastOffsetDelta, 3)(b)) }
func fewer(b []byte) []byte { return put32(atRecords, 2)(put32(atLastOffsetDelta, 1)(b)) }

func TestCheckTakesEveryCodec(t *testing.T) {
	for _, m := range []made{{codec: None}, {codec: Gzip}, {codec: Snappy}, {codec: Snappy, xerial: true}, {codec: LZ4}, {codec: Zstd}} {
		for _, records := range []int{1, 3, 5000} {
			for _, size := range []int{0, 10, 70_000} {
				if records*size > 4<<20 {
					continue
				}
				m := m
				m.records, m.key, m.value, m.headers = records, []byte("key"), bytes.Repeat([]byte("x\x00y"), size/3), records%2
				b, err := CheckBatch(m.bytes(), &Rules{})
				if err != nil || int(b.Records) != records || b.Codec() != m.codec {
					t.Errorf("%s %d x %d: %v", m.codec, records, size, err)
				}
			}
		}
	}
}

// TestCheckCutAnywhere cuts the compressed bytes everywhere: never taken, never a panic.
func TestCheckCutAnywhere(t *testing.T) {
	for _, m := range []made{{codec: Gzip}, {codec: Snappy}, {codec: Snappy, xerial: true}, {codec: LZ4}, {codec: Zstd}, {}} {
		m.records, m.value = 20, []byte("some value that compresses, some value")
		whole := m.bytes()
		for n := headerBytes; n < len(whole); n++ {
			b := put32(atLength, uint32(n-logOverhead))(slices.Clone(whole[:n]))
			_, err := CheckBatch(b, &Rules{})
			if m.codec == LZ4 && n >= len(whole)-4 && err == nil {
				continue // the frame's content checksum, which Kafka does not look at either
			}
			if m.codec == Zstd && n >= len(whole)-4 && err == nil {
				t.Errorf("zstd without checksum taken at %d of %d", n, len(whole))
			}
			if err == nil {
				t.Errorf("%s: taken with %d of %d bytes", m.codec, n, len(whole))
			}
		}
	}
}

func TestCheckPutsTimeRight(t *testing.T) {
	lie := put32(atMaxTimestamp+4, 77)(made{records: 3, times: []int64{10, 30, 20}, base: 10}.bytes())
	b, err := CheckBatch(lie, &Rules{})
	if err != nil || b.MaxTimestamp != 30 {
		t.Fatal(b.MaxTimestamp, err)
	}
	again := slices.Clone(b.Bytes())
	if !bytes.Equal(again, seal(slices.Clone(again))) {
		t.Fatal("CRC does not fit")
	}
	claim := put16(atAttributes, attrLogAppendTime)(made{records: 2, base: 500}.bytes())
	b, err = CheckBatch(slices.Clone(claim), &Rules{})
	if err != nil || b.LogAppendTime() || b.MaxTimestamp != 501 {
		t.Fatal("a claim of log append time:", b.Header, err)
	}
	_, err = CheckBatch(claim, &Rules{LogAppendTime: true})
	if e := (*CheckError)(nil); !errors.As(err, &e) || e.Total != 2 || !e.TimestampFault() {
		t.Fatal(err)
	}
	none := made{records: 2, times: []int64{-1, -1}, base: -1}
	if b, err = CheckBatch(none.bytes(), &Rules{CheckStamps: true, Now: 1e12}); err != nil || b.MaxTimestamp != -1 {
		t.Fatal("no timestamps:", err)
	}
}

func TestCheckBoundsTimestamps(t *testing.T) {
	now := int64(1_000_000)
	m := made{records: 5, key: []byte("k"), base: now, times: []int64{now - 101, now - 100, now, now + 50, now + 51}}
	_, err := CheckBatch(m.bytes(), &Rules{CheckStamps: true, Now: now, BeforeMaxMs: 100, AfterMaxMs: 50})
	e := (*CheckError)(nil)
	if !errors.As(err, &e) || e.Reason != Rejected || e.Total != 2 {
		t.Fatal(err)
	}
	want := []RecordFault{{Index: 0, Kind: TimestampRange, Timestamp: now - 101}, {Index: 4, Kind: TimestampRange, Timestamp: now + 51}}
	for i := range want {
		want[i].KeyBytes, want[i].ValueBytes = 1, e.Faults[0].ValueBytes
	}
	if !slices.Equal(e.Faults, want) {
		t.Fatal(e.Faults)
	}
	m.times[0] = math.MinInt64 / 2
	if _, err := CheckBatch(m.bytes(), &Rules{CheckStamps: true, Now: now, BeforeMaxMs: math.MaxInt64, AfterMaxMs: 60}); err != nil {
		t.Fatal("no bound:", err)
	}
}

// bomb is a batch whose few bytes inflate to one record with a value of n zeros.
func bomb(codec Codec, n int) []byte {
	return made{records: 1, value: make([]byte, n), codec: codec}.bytes()
}

func TestInflateIsBounded(t *testing.T) {
	for _, codec := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		raw := bomb(codec, 9<<20)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := CheckBatch(raw, &Rules{InflateBytes: 8 << 20})
		runtime.ReadMemStats(&after)
		if e := (*CheckError)(nil); !errors.As(err, &e) || e.Reason != InflateLimit {
			t.Errorf("%s: %v", codec, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
			t.Errorf("%s: allocated %d MiB", codec, used>>20)
		}
		if _, err := CheckBatch(raw, &Rules{InflateBytes: 10 << 20}); err != nil {
			t.Errorf("%s: within the limit: %v", codec, err)
		}
	}
}

func TestZstdWindowIsBounded(t *testing.T) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	m := made{records: 1, value: make([]byte, 20<<20)}
	payload, _ := m.payload()
	w.Write(payload)
	w.Close()
	_, err = newWalk(Zstd, out.Bytes())
	if e := (*CheckError)(nil); !errors.As(err, &e) || e.Reason != InflateLimit {
		t.Fatal(err)
	}
}

// newWalk walks a payload of one record.
func newWalk(codec Codec, payload []byte) (record, error) {
	var r record
	w, err := openRecords(&Header{Attributes: int16(codec)}, payload, 0)
	if err != nil {
		return r, err
	}
	defer w.close()
	if err := w.next(&r); err != nil {
		return r, err
	}
	return r, w.end()
}

// TestInflateAgreesWithTheLibraries inflates with our sources what the libraries compressed, at sizes around the edges.
func TestInflateAgreesWithTheLibraries(t *testing.T) {
	for _, n := range []int{0, 1, 59, 60, 61, 255, 256, 65535, 65536, 65537, 300_000, 5 << 20} {
		plain := make([]byte, n)
		for i := range plain {
			plain[i] = byte(i*i>>5) ^ byte(i>>11)
		}
		forms := map[string][]byte{"snappy": snappy.Encode(nil, plain)}
		if n > 0 {
			forms["snappy s2"] = compress(Snappy, false, plain)
			forms["snappy xerial"] = compress(Snappy, true, plain)
		}
		for name, b := range forms {
			same(t, name, Snappy, b, plain)
		}
		for _, size := range []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block1Mb, lz4.Block4Mb} {
			var out bytes.Buffer
			w := lz4.NewWriter(&out)
			w.Apply(lz4.BlockSizeOption(size), lz4.BlockChecksumOption(n%2 == 0), lz4.SizeOption(uint64(n)))
			w.Write(plain)
			w.Close()
			same(t, size.String(), LZ4, out.Bytes(), plain)
		}
		var twice bytes.Buffer // gzip members may follow each other
		for _, part := range [][]byte{plain[:n/2], plain[n/2:]} {
			w := gzip.NewWriter(&twice)
			w.Write(part)
			w.Close()
		}
		same(t, "gzip", Gzip, twice.Bytes(), plain)
		same(t, "zstd", Zstd, compress(Zstd, false, plain), plain)
	}
}

func same(t *testing.T, name string, codec Codec, compressed, plain []byte) {
	t.Helper()
	got, err := inflate(codec, compressed, 64<<20)
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%s of %d bytes: %d bytes, %v", name, len(plain), len(got), err)
	}
}

func inflate(codec Codec, compressed []byte, most int) ([]byte, error) {
	src, err := openSource(codec, compressed)
	if err != nil {
		return nil, err
	}
	defer src.close()
	var out []byte
	for len(out) <= most {
		chunk, err := src.next()
		if err != nil {
			if err.Error() == "EOF" {
				err = nil
			}
			return out, err
		}
		out = append(out, chunk...)
	}
	return out, errors.New("too much")
}

func TestLZ4RefusesLinkedBlocks(t *testing.T) {
	frame := compress(LZ4, false, []byte("hello"))
	frame[4] &^= 0x20
	frame[6] = byte(xxhash32(frame[4:6]) >> 8)
	if _, err := inflate(LZ4, frame, 100); err == nil {
		t.Fatal("taken: Kafka refuses them")
	}
}
