package segments

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// A bit says of a record what a lookup of its key says, in the first offsets as many as there are bits; behind them, and below
// the dirty part, none speaks.
func TestBitsAgreeWithLookups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const from, count = 1000, 4000
	for _, bytes := range []int64{48, 1 << 10, 1 << 20} {
		m := newKeyMap(bytes, from)
		var keys [count]keyHash
		for i := range int64(count) {
			keys[i] = m.hash(binary.AppendVarint(nil, r.Int64N(300)))
			m.put(keys[i], from+i, true)
			m.through = from + i
		}
		for i := range int64(count) {
			offset := from + i
			if !m.hasBits(offset, offset) {
				if i < bytes {
					t.Fatalf("%d bytes: no bit for %d", bytes, i)
				}
				continue
			}
			if got, want := m.isSuperseded(offset), offset < m.last(keys[i]); got != want {
				t.Fatalf("%d bytes: record %d is superseded: bit %v, lookup %v", bytes, i, got, want)
			}
		}
		for range 1000 {
			first := from + r.Int64N(count)
			last, n := min(first+r.Int64N(300), from+count-1), 0
			for offset := first; offset <= last; offset++ {
				if m.isSuperseded(offset) {
					n++
				}
			}
			if got := m.countSuperseded(first, last); got != n {
				t.Fatalf("%d bytes: %d of %d to %d, counted %d", bytes, n, first, last, got)
			}
		}
		for _, offset := range []int64{-1 << 63, -1, 0, from - 1, from + count, from + bytes, 1<<63 - 1} {
			if m.supersede(offset); m.hasBits(offset, offset) && (offset < from || offset > m.through) || int64(len(m.superseded)) > bytes/64+1 {
				t.Errorf("%d bytes: offset %d", bytes, offset)
			}
			m.isSuperseded(offset)
		}
	}
}
