package segments

import (
	"errors"
	"testing"

	"doze/disk"
)

// full is a disk without space: what is there can be overwritten, and nothing grows.
func full() *disk.Fault {
	return &disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite, disk.OpCreate, disk.OpMkdir, disk.OpPreallocate}, Persistent: true}
}

// TestStartOnAFullDisk: after a clean stop and after a kill, what is there is read; appends are refused until there is space.
func TestStartOnAFullDisk(t *testing.T) {
	for name, end := range map[string]func(*Dir, *disk.Mem) *disk.Mem{
		"clean stop": func(d *Dir, m *disk.Mem) *disk.Mem {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			return m.Crash(disk.KillProcess())
		},
		"kill": func(_ *Dir, m *disk.Mem) *disk.Mem { return m.Crash(disk.KillProcess()) },
		"kill on the full disk": func(d *Dir, m *disk.Mem) *disk.Mem {
			m.Inject(full())
			d.SyncDirty()
			return m.Crash(disk.KillProcess())
		},
		"stop on the full disk": func(d *Dir, m *disk.Mem) *disk.Mem {
			m.Inject(full())
			if err := d.Close(); !errors.Is(err, disk.ENOSPC) {
				t.Fatal(err)
			}
			return m.Crash(disk.KillProcess())
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := disk.NewMem()
			d := openTest(t, m)
			p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 2000})
			for range 40 { // several segments
				mustAppend(t, p, made{records: 2, value: []byte("value")})
			}
			m = end(d, m)
			m.Inject(full())
			p = openTest(t, m).Partition(ID{topicA, 0}, Config{SegmentBytes: 2000})
			o, err := p.Offsets()
			if err != nil || o.HighWatermark != 80 {
				t.Fatal(o, err)
			}
			if batches, err := stored(p); err != nil || len(batches) != 40 {
				t.Fatal(len(batches), err)
			}
			if found, ok, err := p.OffsetForTime(1); err != nil || !ok || found.Offset != 1 {
				t.Fatal(found, ok, err)
			}
			if _, err := p.Append(made{}.batch(t), Admission{}); !errors.Is(err, disk.ENOSPC) || !errors.Is(err, ErrStorage) {
				t.Fatal(err)
			}
			m.Clear()
			if a := mustAppend(t, p, made{}); a.BaseOffset != 80 {
				t.Fatal(a)
			}
		})
	}
}
