package load

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestBatchIsWhatABrokerTakes(t *testing.T) {
	raw := Batch(3, 100, 1000)
	SetTime(raw, 5000)
	var b kmsg.RecordBatch
	if err := b.ReadFrom(raw); err != nil {
		t.Fatal(err)
	}
	if want := crc32.Checksum(raw[21:], castagnoli); uint32(b.CRC) != want {
		t.Errorf("crc %#x, want %#x", uint32(b.CRC), want)
	}
	if b.FirstTimestamp != 5000 || b.MaxTimestamp != 5002 || b.NumRecords != 3 || b.LastOffsetDelta != 2 {
		t.Errorf("batch %+v", b)
	}
	left := b.Records
	for i := range int(b.NumRecords) {
		length, n := binary.Varint(left)
		var r kmsg.Record
		if err := r.ReadFrom(left[:n+int(length)]); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if int(r.OffsetDelta) != i || int(r.TimestampDelta64) != i || len(r.Value) != 100 {
			t.Errorf("record %d is %+v", i, r)
		}
		left = left[n+int(length):]
	}
	if len(left) != 0 {
		t.Errorf("%d bytes after the last record", len(left))
	}
}

func TestNextBatchWalksASetAndLeavesACutBatch(t *testing.T) {
	one, two := Batch(2, 10, 0), Batch(3, 10, 0)
	binary.BigEndian.PutUint64(two, 2)
	set := append(append([]byte{}, one...), two...)
	s, ok := NextBatch(set)
	if !ok || s != (Span{FirstOffset: 0, LastOffset: 1, Bytes: len(one)}) {
		t.Fatalf("first is %+v, %t", s, ok)
	}
	s, ok = NextBatch(set[s.Bytes:])
	if !ok || s.FirstOffset != 2 || s.LastOffset != 4 {
		t.Fatalf("second is %+v, %t", s, ok)
	}
	if _, ok := NextBatch(two[:len(two)-1]); ok {
		t.Error("a cut batch passed for a whole one")
	}
}
