package handlers

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// A member comes to its target in steps, told by its heartbeats: it gives back what it is not to have (Unrevoked), then is given
// what nobody else has any more (Unreleased while something is missing), then is Stable in the epoch of the assignment.

// ownedTasks is what the member says that it has; nil: it says nothing of it.
func ownedTasks(req *kmsg.StreamsGroupHeartbeatRequest) *projections.StreamsTasks {
	if req.ActiveTasks == nil || req.StandbyTasks == nil || req.WarmupTasks == nil {
		return nil
	}
	return &projections.StreamsTasks{Active: journalTasks(req.ActiveTasks), Standby: journalTasks(req.StandbyTasks)}
}

func journalTasks(tasks []kmsg.TaskIDs) (out []journal.StreamsTasks) {
	for i := range tasks {
		out = append(out, journal.StreamsTasks{Subtopology: tasks[i].SubtopologyID, Partitions: tasks[i].Partitions})
	}
	return out
}

// ownsOnlyItsOwn says whether a member that comes with an old epoch tells what it has, and has nothing that it was not given.
func ownsOnlyItsOwn(req *kmsg.StreamsGroupHeartbeatRequest, m *projections.StreamsMember) bool {
	owned := ownedTasks(req)
	return owned != nil && within(owned.Active, m.Has.Active) && within(owned.Standby, m.Has.Standby)
}

// tasksOf finds the tasks of a subtopology; nil: there are none.
func tasksOf(tasks []journal.StreamsTasks, subtopology string) *journal.StreamsTasks {
	for i := range tasks {
		if tasks[i].Subtopology == subtopology {
			return &tasks[i]
		}
	}
	return nil
}

func within(some, all []journal.StreamsTasks) bool {
	for _, t := range some {
		of := tasksOf(all, t.Subtopology)
		if of == nil {
			return false
		}
		for _, p := range t.Partitions {
			if _, has := slices.BinarySearch(of.Partitions, p); !has {
				return false
			}
		}
	}
	return true
}

// meet says whether two lists have a task in common; b is sorted.
func meet(a, b []journal.StreamsTasks) bool {
	for _, t := range a {
		if of := tasksOf(b, t.Subtopology); of != nil && slices.ContainsFunc(t.Partitions, func(p int32) bool {
			_, has := slices.BinarySearch(of.Partitions, p)
			return has
		}) {
			return true
		}
	}
	return false
}

// keepsAny says whether a member has not given back all that it is to; one that says nothing of what it has may have not.
func keepsAny(owned, revoked *projections.StreamsTasks) bool {
	return owned == nil || meet(owned.Active, revoked.Active) || meet(owned.Standby, revoked.Standby)
}

// reconcileStreams takes the member a step towards its target, if there is one to take; it says whether its tasks changed.
func (d *groupDecision) reconcileStreams(group, id string, epoch int32, target projections.StreamsTasks, owned *projections.StreamsTasks) (changed bool) {
	g := d.group(group).Streams
	m := g.Member(id)
	e := nextStep(g, m, epoch, target, owned)
	if e == nil {
		return false
	}
	e.Group, e.Member = group, id
	if sameStreamsStep(e, m) {
		return false
	}
	d.emit(e)
	if e.State == journal.StreamsUnrevoked {
		d.arm(reconcileOf(group, id), m.RebalanceTimeoutMs, uint64(uint32(e.Epoch)))
	} else {
		d.disarm(reconcileOf(group, id))
	}
	return !sameTasks(e.Active, m.Has.Active) || !sameTasks(e.Standby, m.Has.Standby)
}

// nextStep is where the member goes from here; nil: nowhere.
func nextStep(g *projections.StreamsGroup, m *projections.StreamsMember, epoch int32, target projections.StreamsTasks, owned *projections.StreamsTasks) *journal.StreamsMemberMoved {
	switch {
	case m.AtTarget(epoch):
		return nil
	case m.State != journal.StreamsUnrevoked:
		return stepTo(g, m, m.Epoch, epoch, target, owned)
	case keepsAny(owned, &m.Revoked):
		return nil
	}
	return stepTo(g, m, m.Epoch+1, epoch, target, owned)
}

// difference is what becomes of one kind of tasks.
type difference struct {
	keep, revoke, assign []journal.StreamsTasks
	missing              bool // some are to be had that others have not given back
}

