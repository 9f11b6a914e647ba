package projections

import (
	"fmt"
	"slices"
	"strings"

	"doze/journal"
)

// changeGroup folds one event into a copy of the group and puts the copy in the group's place.
func (s *State) changeGroup(id string, change func(g *Group) error) error {
	old := s.Groups.Get(id)
	if old == nil {
		return fmt.Errorf("group %q: no such group", id)
	}
	g := *old
	if err := change(&g); err != nil {
		return fmt.Errorf("group %q: %w", id, err)
	}
	s.Groups.put(&g)
	return nil
}

func (s *State) applyGroupCreated(at int64, e *journal.GroupCreated) error {
	if s.Groups.Get(e.Group) != nil {
		return fmt.Errorf("group %q: created twice", e.Group)
	}
	if TypeName(e.Type) == "unknown" {
		return fmt.Errorf("group %q: type %d", e.Group, e.Type)
	}
	s.Groups.put(newGroup(e.Group, e.Type, at))
	return nil
}

func (s *State) applyGroupConverted(at int64, e *journal.GroupConverted) error {
	if s.Groups.Get(e.Group) == nil || TypeName(e.Type) == "unknown" {
		return fmt.Errorf("group %q: no such group, or type %d", e.Group, e.Type)
	}
	g := newGroup(e.Group, e.Type, at)
	switch g.Type {
	case journal.GroupClassic:
		g.Generation = e.Epoch
	case journal.GroupConsumer:
		g.Consumer.Epoch, g.Consumer.Hash = e.Epoch, e.Hash
	}
	s.Groups.put(g)
	return nil
}

func (s *State) applyGroupDeleted(e *journal.GroupDeleted) error {
	gone, ok := s.Groups.tree.Delete(&Group{ID: e.Group})
	if !ok {
		return fmt.Errorf("group %q: no such group", e.Group)
	}
	s.Groups.bytes -= gone.Bytes()
	s.Offsets.dropGroup(e.Group)
	s.Staged.dropGroup(e.Group)
	return nil
}

func (s *State) applyMemberIDAssigned(seq uint64, e *journal.MemberIDAssigned) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		i, ok := g.pendingIndex(e.Member)
		if ok || g.Member(e.Member) != nil {
			return fmt.Errorf("member id %q: assigned twice", e.Member)
		}
		p := PendingMember{ID: e.Member, SessionTimeoutMs: e.SessionTimeoutMs, Active: seq}
		g.Pending = slices.Insert(slices.Clone(g.Pending), i, p)
		g.held += p.bytes()
		return nil
	})
}

func (s *State) applyMemberJoined(seq uint64, e *journal.MemberJoined) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		if e.Static && g.StaticMember(e.InstanceID) != nil {
			return fmt.Errorf("instance id %q: has a member", e.InstanceID)
		}
		g.unsettle(s)
		m := &Member{
			ID: e.Member, Static: e.Static, InstanceID: e.InstanceID, ClientID: e.ClientID, ClientHost: e.ClientHost,
			SessionTimeoutMs: e.SessionTimeoutMs, RebalanceTimeoutMs: e.RebalanceTimeoutMs, Protocols: e.Protocols,
			Joined: seq, Active: seq, New: true, Rejoins: true,
		}
		if len(g.Members) == 0 {
			g.ProtocolType = e.ProtocolType
		}
		if e.Leads {
			g.Leader = e.Member
		}
		g.Grown = g.State == PreparingRebalance && g.Initial
		g.Waiting++
		g.dropPending(e.Member)
		g.count(e.Protocols, 1)
		return g.insert(m)
	})
}

func (s *State) applyMemberRejoined(e *journal.MemberRejoined) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		g.unsettle(s)
		return g.change(e.Member, func(m *Member) {
			g.reprotocol(m, e.Protocols)
			m.SessionTimeoutMs, m.RebalanceTimeoutMs = e.SessionTimeoutMs, e.RebalanceTimeoutMs
			g.rejoin(m, true)
		})
	})
}

