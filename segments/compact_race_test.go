package segments

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"doze/disk"
)

// TestReadersMeetNoHalfDoneThing reads, looks up times, appends, compacts and deletes at once. Whatever is read is a record
// that was written at that offset, the last of each key is always found, and no error comes but that an offset is gone.
func TestReadersMeetNoHalfDoneThing(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{SegmentBytes: 1500})
	const records = 600
	var done atomic.Bool
	var wg sync.WaitGroup
	for seed := range uint64(3) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 9))
			for !done.Load() {
				readSome(t, p, r)
			}
		})
	}
	wg.Go(func() {
		for !done.Load() {
			if _, err := p.Clean(context.Background(), CleanRules{}, cleaner(5000)); err != nil {
				t.Error("compact:", err)
				return
			}
		}
	})
	for i := range records {
		put(t, p, fmt.Sprintf("k%d=%d", i%7, i))
		if i%20 == 19 {
			p.dir.SyncDirty()
		}
		if i%150 == 149 {
			if _, err := p.DeleteRecords(int64(i - 60)); err != nil {
				t.Error("delete:", err)
			}
		}
	}
	rolled(t, p)
	done.Store(true)
	wg.Wait()
	clean(t, p, CleanRules{}, 5000)
	got := mustRecords(t, p)
	if len(got) != 7 {
		t.Fatalf("left are %v", got)
	}
	for _, k := range got {
		if want := fmt.Sprint(k.offset); k.value != want || k.offset < records-7 {
			t.Fatalf("left are %v", got)
		}
	}
}

// readSome reads from some offset to the end, or looks something up.
func readSome(t *testing.T, p *Partition, r *rand.Rand) {
	o, err := p.Offsets()
	if err != nil {
		t.Error(err)
		return
	}
	if o.HighWatermark == o.LogStart {
		return
	}
	if r.IntN(3) == 0 {
		found, ok, err := p.OffsetForTime(1000)
		if err != nil || ok && found.Timestamp != 1000 {
			t.Error("lookup:", found, ok, err)
		}
		if _, _, err := p.MaxTimestamp(); err != nil {
			t.Error("lookup of the largest:", err)
		}
		return
	}
	for offset := o.LogStart + r.Int64N(o.HighWatermark-o.LogStart); offset < o.HighWatermark; {
		s, err := p.Read(Fetch{Offset: offset, MaxBytes: 1, MinOneBatch: true})
		if errors.Is(err, ErrOffsetOutOfRange) {
			return // deleted meanwhile
		}
		if err != nil || s.Len() == 0 {
			t.Errorf("read at %d of %+v: %d bytes, %v", offset, o, s.Len(), err)
			return
		}
		b := make([]byte, s.Len())
		_, err = s.ReadAt(b, 0)
		s.Release()
		if err != nil {
			t.Error(err)
			return
		}
		h := parseHeader(b)
		if !whole(&h, b) {
			t.Errorf("offset %d: not a batch", offset)
			return
		}
		eachKeyed(b[headerBytes:], h.Records, func(r *keyedRecord) bool {
			at := h.BaseOffset + int64(r.offsetDelta)
			if string(r.key) != fmt.Sprintf("k%d", at%7) || valueOf(r) != fmt.Sprint(at) {
				t.Errorf("offset %d: %s=%s", at, r.key, valueOf(r))
			}
			return true
		})
		offset = h.LastOffset() + 1
	}
}
