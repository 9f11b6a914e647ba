//go:build unix

package segments

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"runtime"
	"testing"
	"time"

	"doze/disk"
)

// filled is a partition on disk with that many bytes in closed segments: batches of 16 KiB, a quarter of whose records are
// the last of their key.
func filled(b *testing.B, codec Codec, recordBytes int, bytes int64) *Partition {
	fsys, err := disk.OpenOS(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	d, err := OpenDir(fsys, "segments", Options{SyncEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 64 << 20})
	n := max(1, 16<<10/recordBytes)
	value := make([]byte, recordBytes-20)
	total := bytes / int64(recordBytes)
	for at := int64(0); at < total; at += int64(n) {
		m := keyedBatch{made: made{base: 1000, codec: codec}}
		for i := range n {
			binary.BigEndian.PutUint64(value, uint64(at+int64(i))*0x9e3779b97f4a7c15)
			m.records = append(m.records, fmt.Sprintf("%08d=%s", (at+int64(i))%(total/4), value))
		}
		batch, err := CheckBatch(m.bytes(), &Rules{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Append(&batch, Admission{Now: 1000}); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Roll(1000); err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkClean compacts a log of 256 MiB; "MB/cpu-s" is how much of the log it does in a second of one core, reading it twice
// and writing a quarter. "passes" with a map that is too small shows what several passes cost, "heap-MB" what is held at most.
func BenchmarkClean(b *testing.B) {
	for _, c := range []struct {
		name   string
		codec  Codec
		record int
		keys   int64 // bytes of the map
	}{
		{"1KiB", None, 1024, 0}, {"100B", None, 100, 0}, {"1KiB/zstd", Zstd, 1024, 0}, {"1KiB/lz4", LZ4, 1024, 0}, {"1KiB/small-map", None, 1024, 1 << 20},
	} {
		b.Run(c.name, func(b *testing.B) {
			const size = 256 << 20
			var busy time.Duration
			var peak uint64
			passes := 0
			for range b.N {
				b.StopTimer()
				p := filled(b, c.codec, c.record, size)
				runtime.GC()
				before := cpuTime(b)
				b.StartTimer()
				done, err := p.Clean(context.Background(), CleanRules{}, NewCleaner(CleanerOptions{MapBytes: c.keys}))
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				busy += cpuTime(b) - before
				passes += done.Passes
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapSys)
			}
			b.SetBytes(size)
			b.ReportMetric(float64(size)*float64(b.N)/1e6/busy.Seconds(), "MB/cpu-s")
			b.ReportMetric(float64(passes)/float64(b.N), "passes")
			b.ReportMetric(float64(peak)/1e6, "heap-MB")
		})
	}
}

// BenchmarkTenGiB opens a partition of 10 GiB and looks up times. The log is sparse: its size and its index are those of 80
// segments of 128 MiB in batches of 16 KiB, but only the batches that are looked up have bytes.
func BenchmarkTenGiB(b *testing.B) {
	root := b.TempDir()
	id := ID{topicA, 0}
	times := sparseLog(b, path.Join(root, "segments", id.String()), 80, 8192)
	fsys, err := disk.OpenOS(root)
	if err != nil {
		b.Fatal(err)
	}
	open := func() *Partition {
		d, err := OpenDir(fsys, "segments", Options{SyncEvery: -1})
		if err != nil {
			b.Fatal(err)
		}
		return d.Partition(id, Config{})
	}
	b.Run("open-after-a-clean-stop", func(b *testing.B) {
		for range b.N {
			p := open()
			if o, err := p.Offsets(); err != nil || o.HighWatermark == 0 {
				b.Fatal(o, err)
			}
			if err := p.dir.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first-lookup", func(b *testing.B) {
		for i := range b.N {
			b.StopTimer()
			p := open()
			if _, err := p.Offsets(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			lookUp(b, p, times[i%len(times)])
			b.StopTimer()
			if err := p.dir.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	p := open()
	b.Run("lookup", func(b *testing.B) {
		for i := range b.N {
			lookUp(b, p, times[i%len(times)])
		}
	})
	b.Run("max-timestamp", func(b *testing.B) {
		for range b.N {
			if f, ok, err := p.MaxTimestamp(); err != nil || !ok || f.Timestamp != times[len(times)-1] {
				b.Fatal(f, ok, err)
			}
		}
	})
}

func lookUp(b *testing.B, p *Partition, at int64) {
	f, ok, err := p.OffsetForTime(at)
	if err != nil || !ok || f.Timestamp != at {
		b.Fatal(f, ok, err)
	}
}

// sparseLog writes segments of so many batches of 16 KiB each, and returns the times of the batches that have bytes: one in
// each segment, and the last.
func sparseLog(b *testing.B, dir string, segments, batches int) (times []int64) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	const size = 16 << 10
	for s := range segments {
		base := int64(s * batches)
		log, err := os.Create(path.Join(dir, segmentName(base, "log")))
		if err != nil {
			b.Fatal(err)
		}
		index := indexHeader(base)
		var before *entry
		for i := range batches {
			at := base + int64(i)
			m := made{records: 1, base: at * 10, value: make([]byte, size-headerBytes-11)}
			raw := m.bytes()
			binary.BigEndian.PutUint64(raw, uint64(at))
			h := parseHeader(raw)
			e := entryOf(&h, int64(i)*size, 1, before)
			e.attributes |= entryVouched
			if len(raw) != size {
				b.Fatal(len(raw))
			}
			before = &e
			index = appendEntry(index, &e)
			if i == batches/2 || s+1 == segments && i+1 == batches {
				times = append(times, at*10)
				if _, err := log.WriteAt(raw, int64(i)*size); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := log.Truncate(int64(batches) * size); err != nil {
			b.Fatal(err)
		}
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path.Join(dir, segmentName(base, "index")), index, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	last := int64((segments - 1) * batches)
	r := row{base: last, size: int64(batches) * size, entries: batches, end: last + int64(batches), producers: producers{}}
	err := os.WriteFile(path.Join(path.Dir(dir), checkpointName), encodeCheckpoint([]checkpointRow{{ID{topicA, 0}, appendRow(nil, &r)}}), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	return times
}