func (s *State) applyStaticMemberReplaced(seq uint64, e *journal.StaticMemberReplaced) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		old := g.Member(e.Old)
		if old == nil || !old.Static || old.InstanceID != e.InstanceID {
			return fmt.Errorf("instance id %q: not of member %q", e.InstanceID, e.Old)
		}
		if e.Waits {
			g.unsettle(s)
		}
		m := *old
		m.ID, m.Active, m.New, m.Syncs = e.Member, seq, false, false
		m.SessionTimeoutMs, m.RebalanceTimeoutMs = e.SessionTimeoutMs, e.RebalanceTimeoutMs
		g.reprotocol(&m, e.Protocols)
		g.rejoin(&m, e.Waits)
		if g.Leader == e.Old {
			g.Leader = e.Member
		}
		g.cut(e.Old)
		return g.insert(&m)
	})
}

func (s *State) applyMemberRemoved(e *journal.MemberRemoved) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		g.Leader = e.Leader
		m := g.Member(e.Member)
		if m == nil {
			if !g.dropPending(e.Member) {
				return fmt.Errorf("member %q: no such member", e.Member)
			}
			return nil
		}
		g.unsettle(s)
		g.count(m.Protocols, -1)
		if m.Rejoins {
			g.Waiting--
		}
		g.cut(e.Member)
		return nil
	})
}

func (s *State) applyRebalanceStarted(seq uint64, at int64, e *journal.RebalanceStarted) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		g.unsettle(s)
		if g.State == CompletingRebalance {
			g.changeAll(func(m *Member) {
				if m.Syncs {
					m.Active = seq
				}
				m.Assignment, m.Syncs = nil, false
			})
		}
		g.State, g.Since = PreparingRebalance, at
		g.JoinSeq, g.Initial, g.Grown, g.LeftMs = seq, e.Initial, false, e.LeftMs
		return nil
	})
}

func (s *State) applyRebalanceExtended(seq uint64, e *journal.RebalanceExtended) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		g.JoinSeq, g.Grown, g.LeftMs = seq, false, e.LeftMs
		return nil
	})
}

func (s *State) applyRebalanceInterrupted(e *journal.RebalanceInterrupted) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		if g.Settled != nil {
			*g = *g.Settled
		}
		for _, p := range g.Pending {
			g.held -= p.bytes()
		}
		g.Pending = nil
		g.changeAll(func(m *Member) { m.Synced = true })
		return nil
	})
}

func (s *State) applyGenerationStarted(seq uint64, at int64, e *journal.GenerationStarted) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		if g.Member(e.Leader) == nil {
			return fmt.Errorf("leader %q: no such member", e.Leader)
		}
		g.State, g.Since, g.SyncSeq = CompletingRebalance, at, seq
		g.Generation, g.Protocol, g.Leader = e.Generation, e.Protocol, e.Leader
		g.subscribe(e.SubscriptionsKnown, e.Subscribed)
		g.endJoinPhase()
		g.changeAll(func(m *Member) {
			m.Active, m.New, m.Rejoins, m.Synced, m.Syncs = seq, false, false, false, false
		})
		return nil
	})
}

func (s *State) applyGroupEmptied(at int64, e *journal.GroupEmptied) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		if len(g.Members) > 0 {
			return fmt.Errorf("emptied with %d members", len(g.Members))
		}
		g.State, g.Since, g.Generation, g.Settled = Empty, at, e.Generation, nil
		g.Protocol, g.Leader = "", ""
		g.subscribe(e.SubscriptionsKnown, nil)
		g.endJoinPhase()
		return nil
	})
}

func (s *State) applyMemberSynced(e *journal.MemberSynced) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		return g.change(e.Member, func(m *Member) { m.Synced, m.Syncs = true, e.Waits })
	})
}

func (s *State) applyAssignmentsMade(seq uint64, at int64, e *journal.AssignmentsMade) error {
	return s.changeGroup(e.Group, func(g *Group) error {
		given := slices.Clone(e.Assignments)
		slices.SortStableFunc(given, func(a, b journal.MemberAssignment) int { return strings.Compare(a.Member, b.Member) })
		g.State, g.Since, g.Settled = Stable, at, nil
		g.changeAll(func(m *Member) {
			m.Assignment = assignmentOf(given, m.ID)
			if m.Syncs || m.ID == g.Leader { // the leader brought it
				m.Active, m.Synced, m.Syncs = seq, true, false
			}
		})
		return nil
	})
}

