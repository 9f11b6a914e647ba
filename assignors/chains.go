package assignors

// chain evens out what even cannot: two members that share no topic, but of which one can give to a third that can give to
// the other. It moves one partition along each step of the shortest such way, from a member with at least two more than
// the one that takes in the end. Kafka's assignor stops short of this.
func (u *uniform) chain() {
	for range 4 * len(u.Members) {
		found := false
		for m := range u.Members {
			found = u.relieve(m) || found
		}
		if !found {
			return
		}
	}
}

// step says which partition a member on the way can give, and to whom.
type step struct {
	topic  int
	number int32
	to     int
}

// relieve looks for a way on which the member gets one partition more while another, that has at least two more, gets one
// fewer.
func (u *uniform) relieve(m int) bool {
	steps := make([]step, len(u.Members))
	seen, seenTopic := make([]bool, len(u.Members)), make([]bool, len(u.Topics))
	seen[m] = true
	for queue := []int{m}; len(queue) > 0; queue = queue[1:] {
		for _, t := range u.subscriptions[queue[0]] {
			if seenTopic[t] {
				continue
			}
			seenTopic[t] = true
			for number, owner := range u.owners[t] {
				if owner == nobody || seen[owner] {
					continue
				}
				seen[owner] = true
				steps[owner] = step{t, int32(number), queue[0]}
				if u.load[owner] >= u.load[m]+2 {
					u.walk(int(owner), m, steps)
					return true
				}
				queue = append(queue, int(owner))
			}
		}
	}
	return false
}

// walk moves one partition on each step.
func (u *uniform) walk(from, to int, steps []step) {
	for from != to {
		s := steps[from]
		u.give(s.topic, s.number, s.to)
		from = s.to
	}
}

// mostExchanges bounds the work of restore.
const mostExchanges = 1000

// restore gives partitions back to who had them where loads stay as even as they are: whoever gets its own back gives one
// that it never had to another, and so on, until one takes it that has fewer than the member that gave first, or that is
// this member.
func (u *uniform) restore(had owners) {
	exchanges := 0
	for t := range u.owners {
		for number := range u.owners[t] {
			first, now := had[t][number], u.owners[t][number]
			if first == nobody || first == now {
				continue
			}
			if exchanges++; exchanges > mostExchanges {
				return
			}
			if steps, last := u.passOn(had, int(first), int(now)); last != nobody {
				u.give(t, int32(number), int(first))
				for ; last != int(first); last = steps[last].to {
					u.give(steps[last].topic, steps[last].number, last)
				}
			}
		}
	}
}

// passOn looks for a way from a member that gets one partition to one that may take one more; of the steps on it, to is
// the member that gives.
func (u *uniform) passOn(had owners, first, now int) (steps []step, last int) {
	if u.load[first] < u.load[now] {
		return nil, first
	}
	steps = make([]step, len(u.Members))
	seen := make([]bool, len(u.Members))
	seen[first] = true
	for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
		for _, t := range u.subscriptions[queue[0]] {
			number := u.strange(had, t, queue[0])
			if number < 0 {
				continue
			}
			for _, m := range u.subscribers[t] {
				if seen[m] {
					continue
				}
				seen[m] = true
				steps[m] = step{t, number, queue[0]}
				if m == now || u.load[m] < u.load[now] {
					return steps, m
				}
				queue = append(queue, m)
			}
		}
	}
	return nil, nobody
}

// strange finds a partition of the topic that the member has and had not; -1: there is none.
func (u *uniform) strange(had owners, t, m int) int32 {
	for number, owner := range u.owners[t] {
		if int(owner) == m && int(had[t][number]) != m {
			return int32(number)
		}
	}
	return -1
}
