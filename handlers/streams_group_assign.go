package handlers

import (
	"doze/assignors/tasks"
	"doze/journal"
	"doze/projections"
)

// streamsTarget is what the member is to have, and of which epoch. When the group has changed since the last assignment another
// one is made, unless it is too early for that.
func (d *groupDecision) streamsTarget(b *streamsBeat) (epoch int32, target projections.StreamsTasks) {
	g := d.group(b.req.Group).Streams
	if d.streams.of(b.req.Group).delayed > d.at {
		b.status(statusDelayed, "Assignment delayed due to the configured initial rebalance delay.")
		return g.Assigned, projections.StreamsTasks{}
	}
	if g.Assigned < g.Epoch {
		if d.mayAssign(b.req.Group, g) {
			d.assignTasks(b.req.Group, b.configured)
			g = d.group(b.req.Group).Streams
		} else {
			b.status(statusDelayed, "Assignment delayed due to the configured assignment interval.")
		}
	}
	return g.Assigned, g.Member(b.req.MemberID).Target
}

// mayAssign says whether the last assignment is long enough ago.
func (d *groupDecision) mayAssign(id string, g *projections.StreamsGroup) bool {
	interval := int64(d.groupInt(id, "streams.assignment.interval.ms"))
	return g.Made == 0 || interval == 0 || d.at >= g.Made+interval
}

// maxTargetsPerEvent keeps an event of targets small.
const maxTargetsPerEvent = 256

// assignTasks makes the assignment of the group's epoch. Nobody has tasks while the topology's topics are not as they must be.
func (d *groupDecision) assignTasks(id string, configured *configuredTopology) {
	g := d.group(id).Streams
	group := &tasks.Group{Standbys: int(g.Standbys)}
	g.Each(func(m *projections.StreamsMember) bool {
		group.Members = append(group.Members, tasks.Member{
			ID: m.ID, Process: m.Process, Had: tasks.Assignment{Active: taskSets(m.Target.Active), Standby: taskSets(m.Target.Standby)},
		})
		return true
	})
	targets := make([]tasks.Assignment, len(group.Members))
	if configured.ready() {
		for _, p := range configured.parts {
			group.Subtopologies = append(group.Subtopologies, tasks.Subtopology{ID: p.ID, Tasks: p.tasks, Stateful: len(p.Changelogs) > 0})
		}
		targets = tasks.Sticky(group)
	}
	e := &journal.StreamsTargetsChanged{Group: id}
	for i, target := range targets {
		m := g.Member(group.Members[i].ID)
		t := journal.StreamsTarget{Member: m.ID, Active: streamsTasks(target.Active), Standby: streamsTasks(target.Standby)}
		if sameTasks(t.Active, m.Target.Active) && sameTasks(t.Standby, m.Target.Standby) {
			continue
		}
		if e.Targets = append(e.Targets, t); len(e.Targets) == maxTargetsPerEvent {
			d.emit(e)
			e = &journal.StreamsTargetsChanged{Group: id}
		}
	}
	if len(e.Targets) > 0 {
		d.emit(e)
	}
	d.emit(&journal.StreamsTasksAssigned{Group: id, Epoch: g.Epoch})
}

func taskSets(of []journal.StreamsTasks) (out []tasks.Set) {
	for _, t := range of {
		out = append(out, tasks.Set{Subtopology: t.Subtopology, Partitions: t.Partitions})
	}
	return out
}

func streamsTasks(of []tasks.Set) (out []journal.StreamsTasks) {
	for _, s := range of {
		out = append(out, journal.StreamsTasks{Subtopology: s.Subtopology, Partitions: s.Partitions})
	}
	return out
}
