package handlers

import (
	"fmt"
	"slices"

	"doze/journal"
	"doze/projections"
)

// A group changes its type while members are in it (group.consumer.migration.policy). A classic group becomes a consumer group
// when a member heartbeats to it: its members go on with the classic protocol, at the generation as their epoch and with what
// their leader gave them. A consumer group becomes a classic one when only members of the classic protocol are left.

// upgrade makes a consumer group of a classic group with members.
func (d *groupDecision) upgrade(g *projections.Group) (*projections.Group, *refusal) {
	refused := func(why string) *refusal {
		return refuse(groupIDNotFound, fmt.Sprintf("Cannot upgrade classic group %s to consumer group because %s", g.ID, why))
	}
	switch {
	case !d.settings.consumer.upgrade:
		return nil, refused("online upgrade is disabled.")
	case g.ProtocolType != consumerProtocolType:
		return nil, refused("the group does not use the consumer embedded protocol.")
	case len(g.Members) > d.settings.consumer.maxSize:
		return nil, refused("the group size exceeds the consumer group maximum size.")
	}
	members := make([]upgraded, len(g.Members))
	taken := map[takenPartition]bool{}
	for i, m := range g.Members {
		var code int16
		if members[i], code = d.upgradeMember(g, m, taken); code == inconsistentGroupProtocol {
			return nil, refused("the embedded consumer protocol is malformed.")
		} else if code == unsupportedVersion {
			return nil, refused("an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before re-attempting the upgrade.")
		} else if code != none {
			return nil, &refusal{code: code}
		}
	}
	d.dismissClassic(g)
	d.becomeConsumers(g, members)
	return d.group(g.ID), nil
}

// upgraded is a member of a classic group as one of a consumer group.
type upgraded struct {
	joined   *journal.ConsumerMemberJoined
	assigned []journal.OwnedPartitions
}

type takenPartition struct {
	topic     [16]byte
	partition int32
}

// upgradeMember reads what a member says in the group's protocol, and what it was given.
func (d *groupDecision) upgradeMember(g *projections.Group, m *projections.Member, taken map[takenPartition]bool) (u upgraded, code int16) {
	var named []namedPartitions
	if len(m.Assignment) > 0 {
		var userData, ok bool
		if named, userData, ok = parseAssignment(m.Assignment); !ok {
			return u, inconsistentGroupProtocol
		} else if userData {
			return u, unsupportedVersion
		}
	}
	protocol := g.Protocol
	if protocol == "" { // before the first generation
		protocol = selectProtocol(g.Members)
	}
	sub, ok := parseWholeSubscription(m.Metadata(protocol))
	if !ok {
		return u, inconsistentGroupProtocol
	}
	u.assigned = ownedByID(d.state, named, firstEpoch(g))
	for _, p := range u.assigned {
		for _, n := range p.Partitions {
			key := takenPartition{p.TopicID, n}
			if taken[key] {
				return u, unknownServerError
			}
			taken[key] = true
		}
	}
	u.joined = &journal.ConsumerMemberJoined{
		Group: g.ID, Member: m.ID, Static: m.Static, InstanceID: m.InstanceID, Rack: sub.rack, ClientID: m.ClientID, ClientHost: m.ClientHost,
		RebalanceTimeoutMs: m.RebalanceTimeoutMs, Topics: distinctSorted(sub.topics), Classic: true,
		SessionTimeoutMs: m.SessionTimeoutMs, Protocols: m.Protocols,
	}
	return u, none
}

// dismissClassic sends members that wait in a classic group back to join, and takes away its deadlines.
func (d *groupDecision) dismissClassic(g *projections.Group) {
	for _, m := range g.Members {
		d.reply(joinOf(g.ID, m.ID), refuseJoin(m.ID, rebalanceInProgress))
		d.reply(syncOf(g.ID, m.ID), refuseSync(rebalanceInProgress))
	}
	d.disarmGroup(g)
}

// firstEpoch is the epoch that a classic group begins with as a consumer group: its generation; or, before the first, that of an
// Empty group, because epoch 0 is of one who joins.
func firstEpoch(g *projections.Group) int32 { return max(g.Generation, 1) }

