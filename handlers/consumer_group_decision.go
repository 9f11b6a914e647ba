package handlers

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// A heartbeat of a consumer group is decided in three steps, as in Kafka: who the member is and what it reads now, which may
// raise the group's epoch; the target assignment, if the group's epoch is ahead of it and the last one is old enough; and
// the member's next step from what it has to what it is to have. A refusal drops the whole decision.

// consumerHeartbeat decides a ConsumerGroupHeartbeat.
func (d *groupDecision) consumerHeartbeat(c *consumerCommand) (*kmsg.ConsumerGroupHeartbeatResponse, *refusal) {
	if c.req.MemberEpoch == leavingEpoch || c.req.MemberEpoch == leavingStaticEpoch {
		return d.consumerLeave(c.req)
	}
	g, refused := d.consumerGroup(c.req.Group, c.req.MemberEpoch == joiningEpoch)
	if refused != nil {
		return nil, refused
	}
	if refused := d.roomForConsumer(g, c); refused != nil {
		return nil, refused
	}
	h := &heartbeatOf{d: d, c: c, before: g, group: g.ID, member: c.req.MemberID}
	if h.member == "" {
		h.member = d.newConsumerID()
	}
	if refused := h.find(); refused != nil {
		return nil, refused
	}
	if refused := h.describe(c.described(h.was, h.member)); refused != nil {
		return nil, refused
	}
	h.raiseEpoch()
	h.assignTarget()
	h.reconcile(c.req.Topics)
	m := d.group(g.ID).Consumer.Member(h.member)
	d.arm(sessionOf(g.ID, m.ID), d.groupInt(g.ID, "consumer.session.timeout.ms"), d.seq)
	changed := !slices.EqualFunc(h.was.Assigned, m.Assigned, equalOwned)
	full := c.req.MemberEpoch == joiningEpoch || c.isFull() || changed
	return consumerAnswer(m, d.groupInt(g.ID, "consumer.heartbeat.interval.ms"), full), nil
}

func (d *groupDecision) newConsumerID() string { return journal.ID(d.newUUID()) }

// consumerGroup finds the group, or makes it. A classic group whose members are consumers becomes a consumer group.
func (d *groupDecision) consumerGroup(id string, create bool) (*projections.Group, *refusal) {
	g := d.group(id)
	switch {
	case g == nil && !create:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Consumer group %s not found.", id))
	case g == nil:
		if d.state.Groups.Len() >= d.settings.limits.groups {
			return nil, refuse(groupMaxSizeReached, "The broker has as many groups as it can hold.")
		}
		d.emit(&journal.GroupCreated{Group: id, Type: journal.GroupConsumer})
		return d.group(id), nil
	case g.Type == journal.GroupConsumer:
		return g, nil
	case create && g.Type == journal.GroupClassic && g.State == projections.Empty:
		return d.convertEmpty(g, journal.GroupConsumer, 1), nil
	case create && g.Type == journal.GroupClassic:
		return d.upgrade(g)
	}
	return nil, refuse(groupIDNotFound, fmt.Sprintf("Group %s is not a consumer group.", id))
}

// roomForConsumer holds the group to group.consumer.max.size and doze's bounds.
func (d *groupDecision) roomForConsumer(g *projections.Group, c *consumerCommand) *refusal {
	most := min(d.settings.consumer.maxSize, d.settings.limits.members)
	known := g.Consumer.Member(c.req.MemberID)
	if len(g.Consumer.Members) >= most && known == nil {
		return refuse(groupMaxSizeReached, fmt.Sprintf("The consumer group has reached its maximum capacity of %d members.", most))
	}
	more := int64(1024 + len(c.req.MemberID) + len(c.clientID))
	for _, topic := range c.topics {
		more += int64(len(topic)) + 16
	}
	if known == nil && !d.roomForGroup(g.Bytes(), more) {
		return refuse(groupMaxSizeReached, "The group is as large as it can be.")
	}
	return nil
}

// heartbeatOf is the work on one heartbeat of a member, by the consumer protocol or a JoinGroup.
type heartbeatOf struct {
	d      *groupDecision
	c      *consumerCommand // nil: a JoinGroup
	before *projections.Group
	group  string
	member string

	was           *projections.ConsumerMember // before; of a new member empty
	isNew         bool
	topicsChanged bool
	regex         regexChange
}

// regexChange is what a heartbeat does to the member's regular expression.
type regexChange uint8

const (
	regexSame     regexChange = iota
	regexUpdated              // to one whose topics are not known yet
	regexResolved             // to one whose topics are known, or to none
)

func (h *heartbeatOf) now() *projections.ConsumerGroup { return h.d.group(h.group).Consumer }

// find finds the member that the heartbeat is of, or begins a new one.
func (h *heartbeatOf) find() *refusal {
	req, g := h.c.req, h.now()
	if req.InstanceID != nil {
		return h.findStatic(*req.InstanceID, req.MemberEpoch == joiningEpoch, false)
	}
	m := g.Member(h.member)
	if m == nil && req.MemberEpoch != joiningEpoch {
		return notMember(h.member, h.group)
	}
	return h.begin(m)
}

