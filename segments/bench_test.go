package segments

import (
	"math"
	"testing"

	"doze/disk"
)

func benchDir(b *testing.B) *Dir {
	b.Helper()
	fsys, err := disk.OpenOS(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	d, err := OpenDir(fsys, "segments", Options{SyncEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close(); fsys.Close() })
	return d
}

// megabyte is a batch of about 1 MB of records of 1 KB.
func megabyte(codec Codec) []byte {
	value := make([]byte, 1000)
	for i := range value {
		value[i] = byte(i * i >> 3)
	}
	return made{records: 1000, value: value, codec: codec}.bytes()
}

func BenchmarkAppend1MB(b *testing.B) {
	p := benchDir(b).Partition(ID{}, Config{LeaderEpoch: 0})
	raw := megabyte(None)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for i := range b.N {
		clear(raw[:8])
		batch, err := CheckBatch(raw, &Rules{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Append(&batch, Admission{}); err != nil {
			b.Fatal(err)
		}
		if i%512 == 511 { // do not fill the disk
			if _, err := p.DeleteRecords(-1); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAppendOneRecord(b *testing.B) {
	p := benchDir(b).Partition(ID{}, Config{})
	raw := made{value: make([]byte, 100)}.bytes()
	b.ReportAllocs()
	for range b.N {
		clear(raw[:8])
		batch, err := CheckBatch(raw, &Rules{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Append(&batch, Admission{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckBatch(b *testing.B) {
	for _, codec := range []Codec{None, Gzip, Snappy, LZ4, Zstd} {
		for _, size := range []int{100, 1000} {
			name := codec.String() + map[int]string{100: "/100B", 1000: "/1KB"}[size]
			value := make([]byte, size)
			for i := range value {
				value[i] = byte(i * i >> 3)
			}
			raw := made{records: 1_000_000 / size, value: value, codec: codec}.bytes()
			b.Run(name, func(b *testing.B) {
				b.SetBytes(1_000_000) // inflated
				b.ReportAllocs()
				for range b.N {
					if _, err := CheckBatch(raw, &Rules{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	d := benchDir(b)
	p := d.Partition(ID{}, Config{})
	raw := made{value: make([]byte, 100)}.bytes()
	for range 100_000 {
		clear(raw[:8])
		batch, _ := CheckBatch(raw, &Rules{})
		if _, err := p.Append(&batch, Admission{}); err != nil {
			b.Fatal(err)
		}
	}
	d.SyncDirty()
	b.Run("random", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			s, err := p.Read(Fetch{Offset: int64(i) * 7919 % 100_000, MaxBytes: 1 << 20, MinOneBatch: true})
			if err != nil || s.Len() == 0 {
				b.Fatal(err)
			}
			s.Release()
		}
	})
	b.Run("time", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, _, err := p.OffsetForTime(math.MinInt64); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOpen starts on 10,000 partitions with data, and opens 1,000 of them, after a clean stop and after a kill.
func BenchmarkOpen(b *testing.B) {
	fsys, err := disk.OpenOS(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer fsys.Close()
	const partitions, used = 10_000, 1_000
	open := func() *Dir {
		d, err := OpenDir(fsys, "segments", Options{SyncEvery: -1})
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	appendTo := func(d *Dir, n int32) {
		for i := range n {
			batch, err := CheckBatch(made{producer: 3, value: make([]byte, 1000)}.bytes(), &Rules{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := d.Partition(ID{Partition: i}, Config{}).Append(&batch, Admission{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	use := func(d *Dir) {
		for i := range int32(used) {
			if o, err := d.Partition(ID{Partition: i}, Config{}).Offsets(); err != nil || o.HighWatermark == 0 {
				b.Fatal(o, err)
			}
		}
	}
	d := open()
	appendTo(d, partitions)
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("dir", func(b *testing.B) {
		for range b.N {
			open()
		}
	})
	b.Run("clean", func(b *testing.B) {
		for range b.N {
			use(open())
		}
	})
	killed := open()
	appendTo(killed, used) // and never closed
	closeFiles(killed)
	b.Run("killed", func(b *testing.B) {
		for range b.N {
			d := open()
			use(d)
			closeFiles(d)
		}
	})
}
