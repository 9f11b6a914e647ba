package handlers

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// Members of the classic protocol in a consumer group. Their generation is their epoch; a JoinGroup takes the place of a
// heartbeat that changes something, SyncGroup tells them what they have, and a Heartbeat that is REBALANCE_IN_PROGRESS tells
// them to join again. They have their leader's work done by the coordinator.

// joinConsumers decides a JoinGroup to a consumer group with members.
func (d *groupDecision) joinConsumers(g *projections.Group, c *joinCommand) *kmsg.JoinGroupResponse {
	req, id := c.req, c.req.MemberID
	if id == "" {
		id = d.newConsumerID()
	}
	most := min(d.settings.consumer.maxSize, d.settings.limits.members)
	switch {
	case !d.settings.consumer.upgrade && !d.settings.consumer.downgrade:
		return refuseJoin("", inconsistentGroupProtocol)
	case len(g.Consumer.Members) >= most && g.Consumer.Member(id) == nil, !d.roomForGroup(g.Bytes(), joinBytes(c)):
		return refuseJoin("", groupMaxSizeReached)
	case !supportsClassic(g.Consumer, req):
		return refuseJoin("", inconsistentGroupProtocol)
	case req.MemberID == "" && req.InstanceID == nil && req.Version >= 4:
		return refuseJoin(id, memberIDRequired)
	}
	h := &heartbeatOf{d: d, before: g, group: g.ID, member: id}
	if req.InstanceID != nil && req.MemberID != "" { // Kafka looks for the member before it reads the subscription
		if refused := h.checkStatic(*req.InstanceID, g.Consumer.StaticMember(*req.InstanceID)); refused != nil {
			return refuseJoin("", refused.code)
		}
	}
	sub, ok := parseWholeSubscription(req.Protocols[0].Metadata)
	if !ok {
		return refuseJoin("", unknownServerError)
	}
	if refused := h.findClassic(req); refused != nil {
		return refuseJoin("", refused.code)
	}
	_ = h.describe(h.joined(c, &sub)) // nothing in it is refused: there is no regular expression
	h.raiseEpoch()
	if d.replacesLast(g, req.InstanceID) {
		return h.joinAndDowngrade(&sub)
	}
	h.assignTarget()
	h.reconcile(d.ownedTopics(sub.owned))
	d.disarm(deadlineKey{kind: deadlineRejoin, group: g.ID, member: id})
	d.arm(sessionOf(g.ID, id), req.SessionTimeoutMillis, d.seq)
	d.arm(deadlineKey{kind: deadlineResync, group: g.ID, member: id}, req.RebalanceTimeoutMillis, d.seq)
	return h.joinAnswer(h.now().Member(id))
}

func (h *heartbeatOf) findClassic(req *kmsg.JoinGroupRequest) *refusal {
	if req.InstanceID != nil {
		return h.findStatic(*req.InstanceID, req.MemberID == "", true)
	}
	return h.begin(h.now().Member(h.member))
}

// joined is what a member says of itself by a JoinGroup.
func (h *heartbeatOf) joined(c *joinCommand, sub *consumerSubscription) *journal.ConsumerMemberJoined {
	e := metadataOf(h.group, h.was)
	e.Member, e.ClientID, e.ClientHost = h.member, c.clientID, c.clientHost
	if c.req.InstanceID != nil {
		e.Static, e.InstanceID = true, *c.req.InstanceID
	}
	if sub.rack != "" {
		e.Rack = sub.rack
	}
	if c.req.RebalanceTimeoutMillis != -1 {
		e.RebalanceTimeoutMs = c.req.RebalanceTimeoutMillis
	}
	e.Topics, e.Regex = distinctSorted(sub.topics), ""
	e.Classic, e.SessionTimeoutMs, e.Protocols = true, c.req.SessionTimeoutMillis, protocolsOf(c.req)
	return e
}

func (h *heartbeatOf) joinAnswer(m *projections.ConsumerMember) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID, resp.Generation = m.ID, m.Epoch
	resp.ProtocolType, resp.Protocol = text(consumerProtocolType), text(m.Protocols[0].Name)
	return resp
}

// replacesLast says whether a static member of the classic protocol takes the place of the last one of the consumer protocol,
// so that the group is to be a classic one.
func (d *groupDecision) replacesLast(before *projections.Group, instance *string) bool {
	if instance == nil {
		return false
	}
	old, c := before.Consumer.StaticMember(*instance), before.Consumer
	return old != nil && !old.Classic && c.ClassicMembers() == len(c.Members)-1 && d.settings.consumer.downgrade && len(c.Members) <= d.settings.maxSize
}

// joinAndDowngrade ends a join by which the group becomes a classic one.
func (h *heartbeatOf) joinAndDowngrade(sub *consumerSubscription) *kmsg.JoinGroupResponse {
	rebalance := h.now().TargetEpoch < h.now().Epoch
	if !rebalance {
		h.reconcile(h.d.ownedTopics(sub.owned))
	}
	answer := h.joinAnswer(h.now().Member(h.member))
	g := h.d.group(h.group)
	h.d.disarmGroup(g)
	h.d.becomeClassic(h.group, h.before.Consumer.Epoch, g.Consumer.Members)
	if rebalance {
		h.d.prepareRebalance(h.group, journal.RebalanceStaticReplaced, h.member)
	}
	return answer
}