func notMember(member, group string) *refusal {
	return refuse(unknownMemberID, fmt.Sprintf("Member %s is not a member of group %s.", member, group))
}

func fencedInstance(member, instance, by string) *refusal {
	return refuse(fencedInstanceID, fmt.Sprintf("Static member %s with instance id %s was fenced by member %s.", member, instance, by))
}

// findStatic finds the member of an instance id. A new process takes the place of one that has left for a while, or that
// speaks the classic protocol.
func (h *heartbeatOf) findStatic(instance string, joins, classic bool) *refusal {
	old := h.now().StaticMember(instance)
	if !joins {
		if refused := h.checkStatic(instance, old); refused != nil {
			return refused
		}
		return h.begin(old)
	}
	switch {
	case old == nil:
		return h.begin(h.now().Member(h.member))
	case !classic && !old.Classic && old.Epoch != leavingStaticEpoch:
		return refuse(unreleasedInstanceID, fmt.Sprintf("Static member %s with instance id %s cannot join the group because the instance id is owned by %s member.",
			h.member, instance, old.ID))
	}
	return h.replace(old)
}

// checkStatic refuses a member that brings an instance id which nobody has, or another one.
func (h *heartbeatOf) checkStatic(instance string, holder *projections.ConsumerMember) *refusal {
	switch {
	case holder == nil:
		return refuse(unknownMemberID, fmt.Sprintf("Instance id %s is unknown.", instance))
	case holder.ID != h.member:
		return fencedInstance(h.member, instance, holder.ID)
	}
	return nil
}

// replace lets the member have the place of the one that had its instance id.
func (h *heartbeatOf) replace(old *projections.ConsumerMember) *refusal {
	if old.ID != h.member {
		h.d.disarmConsumer(h.group, old.ID)
		if h.now().Member(h.member) != nil { // a member of its own until now
			h.d.disarmConsumer(h.group, h.member)
			h.d.emit(&journal.ConsumerMemberRemoved{Group: h.group, Member: h.member, Reason: journal.RemovedLeft})
		}
	}
	h.d.emit(&journal.ConsumerMemberReplaced{Group: h.group, InstanceID: old.InstanceID, Old: old.ID, Member: h.member})
	return h.begin(h.now().Member(h.member))
}

// begin notes what the member was. One by the consumer protocol must know its epoch.
func (h *heartbeatOf) begin(m *projections.ConsumerMember) *refusal {
	if h.was, h.isNew = m, m == nil; h.isNew {
		h.was = &projections.ConsumerMember{ID: h.member, Previous: -1, RebalanceTimeoutMs: -1}
		return nil
	}
	if h.c == nil {
		return nil
	}
	return checkMemberEpoch(m, h.c.req)
}

// checkMemberEpoch fences a member whose epoch is not the one it has. The epoch before is good for a member that has nothing
// which it is not to have: the answer that told it of its new epoch may have been lost.
func checkMemberEpoch(m *projections.ConsumerMember, req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	fenced := func(how string) *refusal { return fencedEpoch("consumer", how, req.MemberEpoch, m.Epoch, "") }
	switch {
	case req.MemberEpoch == joiningEpoch, req.MemberEpoch == m.Epoch:
		return nil
	case req.MemberEpoch > m.Epoch:
		return fenced("greater")
	case req.MemberEpoch != m.Previous || !ownsOnly(req.Topics, m.Assigned):
		return fenced("smaller")
	}
	return nil
}

// ownsOnly says whether all that a member says it has is assigned to it; not when it says nothing.
func ownsOnly(owned []kmsg.ConsumerGroupHeartbeatRequestTopic, assigned []journal.OwnedPartitions) bool {
	for _, t := range owned {
		i, found := slices.BinarySearchFunc(assigned, t.TopicID, compareOwned)
		if !found {
			return false
		}
		for _, p := range t.Partitions {
			if _, has := slices.BinarySearch(assigned[i].Partitions, p); !has {
				return false
			}
		}
	}
	return owned != nil
}

// described is what the member says of itself after the heartbeat: what the request leaves out stays.
func (c *consumerCommand) described(m *projections.ConsumerMember, id string) *journal.ConsumerMemberJoined {
	e := metadataOf(c.req.Group, m)
	e.Member, e.ClientID, e.ClientHost = id, c.clientID, c.clientHost
	e.Classic, e.SessionTimeoutMs, e.Protocols = false, 0, nil
	if c.req.InstanceID != nil {
		e.Static, e.InstanceID = true, *c.req.InstanceID
	}
	take := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	take(&e.Rack, c.req.RackID)
	take(&e.Regex, c.req.SubscribedTopicRegex)
	take(&e.Assignor, c.req.ServerAssignor)
	if c.req.RebalanceTimeoutMillis != -1 {
		e.RebalanceTimeoutMs = c.req.RebalanceTimeoutMillis
	}
	if c.req.SubscribedTopicNames != nil {
		e.Topics = c.topics
	}
	return e
}

