package handlers

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/assignors"
	"doze/journal"
	"doze/projections"
)

// A heartbeat of a share group is decided in four steps, as in Kafka: who the member is and what it reads now, which may
// raise the group's epoch; the target assignment, if the group's epoch is ahead of it and the last one is old enough; what
// the member has from here on; and last which partitions become the group's, to be assigned with the next heartbeat. A
// refusal drops the whole decision.

// shareHeartbeat decides a ShareGroupHeartbeat.
func (d *groupDecision) shareHeartbeat(c *shareCommand) (*kmsg.ShareGroupHeartbeatResponse, *refusal) {
	if c.req.MemberEpoch == leavingEpoch {
		return d.shareLeave(c.req)
	}
	g, refused := d.shareGroup(c.req.GroupID, c.req.MemberEpoch == joiningEpoch)
	if refused == nil {
		refused = d.roomForSharer(g, c)
	}
	if refused != nil {
		return nil, refused
	}
	was := g.Share.Member(c.req.MemberID)
	if refused := checkSharer(was, c.req); refused != nil {
		return nil, refused
	}
	h := sharerOf{d: d, c: c, group: g.ID, member: c.req.MemberID}
	h.raiseEpoch(h.describe(was))
	h.assignTarget()
	h.reconcile()
	m := h.now().Member(h.member)
	d.arm(sessionOf(g.ID, m.ID), d.groupInt(g.ID, "share.session.timeout.ms"), d.seq)
	full := c.req.MemberEpoch == joiningEpoch || c.req.SubscribedTopicNames != nil || was == nil || !slices.EqualFunc(was.Assigned, m.Assigned, equalPartitions)
	resp := shareAnswer(m, d.groupInt(g.ID, "share.heartbeat.interval.ms"), full)
	h.initialize()
	return resp, nil
}

// shareGroup finds the group, or makes it.
func (d *groupDecision) shareGroup(id string, create bool) (*projections.Group, *refusal) {
	g := d.group(id)
	switch {
	case g == nil && !create:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Share group %s not found.", id))
	case g == nil && d.state.Groups.Len() >= d.settings.limits.groups:
		return nil, refuse(groupMaxSizeReached, "The broker has as many groups as it can hold.")
	case g == nil:
		d.emit(&journal.GroupCreated{Group: id, Type: journal.GroupShare})
		return d.group(id), nil
	case g.Type != journal.GroupShare:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Group %s is not a share group.", id))
	}
	return g, nil
}

// roomForSharer holds the group to group.share.max.size and doze's bounds.
func (d *groupDecision) roomForSharer(g *projections.Group, c *shareCommand) *refusal {
	most, known := int(d.configs.Int("group.share.max.size")), g.Share.Member(c.req.MemberID)
	if len(g.Share.Members) >= most && known == nil {
		return refuse(groupMaxSizeReached, fmt.Sprintf("The share group has reached its maximum capacity of %d members.", most))
	}
	more := int64(1024 + len(c.req.MemberID) + len(c.clientID))
	for _, topic := range c.topics {
		more += int64(len(topic)) + 16
	}
	if known != nil && !c.changes(known) {
		more = 0
	}
	if !d.roomForGroup(g.Bytes(), more) {
		return refuse(groupMaxSizeReached, "The group is as large as it can be.")
	}
	return nil
}

// checkSharer fences a member whose epoch is not the one it has. The one before is good: the answer that told it of its new
// epoch may have been lost.
func checkSharer(m *projections.ShareMember, req *kmsg.ShareGroupHeartbeatRequest) *refusal {
	switch {
	case req.MemberEpoch == joiningEpoch:
		return nil
	case m == nil:
		return notMember(req.MemberID, req.GroupID)
	case req.MemberEpoch > m.Epoch:
		return fencedEpoch("share", "greater", req.MemberEpoch, m.Epoch, "")
	case req.MemberEpoch < m.Epoch && req.MemberEpoch != m.Previous:
		return fencedEpoch("share", "smaller", req.MemberEpoch, m.Epoch, fmt.Sprintf(", and it does not match the previous member epoch (%d)", m.Previous))
	}
	return nil
}