// supportsClassic says whether a joiner has a protocol that all members of the classic protocol support.
func supportsClassic(c *projections.ConsumerGroup, req *kmsg.JoinGroupRequest) bool {
	return req.ProtocolType == consumerProtocolType && slices.ContainsFunc(req.Protocols, func(p kmsg.JoinGroupRequestProtocol) bool {
		return !slices.ContainsFunc(c.Members, func(m *projections.ConsumerMember) bool {
			return m.Classic && !slices.ContainsFunc(m.Protocols, func(of journal.MemberProtocol) bool { return of.Name == p.Name })
		})
	})
}

// ownedTopics is what a consumer says it has, by topic ids.
func (d *groupDecision) ownedTopics(named []namedPartitions) []kmsg.ConsumerGroupHeartbeatRequestTopic {
	owned := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for _, n := range named {
		if t := d.state.Topics.Named(n.topic); t != nil {
			owned = append(owned, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: t.ID, Partitions: n.partitions})
		}
	}
	return owned
}

// classicMember finds who sends a request of the classic protocol to a consumer group.
func classicMember(c *projections.ConsumerGroup, id string, instance *string, generation int32) (*projections.ConsumerMember, int16) {
	m := c.Member(id)
	if instance != nil {
		if m = c.StaticMember(*instance); m != nil && m.ID != id {
			return nil, fencedInstanceID
		}
	}
	switch {
	case m == nil || !m.Classic:
		return nil, unknownMemberID
	case m.Epoch != generation:
		return nil, illegalGeneration
	}
	return m, none
}

// syncConsumers decides a SyncGroup to a consumer group with members.
func (d *groupDecision) syncConsumers(g *projections.Group, req *kmsg.SyncGroupRequest) *kmsg.SyncGroupResponse {
	m, code := classicMember(g.Consumer, req.MemberID, req.InstanceID, req.Generation)
	switch {
	case code != none:
		return refuseSync(code)
	case req.ProtocolType != nil && *req.ProtocolType != consumerProtocolType, req.Protocol != nil && *req.Protocol != m.Protocols[0].Name:
		return refuseSync(inconsistentGroupProtocol)
	case g.Consumer.TargetEpoch > m.Epoch && m.State != journal.MemberUnrevoked:
		d.armIfAbsent(deadlineKey{kind: deadlineRejoin, group: g.ID, member: m.ID}, m.RebalanceTimeoutMs)
		return refuseSync(rebalanceInProgress)
	}
	d.disarm(deadlineKey{kind: deadlineResync, group: g.ID, member: m.ID})
	d.putOff(sessionOf(g.ID, m.ID), m.SessionTimeoutMs)
	var named []namedPartitions
	for _, p := range m.Assigned {
		if t := d.state.Topics.WithID(p.TopicID); t != nil {
			named = append(named, namedPartitions{t.Name, p.Partitions})
		}
	}
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ProtocolType, resp.Protocol = req.ProtocolType, req.Protocol
	resp.MemberAssignment = encodeAssignment(m.Protocols[0].Metadata, sortedByName(named))
	return resp
}

func sortedByName(list []namedPartitions) []namedPartitions {
	slices.SortFunc(list, func(a, b namedPartitions) int { return strings.Compare(a.topic, b.topic) })
	return list
}

// heartbeatConsumers answers a Heartbeat to a consumer group.
func (c *coordinator) heartbeatConsumers(g *projections.Group, req *kmsg.HeartbeatRequest) int16 {
	m, code := classicMember(g.Consumer, req.MemberID, req.InstanceID, req.Generation)
	if code != none {
		return code
	}
	c.touch(g.ID, m.ID, m.SessionTimeoutMs)
	if m.Epoch < g.Consumer.TargetEpoch || m.State == journal.MemberUnrevoked ||
		m.State == journal.MemberUnreleased && !waitsForOthers(g.Consumer, m) {
		c.armIfAbsent(deadlineKey{kind: deadlineRejoin, group: g.ID, member: m.ID}, m.RebalanceTimeoutMs)
		return rebalanceInProgress
	}
	return none
}

// waitsForOthers says whether somebody has a partition that the member is to have.
func waitsForOthers(c *projections.ConsumerGroup, m *projections.ConsumerMember) bool {
	for _, t := range m.Target {
		for _, p := range t.Partitions {
			if _, has := m.AssignedAt(t.TopicID, p); !has && c.Owned(t.TopicID, p) {
				return true
			}
		}
	}
	return false
}

// leaveConsumers decides a LeaveGroup to a consumer group.
func (d *groupDecision) leaveConsumers(g *projections.Group, req *kmsg.LeaveGroupRequest) []kmsg.LeaveGroupResponseMember {
	out := make([]kmsg.LeaveGroupResponseMember, len(req.Members))
	var gone []string
	for i, leaver := range req.Members {
		out[i] = kmsg.NewLeaveGroupResponseMember()
		out[i].MemberID, out[i].InstanceID = leaver.MemberID, leaver.InstanceID
		m := g.Consumer.Member(leaver.MemberID)
		if leaver.InstanceID != nil {
			m = g.Consumer.StaticMember(*leaver.InstanceID)
		}
		switch {
		case isLong(leaver.InstanceID):
			out[i].ErrorCode = invalidRequest
		case m == nil:
			out[i].ErrorCode = unknownMemberID
		case leaver.InstanceID != nil && leaver.MemberID != "" && m.ID != leaver.MemberID:
			out[i].ErrorCode = fencedInstanceID
		case !slices.Contains(gone, m.ID):
			gone = append(gone, m.ID)
		}
	}
	if len(gone) > 0 {
		d.removeConsumers(g, gone, journal.RemovedLeft)
	}
	return out
}
