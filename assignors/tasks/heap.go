package tasks

import "container/heap"

// lighter says whether process a has less to do for its number of members than b.
func (w *work) lighter(a, b int) bool {
	x, y := &w.processes[a], &w.processes[b]
	return x.load*len(y.members) < y.load*len(x.members)
}

// byLoad holds processes in a heap: on top the one with the least to do, of equals the one with more members,
// then the first. A process is taken out before its
// load changes.
type byLoad struct {
	w     *work
	heaps []int
}

func (w *work) byLoad() *byLoad {
	h := &byLoad{w: w}
	for p := range w.processes {
		h.heaps = append(h.heaps, p)
	}
	heap.Init(h)
	return h
}

func (h *byLoad) pop() int   { return heap.Pop(h).(int) }
func (h *byLoad) push(p int) { heap.Push(h, p) }

func (h *byLoad) Len() int { return len(h.heaps) }

func (h *byLoad) Less(i, j int) bool {
	a, b := h.heaps[i], h.heaps[j]
	switch x, y := len(h.w.processes[a].members), len(h.w.processes[b].members); {
	case h.w.lighter(a, b):
		return true
	case h.w.lighter(b, a):
		return false
	case x != y:
		return x > y
	}
	return a < b
}

func (h *byLoad) Swap(i, j int) { h.heaps[i], h.heaps[j] = h.heaps[j], h.heaps[i] }

// Push is for container/heap.
func (h *byLoad) Push(x any) { h.heaps = append(h.heaps, x.(int)) }

// Pop is for container/heap.
func (h *byLoad) Pop() any {
	last := h.heaps[len(h.heaps)-1]
	h.heaps = h.heaps[:len(h.heaps)-1]
	return last
}
