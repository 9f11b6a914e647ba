package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// JoinGroup (key 11), v0-v9: a member asks to be in the next generation of a classic group, and waits for it to start.
//
//	v0  the rebalance timeout is the session's        v4  a new member is given an id and comes back with it (KIP-394)
//	v5  group instance ids (KIP-345)                  v7  protocol type and null protocol name in the answer
//	v8  a reason (KIP-800)                            v9  skip_assignment for a leader that came back (KIP-814)
func (b *Broker) joinGroup(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	resp := b.groups.joinGroup(ctx, b.callerOf(r), r.Body.(*kmsg.JoinGroupRequest))
	if resp == nil { // the connection is gone
		return nil, ctx.Err()
	}
	return resp, nil
}

func (c *coordinator) joinGroup(ctx context.Context, from caller, req *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	resp := c.join(ctx, from, req)
	if resp == nil {
		return nil
	}
	if req.Version < 7 && resp.Protocol == nil {
		resp.Protocol = new(string)
	}
	if req.Version >= 7 && resp.Protocol != nil && *resp.Protocol == "" {
		resp.Protocol = nil
	}
	return resp
}

func (c *coordinator) join(ctx context.Context, from caller, req *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	if code := c.checkJoin(req); code != none {
		return refuseJoin(req.MemberID, code)
	}
	if req.Version == 0 {
		req.RebalanceTimeoutMillis = req.SessionTimeoutMillis
	}
	cmd := &joinCommand{req: req, clientID: from.clientID, clientHost: from.clientHost, wait: newWaiter()}
	var resp *kmsg.JoinGroupResponse
	err := c.update(ctx, from.cause, func(d *groupDecision) { resp = d.join(cmd) })
	if err != nil {
		return refuseJoin(req.MemberID, notCoordinator)
	}
	if resp == nil {
		resp, _ = c.await(ctx, cmd.wait).(*kmsg.JoinGroupResponse)
	}
	return resp
}

// maxJoinBytes bounds what one member says of itself: it is kept, and goes to the leader with all others'.
const maxJoinBytes = 1 << 20

// maxProtocols bounds the protocols of one member: a generation looks at all of all members.
const maxProtocols = 1_000

func (c *coordinator) checkJoin(req *kmsg.JoinGroupRequest) int16 {
	switch {
	case req.Group == "" || len(req.Group) > maxName:
		return invalidGroupID
	case req.SessionTimeoutMillis < c.settings.minSessionTimeoutMs, req.SessionTimeoutMillis > c.settings.maxSessionTimeoutMs:
		return invalidSessionTimeout
	case len(req.ProtocolType) > maxName, req.InstanceID != nil && len(*req.InstanceID) > maxName:
		return invalidRequest
	}
	if len(req.Protocols) > maxProtocols {
		return invalidRequest
	}
	bytes := 0
	for _, p := range req.Protocols {
		if len(p.Name) > maxName {
			return invalidRequest
		}
		bytes += len(p.Name) + len(p.Metadata)
	}
	if bytes > maxJoinBytes {
		return invalidRequest
	}
	return none
}
