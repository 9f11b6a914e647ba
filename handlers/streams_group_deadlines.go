package handlers

import (
	"doze/journal"
	"doze/projections"
)

// streamsDeadline decides what follows from a deadline of a streams group.
func (d *groupDecision) streamsDeadline(g *projections.Group, key deadlineKey, token uint64) {
	m := g.Streams.Member(key.member)
	switch {
	case key.kind == deadlineAssign:
		d.endStreamsDelay(g)
	case m == nil:
	case key.kind == deadlineSession:
		d.removeStreamsMember(g, m.ID, journal.RemovedSessionExpired)
	case key.kind == deadlineReconcile && uint64(uint32(m.Epoch)) == token:
		d.removeStreamsMember(g, m.ID, journal.RemovedNotRevoked)
	}
}

// endStreamsDelay makes the first assignment of a group once its initial delay is over. When nobody has been heard of since the
// group came into being, the next heartbeat makes it.
func (d *groupDecision) endStreamsDelay(g *projections.Group) {
	soft := d.streams.of(g.ID)
	soft.delayed = 0
	configured := soft.configured.Load()
	if g.State == projections.Empty || g.Streams.Epoch <= g.Streams.Assigned || configured == nil || !d.mayAssign(g.ID, g.Streams) {
		return
	}
	d.assignTasks(g.ID, configured)
}

// resumeStreams takes up a streams group after a start: sessions count from now, and so does the time that members have for giving
// back tasks.
func (d *groupDecision) resumeStreams(g *projections.Group) {
	timeout := d.groupInt(g.ID, "streams.session.timeout.ms")
	g.Streams.Each(func(m *projections.StreamsMember) bool {
		d.arm(sessionOf(g.ID, m.ID), timeout, d.seq)
		if m.State == journal.StreamsUnrevoked {
			d.arm(reconcileOf(g.ID, m.ID), m.RebalanceTimeoutMs, uint64(uint32(m.Epoch)))
		}
		return true
	})
}
