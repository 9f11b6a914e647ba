package handlers

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// syncCommand is a SyncGroup request as the state machine sees it.
type syncCommand struct {
	req  *kmsg.SyncGroupRequest
	wait *waiter
}

// sync decides a SyncGroup. No answer: the request waits for the leader's.
func (d *groupDecision) sync(c *syncCommand) *kmsg.SyncGroupResponse {
	g := d.group(c.req.Group)
	if g != nil && g.Consumer != nil && g.State != projections.Empty {
		return d.syncConsumers(g, c.req)
	}
	if g == nil || g.State == projections.Empty || g.Type != journal.GroupClassic {
		return refuseSync(unknownMemberID)
	}
	if code := checkSync(g, c.req); code != none {
		return refuseSync(code)
	}
	m := g.Member(c.req.MemberID)
	switch {
	case g.State == projections.PreparingRebalance:
		return refuseSync(rebalanceInProgress)
	case g.State == projections.CompletingRebalance && m.ID == g.Leader && !d.roomToAssign(g, c.req):
		return refuseSync(unknownServerError)
	case g.State == projections.CompletingRebalance:
		d.park(syncOf(g.ID, m.ID), c.wait)
		if m.ID == g.Leader {
			d.assign(g, c.req)
		} else if !m.Syncs {
			d.emit(&journal.MemberSynced{Group: g.ID, Member: m.ID, Waits: true})
		}
		d.endSyncIfAllSynced(g.ID)
		return nil
	}
	if !m.Synced {
		d.emit(&journal.MemberSynced{Group: g.ID, Member: m.ID})
		d.endSyncIfAllSynced(g.ID)
	}
	return assignmentFor(g, m)
}

func checkSync(g *projections.Group, req *kmsg.SyncGroupRequest) int16 {
	if code := checkMember(g, req.MemberID, req.InstanceID); code != none {
		return code
	}
	switch {
	case req.Generation != g.Generation:
		return illegalGeneration
	case req.ProtocolType != nil && *req.ProtocolType != g.ProtocolType,
		req.Protocol != nil && *req.Protocol != g.Protocol:
		return inconsistentGroupProtocol
	}
	return none
}

// assign takes the leader's assignment: the group is Stable, and who waits for a part of it has it.
func (d *groupDecision) assign(before *projections.Group, req *kmsg.SyncGroupRequest) {
	e := &journal.AssignmentsMade{Group: before.ID}
	for _, a := range req.GroupAssignment {
		if before.Member(a.MemberID) != nil {
			e.Assignments = append(e.Assignments, journal.MemberAssignment{
				Member: a.MemberID, Assignment: bytes.Clone(a.MemberAssignment),
			})
		}
	}
	d.emit(e)
	g := d.group(before.ID)
	for i, m := range g.Members {
		if before.Members[i].Syncs || m.ID == g.Leader {
			d.arm(sessionOf(g.ID, m.ID), m.SessionTimeoutMs, d.seq)
			d.reply(syncOf(g.ID, m.ID), assignmentFor(g, m))
		}
	}
}

func (d *groupDecision) endSyncIfAllSynced(id string) {
	if d.group(id).AllSynced() {
		d.disarm(deadlineKey{group: id, kind: deadlineSync})
	}
}

func refuseSync(code int16) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ErrorCode = code
	return resp
}

func assignmentFor(g *projections.Group, m *projections.Member) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ProtocolType, resp.Protocol, resp.MemberAssignment = &g.ProtocolType, &g.Protocol, m.Assignment
	return resp
}
