// Package taskstest makes streams groups to assign tasks in, for tests and for the comparison with Kafka.
package taskstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"doze/assignors/tasks"
)

// Case is a group in the form of the file of recorded answers.
type Case struct {
	Standbys      int           `json:"standbys"`
	Subtopologies []Subtopology `json:"subtopologies"`
	Members       []Member      `json:"members"`
	Kafka         []Has         `json:"kafka,omitempty"` // of each member
}

// Subtopology is one of a Case.
type Subtopology struct {
	ID       string `json:"id"`
	Tasks    int32  `json:"tasks"`
	Stateful bool   `json:"stateful"`
}

// Member is one of a Case.
type Member struct {
	ID      string `json:"id"`
	Process string `json:"process"`
	Had     Has    `json:"had"`
}

// Has is what a member has: partitions by subtopology.
type Has struct {
	Active  map[string][]int32 `json:"active"`
	Standby map[string][]int32 `json:"standby"`
}

// Group is the case for the assignor.
func (c *Case) Group() *tasks.Group {
	g := &tasks.Group{Standbys: c.Standbys}
	for _, s := range c.Subtopologies {
		g.Subtopologies = append(g.Subtopologies, tasks.Subtopology(s))
	}
	for _, m := range c.Members {
		g.Members = append(g.Members, tasks.Member{ID: m.ID, Process: m.Process, Had: m.Had.Assignment()})
	}
	return g
}

// Assignment is the same in the assignor's form.
func (h Has) Assignment() tasks.Assignment {
	return tasks.Assignment{Active: sets(h.Active), Standby: sets(h.Standby)}
}

func sets(of map[string][]int32) (out []tasks.Set) {
	for id, partitions := range of {
		if len(partitions) > 0 {
			out = append(out, tasks.Set{Subtopology: id, Partitions: slices.Sorted(slices.Values(partitions))})
		}
	}
	slices.SortFunc(out, func(a, b tasks.Set) int { return strings.Compare(a.Subtopology, b.Subtopology) })
	return out
}

func has(a tasks.Assignment) Has {
	h := Has{Active: map[string][]int32{}, Standby: map[string][]int32{}}
	for _, s := range a.Active {
		h.Active[s.Subtopology] = s.Partitions
	}
	for _, s := range a.Standby {
		h.Standby[s.Subtopology] = s.Partitions
	}
	return h
}

// Answers is what Kafka made of the case, in the order of members.
func (c *Case) Answers() []tasks.Assignment {
	all := make([]tasks.Assignment, len(c.Kafka))
	for m := range c.Kafka {
		all[m] = c.Kafka[m].Assignment()
	}
	return all
}

// Generate makes a group that has lived: some members have what they were assigned before others came or went, before topics grew
// or the number of standbys changed.
func Generate(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 0x7461736b73))
	c := Case{Standbys: r.IntN(3)}
	for i := range 1 + r.IntN(5) {
		c.Subtopologies = append(c.Subtopologies, Subtopology{ID: fmt.Sprint(i), Tasks: 1 + r.Int32N(12), Stateful: r.IntN(2) == 0})
	}
	processes := 1 + r.IntN(5)
	for i := range 1 + r.IntN(9) {
		c.Members = append(c.Members, Member{ID: fmt.Sprintf("member-%02d", i), Process: fmt.Sprintf("process-%d", r.IntN(processes)), Had: none()})
	}
	for range r.IntN(3) {
		c.settle()
		c.churn(r)
	}
	return c
}

func none() Has { return has(tasks.Assignment{}) }

// settle gives the members what the assignor says.
func (c *Case) settle() {
	for m, made := range tasks.Sticky(c.Group()) {
		c.Members[m].Had = has(made)
	}
}

// churn changes who is there and what for.
func (c *Case) churn(r *rand.Rand) {
	for m := len(c.Members) - 1; m > 0; m-- {
		if r.IntN(4) == 0 {
			c.Members = slices.Delete(c.Members, m, m+1)
		}
	}
	for range r.IntN(4) {
		process := c.Members[r.IntN(len(c.Members))].Process
		if r.IntN(2) == 0 {
			process = fmt.Sprintf("new-%02d", r.IntN(100))
		}
		c.Members = append(c.Members, Member{ID: fmt.Sprintf("new-%08x", r.Uint32()), Process: process, Had: none()})
	}
	slices.SortFunc(c.Members, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	if r.IntN(2) == 0 {
		c.Subtopologies[r.IntN(len(c.Subtopologies))].Tasks += r.Int32N(5)
	}
	if r.IntN(4) == 0 {
		c.Standbys = r.IntN(3)
	}
}
