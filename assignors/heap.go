package assignors

import (
	"cmp"
	"container/heap"
)

// ranked are members in a heap: the one with the smallest rank on top, of equals the first in order.
type ranked []rank

type rank struct{ rank, member int }

// byLoad ranks members by sign times their load: 1 has the smallest load on top, -1 the largest.
func byLoad(members []int, load []int, sign int) *ranked {
	r := make(ranked, len(members))
	for i, m := range members {
		r[i] = rank{sign * load[m], m}
	}
	heap.Init(&r)
	return &r
}

// next gives the member on top and counts one partition: its rank rises by one.
func (r *ranked) next() int {
	m := (*r)[0].member
	(*r)[0].rank++
	heap.Fix(r, 0)
	return m
}

func (r ranked) Len() int { return len(r) }

func (r ranked) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(r[i].rank, r[j].rank), cmp.Compare(r[i].member, r[j].member)) < 0
}

func (r ranked) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push is for container/heap.
func (r *ranked) Push(x any) { *r = append(*r, x.(rank)) }

// Pop is for container/heap.
func (r *ranked) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