func (d *groupDecision) becomeConsumers(g *projections.Group, members []upgraded) {
	var names []string
	for _, u := range members {
		names = append(names, u.joined.Topics...)
	}
	hash := topicsHash(d.state, distinctSorted(names))
	epoch := firstEpoch(g)
	d.emit(&journal.GroupConverted{Group: g.ID, Type: journal.GroupConsumer, Epoch: epoch, Hash: hash})
	target := &journal.ConsumerTargetAssigned{Group: g.ID, Epoch: epoch} // by nobody here: it may be worked out anew at once
	for _, u := range members {
		d.emit(u.joined)
		t := journal.ConsumerTarget{Member: u.joined.Member}
		for _, p := range u.assigned {
			t.Partitions = append(t.Partitions, journal.TopicPartitions{TopicID: p.TopicID, Partitions: p.Partitions})
		}
		target.Members = append(target.Members, t)
	}
	d.emit(target)
	for _, u := range members {
		d.emit(&journal.ConsumerMemberReconciled{
			Group: g.ID, Member: u.joined.Member, Epoch: epoch, Previous: epoch, Assigned: u.assigned,
		})
		d.arm(sessionOf(g.ID, u.joined.Member), u.joined.SessionTimeoutMs, d.seq)
	}
}

// mayDowngrade says whether the group is to be a classic one when those members are gone.
func (d *groupDecision) mayDowngrade(g *projections.Group, gone []string) bool {
	left, classic := len(g.Consumer.Members)-len(gone), g.Consumer.ClassicMembers()
	for _, id := range gone {
		if g.Consumer.Member(id).Classic {
			classic--
		}
	}
	return left > 0 && classic == left && d.settings.consumer.downgrade && left <= d.settings.maxSize
}

// downgrade makes a classic group of a consumer group without those members; false: its members' metadata cannot be read.
func (d *groupDecision) downgrade(g *projections.Group, gone []string, reason journal.RemovalReason) bool {
	var left []*projections.ConsumerMember
	for _, m := range g.Consumer.Members {
		if !slices.Contains(gone, m.ID) {
			left = append(left, m)
		}
	}
	d.disarmGroup(g)
	for _, id := range gone {
		d.emit(&journal.ConsumerMemberRemoved{Group: g.ID, Member: id, Reason: reason})
	}
	d.becomeClassic(g.ID, g.Consumer.Epoch, left)
	d.prepareRebalance(g.ID, journal.RebalanceMemberRemoved, gone[0])
	return true
}

// becomeClassic makes the group a Stable classic one of those members, in which each has what it was to have.
func (d *groupDecision) becomeClassic(group string, generation int32, members []*projections.ConsumerMember) {
	d.emit(&journal.GroupConverted{Group: group, Type: journal.GroupClassic, Epoch: generation})
	for i, m := range members {
		d.emit(&journal.MemberJoined{
			Group: group, Member: m.ID, Static: m.Static, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost,
			SessionTimeoutMs: m.SessionTimeoutMs, RebalanceTimeoutMs: m.RebalanceTimeoutMs, ProtocolType: consumerProtocolType,
			Protocols: m.Protocols, Leads: i == 0,
		})
	}
	g := d.group(group)
	protocol := selectProtocol(g.Members)
	topics, known := subscriptions(g, protocol)
	d.emit(&journal.GenerationStarted{
		Group: group, Generation: generation, Protocol: protocol, Leader: members[0].ID, SubscriptionsKnown: known, Subscribed: topics,
	})
	made := &journal.AssignmentsMade{Group: group}
	for _, m := range members {
		made.Assignments = append(made.Assignments, journal.MemberAssignment{
			Member: m.ID, Assignment: encodeAssignment(d.group(group).Member(m.ID).Metadata(protocol), d.targetByName(m)),
		})
	}
	d.emit(made)
	for i, m := range members {
		if i > 0 {
			d.emit(&journal.MemberSynced{Group: group, Member: m.ID})
		}
		d.arm(sessionOf(group, m.ID), m.SessionTimeoutMs, d.seq)
	}
}

// targetByName is what the member is to have, of topics that exist, in the order of their names.
func (d *groupDecision) targetByName(m *projections.ConsumerMember) []namedPartitions {
	var list []namedPartitions
	for _, p := range m.Target {
		if t := d.state.Topics.WithID(p.TopicID); t != nil {
			list = append(list, namedPartitions{t.Name, p.Partitions})
		}
	}
	return sortedByName(list)
}
