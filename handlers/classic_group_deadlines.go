package handlers

import (
	"doze/journal"
	"doze/projections"
)

// classicDeadline decides what follows for the classic protocol.
func (d *groupDecision) classicDeadline(key deadlineKey, token uint64) {
	switch key.kind {
	case deadlineJoin:
		d.joinDeadline(key.group, token)
	case deadlineSync:
		d.syncDeadline(key.group, token)
	case deadlineSession:
		d.sessionDeadline(key.group, key.member, token)
	}
}

// A deadline that passed asks for a decision like any request does. It carries the entry that set it: when the state says
// that another entry has set it anew since, it is void.

// joinDeadline ends the join phase, or lets a group that was Empty wait once more when members came meanwhile.
func (d *groupDecision) joinDeadline(id string, token uint64) {
	g := d.group(id)
	if g == nil || g.State != projections.PreparingRebalance || g.JoinSeq != token {
		return
	}
	if !g.Initial || !g.Grown || g.LeftMs == 0 {
		d.completeJoin(id)
		return
	}
	delay := d.settings.initialRebalanceDelayMs
	d.emit(&journal.RebalanceExtended{Group: id, LeftMs: max(g.LeftMs-delay, 0)})
	d.arm(deadlineKey{group: id, kind: deadlineJoin}, min(delay, g.LeftMs), d.seq)
}

// syncDeadline removes members that learned of the generation and never asked for their assignment.
func (d *groupDecision) syncDeadline(id string, token uint64) {
	g := d.group(id)
	if g == nil || g.SyncSeq != token || g.State == projections.PreparingRebalance || g.State == projections.Empty {
		return
	}
	// Those that are too many for one decision stay for the join phase, and go at its end.
	removed, _ := d.removeAll(id, journal.RemovedNotSynced, func(m *projections.Member) bool { return !m.Synced })
	if removed != "" {
		d.prepareRebalance(id, journal.RebalanceMemberRemoved, removed)
	}
}

// sessionDeadline removes a member that was not heard of. One that waits for an answer cannot be heard of: its session
// begins anew with the answer; but a member in its first join phase does not know its id yet, so it may be gone.
func (d *groupDecision) sessionDeadline(group, id string, token uint64) {
	g := d.group(group)
	if g == nil {
		return
	}
	if p := g.PendingMember(id); p != nil {
		if p.Active == token {
			d.remove(g, id, journal.RemovedSessionExpired)
			d.completeJoinIfNobodyMissing(group)
		}
		return
	}
	m := g.Member(id)
	if m == nil || m.Active != token || !m.New && (m.Rejoins || m.Syncs) {
		return
	}
	d.dismiss(g, id)
	d.remove(g, id, journal.RemovedSessionExpired)
	if g.State == projections.PreparingRebalance {
		d.completeJoinIfNobodyMissing(group)
		return
	}
	d.prepareRebalance(group, journal.RebalanceMemberRemoved, id)
}

// completeJoinIfNobodyMissing ends the join phase even of a group that was Empty.
func (d *groupDecision) completeJoinIfNobodyMissing(id string) {
	if g := d.group(id); g.State == projections.PreparingRebalance && g.AllJoined() {
		d.completeJoin(id)
	}
}

// resumeClassic takes up a group after a start: as in Kafka, a rebalance that was under way never began, ids that were handed out
// are void, and sessions count from now.
func (d *groupDecision) resumeClassic(id string) {
	if !d.group(id).AtRest() {
		d.emit(&journal.RebalanceInterrupted{Group: id})
	}
	g := d.group(id)
	for _, m := range g.Members {
		d.arm(sessionOf(id, m.ID), m.SessionTimeoutMs, m.Active)
	}
	if len(g.Members) > d.settings.maxSize {
		d.prepareRebalance(id, journal.RebalanceOverCapacity, "")
	}
}
