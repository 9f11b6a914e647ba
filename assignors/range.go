package assignors

// Range gives each member a run of consecutive partitions of every topic that it is subscribed to; runs differ by one
// at most, the longer ones first. Members with the same subscriptions to topics of the same size have the same numbers of
// each. What members had does not count.
func Range(g *Group) []Assignment {
	subscriptions := g.subscriptions()
	left := make([]int32, len(g.Topics)) // members that have not had their run yet
	for _, topics := range subscriptions {
		for _, t := range topics {
			left[t]++
		}
	}
	next := make([]int32, len(g.Topics))
	all := make([]Assignment, len(g.Members))
	for _, m := range g.staticFirst() {
		for _, t := range subscriptions[m] {
			// The share of what is left, rounded up, is the even share with the longer runs first.
			rest := g.Topics[t].Partitions - next[t]
			run := (rest + left[t] - 1) / left[t]
			left[t]--
			for number := next[t]; number < next[t]+run; number++ {
				all[m] = all[m].with(g.Topics[t].ID, number)
			}
			next[t] += run
		}
	}
	return all
}
