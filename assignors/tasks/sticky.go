package tasks

import "slices"

// Sticky gives each member its tasks, in the order of Group.Members. First come active tasks: to whom had them, then to whom had
// them as a standby, as far as their share goes; the rest to the process with the least to do for its size. Then standbys in the
// same way. Without members nobody gets anything.
func Sticky(g *Group) []Assignment {
	if len(g.Members) == 0 {
		return nil
	}
	w := newWork(g)
	w.assignActive()
	if g.Standbys > 0 {
		w.assignStandbys()
	}
	all := make([]Assignment, len(g.Members))
	for m := range all {
		all[m] = Assignment{Active: g.sets(w.active[m]), Standby: g.sets(w.standby[m])}
	}
	return all
}

// work is the work on one assignment. Members and processes are named by their places.
type work struct {
	*Group
	processes []process
	processOf []int // of each member
	load      []int // tasks of each member
	active    [][]task
	standby   [][]task

	hadActive  map[task]int   // the member
	hadStandby map[task][]int // the members

	activeShare, share share
}

// process is one instance of the application.
type process struct {
	members []int
	load    int // tasks of all its members
	has     map[task]bool
}

// share is what a member may have of some tasks so that all have about as many: it is worked out anew each time somebody has
// all of his.
type share struct{ tasks, members, each int }

func newShare(tasks, members int) share {
	s := share{tasks: tasks, members: members}
	s.divide()
	return s
}

func (s *share) divide() {
	s.each = 0
	if s.members > 0 {
		s.each = (s.tasks + s.members - 1) / s.members
	}
}

// taken notes that a member has so many now.
func (s *share) taken(load int) {
	if load == s.each {
		s.members--
		s.tasks -= load
		s.divide()
	}
}

func newWork(g *Group) *work {
	n := len(g.Members)
	w := &work{
		Group: g, processOf: make([]int, n), load: make([]int, n), active: make([][]task, n), standby: make([][]task, n),
		hadActive: map[task]int{}, hadStandby: map[task][]int{},
	}
	w.findProcesses()
	total, stateful := len(g.tasks(false)), len(g.tasks(true))
	w.activeShare, w.share = newShare(total, n), newShare(total+stateful*g.Standbys, n)
	for m := range g.Members {
		g.each(g.Members[m].Had.Active, func(t task) { w.hadActive[t] = m })
		g.each(g.Members[m].Had.Standby, func(t task) { w.hadStandby[t] = append(w.hadStandby[t], m) })
	}
	return w
}

// findProcesses numbers processes in the order of their ids.
func (w *work) findProcesses() {
	ids := make([]string, len(w.Members))
	for m := range w.Members {
		ids[m] = w.Members[m].Process
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	w.processes = make([]process, len(ids))
	for p := range w.processes {
		w.processes[p].has = map[task]bool{}
	}
	for m := range w.Members {
		p, _ := slices.BinarySearch(ids, w.Members[m].Process)
		w.processOf[m] = p
		w.processes[p].members = append(w.processes[p].members, m)
	}
}

func (w *work) give(t task, m int, active bool) {
	if active {
		w.active[m] = append(w.active[m], t)
	} else {
		w.standby[m] = append(w.standby[m], t)
	}
	p := &w.processes[w.processOf[m]]
	p.has[t] = true
	p.load++
	w.load[m]++
	if active {
		w.activeShare.taken(w.load[m])
	}
	w.share.taken(w.load[m])
}

func (w *work) assignActive() {
	left := w.tasks(false)
	slices.SortFunc(left, byPartition)
	left = w.keep(left, func(t task) int {
		if m, had := w.hadActive[t]; had {
			return m
		}
		return nobody
	})
	left = w.keep(left, func(t task) int { return w.leastLoaded(w.hadStandby[t], t) })
	slices.SortFunc(left, bySubtopology)
	h := w.byLoad()
	for _, t := range left {
		p := h.pop()
		w.give(t, w.roomiest(p), true)
		h.push(p)
	}
}

const nobody = -1

// keep gives active tasks to the members that choose says, as long as these have less than their share; it returns the others.
func (w *work) keep(tasks []task, choose func(task) int) (left []task) {
	for _, t := range tasks {
		if m := choose(t); m != nobody && w.load[m] < w.activeShare.each {
			w.give(t, m, true)
			continue
		}
		left = append(left, t)
	}
	return left
}

// leastLoaded is the member, of those whose process has not the task, with the least to do: in its process, then itself.
func (w *work) leastLoaded(members []int, t task) int {
	best := nobody
	for _, m := range members {
		p := w.processOf[m]
		if w.processes[p].has[t] {
			continue
		}
		if best == nobody {
			best = m
			continue
		}
		b := w.processOf[best]
		if w.lighter(p, b) || !w.lighter(b, p) && w.load[m] < w.load[best] {
			best = m
		}
	}
	return best
}

// roomiest is the member of a process that has the least to do.
func (w *work) roomiest(p int) int {
	members := w.processes[p].members
	best := members[0]
	for _, m := range members[1:] {
		if w.load[m] < w.load[best] {
			best = m
		}
	}
	return best
}

func (w *work) assignStandbys() {
	stateful := w.tasks(true)
	slices.SortFunc(stateful, func(a, b task) int { return byPartition(b, a) })
	type missing struct {
		task
		copies int
	}
	var left []missing
	for _, t := range stateful {
		if n := w.keepStandbys(t); n > 0 {
			left = append(left, missing{t, n})
		}
	}
	slices.SortFunc(left, func(a, b missing) int { return bySubtopology(b.task, a.task) })
	h := w.byLoad()
	for _, t := range left {
		for range t.copies {
			if !w.giveAway(h, t.task) {
				break // no process is left that has it not
			}
		}
	}
}

// keepStandbys gives copies of a task to who had it, active or as a standby, and says how many are still to give.
func (w *work) keepStandbys(t task) (missing int) {
	for missing = w.Standbys; missing > 0; missing-- {
		m := nobody
		if had, ok := w.hadActive[t]; ok && !w.processes[w.processOf[had]].has[t] && w.load[had] < w.share.each {
			m = had
		} else if m = w.leastLoaded(w.hadStandby[t], t); m == nobody || w.load[m] >= w.share.each {
			return missing
		}
		w.give(t, m, false)
	}
	return 0
}

// giveAway gives a copy to the process with the least to do that has not the task.
func (w *work) giveAway(h *byLoad, t task) (given bool) {
	var skipped []int
	for h.Len() > 0 && !given {
		p := h.pop()
		if !w.processes[p].has[t] {
			w.give(t, w.roomiest(p), false)
			given = true
		}
		skipped = append(skipped, p)
	}
	for _, p := range skipped {
		h.push(p)
	}
	return given
}
