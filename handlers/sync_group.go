package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// SyncGroup (key 14), v0-v5: a member asks for its assignment in the current generation and waits for it; the leader
// brings everybody's. v3 takes group instance ids (KIP-345), v5 needs protocol type and name (KIP-559).
func (b *Broker) syncGroup(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	resp := b.groups.syncGroup(ctx, b.callerOf(r), r.Body.(*kmsg.SyncGroupRequest))
	if resp == nil { // the connection is gone
		return nil, ctx.Err()
	}
	return resp, nil
}

func (c *coordinator) syncGroup(ctx context.Context, from caller, req *kmsg.SyncGroupRequest) *kmsg.SyncGroupResponse {
	switch {
	case req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		return refuseSync(inconsistentGroupProtocol)
	case req.Group == "" || len(req.Group) > maxName:
		return refuseSync(invalidGroupID)
	case isLong(req.InstanceID), isLong(req.ProtocolType), isLong(req.Protocol):
		return refuseSync(invalidRequest)
	case assignmentBytes(req) > maxAssignmentBytes:
		return refuseSync(unknownServerError)
	}
	cmd := &syncCommand{req: req, wait: newWaiter()}
	var resp *kmsg.SyncGroupResponse
	err := c.update(ctx, from.cause, func(d *groupDecision) { resp = d.sync(cmd) })
	if err != nil {
		return refuseSync(notCoordinator)
	}
	if resp == nil {
		resp, _ = c.await(ctx, cmd.wait).(*kmsg.SyncGroupResponse)
	}
	return resp
}

// maxAssignmentBytes bounds what a leader may assign: it must fit in an entry of the journal. Kafka has such a bound too, a
// batch of its offsets topic, and answers UNKNOWN_SERVER_ERROR.
const maxAssignmentBytes = 8 << 20

func assignmentBytes(req *kmsg.SyncGroupRequest) int {
	n := 0
	for _, a := range req.GroupAssignment {
		n += len(a.MemberID) + len(a.MemberAssignment)
	}
	return n
}