// assignmentOf returns the last assignment of the member in a list that is sorted by member.
func assignmentOf(given []journal.MemberAssignment, id string) []byte {
	i, _ := slices.BinarySearchFunc(given, id, func(a journal.MemberAssignment, id string) int {
		if a.Member <= id { // search past the last one of the member
			return -1
		}
		return 1
	})
	if i > 0 && given[i-1].Member == id {
		return given[i-1].Assignment
	}
	return nil
}

// The rest changes a copy of a group that changeGroup made. Slices and members are shared with the original: they are
// replaced, not written to.

// unsettle keeps the group as it is before the first change of a rebalance. g is the copy that is about to change.
func (g *Group) unsettle(s *State) {
	if g.Settled == nil {
		g.Settled = s.Groups.Get(g.ID)
	}
}

func (g *Group) endJoinPhase() {
	g.Waiting, g.JoinSeq, g.Initial, g.Grown, g.LeftMs = 0, 0, false, false, 0
}

func (g *Group) subscribe(known bool, topics []string) {
	g.held += bytesOfNames(topics) - bytesOfNames(g.Subscribed)
	g.SubscriptionsKnown, g.Subscribed = known, topics
}

func (g *Group) insert(m *Member) error {
	i, ok := g.memberIndex(m.ID)
	if ok {
		return fmt.Errorf("member %q: joined twice", m.ID)
	}
	g.Members = slices.Insert(slices.Clone(g.Members), i, m)
	g.held += m.Bytes()
	return nil
}

func (g *Group) cut(id string) {
	if i, ok := g.memberIndex(id); ok {
		g.held -= g.Members[i].Bytes()
		g.Members = slices.Delete(slices.Clone(g.Members), i, i+1)
	}
}

func (g *Group) dropPending(id string) bool {
	i, ok := g.pendingIndex(id)
	if ok {
		g.held -= g.Pending[i].bytes()
		g.Pending = slices.Delete(slices.Clone(g.Pending), i, i+1)
	}
	return ok
}

func (g *Group) change(id string, change func(*Member)) error {
	i, ok := g.memberIndex(id)
	if !ok {
		return fmt.Errorf("member %q: no such member", id)
	}
	m := *g.Members[i]
	change(&m)
	g.held += m.Bytes() - g.Members[i].Bytes()
	g.Members = slices.Clone(g.Members)
	g.Members[i] = &m
	return nil
}

func (g *Group) changeAll(change func(*Member)) {
	changed := make([]*Member, len(g.Members))
	for i, old := range g.Members {
		m := *old
		change(&m)
		g.held += m.Bytes() - old.Bytes()
		changed[i] = &m
	}
	g.Members = changed
}

// rejoin sets whether the member, a copy, waits for the generation to start.
func (g *Group) rejoin(m *Member, waits bool) {
	if waits && !m.Rejoins {
		g.Waiting++
	} else if !waits && m.Rejoins {
		g.Waiting--
	}
	m.Rejoins = waits
}

func (g *Group) reprotocol(m *Member, protocols []journal.MemberProtocol) {
	if len(protocols) == 0 {
		return
	}
	g.count(m.Protocols, -1)
	m.Protocols = protocols
	g.count(protocols, 1)
}

func (g *Group) count(protocols []journal.MemberProtocol, by int) {
	g.Counts = slices.Clone(g.Counts)
	for n, p := range protocols {
		if slices.ContainsFunc(protocols[:n], func(o journal.MemberProtocol) bool { return o.Name == p.Name }) {
			continue
		}
		i, ok := g.countIndex(p.Name)
		if !ok {
			g.Counts = slices.Insert(g.Counts, i, ProtocolCount{Name: p.Name})
		}
		g.Counts[i].Members += by
		if g.Counts[i].Members == 0 {
			g.Counts = slices.Delete(g.Counts, i, i+1)
		}
	}
}
