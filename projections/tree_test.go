package projections

import (
	"fmt"
	"slices"
	"testing"
)

// Clones of clones change without each other's knowledge, whichever of them changes first.
func TestClonesOfATreeAreApart(t *testing.T) {
	first := newTree(func(a, b int) bool { return a < b })
	for i := range 1000 {
		first.ReplaceOrInsert(2 * i)
	}
	second := first.clone()
	third := second.clone()
	again := first.clone()
	second.ReplaceOrInsert(1)
	first.Delete(0)
	third.ReplaceOrInsert(3)
	for _, one := range []struct {
		name  string
		tree  tree[int]
		begin []int
		n     int
	}{
		{"first", first, []int{2, 4, 6}, 999},
		{"second", second, []int{0, 1, 2}, 1001},
		{"third", third, []int{0, 2, 3}, 1001},
		{"again", again, []int{0, 2, 4}, 1000},
	} {
		var begin []int
		one.tree.Ascend(func(n int) bool { begin = append(begin, n); return len(begin) < 3 })
		if !slices.Equal(begin, one.begin) || one.tree.Len() != one.n {
			t.Errorf("%s: %d items from %v, want %d from %v", one.name, one.tree.Len(), begin, one.n, one.begin)
		}
	}
}

// A clone costs the same however many trees there are and however large they are.
func TestCloneCopiesNoTree(t *testing.T) {
	s := committedOffsets(t, 1000, 10, 10)
	if n := testing.AllocsPerRun(100, func() { s.Clone() }); n != 1 {
		t.Error(fmt.Sprint("a clone takes ", n, " allocations"))
	}
}