func stepTo(g *projections.StreamsGroup, m *projections.StreamsMember, now, epoch int32, target projections.StreamsTasks, owned *projections.StreamsTasks) *journal.StreamsMemberMoved {
	active := compareTasks(m.Has.Active, target.Active, epoch, func(s string, p int32) bool {
		_, taken := g.ActiveIn(s, p)
		return taken || g.StandbyIn(s, p, m.Process)
	})
	standby := compareTasks(m.Has.Standby, target.Standby, 0, func(s string, p int32) bool {
		process, taken := g.ActiveIn(s, p)
		return taken && process == m.Process || g.StandbyIn(s, p, m.Process)
	})
	e := &journal.StreamsMemberMoved{Epoch: epoch, Previous: m.Epoch, State: journal.StreamsStable, Active: active.keep, Standby: standby.keep}
	revoked := projections.StreamsTasks{Active: active.revoke, Standby: standby.revoke}
	switch {
	case !revoked.Empty() && keepsAny(owned, &revoked):
		e.Epoch, e.State = now, journal.StreamsUnrevoked
		e.RevokedActive, e.RevokedStandby = revoked.Active, revoked.Standby
	default:
		if active.missing || standby.missing {
			e.State = journal.StreamsUnreleased
		}
		e.Active, e.Standby = joinTasks(active.keep, active.assign), joinTasks(standby.keep, standby.assign)
	}
	return e
}

// compareTasks holds what a member has against what it is to have. epoch is the epoch of active tasks that are new; 0: there are
// no epochs. taken says whether a new one is still elsewhere.
func compareTasks(has, target []journal.StreamsTasks, epoch int32, taken func(string, int32) bool) (diff difference) {
	for _, t := range has {
		wanted := tasksOf(target, t.Subtopology)
		keep, revoke := journal.StreamsTasks{Subtopology: t.Subtopology}, journal.StreamsTasks{Subtopology: t.Subtopology}
		for i, p := range t.Partitions {
			to := &revoke
			if wanted != nil {
				if _, stays := slices.BinarySearch(wanted.Partitions, p); stays {
					to = &keep
				}
			}
			to.Partitions = append(to.Partitions, p)
			if t.Epochs != nil {
				to.Epochs = append(to.Epochs, t.Epochs[i])
			}
		}
		diff.keep, diff.revoke = withTasks(diff.keep, keep), withTasks(diff.revoke, revoke)
	}
	for _, t := range target {
		had := tasksOf(has, t.Subtopology)
		assign := journal.StreamsTasks{Subtopology: t.Subtopology}
		for _, p := range t.Partitions {
			if had != nil {
				if _, has := slices.BinarySearch(had.Partitions, p); has {
					continue
				}
			}
			if taken(t.Subtopology, p) {
				diff.missing = true
				continue
			}
			assign.Partitions = append(assign.Partitions, p)
			if epoch != 0 {
				assign.Epochs = append(assign.Epochs, epoch)
			}
		}
		diff.assign = withTasks(diff.assign, assign)
	}
	return diff
}

func withTasks(all []journal.StreamsTasks, t journal.StreamsTasks) []journal.StreamsTasks {
	if len(t.Partitions) == 0 {
		return all
	}
	return append(all, t)
}

// joinTasks puts two lists without a task in common together.
func joinTasks(a, b []journal.StreamsTasks) []journal.StreamsTasks {
	if len(b) == 0 {
		return a
	}
	out := slices.Clone(a)
	for _, t := range b {
		i, found := slices.BinarySearchFunc(out, t.Subtopology, func(x journal.StreamsTasks, id string) int { return strings.Compare(x.Subtopology, id) })
		if !found {
			out = slices.Insert(out, i, t)
			continue
		}
		out[i] = mergeTasks(out[i], t)
	}
	return out
}

func mergeTasks(a, b journal.StreamsTasks) journal.StreamsTasks {
	out := journal.StreamsTasks{Subtopology: a.Subtopology}
	for len(a.Partitions) > 0 || len(b.Partitions) > 0 {
		from := &a
		if len(a.Partitions) == 0 || len(b.Partitions) > 0 && b.Partitions[0] < a.Partitions[0] {
			from = &b
		}
		out.Partitions = append(out.Partitions, from.Partitions[0])
		from.Partitions = from.Partitions[1:]
		if from.Epochs != nil {
			out.Epochs = append(out.Epochs, from.Epochs[0])
			from.Epochs = from.Epochs[1:]
		}
	}
	return out
}

// sameTasks compares partitions and epochs.
func sameTasks(a, b []journal.StreamsTasks) bool {
	return slices.EqualFunc(a, b, func(x, y journal.StreamsTasks) bool {
		return x.Subtopology == y.Subtopology && slices.Equal(x.Partitions, y.Partitions) && slices.Equal(x.Epochs, y.Epochs)
	})
}

func sameStreamsStep(e *journal.StreamsMemberMoved, m *projections.StreamsMember) bool {
	return e.Epoch == m.Epoch && e.Previous == m.Previous && e.State == m.State && sameTasks(e.Active, m.Has.Active) && sameTasks(e.Standby, m.Has.Standby) &&
		sameTasks(e.RevokedActive, m.Revoked.Active) && sameTasks(e.RevokedStandby, m.Revoked.Standby)
}
