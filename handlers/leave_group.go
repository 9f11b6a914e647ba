package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// LeaveGroup (key 13), v0-v5: members leave a classic group. v3 takes several, by member id or, for an administrator, by
// group instance id (KIP-345); v5 a reason (KIP-800).
func (b *Broker) leaveGroup(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.leaveGroup(ctx, b.callerOf(r), r.Body.(*kmsg.LeaveGroupRequest)), nil
}

func (c *coordinator) leaveGroup(ctx context.Context, from caller, req *kmsg.LeaveGroupRequest) *kmsg.LeaveGroupResponse {
	resp := kmsg.NewPtrLeaveGroupResponse()
	if req.Group == "" || len(req.Group) > maxName {
		resp.ErrorCode = invalidGroupID
		return resp
	}
	if req.Version < 3 {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = req.MemberID
		req.Members = []kmsg.LeaveGroupRequestMember{m}
	}
	err := c.update(ctx, from.cause, func(d *groupDecision) { resp.Members = d.leave(req) })
	switch {
	case err != nil:
		resp.Members, resp.ErrorCode = nil, notCoordinator
	case req.Version < 3:
		resp.ErrorCode, resp.Members = resp.Members[0].ErrorCode, nil
	}
	return resp
}
