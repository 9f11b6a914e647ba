package assignors

import (
	"cmp"
	"container/heap"
	"slices"
)

// Uniform gives all members as many partitions as each other, as far as their subscriptions allow, and moves as few as
// that takes. Partitions of one topic go to several members before one has two more than another.
func Uniform(g *Group) []Assignment {
	if len(g.Members) == 0 {
		return nil
	}
	u := newUniform(g)
	u.keep()
	if homogeneous(u.subscriptions) {
		u.trim()
		u.fill()
		return g.assignments(u.owners)
	}
	had := u.owners.clone()
	u.fill()
	u.balance()
	u.chain()
	u.restore(had)
	return g.assignments(u.owners)
}

// uniform is the work on one assignment.
type uniform struct {
	*Group
	subscriptions [][]int // of each member
	subscribers   [][]int // of each topic, members in order
	owners        owners
	load          []int // partitions of each member
}

func newUniform(g *Group) *uniform {
	u := &uniform{Group: g, subscriptions: g.subscriptions(), subscribers: make([][]int, len(g.Topics)),
		owners: g.nobody(), load: make([]int, len(g.Members))}
	for m, topics := range u.subscriptions {
		for _, t := range topics {
			u.subscribers[t] = append(u.subscribers[t], m)
		}
	}
	return u
}

// keep lets each member have what it had and is still subscribed to. Of two that had the same, the first keeps it.
func (u *uniform) keep() {
	for m := range u.Members {
		for _, had := range u.Members[m].Had {
			t := u.index(had.Topic)
			if _, subscribed := slices.BinarySearch(u.subscriptions[m], t); !subscribed {
				continue
			}
			for _, number := range had.Numbers {
				if number >= 0 && int(number) < len(u.owners[t]) && u.owners[t][number] == nobody {
					u.give(t, number, m)
				}
			}
		}
	}
}

// give makes m the owner.
func (u *uniform) give(topic int, number int32, m int) {
	if before := u.owners[topic][number]; before != nobody {
		u.load[before]--
	}
	u.owners[topic][number] = int32(m)
	u.load[m]++
}

// trim takes from members of the same subscriptions what is above their even share. Where the share does not come out
// even, those that have more already are the ones with one more: nobody gives up what another would be given.
func (u *uniform) trim() {
	total := 0
	for _, t := range u.subscriptions[0] {
		total += len(u.owners[t])
	}
	share, more := total/len(u.Members), total%len(u.Members)
	quota := make([]int, len(u.Members))
	for m, load := range u.load {
		quota[m] = share
		if load > share && more > 0 {
			quota[m]++
			more--
		}
	}
	// From behind, so that a member keeps its first partitions.
	for t := len(u.owners) - 1; t >= 0; t-- {
		for number := len(u.owners[t]) - 1; number >= 0; number-- {
			if m := u.owners[t][number]; m != nobody && u.load[m] > quota[m] {
				u.owners[t][number] = nobody
				u.load[m]--
			}
		}
	}
}

// fill gives each partition that nobody has to the subscriber with the fewest. Topics with the most partitions for each
// subscriber come first, then those with fewer to choose among: what is flexible comes last and evens out.
func (u *uniform) fill() {
	for _, t := range u.byNeed() {
		if len(u.subscribers[t]) == 0 || !slices.Contains(u.owners[t], nobody) {
			continue
		}
		least := byLoad(u.subscribers[t], u.load, 1)
		for number, owner := range u.owners[t] {
			if owner == nobody {
				u.give(t, int32(number), least.next())
			}
		}
	}
}

func (u *uniform) byNeed() []int {
	order := make([]int, len(u.Topics))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int {
		// a/b compared as fractions: partitions by subscribers.
		x, y := len(u.owners[a])*len(u.subscribers[b]), len(u.owners[b])*len(u.subscribers[a])
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(len(u.subscribers[a]), len(u.subscribers[b])))
	})
	return order
}

// Rounds over all topics before balance is content: members that share some topics only even out step by step, each round
// about halving what is left.
const mostRounds = 16

// balance moves partitions from members with the most to those with the fewest until nobody has two more than another
// subscriber of a topic of theirs.
func (u *uniform) balance() {
	order := u.byNeed()
	for range mostRounds {
		moved := false
		for _, t := range order {
			moved = u.even(t) || moved
		}
		if !moved {
			return
		}
	}
}

// even balances one topic among its subscribers, and tells whether anything moved. Who gives never takes: it had two more
// than who took, and what it has left is at least what that one has now.
func (u *uniform) even(t int) (moved bool) {
	members := u.subscribers[t]
	if len(members) < 2 || u.spread(members) < 2 {
		return false
	}
	owned := make([][]int32, len(u.Members))
	for number, m := range u.owners[t] {
		owned[m] = append(owned[m], int32(number))
	}
	givers := slices.DeleteFunc(slices.Clone(members), func(m int) bool { return len(owned[m]) == 0 })
	least, most := byLoad(members, u.load, 1), byLoad(givers, u.load, -1)
	for most.Len() > 0 && -(*most)[0].rank-(*least)[0].rank >= 2 {
		from, to := (*most)[0].member, least.next()
		last := len(owned[from]) - 1
		u.give(t, owned[from][last], to)
		owned[from] = owned[from][:last]
		moved = true
		if last == 0 {
			heap.Pop(most)
		} else {
			most.next()
		}
	}
	return moved
}

// spread is how many partitions the member with the most has above the one with the fewest.
func (u *uniform) spread(members []int) int {
	least, most := u.load[members[0]], u.load[members[0]]
	for _, m := range members[1:] {
		least, most = min(least, u.load[m]), max(most, u.load[m])
	}
	return most - least
}
