package handlers

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// ShareGroupHeartbeat (key 76), v1 (KIP-932): a member of a share group joins (epoch 0), says that it is there, or leaves
// (-1); the answer tells it its epoch and, when that changed, what it is to read.
//
// The member chooses its own id. There are no static members, and nothing is revoked: several members may read a partition.
// The partitions of the topics that members read become the group's with the first heartbeat that names them, and are
// assigned with the next. A heartbeat that changes nothing is answered from the published state and costs no entry of the
// journal.
func (b *Broker) shareGroupHeartbeat(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.shareHeartbeat(ctx, b.callerOf(r), r.Body.(*kmsg.ShareGroupHeartbeatRequest)), nil
}

// shareCommand is a ShareGroupHeartbeat as the state machine sees it.
type shareCommand struct {
	req        *kmsg.ShareGroupHeartbeatRequest
	topics     []string // the request's, sorted and without doubles
	clientID   string
	clientHost string
}

func (c *coordinator) shareHeartbeat(ctx context.Context, from caller, req *kmsg.ShareGroupHeartbeatRequest) *kmsg.ShareGroupHeartbeatResponse {
	state := c.view()
	if c.level(state, shareVersion) >= 1 && from.access.hidesAny(req.SubscribedTopicNames) {
		return refuseShareMember(&refusal{code: topicAuthorizationFailed})
	}
	if refused := c.checkShareHeartbeat(state, req); refused != nil {
		return refuseShareMember(refused)
	}
	cmd := &shareCommand{req: req, topics: distinctSorted(req.SubscribedTopicNames), clientID: from.clientID, clientHost: from.clientHost}
	if m := c.unchangedShareMember(state, cmd); m != nil {
		c.touch(req.GroupID, m.ID, c.groupInt(state, req.GroupID, "share.session.timeout.ms"))
		return shareAnswer(m, c.groupInt(state, req.GroupID, "share.heartbeat.interval.ms"), req.SubscribedTopicNames != nil)
	}
	var resp *kmsg.ShareGroupHeartbeatResponse
	var refused *refusal
	err := c.update(ctx, from.cause, func(d *groupDecision) {
		if resp, refused = d.shareHeartbeat(cmd); refused != nil {
			d.drop()
		}
	})
	switch {
	case refused != nil:
		return refuseShareMember(refused)
	case err != nil:
		return refuseShareMember(refuse(notCoordinator, notCoordinatorText))
	}
	return resp
}

// checkShareHeartbeat refuses what is wrong whatever the group is.
func (c *coordinator) checkShareHeartbeat(state *projections.State, req *kmsg.ShareGroupHeartbeatRequest) *refusal {
	const longestMember = 36
	switch {
	case c.level(state, shareVersion) < 1:
		return &refusal{code: unsupportedVersion}
	case req.MemberID == "" || utf16Len(req.MemberID) > longestMember:
		return &refusal{code: invalidRequest}
	case isBlank(req.MemberID):
		return refuse(invalidRequest, "MemberId can't be empty.")
	case isBlank(req.GroupID):
		return refuse(invalidRequest, "GroupId can't be empty.")
	case len(req.GroupID) > maxName:
		return refuse(invalidGroupID, "The group id is invalid.")
	case isLong(req.RackID) || slices.ContainsFunc(req.SubscribedTopicNames, func(name string) bool { return isLong(&name) }):
		return refuse(invalidRequest, "The name is too long.")
	case req.RackID != nil && isBlank(*req.RackID):
		return refuse(invalidRequest, "RackId can't be empty.")
	case req.MemberEpoch == joiningEpoch && len(req.SubscribedTopicNames) == 0:
		return refuse(invalidRequest, "SubscribedTopicNames must be set in first request.")
	case req.MemberEpoch < leavingEpoch:
		return refuse(invalidRequest, "MemberEpoch is invalid.")
	}
	return nil
}

// unchangedShareMember gives the member when its heartbeat changes nothing; nil when that is to be decided.
func (c *coordinator) unchangedShareMember(state *projections.State, cmd *shareCommand) *projections.ShareMember {
	g := state.Groups.Get(cmd.req.GroupID)
	if g == nil || g.Share == nil || cmd.req.MemberEpoch <= 0 {
		return nil
	}
	m := g.Share.Member(cmd.req.MemberID)
	switch {
	case m == nil, cmd.req.MemberEpoch != m.Epoch, m.Epoch != g.Share.Epoch, g.Share.Unassigned, cmd.changes(m), !c.knowsTopics(g.ID, state):
		return nil
	}
	return m
}

// changes says whether the member says something else of itself than before.
func (c *shareCommand) changes(m *projections.ShareMember) bool {
	e := c.described(m)
	return e.Rack != m.Rack || e.ClientID != m.ClientID || e.ClientHost != m.ClientHost || !slices.Equal(e.Topics, m.Topics)
}

func refuseShareMember(r *refusal) *kmsg.ShareGroupHeartbeatResponse {
	resp := kmsg.NewPtrShareGroupHeartbeatResponse()
	resp.ErrorCode, resp.ErrorMessage = r.code, r.message
	return resp
}

// shareAnswer tells a member its epoch and, when it is to be told, what it has.
func shareAnswer(m *projections.ShareMember, intervalMs int32, full bool) *kmsg.ShareGroupHeartbeatResponse {
	resp := kmsg.NewPtrShareGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch, resp.HeartbeatIntervalMillis = &m.ID, m.Epoch, intervalMs
	if !full {
		return resp
	}
	assigned := kmsg.NewShareGroupHeartbeatResponseAssignment()
	for _, p := range m.Assigned {
		t := kmsg.NewShareGroupHeartbeatResponseAssignmentTopicPartition()
		t.TopicID, t.Partitions = p.TopicID, p.Partitions
		assigned.TopicPartitions = append(assigned.TopicPartitions, t)
	}
	resp.Assignment = &assigned
	return resp
}
