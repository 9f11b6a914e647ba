package assignors

import "slices"

// Simple shares partitions out for share groups (KIP-932): every partition has at least one member, and when members are
// more than partitions, several. Members of the same subscriptions share all partitions as one pool, others topic by
// topic. What a member had it keeps as long as its even share allows.
func Simple(g *Group) []Assignment {
	if len(g.Members) == 0 {
		return nil
	}
	subscriptions := g.subscriptions()
	s := &simple{Group: g, given: make([][]pooled, len(g.Members))}
	if homogeneous(subscriptions) {
		everybody := make([]int, len(g.Members))
		for m := range everybody {
			everybody[m] = m
		}
		s.share(s.pool(subscriptions[0]...), everybody)
		return s.assignments()
	}
	subscribers := make([][]int, len(g.Topics))
	for m, topics := range subscriptions {
		for _, t := range topics {
			subscribers[t] = append(subscribers[t], m)
		}
	}
	for t := range g.Topics {
		s.share(s.pool(t), subscribers[t])
	}
	return s.assignments()
}

// simple is the work on one assignment.
type simple struct {
	*Group
	given [][]pooled // to each member
}

// pooled is a partition: topic is its place in Group.Topics.
type pooled struct {
	topic  int
	number int32
}

// pool is all partitions of the topics.
func (s *simple) pool(topics ...int) []pooled {
	var all []pooled
	for _, t := range topics {
		for number := range s.Topics[t].Partitions {
			all = append(all, pooled{t, number})
		}
	}
	return all
}

// share gives every partition of the pool to as many of the members as it takes for each member to have one.
func (s *simple) share(pool []pooled, members []int) {
	if len(pool) == 0 || len(members) == 0 {
		return
	}
	each := (len(members) + len(pool) - 1) / len(pool) // members of a partition
	room := make([]int, len(s.Members))                // partitions that a member may still have
	for i, m := range members {
		room[m] = ceil(each*len(pool)*(i+1), len(members)) - ceil(each*len(pool)*i, len(members))
	}
	has := s.keep(pool, members, each, room)
	for i, p := range pool {
		s.fill(p, each, members, room, has[i])
	}
	for i := range pool {
		for len(has[i]) < each && s.swap(pool, i, members, room, has) {
		}
	}
}

// swap finds a way for a partition that only members without room could take: one of them takes it and gives another
// partition to a member that has room and has not that one.
func (s *simple) swap(pool []pooled, i int, members, room []int, has []map[int]bool) bool {
	for _, roomy := range members {
		if room[roomy] == 0 {
			continue
		}
		for j := range pool {
			if has[j][roomy] {
				continue
			}
			for _, m := range members {
				if has[j][m] && !has[i][m] {
					s.take(pool[j], m, room, has[j])
					s.give(pool[j], roomy, room, has[j])
					s.give(pool[i], m, room, has[i])
					return true
				}
			}
		}
	}
	return false
}

func (s *simple) take(p pooled, m int, room []int, has map[int]bool) {
	s.given[m] = slices.DeleteFunc(s.given[m], func(x pooled) bool { return x == p })
	room[m]++
	delete(has, m)
}

func ceil(a, b int) int { return (a + b - 1) / b }

// keep gives members what they had, as far as they have room and the partition is not shared by enough already. It tells
// for each partition of the pool who has it.
func (s *simple) keep(pool []pooled, members []int, each int, room []int) (has []map[int]bool) {
	at := make(map[pooled]int, len(pool))
	has = make([]map[int]bool, len(pool))
	for i, p := range pool {
		at[p] = i
		has[i] = map[int]bool{}
	}
	for _, m := range members {
		for _, had := range s.Members[m].Had {
			t := s.index(had.Topic)
			for _, number := range had.Numbers {
				i, in := at[pooled{t, number}]
				if in && room[m] > 0 && len(has[i]) < each && !has[i][m] {
					s.give(pool[i], m, room, has[i])
				}
			}
		}
	}
	return has
}

func (s *simple) give(p pooled, m int, room []int, has map[int]bool) {
	s.given[m] = append(s.given[m], p)
	room[m]--
	has[m] = true
}

// fill gives the partition to members that have the most room, until enough share it or nobody has any.
func (s *simple) fill(p pooled, each int, members, room []int, has map[int]bool) {
	for len(has) < each {
		best := -1
		for _, m := range members {
			if room[m] > 0 && !has[m] && (best < 0 || room[m] > room[best]) {
				best = m
			}
		}
		if best < 0 {
			return
		}
		s.give(p, best, room, has)
	}
}

func (s *simple) assignments() []Assignment {
	all := make([]Assignment, len(s.given))
	for m, given := range s.given {
		slices.SortFunc(given, func(a, b pooled) int {
			if a.topic != b.topic {
				return a.topic - b.topic
			}
			return int(a.number - b.number)
		})
		for _, p := range given {
			all[m] = all[m].with(s.Topics[p.topic].ID, p.number)
		}
	}
	return all
}
