package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// consumerLeave decides a heartbeat by which a member leaves.
func (d *groupDecision) consumerLeave(req *kmsg.ConsumerGroupHeartbeatRequest) (*kmsg.ConsumerGroupHeartbeatResponse, *refusal) {
	g, refused := d.consumerGroupThere(req.Group)
	if refused != nil {
		return nil, refused
	}
	m := g.Consumer.Member(req.MemberID)
	if req.InstanceID != nil {
		if m = g.Consumer.StaticMember(*req.InstanceID); m == nil {
			return nil, refuse(unknownMemberID, "Instance id "+*req.InstanceID+" is unknown.")
		}
		if m.ID != req.MemberID {
			return nil, fencedInstance(req.MemberID, *req.InstanceID, m.ID)
		}
	} else if m == nil {
		return nil, notMember(req.MemberID, req.Group)
	}
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch = &req.MemberID, req.MemberEpoch
	if req.InstanceID != nil && req.MemberEpoch == leavingStaticEpoch {
		d.leaveForAWhile(g, m)
	} else {
		d.removeConsumers(g, []string{m.ID}, journal.RemovedLeft)
	}
	return resp, nil
}

// consumerGroupThere finds a group that must be a consumer group already.
func (d *groupDecision) consumerGroupThere(id string) (*projections.Group, *refusal) {
	g := d.group(id)
	switch {
	case g == nil:
		return nil, refuse(groupIDNotFound, "Group "+id+" not found.")
	case g.Consumer == nil:
		return nil, refuse(groupIDNotFound, "Group "+id+" is not a consumer group.")
	}
	return g, nil
}

// leaveForAWhile keeps a static member's place, with its partitions, until its session ends.
func (d *groupDecision) leaveForAWhile(g *projections.Group, m *projections.ConsumerMember) {
	e := &journal.ConsumerMemberReconciled{Group: g.ID, Member: m.ID, Epoch: leavingStaticEpoch, Previous: m.Previous, State: m.State}
	for _, p := range m.Assigned {
		e.Assigned = append(e.Assigned, journal.OwnedPartitions{TopicID: p.TopicID, Partitions: p.Partitions, Epochs: make([]int32, len(p.Partitions))})
	}
	d.emit(e)
}

// removeConsumers takes members out of the group. When those that are left speak the classic protocol, the group becomes a
// classic one, if group.consumer.migration.policy lets it; else its epoch rises.
func (d *groupDecision) removeConsumers(g *projections.Group, ids []string, reason journal.RemovalReason) {
	if d.mayDowngrade(g, ids) && d.downgrade(g, ids, reason) {
		return
	}
	for _, id := range ids {
		d.emit(&journal.ConsumerMemberRemoved{Group: g.ID, Member: id, Reason: reason})
		d.disarmConsumer(g.ID, id)
	}
	d.dropRegexes(g.ID)
	c := d.group(g.ID).Consumer
	d.emit(&journal.ConsumerEpochRaised{Group: g.ID, Epoch: c.Epoch + 1, Reason: journal.EpochMemberRemoved, Member: ids[0], Hash: d.readHash(c)})
}

// dropRegexes forgets regular expressions that nobody is subscribed to any more.
func (d *groupDecision) dropRegexes(group string) {
	e := &journal.ConsumerRegexesResolved{Group: group}
	c := d.group(group).Consumer
	for _, r := range c.Regexes {
		if c.SubscribedTo(r.Regex) == 0 {
			e.Dropped = append(e.Dropped, r.Regex)
		}
	}
	if len(e.Dropped) > 0 {
		d.emit(e)
	}
}

// consumerDeadline decides what follows from a deadline of a consumer group.
func (d *groupDecision) consumerDeadline(g *projections.Group, key deadlineKey, token uint64) {
	m := g.Consumer.Member(key.member)
	if m == nil {
		return
	}
	reason := journal.RemovedSessionExpired
	switch key.kind {
	case deadlineReconcile:
		if reason = journal.RemovedNotRevoked; uint64(m.Epoch) != token {
			return
		}
	case deadlineRejoin:
		reason = journal.RemovedNotRejoined
	case deadlineResync:
		reason = journal.RemovedNotSynced
	case deadlineSession:
	default:
		return
	}
	d.removeConsumers(g, []string{m.ID}, reason)
}

// resumeConsumer takes up a consumer group after a start: sessions, and times to give up partitions, begin anew.
func (d *groupDecision) resumeConsumer(g *projections.Group) {
	session := d.groupInt(g.ID, "consumer.session.timeout.ms")
	for _, m := range g.Consumer.Members {
		d.arm(sessionOf(g.ID, m.ID), session, d.seq)
		if m.State == journal.MemberUnrevoked {
			d.arm(reconcileOf(g.ID, m.ID), m.RebalanceTimeoutMs, uint64(m.Epoch))
		}
	}
}

// disarmConsumer takes away all deadlines of a member.
func (d *groupDecision) disarmConsumer(group, member string) {
	for _, kind := range []deadlineKind{deadlineSession, deadlineReconcile, deadlineRejoin, deadlineResync} {
		d.disarm(deadlineKey{kind: kind, group: group, member: member})
	}
}

// disarmConsumers takes away all deadlines of a consumer group.
func (d *groupDecision) disarmConsumers(g *projections.Group) {
	d.disarm(deadlineKey{kind: deadlineRegex, group: g.ID})
	for _, m := range g.Consumer.Members {
		d.disarmConsumer(g.ID, m.ID)
	}
}
