package handlers

import "container/heap"

// deadlineKey names what is waited for: a deadline of a group or member, or the answer to a member's request.
type deadlineKey struct {
	kind   deadlineKind
	group  string
	member string
}

type deadlineKind uint8

const (
	deadlineJoin      deadlineKind = iota // of a group: its join phase ends
	deadlineSync                          // of a group: its sync phase ends
	deadlineSession                       // of a member
	deadlineRetention                     // of all offsets: they are looked through
	deadlineAssign                        // of a group: its target assignment is to be worked out
	deadlineReconcile                     // of a member: it has to have given up what it was told to
	deadlineRegex                         // of a group: its regular expressions are held against the topics
	deadlineRejoin                        // of a classic member of a consumer group: it has to have joined again
	deadlineResync                        // likewise: it has to have asked for its assignment
	waitJoin                              // the answer to a member's JoinGroup
	waitSync                              // the answer to a member's SyncGroup
)

func (k deadlineKind) String() string {
	return [...]string{"rebalance", "sync", "session", "offsets retention", "assignment", "revocation", "regular expressions", "rejoin", "resync", "join answer", "sync answer"}[k]
}

func sessionOf(group, member string) deadlineKey {
	return deadlineKey{kind: deadlineSession, group: group, member: member}
}

func reconcileOf(group, member string) deadlineKey {
	return deadlineKey{kind: deadlineReconcile, group: group, member: member}
}

func joinOf(group, member string) deadlineKey {
	return deadlineKey{kind: waitJoin, group: group, member: member}
}

func syncOf(group, member string) deadlineKey {
	return deadlineKey{kind: waitSync, group: group, member: member}
}

// deadline is one entry of deadlines.
type deadline struct {
	key   deadlineKey
	token uint64 // what set it; handed back when it passes
	due   int64  // ms
	at    int64  // where it is in the heap: at most due
	index int    // in the heap; -1: taken out, its decision is under way
}

// deadlines is a set of points in time, each under a key. Putting one off, which every heartbeat does, only writes down
// the new time: the entry moves when its old time comes.
type deadlines struct {
	byKey map[deadlineKey]*deadline
	heap  deadlineHeap
}

func newDeadlines() *deadlines { return &deadlines{byKey: map[deadlineKey]*deadline{}} }

// set puts the deadline in place of the one that the key had.
func (s *deadlines) set(key deadlineKey, due int64, token uint64) {
	s.remove(key)
	d := &deadline{key: key, token: token, due: due, at: due}
	s.byKey[key] = d
	heap.Push(&s.heap, d)
}

// putOff moves the key's deadline; without one it does nothing.
func (s *deadlines) putOff(key deadlineKey, due int64) {
	d := s.byKey[key]
	switch {
	case d == nil:
	case d.index < 0: // it passed, and its decision has not been taken: it is not due after all
		d.due, d.at = due, due
		heap.Push(&s.heap, d)
	case due < d.at:
		d.due, d.at = due, due
		heap.Fix(&s.heap, d.index)
	default:
		d.due = due
	}
}

func (s *deadlines) remove(key deadlineKey) {
	if d := s.byKey[key]; d != nil {
		delete(s.byKey, key)
		if d.index >= 0 {
			heap.Remove(&s.heap, d.index)
		}
	}
}

// next returns when to look again; false: there is nothing to wait for.
func (s *deadlines) next() (int64, bool) {
	if len(s.heap) == 0 {
		return 0, false
	}
	return s.heap[0].at, true
}

// take returns a deadline that has passed, out of the heap but still under its key, or nil.
func (s *deadlines) take(now int64) *deadline {
	for len(s.heap) > 0 && s.heap[0].at <= now {
		d := s.heap[0]
		if d.due <= now {
			heap.Pop(&s.heap)
			return d
		}
		d.at = d.due
		heap.Fix(&s.heap, 0)
	}
	return nil
}

// drop forgets a deadline that take returned, unless it has been put off or set again since.
func (s *deadlines) drop(d *deadline) {
	if s.byKey[d.key] == d && d.index < 0 {
		delete(s.byKey, d.key)
	}
}

type deadlineHeap []*deadline

func (h deadlineHeap) Len() int { return len(h) }

// Less goes by time, then by key: the order of deadlines that pass at once does not hang on the order they were set in.
func (h deadlineHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.key.group != b.key.group:
		return a.key.group < b.key.group
	case a.key.kind != b.key.kind:
		return a.key.kind < b.key.kind
	}
	return a.key.member < b.key.member
}

func (h deadlineHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *deadlineHeap) Push(x any) {
	d := x.(*deadline)
	d.index = len(*h)
	*h = append(*h, d)
}

func (h *deadlineHeap) Pop() any {
	old := *h
	d := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	d.index = -1
	return d
}
