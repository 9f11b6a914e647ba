package projections

import (
	"fmt"
	"slices"

	"doze/journal"
)

// applyOfShareGroup folds an event of share groups; known is false when it is none.
func (s *State) applyOfShareGroup(_ uint64, at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.ShareMemberJoined:
		return true, s.changeShareGroup(at, e.Group, func(g *ShareGroup) error { return g.join(e) })
	case *journal.ShareMemberChanged:
		return true, s.changeShareGroup(at, e.Group, func(g *ShareGroup) error {
			return g.change(e.Member, func(m *ShareMember) { m.describe((*journal.ShareMemberJoined)(e)) })
		})
	case *journal.ShareMemberRemoved:
		return true, s.changeShareGroup(at, e.Group, func(g *ShareGroup) error { return g.remove(e.Member) })
	case *journal.ShareEpochRaised:
		return true, s.changeShareGroup(at, e.Group, func(g *ShareGroup) error {
			if e.Epoch <= g.Epoch {
				return fmt.Errorf("epoch %d after %d", e.Epoch, g.Epoch)
			}
			g.Epoch, g.Hash = e.Epoch, e.Hash
			return nil
		})
	case *journal.ShareTargetAssigned:
		return true, s.changeShareGroup(at, e.Group, func(g *ShareGroup) error { return g.assign(at, e) })
	case *journal.ShareMemberReconciled:
		return true, s.changeShareGroup(at, e.Group, func(g *ShareGroup) error {
			return g.change(e.Member, func(m *ShareMember) { m.Epoch, m.Previous, m.Assigned = e.Epoch, e.Previous, e.Assigned })
		})
	}
	return s.applyOfShareState(at, event)
}

// changeShareGroup folds one event into a copy of a share group and puts the copy in the group's place.
func (s *State) changeShareGroup(at int64, id string, change func(*ShareGroup) error) error {
	return s.changeGroup(id, func(g *Group) error {
		if g.Share == nil {
			return fmt.Errorf("a %s group", TypeName(g.Type))
		}
		c := *g.Share
		c.readers.shared = true // with the one that others read: copied before it is changed
		if err := change(&c); err != nil {
			return err
		}
		g.Share = &c
		if len(c.Members) > 0 {
			g.enter(Stable, at)
		} else {
			g.enter(Empty, at)
		}
		return nil
	})
}

func (m *ShareMember) describe(e *journal.ShareMemberJoined) {
	m.Rack, m.ClientID, m.ClientHost, m.Topics = e.Rack, e.ClientID, e.ClientHost, e.Topics
}

func (s *ShareGroup) join(e *journal.ShareMemberJoined) error {
	i, ok := s.index(e.Member)
	if ok {
		return fmt.Errorf("member %q: joined twice", e.Member)
	}
	m := &ShareMember{ID: e.Member, Previous: -1}
	m.describe(e)
	s.Members = slices.Insert(slices.Clone(s.Members), i, m)
	s.count(m, 1)
	return nil
}

func (s *ShareGroup) remove(id string) error {
	i, ok := s.index(id)
	if !ok {
		return fmt.Errorf("member %q: no such member", id)
	}
	s.count(s.Members[i], -1)
	s.Members = slices.Delete(slices.Clone(s.Members), i, i+1)
	return nil
}

// change puts a changed copy in the member's place.
func (s *ShareGroup) change(id string, change func(*ShareMember)) error {
	i, ok := s.index(id)
	if !ok {
		return fmt.Errorf("member %q: no such member", id)
	}
	m := *s.Members[i]
	change(&m)
	s.count(s.Members[i], -1)
	s.Members = slices.Clone(s.Members)
	s.Members[i] = &m
	s.count(&m, 1)
	return nil
}

func (s *ShareGroup) assign(at int64, e *journal.ShareTargetAssigned) error {
	if e.Epoch < s.TargetEpoch || e.Epoch > s.Epoch {
		return fmt.Errorf("target of epoch %d after %d, in epoch %d", e.Epoch, s.TargetEpoch, s.Epoch)
	}
	s.TargetEpoch, s.TargetAt, s.Unassigned = e.Epoch, at, false
	s.Members = slices.Clone(s.Members)
	for _, t := range e.Members {
		i, ok := s.index(t.Member)
		if !ok {
			return fmt.Errorf("member %q: no such member", t.Member)
		}
		m := *s.Members[i]
		s.held -= m.Bytes()
		m.Target = t.Partitions
		s.held += m.Bytes()
		s.Members[i] = &m
	}
	return nil
}