// metadataOf is what a member has said of itself.
func metadataOf(group string, m *projections.ConsumerMember) *journal.ConsumerMemberJoined {
	return &journal.ConsumerMemberJoined{
		Group: group, Member: m.ID, Static: m.Static, InstanceID: m.InstanceID, Rack: m.Rack, ClientID: m.ClientID, ClientHost: m.ClientHost,
		RebalanceTimeoutMs: m.RebalanceTimeoutMs, Topics: m.Topics, Regex: m.Regex, Assignor: m.Assignor,
		Classic: m.Classic, SessionTimeoutMs: m.SessionTimeoutMs, Protocols: m.Protocols,
	}
}

// describe notes what the member says of itself.
func (h *heartbeatOf) describe(e *journal.ConsumerMemberJoined) *refusal {
	if refused := h.changeRegex(e.Regex); refused != nil {
		return refused
	}
	h.topicsChanged = !slices.Equal(h.was.Topics, e.Topics)
	if h.isNew {
		h.d.emit(e)
	} else if !sameMetadata(metadataOf(h.group, h.was), e) {
		h.d.emit((*journal.ConsumerMemberChanged)(e))
	}
	h.dropRegex(e.Regex)
	return nil
}

func sameMetadata(a, b *journal.ConsumerMemberJoined) bool {
	sameProtocol := func(a, b journal.MemberProtocol) bool {
		return a.Name == b.Name && string(a.Metadata) == string(b.Metadata)
	}
	return a.Static == b.Static && a.InstanceID == b.InstanceID && a.Rack == b.Rack && a.ClientID == b.ClientID && a.ClientHost == b.ClientHost &&
		a.RebalanceTimeoutMs == b.RebalanceTimeoutMs && slices.Equal(a.Topics, b.Topics) && a.Regex == b.Regex && a.Assignor == b.Assignor &&
		a.Classic == b.Classic && a.SessionTimeoutMs == b.SessionTimeoutMs && slices.EqualFunc(a.Protocols, b.Protocols, sameProtocol)
}

// changeRegex looks at the member's new regular expression: one that nobody had must be good.
func (h *heartbeatOf) changeRegex(regex string) *refusal {
	if regex == h.was.Regex {
		return nil
	}
	h.regex = regexUpdated
	_, resolved := h.before.Consumer.Resolved(regex)
	switch {
	case regex == "", resolved && h.before.Consumer.SubscribedTo(regex) > 0:
		h.regex = regexResolved
	case h.before.Consumer.SubscribedTo(regex) == 0 && h.c.invalid != "":
		return refuse(invalidRegularExpression, fmt.Sprintf("SubscribedTopicRegex `%s` is not a valid regular expression: %s.", regex, h.c.invalid))
	}
	return nil
}

// dropRegex forgets the regular expression that the member was the last to be subscribed to.
func (h *heartbeatOf) dropRegex(now string) {
	if was := h.was.Regex; was != "" && was != now && h.now().SubscribedTo(was) == 0 {
		if _, resolved := h.now().Resolved(was); resolved {
			h.d.emit(&journal.ConsumerRegexesResolved{Group: h.group, Dropped: []string{was}})
		}
	}
}

func (h *heartbeatOf) subscriptionChanged() bool { return h.topicsChanged || h.regex != regexSame }

// raiseEpoch raises the group's epoch when the member reads other topics, or the topics are not what they were. Regular
// expressions are resolved anew when there may be topics that they have not been held against.
func (h *heartbeatOf) raiseEpoch() {
	reason := journal.EpochMemberSubscribed
	hash := h.d.readHash(h.now())
	raise := h.topicsChanged || h.regex == regexResolved || h.c == nil && h.regex != regexSame
	if h.regex != regexUpdated { // what it stands for raises the epoch once that is known
		if !raise && hash != h.now().Hash {
			raise, reason = true, journal.EpochTopicsChanged
		}
		h.d.knowTopics(h.group)
	}
	if raise {
		h.d.emit(&journal.ConsumerEpochRaised{Group: h.group, Epoch: h.now().Epoch + 1, Reason: reason, Member: h.member, Hash: hash})
	}
	if h.d.hasRegex(h.group) {
		h.d.resolveRegexes(h.group, h.regex == regexUpdated)
	}
}

// readHash is over the topics that the group reads.
func (d *groupDecision) readHash(c *projections.ConsumerGroup) uint64 {
	var names []string
	c.Readers(func(r projections.TopicReaders) bool { names = append(names, r.Topic); return true })
	return topicsHash(d.state, names)
}

func (d *groupDecision) hasRegex(group string) bool {
	return slices.ContainsFunc(d.group(group).Consumer.Members, func(m *projections.ConsumerMember) bool { return m.Regex != "" })
}
