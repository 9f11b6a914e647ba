package tasks

import (
	"cmp"
	"slices"
	"strings"
)

// Subtopology is a part of a topology with its number of tasks (1 or more).
type Subtopology struct {
	ID       string
	Tasks    int32
	Stateful bool // it has changelogs, so standby tasks make sense
}

// Set is some tasks of one subtopology, by partition number and in order.
type Set struct {
	Subtopology string
	Partitions  []int32
}

// Assignment is what a member has: each list in the order of subtopologies, none twice, none empty.
type Assignment struct {
	Active  []Set
	Standby []Set
}

// Member is a member of the group.
type Member struct {
	ID      string
	Process string     // the instance of the application; it may have several members
	Had     Assignment // its last one
}

// Group is what is decided over. Nothing of it is changed.
type Group struct {
	Subtopologies []Subtopology // in the order of ids
	Members       []Member      // in the order of ids
	Standbys      int           // copies of each stateful task
}

// task is one task: sub is its place in Group.Subtopologies.
type task struct {
	sub       int
	partition int32
}

func byPartition(a, b task) int {
	return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.sub, b.sub))
}

func bySubtopology(a, b task) int {
	return cmp.Or(cmp.Compare(a.sub, b.sub), cmp.Compare(a.partition, b.partition))
}

// tasks lists all tasks, or those of subtopologies that keep state.
func (g *Group) tasks(stateful bool) (all []task) {
	for s := range g.Subtopologies {
		if stateful && !g.Subtopologies[s].Stateful {
			continue
		}
		for p := range g.Subtopologies[s].Tasks {
			all = append(all, task{s, p})
		}
	}
	return all
}

// each calls do for every task of the sets that still exists.
func (g *Group) each(sets []Set, do func(task)) {
	for _, set := range sets {
		s, found := slices.BinarySearchFunc(g.Subtopologies, set.Subtopology, func(s Subtopology, id string) int { return strings.Compare(s.ID, id) })
		if !found {
			continue
		}
		for _, p := range set.Partitions {
			if p < g.Subtopologies[s].Tasks {
				do(task{s, p})
			}
		}
	}
}

// sets puts tasks into the form of an assignment.
func (g *Group) sets(tasks []task) (out []Set) {
	slices.SortFunc(tasks, bySubtopology)
	for _, t := range tasks {
		id := g.Subtopologies[t.sub].ID
		if n := len(out); n == 0 || out[n-1].Subtopology != id {
			out = append(out, Set{Subtopology: id})
		}
		last := &out[len(out)-1]
		last.Partitions = append(last.Partitions, t.partition)
	}
	return out
}

// Count is how many tasks there are.
func Count(sets []Set) int {
	n := 0
	for _, s := range sets {
		n += len(s.Partitions)
	}
	return n
}
