package handlers

import (
	"bytes"
	"slices"

	"doze/assignors"
	"doze/journal"
	"doze/projections"
)

// mayAssign says whether a new target assignment may be worked out now: not sooner than the interval after the last one.
func mayAssign(c *projections.ConsumerGroup, intervalMs int32, now int64) bool {
	return c.TargetAt == 0 || intervalMs == 0 || now >= c.TargetAt+int64(intervalMs)
}

// assignTarget works out the target assignment when the group's epoch is ahead of it.
func (h *heartbeatOf) assignTarget() {
	c := h.now()
	if c.TargetEpoch >= c.Epoch || !mayAssign(c, h.d.groupInt(h.group, "consumer.assignment.interval.ms"), h.d.at) {
		return
	}
	name := preferredAssignor(c, h.d.settings.consumer.assignors[0])
	e := &journal.ConsumerTargetAssigned{Group: h.group, Epoch: c.Epoch, Assignor: name}
	assign := assignors.Uniform
	if name == "range" {
		assign = assignors.Range
	}
	for i, partitions := range assign(h.d.assignorInput(c)) {
		target := targetOf(partitions)
		if m := c.Members[i]; !slices.EqualFunc(m.Target, target, equalPartitions) {
			e.Members = append(e.Members, journal.ConsumerTarget{Member: m.ID, Partitions: target})
		}
	}
	h.d.emit(e)
}

// preferredAssignor is the one that most members ask for; of as many, the first in the order of a Java hash map.
func preferredAssignor(c *projections.ConsumerGroup, otherwise string) string {
	var votes []vote
	for _, m := range c.Members {
		if m.Assignor == "" {
			continue
		}
		i := slices.IndexFunc(votes, func(v vote) bool { return v.protocol == m.Assignor })
		if i < 0 {
			i, votes = len(votes), append(votes, vote{protocol: m.Assignor})
		}
		votes[i].count++
	}
	if len(votes) == 0 {
		return otherwise
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

// assignorInput is the group as assignors see it.
func (d *groupDecision) assignorInput(c *projections.ConsumerGroup) *assignors.Group {
	in := &assignors.Group{Members: make([]assignors.Member, len(c.Members))}
	c.Readers(func(r projections.TopicReaders) bool {
		if t := d.state.Topics.Named(r.Topic); t != nil {
			in.Topics = append(in.Topics, assignors.Topic{ID: t.ID, Partitions: t.Partitions})
		}
		return true
	})
	slices.SortFunc(in.Topics, func(a, b assignors.Topic) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for i, m := range c.Members {
		to := &in.Members[i]
		to.ID, to.Instance = m.ID, m.Instance()
		if i > 0 && m.Regex == c.Members[i-1].Regex && slices.Equal(m.Topics, c.Members[i-1].Topics) {
			to.Topics = in.Members[i-1].Topics
		} else {
			to.Topics = d.subscribedIDs(c, m)
		}
		to.Had = hadOf(m.Target)
	}
	return in
}

// subscribedIDs are the ids of those topics that exist which the member is subscribed to, in order.
func (d *groupDecision) subscribedIDs(c *projections.ConsumerGroup, m *projections.ConsumerMember) [][16]byte {
	resolved, _ := c.Resolved(m.Regex)
	return d.topicIDs(m.Topics, resolved)
}

// topicIDs are the ids of those of the named topics that exist, in order and each once.
func (d *groupDecision) topicIDs(lists ...[]string) (ids [][16]byte) {
	for _, names := range lists {
		for _, name := range names {
			if t := d.state.Topics.Named(name); t != nil {
				ids = append(ids, t.ID)
			}
		}
	}
	slices.SortFunc(ids, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// hadOf is a target as assignors see it the next time, targetOf what they made as it is kept.
func hadOf(target []journal.TopicPartitions) (had assignors.Assignment) {
	for _, p := range target {
		had = append(had, assignors.Partitions{Topic: p.TopicID, Numbers: p.Partitions})
	}
	return had
}

func targetOf(a assignors.Assignment) []journal.TopicPartitions {
	if len(a) == 0 {
		return nil
	}
	target := make([]journal.TopicPartitions, len(a))
	for i, p := range a {
		target[i] = journal.TopicPartitions{TopicID: p.Topic, Partitions: p.Numbers}
	}
	return target
}

func equalPartitions(a, b journal.TopicPartitions) bool {
	return a.TopicID == b.TopicID && slices.Equal(a.Partitions, b.Partitions)
}

func equalOwned(a, b journal.OwnedPartitions) bool {
	return a.TopicID == b.TopicID && slices.Equal(a.Partitions, b.Partitions) && slices.Equal(a.Epochs, b.Epochs)
}

func compareOwned(p journal.OwnedPartitions, id [16]byte) int {
	return bytes.Compare(p.TopicID[:], id[:])
}

func compareTarget(p journal.TopicPartitions, id [16]byte) int {
	return bytes.Compare(p.TopicID[:], id[:])
}
