package segments

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"doze/disk"
)

var topicA = [16]byte{0xa}

func testOptions() Options {
	return Options{Now: func() int64 { return 1_000_000 }, SyncEvery: -1}
}

func openTest(t testing.TB, fsys disk.FS) *Dir {
	t.Helper()
	d, err := OpenDir(fsys, "segments", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustAppend(t testing.TB, p *Partition, m made) Appended {
	t.Helper()
	a, err := p.Append(m.batch(t), Admission{LeaderEpoch: p.config.LeaderEpoch, Now: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func readAll(t testing.TB, p *Partition, offset int64, max int) []byte {
	t.Helper()
	s, err := p.Read(Fetch{Offset: offset, MaxBytes: max, MinOneBatch: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	b := make([]byte, s.Len())
	if s.Len() > 0 {
		if _, err := s.ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// offsetsIn lists the base offsets of the batches in bytes that Read gave, whole ones only.
func offsetsIn(t testing.TB, b []byte) []int64 {
	t.Helper()
	var out []int64
	for len(b) >= headerBytes {
		h := parseHeader(b)
		if int(h.Size) > len(b) {
			break
		}
		out = append(out, h.BaseOffset)
		b = b[h.Size:]
	}
	return out
}

func TestAppendReadReopen(t *testing.T) {
	for name, crash := range map[string]bool{"clean stop": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			mem := disk.NewMem()
			d := openTest(t, mem)
			id := ID{topicA, 3}
			p := d.Partition(id, Config{SegmentBytes: 1000, LeaderEpoch: 1})
			for i := range 20 {
				if a := mustAppend(t, p, made{records: 2, value: make([]byte, 100)}); a.BaseOffset != int64(2*i) {
					t.Fatalf("batch %d at offset %d", i, a.BaseOffset)
				}
			}
			if crash {
				mem = mem.Crash(disk.KillProcess())
			} else if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = openTest(t, mem)
			p = d.Partition(id, Config{SegmentBytes: 1000, LeaderEpoch: 2})
			o, err := p.Offsets()
			if err != nil || o != (Offsets{0, 40, 40}) {
				t.Fatalf("%+v %v", o, err)
			}
			mustAppend(t, p, made{records: 1})
			var all []int64
			for offset := int64(0); offset < 41; {
				got := offsetsIn(t, readAll(t, p, offset, 1))
				if len(got) != 1 {
					t.Fatalf("offset %d: %v", offset, got)
				}
				all = append(all, got[0])
				offset = got[0] + 2
			}
			if len(all) != 21 || all[20] != 40 {
				t.Fatal(all)
			}
			if epoch, end, _ := p.EndOfEpoch(1); epoch != 1 || end != 40 {
				t.Fatal(epoch, end)
			}
		})
	}
}

func TestReadBounds(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	if s, err := p.Read(Fetch{}); err != nil || s.Len() != 0 {
		t.Fatal(s, err)
	}
	if _, err := p.Read(Fetch{Offset: 1}); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Fatal(err)
	}
	for range 3 {
		mustAppend(t, p, made{records: 5, value: make([]byte, 50)})
	}
	one := len(made{records: 5, value: make([]byte, 50)}.bytes())
	for _, c := range []struct {
		offset   int64
		max, len int
		least    bool
	}{
		{0, 1 << 20, 3 * one, false}, {4, 1 << 20, 3 * one, false}, {5, 1 << 20, 2 * one, false}, {14, 1 << 20, one, false},
		{15, 1 << 20, 0, false}, {0, one - 1, 0, false}, {0, one - 1, one, true}, {0, one + 7, one + 7, true},
	} {
		s, err := p.Read(Fetch{Offset: c.offset, MaxBytes: c.max, MinOneBatch: c.least})
		if err != nil || s.Len() != c.len {
			t.Errorf("%+v: %d bytes, %v", c, s.Len(), err)
		}
		s.Release()
	}
	for _, offset := range []int64{-1, 16} {
		s, err := p.Read(Fetch{Offset: offset})
		if !errors.Is(err, ErrOffsetOutOfRange) || s.HighWatermark != 15 {
			t.Error(offset, err)
		}
	}
}

func TestStoredBytesAreTheSentOnes(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{LeaderEpoch: 7})
	sent := made{records: 3, codec: Zstd, value: []byte("v")}.bytes()
	mustAppend(t, p, made{})
	mustAppend(t, p, made{records: 3, codec: Zstd, value: []byte("v")})
	got := readAll(t, p, 1, 1<<20)
	h := parseHeader(got)
	if h.BaseOffset != 1 || h.LeaderEpoch != 7 || !bytes.Equal(got[atMagic:], sent[atMagic:]) {
		t.Fatalf("%+v", h)
	}
}

func TestNothingOnDiskBeforeFirstUse(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	if _, err := p.Offsets(); err != nil {
		t.Fatal(err)
	}
	if dump := mem.Dump(); dump != "" {
		t.Fatal(dump)
	}
}

func TestSyncSurvivesPowerLoss(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	for range 4 {
		mustAppend(t, p, made{value: make([]byte, 100)})
	}
	if err := p.SyncTo(context.Background(), 4); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, p, made{value: make([]byte, 100)})
	p = openTest(t, mem.Crash(disk.PowerLoss())).Partition(ID{topicA, 0}, Config{})
	if o, err := p.Offsets(); err != nil || o.HighWatermark != 4 {
		t.Fatal(o, err)
	}
}
