package handlers

import (
	"slices"

	"doze/journal"
	"doze/projections"
)

// A rebalance has two phases. In the join phase (PreparingRebalance) the group waits until every member has sent a
// JoinGroup, at most as long as its most patient member asks for; then a generation starts, and in the sync phase
// (CompletingRebalance) it waits for the leader's assignment.

func (d *groupDecision) rebalanceOrComplete(id string, reason journal.RebalanceReason, member string) {
	if d.group(id).State == projections.PreparingRebalance {
		d.completeJoinIfAllJoined(id)
		return
	}
	d.prepareRebalance(id, reason, member)
}

// prepareRebalance begins a join phase. A group that was Empty waits a short while for more members before it goes on,
// and as much again as long as members come, up to the rebalance timeout; when that while is nothing, it goes on at once.
func (d *groupDecision) prepareRebalance(id string, reason journal.RebalanceReason, member string) {
	g := d.group(id)
	d.interruptSync(g)
	d.disarm(deadlineKey{group: id, kind: deadlineSync})
	e := &journal.RebalanceStarted{Group: id, Reason: reason, Member: member, Initial: g.State == projections.Empty}
	delay := d.settings.initialRebalanceDelayMs
	if e.Initial {
		e.LeftMs = max(g.RebalanceTimeoutMs()-delay, 0)
	}
	d.emit(e)
	switch g = d.group(id); {
	case e.Initial && delay > 0:
		d.arm(deadlineKey{group: id, kind: deadlineJoin}, delay, d.seq)
	case e.Initial || g.AllJoined():
		d.completeJoin(id)
	default:
		d.arm(deadlineKey{group: id, kind: deadlineJoin}, g.RebalanceTimeoutMs(), d.seq)
	}
}

// interruptSync sends members that wait for an assignment back to join.
func (d *groupDecision) interruptSync(g *projections.Group) {
	for _, m := range g.Members {
		if m.Syncs {
			d.reply(syncOf(g.ID, m.ID), refuseSync(rebalanceInProgress))
			d.arm(sessionOf(g.ID, m.ID), m.SessionTimeoutMs, d.seq)
		}
	}
}

// completeJoinIfAllJoined ends the join phase when nobody is left to wait for; that of a group that was Empty goes on.
func (d *groupDecision) completeJoinIfAllJoined(id string) {
	g := d.group(id)
	if g.State == projections.PreparingRebalance && !g.Initial && g.AllJoined() {
		d.completeJoin(id)
	}
}

// completeJoin ends the join phase with those who are there. Static members that are not keep their place.
func (d *groupDecision) completeJoin(id string) {
	d.disarm(deadlineKey{group: id, kind: deadlineJoin})
	gone := func(m *projections.Member) bool { return !m.Rejoins && !m.Static }
	if _, all := d.removeAll(id, journal.RemovedNotRejoined, gone); !all {
		d.arm(deadlineKey{group: id, kind: deadlineJoin}, 0, d.group(id).JoinSeq)
		return
	}
	g := d.group(id)
	if len(g.Members) == 0 {
		known := g.ProtocolType == consumerProtocolType
		d.emit(&journal.GroupEmptied{Group: id, Generation: g.Generation + 1, SubscriptionsKnown: known})
		return
	}
	leader := g.Leader
	if m := g.Member(leader); m == nil || !m.Rejoins {
		leader = longestStanding(g, func(m *projections.Member) bool { return m.Rejoins })
	}
	if leader == "" { // static members only, and none is there: their sessions decide
		d.arm(deadlineKey{group: id, kind: deadlineJoin}, g.RebalanceTimeoutMs(), g.JoinSeq)
		return
	}
	d.startGeneration(g, leader)
}

func (d *groupDecision) startGeneration(before *projections.Group, leader string) {
	protocol := selectProtocol(before.Members)
	topics, known := subscriptions(before, protocol)
	d.emit(&journal.GenerationStarted{
		Group: before.ID, Generation: before.Generation + 1, Protocol: protocol, Leader: leader,
		SubscriptionsKnown: known, Subscribed: topics,
	})
	g := d.group(before.ID)
	for i, m := range g.Members {
		d.arm(sessionOf(g.ID, m.ID), m.SessionTimeoutMs, d.seq)
		if before.Members[i].Rejoins {
			d.reply(joinOf(g.ID, m.ID), currentGeneration(g, m.ID, m.ID == leader))
		}
	}
	d.arm(deadlineKey{group: g.ID, kind: deadlineSync}, g.RebalanceTimeoutMs(), d.seq)
}

// selectProtocol lets every member vote for the first of its protocols that all members support, and returns the one with
// most votes. Of two with as many, the one that comes first in a Java HashMap wins: that is what clients of Kafka see.
func selectProtocol(members []*projections.Member) string {
	var votes []vote
	common, index := commonProtocols(members), map[string]int{}
	for _, m := range members {
		name := firstCommon(m, common)
		i, voted := index[name]
		if !voted {
			i = len(votes)
			index[name], votes = i, append(votes, vote{protocol: name})
		}
		votes[i].count++
	}
	slices.SortStableFunc(votes, javaHashMapOrder(len(votes)))
	best := votes[0]
	for _, v := range votes[1:] {
		if v.count > best.count {
			best = v
		}
	}
	return best.protocol
}

type vote struct {
	protocol string
	count    int
}

// commonProtocols are those that every member supports.
func commonProtocols(members []*projections.Member) map[string]bool {
	common := map[string]bool{}
	for i, m := range members {
		left := map[string]bool{}
		for _, p := range m.Protocols {
			if i == 0 || common[p.Name] {
				left[p.Name] = true
			}
		}
		common = left
	}
	return common
}

func firstCommon(m *projections.Member, common map[string]bool) string {
	for _, p := range m.Protocols {
		if common[p.Name] {
			return p.Name
		}
	}
	return "" // members without a protocol in common are not let in
}

// javaHashMapOrder orders votes as a java.util.HashMap with that many keys iterates over them: by bucket.
func javaHashMapOrder(keys int) func(a, b vote) int {
	buckets := uint32(16)
	for keys*4 > int(buckets)*3 {
		buckets *= 2
	}
	return func(a, b vote) int {
		x, y := javaBucket(a.protocol, buckets), javaBucket(b.protocol, buckets)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
}

// javaBucket is where a java.util.HashMap of that many buckets keeps the string: its hash is over UTF-16 units.
func javaBucket(s string, buckets uint32) uint32 {
	var h uint32
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			h = 31*h + uint32(0xd800+r>>10)
			r = 0xdc00 + r&0x3ff
		}
		h = 31*h + uint32(r)
	}
	return (h ^ h>>16) & (buckets - 1)
}

// maxSubscribedBytes bounds the topics of a generation, which must fit in an entry of the journal. Beyond it a group reads
// topics that are not known.
const maxSubscribedBytes = 4 << 20

// subscriptions returns the topics that the members of a group of consumers read, sorted, and whether that could be told.
func subscriptions(g *projections.Group, protocol string) (topics []string, known bool) {
	if g.ProtocolType != consumerProtocolType {
		return nil, false
	}
	bytes := 0
	seen := map[string]bool{}
	for _, m := range g.Members {
		of, ok := parseSubscription(m.Metadata(protocol))
		if !ok {
			return nil, false
		}
		for _, topic := range of {
			if seen[topic] {
				continue
			}
			if bytes += len(topic) + 8; bytes > maxSubscribedBytes {
				return nil, false
			}
			seen[topic] = true
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics)
	return topics, true
}
