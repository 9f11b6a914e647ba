package segments

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"doze/disk"
)

var repaired = ID{topicA, 0}

func partitionFile(base int64, ext string) string {
	return path.Join("segments", repaired.String(), segmentName(base, ext))
}

// severalSegments is a cleanly stopped or killed partition of several segments.
func severalSegments(t *testing.T, clean bool) (*disk.Mem, *model, []int64) {
	t.Helper()
	mem, m := disk.NewMem(), &model{}
	d, p := openCrashed(t, mem, "same")
	workload(t, p, m, rand.New(rand.NewPCG(3, 4)), 40)
	d.SyncDirty()
	if clean {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		mem = mem.Crash(disk.KillProcess())
	}
	bases, err := listBases(mem, path.Join("segments", repaired.String()), "log")
	if err != nil || len(bases) < 4 {
		t.Fatal(bases, err)
	}
	return mem, m, bases
}

func change(t *testing.T, mem *disk.Mem, name string, f func(b []byte) []byte) {
	t.Helper()
	b, err := disk.ReadFile(mem, name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	b = f(b)
	file, err := mem.OpenFile(name, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(int64(len(b))); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}

// spoilBatch changes a byte of the n-th batch of a log, behind its header.
func spoilBatch(n int) func([]byte) []byte {
	return func(b []byte) []byte {
		at := 0
		for range n {
			at += int(parseHeader(b[at:]).Size)
		}
		b[at+headerBytes+2] ^= 0x10
		return b
	}
}

type partitionDamage struct {
	name string
	do   func(t *testing.T, mem *disk.Mem, bases []int64)
	lost func(bases []int64, h *Header) bool // which batches may be lost
}

var partitionDamages = []partitionDamage{
	{"a batch of the first segment", func(t *testing.T, mem *disk.Mem, bases []int64) {
		change(t, mem, partitionFile(0, "log"), spoilBatch(1))
	}, func(bases []int64, h *Header) bool { return h.BaseOffset > 0 && h.BaseOffset <= 3 }},
	{"the last batch of a segment in the middle", func(t *testing.T, mem *disk.Mem, bases []int64) {
		change(t, mem, partitionFile(bases[1], "log"), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	}, func(bases []int64, h *Header) bool { return h.BaseOffset >= bases[1] && h.BaseOffset < bases[2] }},
	{"a segment is missing", func(t *testing.T, mem *disk.Mem, bases []int64) {
		_ = mem.Remove(partitionFile(bases[2], "log"))
	}, func(bases []int64, h *Header) bool { return h.BaseOffset >= bases[2] && h.BaseOffset < bases[3] }},
	{"a segment is empty", func(t *testing.T, mem *disk.Mem, bases []int64) {
		change(t, mem, partitionFile(bases[1], "log"), func([]byte) []byte { return nil })
	}, func(bases []int64, h *Header) bool { return h.BaseOffset >= bases[1] && h.BaseOffset < bases[2] }},
	{"the last segment is cut", func(t *testing.T, mem *disk.Mem, bases []int64) {
		change(t, mem, partitionFile(bases[len(bases)-1], "log"), func(b []byte) []byte { return b[:20] })
	}, func(bases []int64, h *Header) bool { return h.BaseOffset >= bases[len(bases)-1] }},
	{"a batch, and no index", func(t *testing.T, mem *disk.Mem, bases []int64) {
		_ = mem.Remove(partitionFile(bases[1], "index"))
		change(t, mem, partitionFile(bases[1], "log"), spoilBatch(0))
	}, func(bases []int64, h *Header) bool { return h.BaseOffset >= bases[1] && h.BaseOffset < bases[2] }},
	{"a base offset", func(t *testing.T, mem *disk.Mem, bases []int64) {
		change(t, mem, partitionFile(bases[1], "log"), func(b []byte) []byte { b[3] ^= 1; return b })
	}, func(bases []int64, h *Header) bool { return h.BaseOffset >= bases[1] && h.BaseOffset < bases[1]+3 }},
	{"every log", func(t *testing.T, mem *disk.Mem, bases []int64) {
		for _, base := range bases {
			change(t, mem, partitionFile(base, "log"), func(b []byte) []byte { clear(b); b[0] = 1; return b })
		}
	}, func([]int64, *Header) bool { return true }},
}

func examined(t *testing.T, mem *disk.Mem) *Repair {
	t.Helper()
	r, err := Examine(mem, "segments", repaired, "same")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRepairKeepsEveryBatchThatCanBeRead(t *testing.T) {
	for _, d := range partitionDamages {
		for _, clean := range []bool{false, true} {
			t.Run(fmt.Sprint(d.name, clean), func(t *testing.T) {
				mem, m, bases := severalSegments(t, clean)
				if r := examined(t, mem); r.Damaged() || r.Batches != int64(len(m.acked)) || r.End != m.end() {
					t.Fatalf("before the damage: %+v", r)
				}
				d.do(t, mem, bases)
				before := mem.Dump()
				r := examined(t, mem)
				if !r.Damaged() || mem.Dump() != before {
					t.Fatalf("not found, or changed: %+v", r)
				}
				if err := r.Accept(); err != nil {
					t.Fatal(err)
				}
				checkPartitionRepaired(t, mem, m, bases, &d)
				if _, err := mem.Stat(r.Kept); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// checkPartitionRepaired opens the partition: only what may be lost is, and it goes on.
func checkPartitionRepaired(t *testing.T, mem *disk.Mem, m *model, bases []int64, d *partitionDamage) {
	t.Helper()
	if r := examined(t, mem); r.Damaged() {
		t.Fatalf("still damaged: %v", r.GivenUp)
	}
	dir, p := openCrashed(t, mem, "same")
	got, err := stored(p)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, b := range m.acked {
		h := parseHeader(b)
		if i < len(got) && bytes.Equal(got[i], b) {
			i++
		} else if !d.lost(bases, &h) {
			t.Errorf("the batch at offset %d is lost", h.BaseOffset)
		}
	}
	if i < len(got) {
		t.Errorf("%d batches that were never written", len(got)-i)
	}
	if o, _ := p.Offsets(); len(got) == 0 && o.HighWatermark < bases[len(bases)-1] {
		t.Errorf("it goes on at offset %d", o.HighWatermark)
	}
	mustAppend(t, p, made{})
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	verifyClean(t, mem, false)
}

// TestPartitionRepairStoppedHalfWay: whatever operation fails, and whether a start comes between or not, another repair
// finishes the work, and nothing that can be read is lost. (Half a rename, as disk.TornPowerLoss leaves it, is assumed not
// to happen: see the README.)
func TestPartitionRepairStoppedHalfWay(t *testing.T) {
	for _, d := range partitionDamages[1:5] {
		t.Run(d.name, func(t *testing.T) {
			mem, m, bases := severalSegments(t, true)
			d.do(t, mem, bases)
			for n, fired := 0, true; fired; n++ {
				attempt := mem.Crash(disk.KillProcess())
				r := examined(t, attempt)
				fault := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
				attempt.Inject(fault)
				err := r.Accept()
				attempt.Clear()
				if fired = attempt.Fired(fault) > 0; !fired && err != nil {
					t.Fatal(err)
				}
				for _, loss := range []disk.Loss{disk.KillProcess(), disk.PowerLoss()} {
					crashed := attempt.Crash(loss)
					if n%2 == 1 {
						dir, err := OpenDir(crashed, "segments", testOptions())
						if err != nil {
							t.Fatal(err)
						}
						if err := dir.Close(); err != nil {
							t.Fatal(err)
						}
					}
					if again := examined(t, crashed); again.Damaged() {
						if err := again.Accept(); err != nil {
							t.Fatal(err)
						}
					}
					checkPartitionRepaired(t, crashed, m, bases, &d)
				}
			}
		})
	}
}

func TestLookSeesWhatAnOpenPartitionSays(t *testing.T) {
	for _, clean := range []bool{false, true} {
		mem, m, _ := severalSegments(t, clean)
		before := mem.Dump()
		const asOf = 17
		l, err := Look(mem, "segments", repaired, asOf)
		if err != nil || mem.Dump() != before {
			t.Fatal(err)
		}
		_, p := openCrashed(t, mem, "same")
		producers, err := p.Producers()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(l.Producers), fmt.Sprint(producers); got != want {
			t.Errorf("producers %s, want %s", got, want)
		}
		infos, err := p.Segments()
		if err != nil || !slices.Equal(l.Segments, infos) {
			t.Errorf("segments\n%v, want\n%v, %v", l.Segments, infos, err)
		}
		end, known, err := p.EndAsOf(asOf)
		if err != nil || l.EndAsOf != end || l.EndKnown != known || l.End != m.end() {
			t.Errorf("%+v, want end %d as of %d, %v, %v", l, end, asOf, known, err)
		}
	}
}
