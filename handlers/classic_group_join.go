package handlers

import (
	"bytes"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// joinCommand is a JoinGroup request as the state machine sees it.
type joinCommand struct {
	req        *kmsg.JoinGroupRequest
	clientID   string
	clientHost string
	wait       *waiter
}

// join decides a JoinGroup. No answer: the request waits for its member's generation.
func (d *groupDecision) join(c *joinCommand) *kmsg.JoinGroupResponse {
	g := d.group(c.req.Group)
	if g == nil {
		if c.req.MemberID != "" {
			return refuseJoin(c.req.MemberID, unknownMemberID)
		}
		if !d.roomToJoin(nil, c) {
			return refuseJoin("", groupMaxSizeReached)
		}
		d.emit(&journal.GroupCreated{Group: c.req.Group, Type: journal.GroupClassic})
		g = d.group(c.req.Group)
	}
	if g.State == projections.Empty && (g.Type == journal.GroupConsumer || g.Type == journal.GroupStreams) {
		if c.req.MemberID != "" {
			return refuseJoin(c.req.MemberID, unknownMemberID)
		}
		g = d.convertEmpty(g, journal.GroupClassic, 0)
	}
	switch {
	case g.Type == journal.GroupConsumer:
		return d.joinConsumers(g, c)
	case g.Type != journal.GroupClassic:
		return refuseJoin("", inconsistentGroupProtocol)
	case !d.hasRoom(g, c.req.MemberID):
		if g.Member(c.req.MemberID) != nil || g.PendingMember(c.req.MemberID) != nil {
			d.remove(g, c.req.MemberID, journal.RemovedGroupFull)
		}
		return refuseJoin("", groupMaxSizeReached)
	case !supports(g, c.req):
		return refuseJoin(c.req.MemberID, inconsistentGroupProtocol)
	case !d.roomToJoin(g, c):
		return refuseJoin("", groupMaxSizeReached)
	case c.req.MemberID == "":
		return d.joinAsNew(g, c)
	}
	return d.joinAgain(g, c)
}

// hasRoom applies group.max.size. During a join phase those count who have joined it: the last to come stay out.
func (d *groupDecision) hasRoom(g *projections.Group, id string) bool {
	m := g.Member(id)
	switch g.State {
	case projections.Empty:
		return true
	case projections.PreparingRebalance:
		return m != nil && m.Rejoins || g.Waiting < d.settings.maxSize
	}
	return m != nil || len(g.Members) < d.settings.maxSize
}

// supports says whether a joiner speaks the group's protocol type and a protocol that all its members support.
func supports(g *projections.Group, req *kmsg.JoinGroupRequest) bool {
	if g.State == projections.Empty {
		return req.ProtocolType != "" && len(req.Protocols) > 0
	}
	return g.ProtocolType == req.ProtocolType && slices.ContainsFunc(req.Protocols, func(p kmsg.JoinGroupRequestProtocol) bool {
		return g.Supporters(p.Name) == len(g.Members)
	})
}

func (d *groupDecision) joinAsNew(g *projections.Group, c *joinCommand) *kmsg.JoinGroupResponse {
	if c.req.InstanceID != nil {
		id := d.newMemberID(*c.req.InstanceID)
		if old := g.StaticMember(*c.req.InstanceID); old != nil {
			return d.replaceStatic(g, c, old, id)
		}
		return d.add(g, c, id)
	}
	id := d.newMemberID(c.clientID)
	if c.req.Version < 4 {
		return d.add(g, c, id)
	}
	d.emit(&journal.MemberIDAssigned{Group: g.ID, Member: id, SessionTimeoutMs: c.req.SessionTimeoutMillis})
	d.arm(sessionOf(g.ID, id), c.req.SessionTimeoutMillis, d.seq)
	return refuseJoin(id, memberIDRequired)
}

func (d *groupDecision) joinAgain(g *projections.Group, c *joinCommand) *kmsg.JoinGroupResponse {
	if g.PendingMember(c.req.MemberID) != nil {
		if c.req.InstanceID != nil { // an id is never handed out to a static member
			return refuseJoin("", unknownServerError)
		}
		return d.add(g, c, c.req.MemberID)
	}
	if code := checkMember(g, c.req.MemberID, c.req.InstanceID); code != none {
		return refuseJoin(c.req.MemberID, code)
	}
	m := g.Member(c.req.MemberID)
	switch leads := g.Leader == m.ID; {
	case g.State == projections.PreparingRebalance:
		return d.rejoin(g, m, c, journal.RebalanceMemberChanged)
	case !sameProtocols(m, c.req):
		return d.rejoin(g, m, c, journal.RebalanceMemberChanged)
	case g.State == projections.CompletingRebalance:
		return currentGeneration(g, m.ID, leads) // its first answer was lost, it seems
	case leads: // so a leader brings about a rebalance when, say, a topic has grown
		return d.rejoin(g, m, c, journal.RebalanceLeaderRejoined)
	}
	return currentGeneration(g, m.ID, false)
}

// sameProtocols says whether a member joins with just what it joined with before, order and metadata included.
func sameProtocols(m *projections.Member, req *kmsg.JoinGroupRequest) bool {
	return slices.EqualFunc(m.Protocols, req.Protocols, func(a journal.MemberProtocol, b kmsg.JoinGroupRequestProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// protocolsOf returns the request's protocols for an event: the request's bytes are the connection's.
func protocolsOf(req *kmsg.JoinGroupRequest) []journal.MemberProtocol {
	out := make([]journal.MemberProtocol, len(req.Protocols))
	for i, p := range req.Protocols {
		out[i] = journal.MemberProtocol{Name: p.Name, Metadata: bytes.Clone(p.Metadata)}
	}
	return out
}

// changedProtocols is protocolsOf, or nil when the member has just these.
func changedProtocols(m *projections.Member, req *kmsg.JoinGroupRequest) []journal.MemberProtocol {
	if sameProtocols(m, req) {
		return nil
	}
	return protocolsOf(req)
}

func (d *groupDecision) add(g *projections.Group, c *joinCommand, id string) *kmsg.JoinGroupResponse {
	e := &journal.MemberJoined{
		Group: g.ID, Member: id, ClientID: c.clientID, ClientHost: c.clientHost,
		SessionTimeoutMs: c.req.SessionTimeoutMillis, RebalanceTimeoutMs: c.req.RebalanceTimeoutMillis,
		ProtocolType: c.req.ProtocolType, Protocols: protocolsOf(c.req), Leads: g.Leader == "",
	}
	if c.req.InstanceID != nil {
		e.Static, e.InstanceID = true, *c.req.InstanceID
	}
	d.emit(e)
	d.arm(sessionOf(g.ID, id), newMemberJoinTimeoutMs, d.seq)
	d.park(joinOf(g.ID, id), c.wait)
	d.rebalanceOrComplete(g.ID, journal.RebalanceMemberJoined, id)
	return nil
}

func (d *groupDecision) rejoin(g *projections.Group, m *projections.Member, c *joinCommand, reason journal.RebalanceReason) *kmsg.JoinGroupResponse {
	d.emit(&journal.MemberRejoined{
		Group: g.ID, Member: m.ID, Protocols: changedProtocols(m, c.req),
		SessionTimeoutMs: c.req.SessionTimeoutMillis, RebalanceTimeoutMs: c.req.RebalanceTimeoutMillis,
	})
	d.park(joinOf(g.ID, m.ID), c.wait)
	d.rebalanceOrComplete(g.ID, reason, m.ID)
	return nil
}

// replaceStatic lets a new process have the place of a static member. In a Stable group whose protocol stays the same,
// that is all (KIP-345); from version 9 on a leader is told that it leads but need not assign (KIP-814), before that it
// is told of a leader that is gone, so that it does not.
func (d *groupDecision) replaceStatic(g *projections.Group, c *joinCommand, old *projections.Member, id string) *kmsg.JoinGroupResponse {
	d.reply(joinOf(g.ID, old.ID), refuseJoin(old.ID, fencedInstanceID))
	d.reply(syncOf(g.ID, old.ID), refuseSync(fencedInstanceID))
	d.disarm(sessionOf(g.ID, old.ID))

	stays := g.State == projections.Stable && selectProtocol(membersWith(g, old, c.req)) == g.Protocol
	d.emit(&journal.StaticMemberReplaced{
		Group: g.ID, InstanceID: old.InstanceID, Old: old.ID, Member: id, Protocols: changedProtocols(old, c.req),
		SessionTimeoutMs: c.req.SessionTimeoutMillis, RebalanceTimeoutMs: c.req.RebalanceTimeoutMillis, Waits: !stays,
	})
	d.arm(sessionOf(g.ID, id), old.SessionTimeoutMs, d.seq)
	if stays {
		return d.replacedInPeace(g, c, id)
	}
	d.park(joinOf(g.ID, id), c.wait)
	if g.State == projections.PreparingRebalance {
		d.completeJoinIfAllJoined(g.ID)
	} else {
		d.prepareRebalance(g.ID, journal.RebalanceStaticReplaced, id)
	}
	return nil
}

func (d *groupDecision) replacedInPeace(before *projections.Group, c *joinCommand, id string) *kmsg.JoinGroupResponse {
	g := d.group(before.ID)
	if c.req.Version < 9 {
		resp := currentGeneration(g, id, false)
		resp.LeaderID = before.Leader
		return resp
	}
	leads := g.Leader == id
	resp := currentGeneration(g, id, leads)
	resp.SkipAssignment = leads
	return resp
}

// membersWith returns the group's members as they are once the request has replaced the protocols of one.
func membersWith(g *projections.Group, old *projections.Member, req *kmsg.JoinGroupRequest) []*projections.Member {
	members := slices.Clone(g.Members)
	changed := *old
	changed.Protocols = protocolsOf(req)
	members[slices.Index(members, old)] = &changed
	return members
}

func refuseJoin(member string, code int16) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID, resp.ErrorCode, resp.Generation = member, code, -1
	return resp
}

// currentGeneration tells a member of the generation it is in; the leader learns of all members.
func currentGeneration(g *projections.Group, member string, withMembers bool) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID, resp.Generation, resp.LeaderID = member, g.Generation, g.Leader
	resp.ProtocolType, resp.Protocol = &g.ProtocolType, &g.Protocol
	if !withMembers {
		return resp
	}
	resp.Members = make([]kmsg.JoinGroupResponseMember, len(g.Members))
	for i, m := range g.Members {
		to := &resp.Members[i]
		to.MemberID, to.ProtocolMetadata = m.ID, m.Metadata(g.Protocol)
		if m.Static {
			to.InstanceID = &m.InstanceID
		}
	}
	return resp
}
