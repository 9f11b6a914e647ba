package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"doze/disk"
)

// seeds are batches of every kind.
func seeds() [][]byte {
	var out [][]byte
	for codec := None; codec <= Zstd; codec++ {
		out = append(out, made{records: 3, codec: codec, key: []byte("k"), value: []byte("value value value"), headers: 2}.bytes())
	}
	out = append(out, made{records: 2, codec: Snappy, xerial: true, value: []byte("v")}.bytes(),
		made{producer: 5, epoch: 1, sequence: 7}.bytes(), made{control: true}.bytes())
	return out
}

// checkTwice: what is taken once is taken again, unchanged, and is stored and read back the same.
func checkTwice(t *testing.T, b []byte, rules *Rules) {
	first, err := CheckBatch(b, rules)
	if check := (*CheckError)(nil); err != nil {
		if !errors.As(err, &check) || check.Reason == 0 || check.Error() == "" {
			t.Fatalf("%T %v", err, err)
		}
		return
	}
	kept := slices.Clone(first.Bytes())
	again, err := CheckBatch(first.Bytes(), rules)
	if err != nil && !rules.LogAppendTime || err == nil && !bytes.Equal(again.Bytes(), kept) {
		t.Fatal("not the same again:", err)
	}
	if len(kept) > len(b) || first.Records <= 0 || int64(first.Size) != int64(len(kept)) {
		t.Fatal(first.Header)
	}
}

func FuzzCheckBatch(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > headerBytes { // let the checks behind the CRC be reached
			binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-logOverhead))
			clear(b[:8])
			b[atMagic] = 2
			seal(b)
		}
		HeadOf(b)
		checkTwice(t, b, &Rules{InflateBytes: 1 << 20})
	})
}

// FuzzPayload takes the records of a Produce request as they come, under every rule.
func FuzzPayload(f *testing.F) {
	for i, b := range seeds() {
		f.Add(b, uint8(i))
		f.Add(append(slices.Clone(b), b...), uint8(i))
		f.Add(append(slices.Clone(b), b[:20]...), uint8(255))
	}
	f.Fuzz(func(t *testing.T, b []byte, bits uint8) {
		checkTwice(t, b, &Rules{InflateBytes: 1 << 20, NoZstd: bits&1 != 0, LogAppendTime: bits&2 != 0, NeedKey: bits&4 != 0,
			CheckStamps: bits&8 != 0, Now: int64(bits) << 50, BeforeMaxMs: 1000, MaxBatchBytes: int(bits&16) << 10})
	})
}

func FuzzRecords(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b[headerBytes:], uint8(b[atAttributes+1]&7), int32(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, codec uint8, count int32) {
		h := Header{Attributes: int16(codec % 5), Records: min(max(count, 0), 1000)}
		w, err := openRecords(&h, b, 1<<20)
		if err != nil {
			return
		}
		defer w.close()
		for range h.Records {
			var r record
			before := w.position()
			if err := w.next(&r); err != nil {
				if check := (*CheckError)(nil); !errors.As(err, &check) {
					t.Fatalf("%T %v", err, err)
				}
				return
			}
			if w.position()-before < 7 || r.keyBytes < -1 || r.valueBytes < -1 {
				t.Fatalf("%+v in %d bytes", r, w.position()-before)
			}
		}
		_ = w.end()
	})
}

// FuzzRecordsBothWays: the quick way through a record and the slow one agree.
func FuzzRecordsBothWays(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b[headerBytes:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		quick, slow := records{chunk: b, whole: b, from: -1}, records{chunk: b, whole: b, from: -1}
		for range 100 {
			var a, c record
			if !quick.fast(&a) {
				return
			}
			if err := slow.slow(&c); err != nil || a != c || quick.position() != slow.position() {
				t.Fatalf("%+v %+v %v", a, c, err)
			}
		}
	})
}

func FuzzInflate(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b[headerBytes:], uint8(b[atAttributes+1]&7))
	}
	f.Fuzz(func(t *testing.T, b []byte, codec uint8) {
		if all, err := Inflate(1+Codec(codec%4), b, 1<<16); err == nil && len(all) > 1<<16 {
			t.Fatalf("%d bytes, more than the most", len(all))
		}
		src, err := openSource(1+Codec(codec%4), b)
		if err != nil {
			return
		}
		defer src.close()
		for n := 0; n < 1<<20; {
			chunk, err := src.next()
			if check := (*CheckError)(nil); err != nil {
				if err != io.EOF && !errors.As(err, &check) {
					t.Fatalf("%T %v", err, err)
				}
				return
			}
			if len(chunk) == 0 {
				t.Fatal("an empty chunk")
			}
			n += len(chunk)
		}
	})
}

