package projections

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"doze/journal"
)

// What is merged is held to a merge offset by offset.
func TestShareBatchesAreMergedOffsetByOffset(t *testing.T) {
	type state struct {
		state uint8
		count int16
	}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		offsets := map[int64]state{}
		var merged []journal.ShareStateBatch
		start := int64(0)
		for range 6 {
			var written []journal.ShareStateBatch
			next := start + r.Int64N(4)
			for range r.IntN(4) {
				b := journal.ShareStateBatch{First: next, Last: next + r.Int64N(5), State: []uint8{0, 2, 4}[r.IntN(3)], DeliveryCount: int16(1 + r.IntN(3))}
				next = b.Last + 1 + r.Int64N(4)
				written = append(written, b)
				for offset := b.First; offset <= b.Last; offset++ {
					if was := offsets[offset]; b.DeliveryCount > was.count || b.DeliveryCount == was.count && b.State > was.state {
						offsets[offset] = state{b.State, b.DeliveryCount}
					}
				}
			}
			start += r.Int64N(3)
			merged = mergeShareBatches(merged, written, start)
		}
		var want []journal.ShareStateBatch
		for offset := start; offset < start+100; offset++ {
			s, is := offsets[offset]
			if n := len(want); is && n > 0 && want[n-1].Last+1 == offset && want[n-1].State == s.state && want[n-1].DeliveryCount == s.count {
				want[n-1].Last = offset
			} else if is {
				want = append(want, journal.ShareStateBatch{First: offset, Last: offset, State: s.state, DeliveryCount: s.count})
			}
		}
		if len(merged)+len(want) > 0 && !reflect.DeepEqual(merged, want) {
			t.Fatalf("seed %d: merged %v, want %v", seed, merged, want)
		}
	}
}
