package handlers

import (
	"bytes"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// A member goes from what it has to what it is to have in steps. It first gives up what it is not to have any more, and stays
// at its epoch until it says that it has (unrevoked). Then it is at the epoch of the target, with all that nobody else has;
// what others have not given up yet comes later (unreleased).

// reconcile takes the member's next step. Owned is what it says it has; nil: it says nothing.
func (h *heartbeatOf) reconcile(owned []kmsg.ConsumerGroupHeartbeatRequestTopic) {
	c := h.now()
	m := c.Member(h.member)
	if !h.subscriptionChanged() && m.Reconciled(c.TargetEpoch) {
		return
	}
	s := &step{d: h.d, group: c, m: m, owned: owned, changed: h.subscriptionChanged()}
	s.subscribed = h.d.subscribedIDs(c, m)
	next := s.next()
	if sameStep(m, next) {
		return
	}
	h.d.emit(&journal.ConsumerMemberReconciled{
		Group: h.group, Member: m.ID, Epoch: next.Epoch, Previous: next.Previous, State: next.State, Assigned: next.Assigned, Revoking: next.Revoking,
	})
	switch {
	case m.Classic:
	case next.State == journal.MemberUnrevoked:
		h.d.arm(reconcileOf(h.group, m.ID), m.RebalanceTimeoutMs, uint64(next.Epoch))
	default:
		h.d.disarm(reconcileOf(h.group, m.ID))
	}
}

func sameStep(a, b *projections.ConsumerMember) bool {
	return a.Epoch == b.Epoch && a.Previous == b.Previous && a.State == b.State &&
		slices.EqualFunc(a.Assigned, b.Assigned, equalOwned) && slices.EqualFunc(a.Revoking, b.Revoking, equalOwned)
}

// step is the work on a member's next step.
type step struct {
	d          *groupDecision
	group      *projections.ConsumerGroup
	m          *projections.ConsumerMember
	owned      []kmsg.ConsumerGroupHeartbeatRequestTopic
	subscribed [][16]byte // in order
	changed    bool       // the subscription, by this heartbeat
}

func (s *step) next() *projections.ConsumerMember {
	switch {
	case s.m.State == journal.MemberStable && s.m.Epoch == s.group.TargetEpoch:
		return s.narrow()
	case s.m.State == journal.MemberUnrevoked && s.owns(s.m.Revoking):
		if s.changed {
			return s.narrow()
		}
		return s.m
	}
	return s.advance()
}

// owns says whether the member still has one of the partitions, as far as it has told.
func (s *step) owns(revoking []journal.OwnedPartitions) bool {
	for _, t := range s.owned {
		i, found := slices.BinarySearchFunc(revoking, t.TopicID, compareOwned)
		if found && slices.ContainsFunc(t.Partitions, func(p int32) bool { return contains(revoking[i].Partitions, p) }) {
			return true
		}
	}
	return s.owned == nil
}

func contains(sorted []int32, n int32) bool {
	_, found := slices.BinarySearch(sorted, n)
	return found
}

func (s *step) reads(topic [16]byte) bool {
	_, found := slices.BinarySearchFunc(s.subscribed, topic, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return found
}

// narrow takes away the topics that the member has just stopped reading, before there is a new target.
func (s *step) narrow() *projections.ConsumerMember {
	var kept, gone []journal.OwnedPartitions
	for _, p := range s.m.Assigned {
		if s.reads(p.TopicID) {
			kept = append(kept, p)
		} else {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return s.m
	}
	next := *s.m
	next.Previous, next.Assigned = s.m.Epoch, kept
	if all := joinOwned(s.m.Revoking, gone); s.owns(all) {
		next.State, next.Revoking = journal.MemberUnrevoked, all
	}
	return &next
}

// joinOwned are the partitions of both.
func joinOwned(a, b []journal.OwnedPartitions) []journal.OwnedPartitions {
	out := slices.Clone(a)
	for _, p := range b {
		i, found := slices.BinarySearchFunc(out, p.TopicID, compareOwned)
		if !found {
			out = slices.Insert(out, i, p)
			continue
		}
		joined := journal.OwnedPartitions{TopicID: p.TopicID, Partitions: slices.Clone(out[i].Partitions), Epochs: slices.Clone(out[i].Epochs)}
		for n, partition := range p.Partitions {
			joined = withOwned(joined, partition, p.Epochs[n])
		}
		out[i] = joined
	}
	return out
}

// withOwned adds a partition in its place.
func withOwned(p journal.OwnedPartitions, partition, epoch int32) journal.OwnedPartitions {
	i, found := slices.BinarySearch(p.Partitions, partition)
	if found {
		p.Epochs[i] = epoch
		return p
	}
	p.Partitions, p.Epochs = slices.Insert(p.Partitions, i, partition), slices.Insert(p.Epochs, i, epoch)
	return p
}

// advance goes towards the target as far as possible.
func (s *step) advance() *projections.ConsumerMember {
	var kept, revoking, all []journal.OwnedPartitions
	unreleased := false
	for _, topic := range s.topics() {
		t := s.topic(topic)
		kept, revoking, all = appendOwned(kept, t.kept), appendOwned(revoking, t.revoking), appendOwned(all, t.all)
		unreleased = unreleased || t.unreleased
	}
	next := *s.m
	next.Previous = s.m.Epoch
	if len(revoking) > 0 && s.owns(revoking) {
		next.State, next.Assigned, next.Revoking = journal.MemberUnrevoked, kept, revoking
		return &next
	}
	next.Epoch, next.Assigned, next.Revoking, next.State = s.group.TargetEpoch, all, nil, journal.MemberStable
	if unreleased {
		next.State = journal.MemberUnreleased
	}
	return &next
}

func appendOwned(list []journal.OwnedPartitions, p journal.OwnedPartitions) []journal.OwnedPartitions {
	if len(p.Partitions) == 0 {
		return list
	}
	return append(list, p)
}

// topics are those of which the member has partitions or is to have some, in order.
func (s *step) topics() (ids [][16]byte) {
	for _, p := range s.m.Target {
		ids = append(ids, p.TopicID)
	}
	for _, p := range s.m.Assigned {
		ids = append(ids, p.TopicID)
	}
	slices.SortFunc(ids, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// topicStep is what becomes of a member's partitions of one topic.
type topicStep struct {
	kept, revoking, all journal.OwnedPartitions // all: kept, and those that can be had now
	unreleased          bool                    // there are some that others have
}

func (s *step) topic(id [16]byte) topicStep {
	t := topicStep{}
	t.kept.TopicID, t.revoking.TopicID, t.all.TopicID = id, id, id
	var target []int32
	if i, found := slices.BinarySearchFunc(s.m.Target, id, compareTarget); found && s.reads(id) {
		target = s.m.Target[i].Partitions
	}
	var has journal.OwnedPartitions
	if i, found := slices.BinarySearchFunc(s.m.Assigned, id, compareOwned); found {
		has = s.m.Assigned[i]
	}
	for i, p := range has.Partitions {
		to := &t.revoking
		if contains(target, p) {
			to = &t.kept
		}
		to.Partitions, to.Epochs = append(to.Partitions, p), append(to.Epochs, has.Epochs[i])
	}
	t.all.Partitions, t.all.Epochs = slices.Clone(t.kept.Partitions), slices.Clone(t.kept.Epochs)
	for _, p := range target {
		switch {
		case contains(has.Partitions, p):
		case s.group.Owned(id, p) && !s.isRevoking(id, p):
			t.unreleased = true
		default:
			t.all = withOwned(t.all, p, s.group.TargetEpoch)
		}
	}
	return t
}

// isRevoking says whether the member itself is about to give the partition up.
func (s *step) isRevoking(topic [16]byte, partition int32) bool {
	i, found := slices.BinarySearchFunc(s.m.Revoking, topic, compareOwned)
	return found && contains(s.m.Revoking[i].Partitions, partition)
}