func FuzzIndex(f *testing.F) {
	b := indexHeader(7)
	for i := range 3 {
		h := Header{BaseOffset: int64(7 + i), Size: 100, Magic: 2, Records: 1, ProducerID: 5}
		e := entryOf(&h, int64(100*i), uint64(i), nil)
		b = appendEntry(b, &e)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = checkIndexHeader(b, 7)
		for at := 0; at+entryBytes <= len(b); at++ {
			e, err := parseEntry(b[at:])
			if err == nil && !bytes.Equal(appendEntry(nil, &e), b[at:at+entryBytes]) {
				t.Fatal("another encoding")
			}
		}
		mem := disk.NewMem()
		file, err := mem.OpenFile("index", 0x42)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteAt(b, 0)
		n := max(0, len(b)-indexHeaderBytes) / entryBytes
		if _, _, err := searchEntries(file, n, n/2, func(e *entry) bool { return e.offset >= 8 }); err != nil && !errors.Is(err, errBadEntry) {
			t.Fatal(err)
		}
	})
}

// FuzzScan opens a partition whose log and index are any bytes: it opens or is damaged, never panics, and what it has
// can be read and appended to.
func FuzzScan(f *testing.F) {
	whole := []byte{}
	for i, b := range seeds()[:3] {
		binary.BigEndian.PutUint64(b, uint64(3*i))
		whole = append(whole, b...)
	}
	f.Add(whole, []byte{})
	f.Add(append(slices.Clone(whole), make([]byte, 100)...), indexHeader(0))
	f.Add(whole[:len(whole)-5], indexHeader(0))
	f.Add(append(append(slices.Clone(whole[:200]), 1, 2, 3), whole...), []byte{})
	f.Fuzz(func(t *testing.T, log, index []byte) {
		mem := disk.NewMem()
		dir := "segments/" + ID{topicA, 0}.String()
		mem.MkdirAll(dir)
		put := func(ext string, b []byte) {
			file, err := mem.OpenFile(dir+"/"+segmentName(0, ext), 0x42)
			if err != nil {
				t.Fatal(err)
			}
			file.WriteAt(b, 0)
		}
		put("log", log)
		put("index", index)
		if _, err := Verify(mem, dir, nil); err != nil {
			t.Fatal(err)
		}
		_, p := openCrashed(t, mem, "")
		if _, err := p.Offsets(); err != nil {
			if !errors.Is(err, ErrStorage) {
				t.Fatal(err)
			}
			return
		}
		if _, err := stored(p); err != nil {
			t.Fatal(err)
		}
		_, _, _ = p.OffsetForTime(1) // the records themselves may be anything
		if endOf(p) < 1<<62 {
			mustAppend(t, p, made{})
		}
	})
}

func FuzzState(f *testing.F) {
	t := producers{}
	e := entry{producerID: 4, sequence: 3, offset: 9, maxTime: 5}
	t.apply(&e, &openTxns{})
	f.Add(encodeState(epochs{{1, 0}, {2, 9}}, t))
	f.Add(appendRow(nil, &row{base: 5, size: 10, entries: 1, end: 7, producers: t}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, table, err := decodeState(b); err == nil && !bytes.Equal(encodeState(l, table), b) {
			t.Fatal("another encoding")
		}
		if r, err := decodeRow(b); err == nil && !bytes.Equal(appendRow(nil, &r), b) {
			t.Fatal("another encoding of a row")
		}
		_, _, _ = decodeSnapshot(b, 0)
	})
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(encodeCheckpoint([]checkpointRow{{ID{topicA, 1}, []byte("row")}, {ID{topicA, 0}, []byte("other")}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := disk.NewMem()
		file, err := mem.OpenFile("checkpoint", 0x42)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteAt(b, 0)
		c, err := openCheckpoint(mem, "checkpoint")
		if err != nil {
			t.Fatal(fmt.Sprintf("%T", err), err)
		}
		c.raw(ID{topicA, 0})
		c.row(ID{topicA, 1})
		c.close()
	})
}
