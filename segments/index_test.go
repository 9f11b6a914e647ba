package segments

import (
	"math/rand/v2"
	"os"
	"testing"

	"doze/disk"
)

// TestSearchEntries finds every entry, and the places before and behind them, from any guess; a good guess reads once.
func TestSearchEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, searchBlock - 1, searchBlock, searchBlock + 1, 3 * searchBlock, 5000} {
		f, offsets := indexOf(t, n, r)
		for range 300 {
			want := r.IntN(n + 1)
			target := int64(1 << 40)
			if want < n {
				target = offsets[want]
			}
			guess := r.IntN(n + 2)
			at, e, err := searchEntries(f, n, guess, func(e *entry) bool { return e.offset >= target })
			if err != nil || at != want || want < n && e.offset != target {
				t.Fatalf("entry %d of %d from guess %d: found %d, %+v, %v", want, n, guess, at, e, err)
			}
		}
	}
}

// indexOf writes an index of n entries with offsets that rise by chance.
func indexOf(t *testing.T, n int, r *rand.Rand) (disk.File, []int64) {
	t.Helper()
	f, err := disk.NewMem().OpenFile("index", os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	b := indexHeader(0)
	offsets := make([]int64, n)
	for i := range offsets {
		if offsets[i] = int64(1 + r.IntN(50)); i > 0 {
			offsets[i] += offsets[i-1]
		}
		b = appendEntry(b, &entry{offset: offsets[i]})
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return f, offsets
}

// countingFile counts reads.
type countingFile struct {
	disk.File
	reads int
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	f.reads++
	return f.File.ReadAt(p, off)
}

func TestGoodGuessReadsOnce(t *testing.T) {
	f, offsets := indexOf(t, 5000, rand.New(rand.NewPCG(7, 8)))
	for _, c := range []struct{ at, guess, most int }{{0, 0, 1}, {2500, 2510, 1}, {4999, 4999, 1}, {2500, 2430, 2}, {2500, 0, 10}, {0, 4999, 10}} {
		counting := &countingFile{File: f}
		at, _, err := searchEntries(counting, 5000, c.guess, func(e *entry) bool { return e.offset >= offsets[c.at] })
		if err != nil || at != c.at || counting.reads > c.most {
			t.Errorf("entry %d from guess %d: found %d with %d reads, %v; want at most %d", c.at, c.guess, at, counting.reads, err, c.most)
		}
	}
}