// described is what the member says of itself after the heartbeat: what the request leaves out stays.
func (c *shareCommand) described(m *projections.ShareMember) *journal.ShareMemberJoined {
	e := &journal.ShareMemberJoined{Group: c.req.GroupID, Member: c.req.MemberID, ClientID: c.clientID, ClientHost: c.clientHost}
	if m != nil {
		e.Rack, e.Topics = m.Rack, m.Topics
	}
	if c.req.RackID != nil {
		e.Rack = *c.req.RackID
	}
	if c.req.SubscribedTopicNames != nil {
		e.Topics = c.topics
	}
	return e
}

// sharerOf is the work on one heartbeat of a member.
type sharerOf struct {
	d      *groupDecision
	c      *shareCommand
	group  string
	member string
	raised bool
}

func (h *sharerOf) now() *projections.ShareGroup { return h.d.group(h.group).Share }

// describe notes what the member says of itself, and tells whether it reads other topics than before.
func (h *sharerOf) describe(was *projections.ShareMember) (subscribes bool) {
	e := h.c.described(was)
	switch {
	case was == nil:
		h.d.emit(e)
		return true
	case h.c.changes(was):
		h.d.emit((*journal.ShareMemberChanged)(e))
	}
	return !slices.Equal(was.Topics, e.Topics)
}

// raiseEpoch raises the group's epoch when the member reads other topics, partitions became the group's, or the topics are
// not what they were.
func (h *sharerOf) raiseEpoch(subscribes bool) {
	g := h.now()
	hash := h.d.sharedHash(g)
	reason := journal.ShareEpochTopics
	switch {
	case subscribes:
		reason = journal.ShareEpochSubscribed
	case g.Unassigned && g.TargetEpoch >= g.Epoch:
		reason = journal.ShareEpochInitialized
	case hash == g.Hash:
		return
	}
	h.raised = true
	h.d.emit(&journal.ShareEpochRaised{Group: h.group, Epoch: g.Epoch + 1, Reason: reason, Member: h.member, Hash: hash})
}

// sharedHash is over the topics that the group reads.
func (d *groupDecision) sharedHash(g *projections.ShareGroup) uint64 {
	var names []string
	g.Reads(func(topic string) bool { names = append(names, topic); return true })
	return topicsHash(d.state, names)
}

// assignTarget works the assignment of the group's epoch out, unless the last one is younger than
// share.assignment.interval.ms: then a later heartbeat does.
func (h *sharerOf) assignTarget() {
	g := h.now()
	if g.TargetEpoch >= g.Epoch || g.TargetAt+int64(h.d.groupInt(h.group, "share.assignment.interval.ms")) > h.d.at {
		return
	}
	e := &journal.ShareTargetAssigned{Group: h.group, Epoch: g.Epoch}
	for i, to := range assignors.Simple(h.d.toShare(h.group, g)) {
		m := g.Members[i]
		target := targetOf(to)
		if !slices.EqualFunc(target, m.Target, equalPartitions) {
			e.Members = append(e.Members, journal.ShareTarget{Member: m.ID, Partitions: target})
		}
	}
	h.d.emit(e)
}

// toShare is what there is to assign: partitions that are the group's already, of topics that still exist.
func (d *groupDecision) toShare(id string, g *projections.ShareGroup) *assignors.Group {
	spec := &assignors.Group{Members: make([]assignors.Member, len(g.Members))}
	d.state.ShareStates.OfGroup(id, func(st *projections.ShareState) bool {
		if n := len(spec.Topics); n > 0 && spec.Topics[n-1].ID == st.Topic {
			spec.Topics[n-1].Partitions = st.Partition + 1
		} else {
			spec.Topics = append(spec.Topics, assignors.Topic{ID: st.Topic, Partitions: st.Partition + 1})
		}
		return true
	})
	for i, m := range g.Members {
		to := &spec.Members[i]
		to.ID, to.Topics, to.Had = m.ID, d.topicIDs(m.Topics), hadOf(m.Target)
	}
	return spec
}

