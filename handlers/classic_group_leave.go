package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// leave decides a LeaveGroup of version 3 and later: members leave by themselves, or an administrator names them.
func (d *groupDecision) leave(req *kmsg.LeaveGroupRequest) []kmsg.LeaveGroupResponseMember {
	if g := d.group(req.Group); g != nil && g.Consumer != nil {
		return d.leaveConsumers(g, req)
	}
	out := make([]kmsg.LeaveGroupResponseMember, len(req.Members))
	left, first := false, ""
	for i, m := range req.Members {
		out[i] = kmsg.NewLeaveGroupResponseMember()
		out[i].MemberID, out[i].InstanceID = m.MemberID, m.InstanceID
		var id string
		if id, out[i].ErrorCode = d.leaveOne(req.Group, m.MemberID, m.InstanceID); out[i].ErrorCode == none && !left {
			left, first = true, id
		}
	}
	if !left {
		return out
	}
	switch d.group(req.Group).State {
	case projections.Stable, projections.CompletingRebalance:
		d.prepareRebalance(req.Group, journal.RebalanceMemberRemoved, first)
	case projections.PreparingRebalance:
		d.completeJoinIfAllJoined(req.Group)
	}
	return out
}

// leaveOne removes a member and returns its id. An administrator may name a static member by its instance id alone.
func (d *groupDecision) leaveOne(group, id string, instance *string) (string, int16) {
	g := d.group(group)
	if isLong(instance) {
		return "", invalidRequest
	}
	if g == nil || g.Type != journal.GroupClassic {
		return "", unknownMemberID
	}
	if id == "" && instance != nil {
		if m := g.StaticMember(*instance); m != nil {
			id = m.ID
		}
	}
	if g.PendingMember(id) == nil {
		if code := checkMember(g, id, instance); code != none {
			return "", code
		}
		d.dismiss(g, id)
	}
	d.remove(g, id, journal.RemovedLeft)
	return id, none
}

// dismiss answers the requests that a member which is about to be removed waits with.
func (d *groupDecision) dismiss(g *projections.Group, id string) {
	d.reply(joinOf(g.ID, id), refuseJoin("", unknownMemberID))
	d.reply(syncOf(g.ID, id), refuseSync(unknownMemberID))
}
