package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// groupLimits is what groups and committed offsets take at most (docs/limits.md). Bytes are as the state reckons them. What
// a group was before a rebalance is not counted: it may take as much again.
type groupLimits struct {
	groups       int
	members      int   // of a group
	pending      int   // ids handed out by a group and not joined with yet
	groupBytes   int64 // of a group
	groupsBytes  int64 // of all groups
	offsets      int
	offsetsBytes int64
}

var defaultGroupLimits = groupLimits{
	groups: 100_000, members: 10_000, pending: 10_000, groupBytes: 64 << 20, groupsBytes: 256 << 20,
	offsets: 4_000_000, offsetsBytes: 512 << 20,
}

// roomToJoin says whether the group, nil when it is to be made, may take what a JoinGroup adds to it.
func (d *groupDecision) roomToJoin(g *projections.Group, c *joinCommand) bool {
	limits := &d.settings.limits
	if g == nil {
		return d.state.Groups.Len() < limits.groups && d.roomForGroup(0, (&projections.Group{ID: c.req.Group}).Bytes()+joinBytes(c))
	}
	m := g.Member(c.req.MemberID)
	if m == nil && c.req.InstanceID != nil {
		m = g.StaticMember(*c.req.InstanceID)
	}
	if m != nil {
		return d.roomForGroup(g.Bytes(), protocolsBytes(c.req)-projections.ProtocolsBytes(m.Protocols))
	}
	switch getsID := c.req.MemberID == "" && c.req.InstanceID == nil && c.req.Version >= 4; {
	case getsID && len(g.Pending) >= limits.pending, len(g.Members) >= limits.members:
		return false
	}
	return d.roomForGroup(g.Bytes(), joinBytes(c))
}

// roomForGroup says whether a group of that many bytes may grow by more.
func (d *groupDecision) roomForGroup(now, more int64) bool {
	limits := &d.settings.limits
	return more <= 0 || now+more <= limits.groupBytes && d.state.Groups.Bytes()+more <= limits.groupsBytes
}

// joinBytes is what a new member will take.
func joinBytes(c *joinCommand) int64 {
	const uuid = 37 // with the dash before it
	m := projections.Member{ID: c.req.MemberID, ClientID: c.clientID, ClientHost: c.clientHost}
	n := m.Bytes() + protocolsBytes(c.req)
	switch {
	case c.req.InstanceID != nil:
		n += 2*int64(len(*c.req.InstanceID)) + uuid
	case c.req.MemberID == "":
		n += int64(len(c.clientID)) + uuid
	}
	return n
}

func protocolsBytes(req *kmsg.JoinGroupRequest) int64 {
	protocols := make([]journal.MemberProtocol, len(req.Protocols))
	for i, p := range req.Protocols {
		protocols[i] = journal.MemberProtocol{Name: p.Name, Metadata: p.Metadata}
	}
	return projections.ProtocolsBytes(protocols)
}

// roomToAssign says whether the group may take the assignments of its leader.
func (d *groupDecision) roomToAssign(g *projections.Group, req *kmsg.SyncGroupRequest) bool {
	return d.roomForGroup(g.Bytes(), int64(assignmentBytes(req)))
}

// roomToCommit says what stands against a commit: nothing, or its size. The group is nil when it is to be made. Offsets that
// take the place of others are taken even when there is no room for more.
func (d *groupDecision) roomToCommit(g *projections.Group, e *journal.OffsetsCommitted) int16 {
	limits, now := &d.settings.limits, d.state.Offsets
	switch {
	case commitBytes(e) > maxCommitBytes:
		return unknownServerError
	case g == nil && d.state.Groups.Len() >= limits.groups,
		g == nil && !d.roomForGroup(0, (&projections.Group{ID: e.Group}).Bytes()):
		return invalidCommitOffsetSize
	}
	count, bytes := d.commitGrowth(e)
	if count > 0 && now.Len()+count > limits.offsets || bytes > 0 && now.Bytes()+bytes > limits.offsetsBytes {
		return invalidCommitOffsetSize
	}
	return none
}

// commitGrowth is how many offsets, and bytes, a commit adds at most: a partition that it names twice counts twice.
func (d *groupDecision) commitGrowth(e *journal.OffsetsCommitted) (count int, bytes int64) {
	var topic string
	var of *projections.OffsetsOfTopic
	for i := range e.Offsets {
		c := &e.Offsets[i]
		if i == 0 || c.Topic != topic {
			topic, of = c.Topic, d.state.Offsets.Topic(e.Group, c.Topic)
			if of == nil {
				bytes += projections.OffsetsOfTopicBytes(e.Group, topic)
			}
		}
		row := projections.CommittedOffset{Metadata: c.Metadata, ExpireAt: c.ExpireAt}
		bytes += row.Bytes()
		if old, had := d.state.Offsets.Get(of, c.Partition); had {
			bytes -= old.Bytes()
		} else {
			count++
		}
	}
	return count, bytes
}