// reconcile gives the member what the target assignment has for it of the topics that it reads.
func (h *sharerOf) reconcile() {
	g := h.now()
	m := g.Member(h.member)
	if m.Epoch == g.TargetEpoch && !h.raised {
		return
	}
	e := &journal.ShareMemberReconciled{Group: h.group, Member: h.member, Epoch: m.Epoch, Previous: m.Previous}
	if m.Epoch != g.TargetEpoch {
		e.Epoch, e.Previous = g.TargetEpoch, m.Epoch
	}
	reads := h.d.topicIDs(m.Topics)
	for _, p := range m.Target {
		if slices.Contains(reads, p.TopicID) {
			e.Assigned = append(e.Assigned, p)
		}
	}
	if e.Epoch != m.Epoch || !slices.EqualFunc(e.Assigned, m.Assigned, equalPartitions) {
		h.d.emit(e)
	}
}

// initialize makes partitions of the topics that members read the group's that are not yet.
func (h *sharerOf) initialize() {
	g := h.now()
	g.Reads(func(name string) bool {
		topic := h.d.state.Topics.Named(name)
		if topic == nil {
			return true
		}
		e := &journal.ShareStateInitialized{Group: h.group, Topic: topic.ID, StateEpoch: g.Epoch}
		for p := range topic.Partitions {
			if h.d.state.ShareStates.Get(h.group, topic.ID, p) == nil {
				e.Partitions = append(e.Partitions, journal.ShareStateInit{Partition: p, Start: -1})
			}
		}
		if len(e.Partitions) > 0 && roomForShareStates(h.d.state, len(e.Partitions), h.group) {
			h.d.emit(e)
		}
		return true
	})
	h.d.knowTopics(h.group)
}

// shareLeave decides that a member leaves.
func (d *groupDecision) shareLeave(req *kmsg.ShareGroupHeartbeatRequest) (*kmsg.ShareGroupHeartbeatResponse, *refusal) {
	g := d.group(req.GroupID)
	switch {
	case g == nil:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Group %s not found.", req.GroupID))
	case g.Type != journal.GroupShare:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Group %s is not a share group.", req.GroupID))
	case g.Share.Member(req.MemberID) == nil:
		return nil, notMember(req.MemberID, req.GroupID)
	}
	d.removeSharer(g.ID, req.MemberID, journal.RemovedLeft)
	resp := kmsg.NewPtrShareGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch = &req.MemberID, req.MemberEpoch
	return resp, nil
}

// removeSharer takes a member out of the group. What it has acquired is its session's: that ends with its last request, its
// connection, or the locks.
func (d *groupDecision) removeSharer(group, member string, reason journal.RemovalReason) {
	d.emit(&journal.ShareMemberRemoved{Group: group, Member: member, Reason: reason})
	g := d.group(group).Share
	d.emit(&journal.ShareEpochRaised{Group: group, Epoch: g.Epoch + 1, Reason: journal.ShareEpochRemoved, Member: member, Hash: d.sharedHash(g)})
	d.disarm(sessionOf(group, member))
}

// shareDeadline decides what follows for a share group: there are only sessions.
func (d *groupDecision) shareDeadline(g *projections.Group, key deadlineKey, _ uint64) {
	if key.kind == deadlineSession && g.Share.Member(key.member) != nil {
		d.removeSharer(g.ID, key.member, journal.RemovedSessionExpired)
	}
}

// resumeShare takes a share group up after a start: sessions count from now.
func (d *groupDecision) resumeShare(g *projections.Group) {
	for _, m := range g.Share.Members {
		d.arm(sessionOf(g.ID, m.ID), d.groupInt(g.ID, "share.session.timeout.ms"), d.seq)
	}
}

// disarmSharers takes away the deadlines of a group that is deleted.
func (d *groupDecision) disarmSharers(g *projections.Group) {
	for _, m := range g.Share.Members {
		d.disarm(sessionOf(g.ID, m.ID))
	}
}

// roomForShareStates says whether a group may have so many more partitions.
func roomForShareStates(state *projections.State, n int, group string) bool {
	one := projections.ShareState{Group: group}
	return state.ShareStates.Len()+n <= maxShareStates && state.ShareStates.Bytes()+int64(n)*one.Bytes() <= maxShareStatesBytes
}
