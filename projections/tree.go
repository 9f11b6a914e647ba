package projections

import "github.com/google/btree"

const treeDegree = 32

// tree is a B-tree that clones share until one of them changes it: a state has many, and most entries change one or two.
// It is written to by one goroutine; the trees of published states are only read.
type tree[T any] struct {
	t      *btree.BTreeG[T]
	shared bool // with a clone: to be copied before it is changed
}

func newTree[T any](less func(a, b T) bool) tree[T] { return tree[T]{t: btree.NewG(treeDegree, less)} }

// clone gives a tree that changes independently. A published tree is shared already: its flag is not written again under
// its readers.
func (t *tree[T]) clone() tree[T] {
	if !t.shared {
		t.shared = true
	}
	return *t
}

// own makes the tree this one's alone.
func (t *tree[T]) own() {
	if t.shared {
		t.t, t.shared = t.t.Clone(), false
	}
}

func (t *tree[T]) ReplaceOrInsert(item T) (T, bool) { t.own(); return t.t.ReplaceOrInsert(item) }
func (t *tree[T]) Delete(item T) (T, bool)          { t.own(); return t.t.Delete(item) }

func (t tree[T]) Get(key T) (T, bool)       { return t.t.Get(key) }
func (t tree[T]) Has(key T) bool            { return t.t.Has(key) }
func (t tree[T]) Len() int                  { return t.t.Len() }
func (t tree[T]) Ascend(yield func(T) bool) { t.t.Ascend(yield) }
func (t tree[T]) AscendGreaterOrEqual(from T, yield func(T) bool) {
	t.t.AscendGreaterOrEqual(from, yield)
}
func (t tree[T]) AscendRange(from, to T, yield func(T) bool) { t.t.AscendRange(from, to, yield) }
