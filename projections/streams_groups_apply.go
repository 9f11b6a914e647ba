package projections

import (
	"fmt"

	"doze/journal"
)

// changeStreams folds one event into a copy of a streams group and puts the copy in the group's place.
func (s *State) changeStreams(id string, at int64, change func(g *StreamsGroup) error) error {
	return s.changeGroup(id, func(g *Group) error {
		if g.Streams == nil {
			return fmt.Errorf("it is no streams group")
		}
		streams := *g.Streams
		if err := change(&streams); err != nil {
			return err
		}
		streams.share()
		g.Streams = &streams
		g.enter(streams.state(), at)
		return nil
	})
}

// share marks the trees as ones that others see: the next change of the group, a copy, copies them first.
func (g *StreamsGroup) share() { g.members, g.holders = g.members.clone(), g.holders.clone() }

// applyOfStreamsGroup folds an event of streams groups; known is false when it is none.
func (s *State) applyOfStreamsGroup(_ uint64, at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.StreamsMemberSaid:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.said(e) })
	case *journal.StreamsTopologySet:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.setTopology(e) })
	case *journal.StreamsGroupBumped:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.bumped(e) })
	case *journal.StreamsTargetsChanged:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.targeted(e) })
	case *journal.StreamsTasksAssigned:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.assigned(at, e) })
	case *journal.StreamsMemberMoved:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.moved(e) })
	case *journal.StreamsMemberRemoved:
		return true, s.changeStreams(e.Group, at, func(g *StreamsGroup) error { return g.removed(e) })
	}
	return false, nil
}

func (g *StreamsGroup) said(e *journal.StreamsMemberSaid) error {
	m := StreamsMember{ID: e.Member, State: journal.StreamsStable}
	if old := g.Member(e.Member); old != nil {
		m = *old
	}
	m.ClientID, m.ClientHost, m.RebalanceTimeoutMs, m.TopologyEpoch = e.ClientID, e.ClientHost, e.RebalanceTimeoutMs, e.TopologyEpoch
	m.Process, m.Tags, m.Rack, m.Endpoint = e.Process, e.Tags, nil, nil
	if e.HasRack {
		m.Rack = &e.Rack
	}
	if e.HasEndpoint {
		m.Endpoint = &StreamsEndpoint{Host: e.EndpointHost, Port: e.EndpointPort}
	}
	g.put(&m)
	return nil
}

func (g *StreamsGroup) setTopology(e *journal.StreamsTopologySet) error {
	if g.Topology != nil {
		return fmt.Errorf("topology of epoch %d: there is one", e.Epoch)
	}
	g.Topology = &StreamsTopology{Epoch: e.Epoch, Subtopologies: e.Subtopologies}
	g.held += g.Topology.Bytes()
	return nil
}

func (g *StreamsGroup) bumped(e *journal.StreamsGroupBumped) error {
	if e.Epoch <= g.Epoch {
		return fmt.Errorf("epoch %d after %d", e.Epoch, g.Epoch)
	}
	g.Epoch, g.Topics, g.Validated, g.Standbys = e.Epoch, e.Topics, e.Validated, e.Standbys
	return nil
}

func (g *StreamsGroup) targeted(e *journal.StreamsTargetsChanged) error {
	for i := range e.Targets {
		t := &e.Targets[i]
		old := g.Member(t.Member)
		if old == nil {
			return fmt.Errorf("target of %q: no such member", t.Member)
		}
		m := *old
		m.Target = StreamsTasks{Active: t.Active, Standby: t.Standby}
		g.put(&m)
	}
	return nil
}

func (g *StreamsGroup) assigned(at int64, e *journal.StreamsTasksAssigned) error {
	if e.Epoch > g.Epoch || e.Epoch < g.Assigned {
		return fmt.Errorf("assignment of epoch %d after %d in epoch %d", e.Epoch, g.Assigned, g.Epoch)
	}
	g.Assigned, g.Made, g.behind = e.Epoch, at, 0
	g.Each(func(m *StreamsMember) bool {
		if !m.AtTarget(g.Assigned) {
			g.behind++
		}
		return true
	})
	return nil
}

func (g *StreamsGroup) moved(e *journal.StreamsMemberMoved) error {
	old := g.Member(e.Member)
	if old == nil {
		return fmt.Errorf("member %q: no such member", e.Member)
	}
	m := *old
	m.Epoch, m.Previous, m.State = e.Epoch, e.Previous, e.State
	m.Has = StreamsTasks{Active: e.Active, Standby: e.Standby}
	m.Revoked = StreamsTasks{Active: e.RevokedActive, Standby: e.RevokedStandby}
	g.put(&m)
	return nil
}

func (g *StreamsGroup) removed(e *journal.StreamsMemberRemoved) error {
	m := g.Member(e.Member)
	if m == nil {
		return fmt.Errorf("member %q: no such member", e.Member)
	}
	if e.Epoch <= g.Epoch {
		return fmt.Errorf("epoch %d after %d", e.Epoch, g.Epoch)
	}
	g.forget(m)
	g.members.Delete(m)
	g.Epoch = e.Epoch
	return nil
}

// put brings a member in, or replaces it. g is the copy that changeStreams made, or a group that is being loaded.
func (g *StreamsGroup) put(m *StreamsMember) {
	if old, had := g.members.ReplaceOrInsert(m); had {
		g.forget(old)
	}
	g.held += m.Bytes()
	if !m.AtTarget(g.Assigned) {
		g.behind++
	}
	m.eachHolder(func(h taskHolder) { g.holders.ReplaceOrInsert(h) })
}

// forget takes back what put counted.
func (g *StreamsGroup) forget(m *StreamsMember) {
	g.held -= m.Bytes()
	if !m.AtTarget(g.Assigned) {
		g.behind--
	}
	m.eachHolder(func(h taskHolder) { g.holders.Delete(h) })
}

// eachHolder yields every task that the member has or is to give back.
func (m *StreamsMember) eachHolder(yield func(taskHolder)) {
	for _, tasks := range [...]*StreamsTasks{&m.Has, &m.Revoked} {
		for i, list := range [...][]journal.StreamsTasks{tasks.Active, tasks.Standby} {
			for _, of := range list {
				for _, p := range of.Partitions {
					yield(taskHolder{subtopology: of.Subtopology, partition: p, standby: i == 1, process: m.Process, member: m.ID})
				}
			}
		}
	}
}
