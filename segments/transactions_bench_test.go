package segments

import (
	"fmt"
	"testing"
)

// BenchmarkIsolation reads a log of transactions from front to back, 1 MiB at a time as a consumer asks, and a batch at a time, at both isolation levels:
// 200,000 records of 100 bytes, ten a batch; transactions of ten batches by four producers at once, every tenth aborted.
// read_committed is to cost at most a tenth more.
func BenchmarkIsolation(b *testing.B) {
	p := benchDir(b).Partition(ID{}, Config{SegmentBytes: 16 << 20})
	const producers, each = 4, 500
	var sequences [producers]int32
	for txn := range each {
		for range 10 {
			for id := range int64(producers) {
				batch, err := CheckBatch(made{records: 10, value: make([]byte, 100), producer: id + 1, txn: true, sequence: sequences[id]}.bytes(), &Rules{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Append(&batch, Admission{}); err != nil {
					b.Fatal(err)
				}
				sequences[id] += 10
			}
		}
		for id := range int64(producers) {
			if _, err := p.AppendMarker(Marker{ProducerID: id + 1, Commit: (int64(txn)+id)%10 > 0}, Admission{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	p.dir.SyncDirty()
	o, err := p.Offsets()
	if err != nil || o.LastStable != o.HighWatermark {
		b.Fatal(o, err)
	}
	size, err := p.Size()
	if err != nil {
		b.Fatal(err)
	}
	for _, most := range []int{1 << 20, 1 << 10} {
		for _, committed := range []bool{false, true} {
			b.Run(fmt.Sprint(most>>10, "KiB/", map[bool]string{false: "uncommitted", true: "committed"}[committed]), func(b *testing.B) {
				buffer := make([]byte, most+2000)
				b.SetBytes(size)
				b.ReportAllocs()
				for range b.N {
					readLog(b, p, o.HighWatermark, committed, most, buffer)
				}
			})
		}
	}
}

// readLog reads all, as a consumer that takes what it is given.
func readLog(b *testing.B, p *Partition, end int64, committed bool, most int, buffer []byte) {
	for offset := int64(0); offset < end; {
		s, err := p.Read(Fetch{Offset: offset, MaxBytes: most, MinOneBatch: true, ReadCommitted: committed})
		if err != nil {
			b.Fatal(err)
		}
		n, err := s.ReadAt(buffer[:s.Len()], 0)
		s.Release()
		if err != nil || n == 0 {
			b.Fatal(n, err)
		}
		for at := 0; at+headerBytes <= n; {
			h := parseHeader(buffer[at:])
			if at += int(h.Size); at <= n {
				offset = h.LastOffset() + 1
			}
		}
	}
}
