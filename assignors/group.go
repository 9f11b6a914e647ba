package assignors

import (
	"bytes"
	"slices"
	"strings"
)

// Topic is one that exists, with its number of partitions (1 or more).
type Topic struct {
	ID         [16]byte
	Partitions int32
}

// Partitions are some of one topic, in order.
type Partitions struct {
	Topic   [16]byte
	Numbers []int32
}

// Assignment is what a member has: in the order of topic ids, no topic twice, none empty.
type Assignment []Partitions

// Member is a member of the group with what it asks for.
type Member struct {
	ID       string
	Instance *string // group.instance.id of a static member
	// Topics are the ids of the topics that it is subscribed to: sorted, without doubles. Those that do not exist count for
	// nothing.
	Topics [][16]byte
	// Had is its last assignment.
	Had Assignment
}

// Group is what an assignor decides over. An assignor changes nothing of it.
type Group struct {
	Topics  []Topic  // in the order of ids: all that anybody is subscribed to
	Members []Member // in the order of ids
}

// Assign gives each member its partitions, in the order of Group.Members.
type Assign func(*Group) []Assignment

// compareIDs orders topic ids.
func compareIDs(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }

// index finds a topic; -1: it is not there.
func (g *Group) index(id [16]byte) int {
	i, found := slices.BinarySearchFunc(g.Topics, id, func(t Topic, id [16]byte) int { return compareIDs(t.ID, id) })
	if !found {
		return -1
	}
	return i
}

// subscriptions are each member's topics as places in Group.Topics.
func (g *Group) subscriptions() [][]int {
	all := make([][]int, len(g.Members))
	for m := range g.Members {
		member := &g.Members[m]
		if m > 0 && slices.Equal(member.Topics, g.Members[m-1].Topics) {
			all[m] = all[m-1]
			continue
		}
		for _, id := range member.Topics {
			if t := g.index(id); t >= 0 {
				all[m] = append(all[m], t)
			}
		}
	}
	return all
}

// homogeneous says whether all members are subscribed to the same topics.
func homogeneous(subscriptions [][]int) bool {
	for m := 1; m < len(subscriptions); m++ {
		if !slices.Equal(subscriptions[m], subscriptions[0]) {
			return false
		}
	}
	return true
}

// staticFirst gives the places of members: static ones by instance id, then the others by member id, so that a static
// member that comes back under a new id finds its place again.
func (g *Group) staticFirst() []int {
	order := make([]int, len(g.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := g.Members[a].Instance, g.Members[b].Instance
		switch {
		case x != nil && y != nil:
			return strings.Compare(*x, *y)
		case x != nil:
			return -1
		case y != nil:
			return 1
		}
		return strings.Compare(g.Members[a].ID, g.Members[b].ID)
	})
	return order
}

// owners says which member has each partition of each topic; nobody: -1.
type owners [][]int32

const nobody = -1

func (g *Group) nobody() owners {
	o := make(owners, len(g.Topics))
	for t := range o {
		o[t] = slices.Repeat([]int32{nobody}, int(g.Topics[t].Partitions))
	}
	return o
}

func (o owners) clone() owners {
	c := make(owners, len(o))
	for t := range o {
		c[t] = slices.Clone(o[t])
	}
	return c
}

// assignments turns owners round: for each member what it owns.
func (g *Group) assignments(o owners) []Assignment {
	all := make([]Assignment, len(g.Members))
	for t := range o {
		for number, m := range o[t] {
			if m != nobody {
				all[m] = all[m].with(g.Topics[t].ID, int32(number))
			}
		}
	}
	return all
}

// with adds a partition behind all that are there.
func (a Assignment) with(topic [16]byte, number int32) Assignment {
	if n := len(a); n > 0 && a[n-1].Topic == topic {
		a[n-1].Numbers = append(a[n-1].Numbers, number)
		return a
	}
	return append(a, Partitions{Topic: topic, Numbers: []int32{number}})
}

// Count is how many partitions there are.
func (a Assignment) Count() int {
	n := 0
	for _, p := range a {
		n += len(p.Numbers)
	}
	return n
}
