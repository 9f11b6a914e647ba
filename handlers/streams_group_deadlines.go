package handlers

import "doze/projections"

// streamsDeadline decides what follows from a deadline of a streams group.
func (d *groupDecision) streamsDeadline(g *projections.Group, key deadlineKey, token uint64) {}

// resumeStreams takes up a streams group after a start.
func (d *groupDecision) resumeStreams(g *projections.Group) {}
