package handlers

import (
	"fmt"
	"hash/fnv"

	"doze/journal"
	"doze/projections"
)

// What is decided for groups of every type, each in its own way.

// deadlinePassed decides what follows from a deadline. The group may be gone, or of another type, since it was set.
func (d *groupDecision) deadlinePassed(key deadlineKey, token uint64) {
	g := d.group(key.group)
	if g == nil {
		return
	}
	switch g.Type {
	case journal.GroupClassic:
		d.classicDeadline(key, token)
	case journal.GroupConsumer:
		d.consumerDeadline(g, key, token)
	case journal.GroupShare:
		d.shareDeadline(g, key, token)
	case journal.GroupStreams:
		d.streamsDeadline(g, key, token)
	}
}

// resume takes up a group after a start: what is nowhere on disk, sessions above all, begins anew.
func (d *groupDecision) resume(id string) {
	switch g := d.group(id); g.Type {
	case journal.GroupClassic:
		d.resumeClassic(id)
	case journal.GroupConsumer:
		d.resumeConsumer(g)
	case journal.GroupShare:
		d.resumeShare(g)
	case journal.GroupStreams:
		d.resumeStreams(g)
	}
}

// convertEmpty makes an Empty group one of another type; its committed offsets stay.
func (d *groupDecision) convertEmpty(g *projections.Group, to journal.GroupType, epoch int32) *projections.Group {
	d.disarmGroup(g)
	d.emit(&journal.GroupConverted{Group: g.ID, Type: to, Epoch: epoch})
	return d.group(g.ID)
}

// disarmGroup takes away all deadlines of a group that is deleted or converted, and what is known of it.
func (d *groupDecision) disarmGroup(g *projections.Group) {
	for _, kind := range []deadlineKind{deadlineJoin, deadlineSync, deadlineAssign} {
		d.disarm(deadlineKey{group: g.ID, kind: kind})
	}
	for _, p := range g.Pending {
		d.disarm(sessionOf(g.ID, p.ID))
	}
	for _, m := range g.Members {
		d.disarm(sessionOf(g.ID, m.ID))
	}
	if g.Consumer != nil {
		d.disarmConsumers(g)
	}
	if g.Share != nil {
		d.disarmSharers(g)
	}
	if g.Streams != nil {
		d.streams.drop(g.ID)
	}
	d.forget(g.ID)
}

// fencedEpoch refuses a member of a newer group whose epoch is greater or smaller than the one it has; also is what else is wrong
// with it.
func fencedEpoch(kind, how string, said, has int32, also string) *refusal {
	return refuse(fencedMemberEpoch, fmt.Sprintf("The %s group member has a %s member epoch (%d) than the one known by the group coordinator (%d)%s. "+
		"The member must abandon all its partitions and rejoin.", kind, how, said, has, also))
}

// topicsHash is over the ids and sizes of those of the topics that exist: it changes when one of them is created, deleted or
// given partitions. Names must be sorted. 0 is the hash of none.
func topicsHash(state *projections.State, names []string) uint64 {
	h, any := fnv.New64a(), false
	for _, name := range names {
		if t := state.Topics.Named(name); t != nil {
			any = true
			h.Write(t.ID[:])
			h.Write([]byte{byte(t.Partitions), byte(t.Partitions >> 8), byte(t.Partitions >> 16), byte(t.Partitions >> 24)})
		}
	}
	if !any {
		return 0
	}
	return h.Sum64()
}
