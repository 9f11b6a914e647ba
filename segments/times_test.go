package segments

import (
	"math/rand/v2"
	"testing"

	"doze/disk"
)

type timed struct{ offset, ts int64 }

// TestTimesAgreeWithANaiveSearch appends batches with wild timestamps in every codec, deletes from the start and
// compares with looking at every record.
func TestTimesAgreeWithANaiveSearch(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 4))
		d := openTest(t, disk.NewMem())
		p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 700})
		var all []timed
		for range 60 {
			m := made{records: 1 + r.IntN(4), codec: Codec(r.IntN(5)), base: int64(r.IntN(1000))}
			for range m.records {
				m.times = append(m.times, int64(r.IntN(1000)))
			}
			a := mustAppend(t, p, m)
			for i, ts := range m.times {
				all = append(all, timed{a.BaseOffset + int64(i), ts})
			}
			if r.IntN(4) == 0 {
				d.SyncDirty()
			}
			if r.IntN(8) == 0 {
				if _, err := p.DeleteRecords(p.start + int64(r.IntN(int(p.end-p.start)+1))); err != nil {
					t.Fatal(err)
				}
			}
			compareTimes(t, p, all, int64(r.IntN(1100)))
		}
	}
}

func compareTimes(t *testing.T, p *Partition, all []timed, ts int64) {
	t.Helper()
	var want, most *timed
	for i := range all {
		e := &all[i]
		if e.offset < p.start {
			continue
		}
		if want == nil && e.ts >= ts {
			want = e
		}
		if most == nil || e.ts > most.ts {
			most = e
		}
	}
	check := func(what string, f Found, ok bool, err error, want *timed) {
		t.Helper()
		if err != nil || ok != (want != nil) || ok && (f.Offset != want.offset || f.Timestamp != want.ts) {
			t.Fatalf("%s %d from %d: %+v %v %v, want %v", what, ts, p.start, f, ok, err, want)
		}
	}
	f, ok, err := p.OffsetForTime(ts)
	check("offset for time", f, ok, err, want)
	f, ok, err = p.MaxTimestamp()
	check("max timestamp", f, ok, err, most)
}

func TestEndAsOf(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 300})
	for i := range 20 {
		b := made{}.batch(t)
		if _, err := p.Append(b, Admission{JournalSeq: uint64(10 + i/2)}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(p *Partition) {
		t.Helper()
		for seq := range uint64(25) {
			want := min(20, 2*max(0, int64(seq)-9))
			end, known, err := p.EndAsOf(seq)
			if err != nil || !known || end != want {
				t.Fatalf("as of %d: %d %v %v, want %d", seq, end, known, err, want)
			}
		}
	}
	check(p)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p = openTest(t, mem.Crash(disk.KillProcess())).Partition(ID{topicA, 0}, Config{SegmentBytes: 300})
	check(p)

	lost := mem.Crash(disk.KillProcess()) // the index of the last segment is lost, and its stamps with it
	_, p = openCrashed(t, lost, "")
	infos, err := p.Segments()
	if err != nil {
		t.Fatal(err)
	}
	last := infos[len(infos)-1].Base
	lost = mem.Crash(disk.KillProcess())
	if err := lost.Remove("segments/" + ID{topicA, 0}.String() + "/" + segmentName(last, "index")); err != nil {
		t.Fatal(err)
	}
	_, p = openCrashed(t, lost, "")
	if end, known, err := p.EndAsOf(1000); err != nil || known || end != 20 {
		t.Fatal(end, known, err)
	}
	if end, known, err := p.EndAsOf(10); err != nil || !known || end != 2 {
		t.Fatal(end, known, err)
	}
}
