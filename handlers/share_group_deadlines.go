package handlers

import "doze/projections"

// shareDeadline decides what follows from a deadline of a share group.
func (d *groupDecision) shareDeadline(g *projections.Group, key deadlineKey, token uint64) {}

// resumeShare takes up a share group after a start.
func (d *groupDecision) resumeShare(g *projections.Group) {}
