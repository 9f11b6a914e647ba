package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// Heartbeat (key 12), v0-v4: a member of a classic group is there, and learns whether it must join again. v3 takes group
// instance ids (KIP-345). It is no event: it begins the member's session anew, which is nowhere on disk.
func (b *Broker) heartbeat(_ context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.heartbeat(r.Body.(*kmsg.HeartbeatRequest)), nil
}

func (c *coordinator) heartbeat(req *kmsg.HeartbeatRequest) *kmsg.HeartbeatResponse {
	resp := kmsg.NewPtrHeartbeatResponse()
	if req.Group == "" || len(req.Group) > maxName {
		resp.ErrorCode = invalidGroupID
		return resp
	}
	g := c.view().Groups.Get(req.Group)
	switch {
	case isLong(req.InstanceID):
		resp.ErrorCode = invalidRequest
	case g != nil && g.Consumer != nil:
		resp.ErrorCode = c.heartbeatConsumers(g, req)
	case g == nil || g.Type != journal.GroupClassic:
		resp.ErrorCode = unknownMemberID
	case checkMember(g, req.MemberID, req.InstanceID) != none:
		resp.ErrorCode = checkMember(g, req.MemberID, req.InstanceID)
	case req.Generation != g.Generation:
		resp.ErrorCode = illegalGeneration
	default:
		c.touch(g.ID, req.MemberID, g.Member(req.MemberID).SessionTimeoutMs)
		if g.State == projections.PreparingRebalance {
			resp.ErrorCode = rebalanceInProgress
		}
	}
	return resp
}
