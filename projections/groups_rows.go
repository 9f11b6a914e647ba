package projections

import (
	"fmt"
	"slices"
	"strings"

	"doze/journal"
)

// A group's row holds the group alone; its members and the ids it has handed out are rows of their own, so that no row
// grows with a group. What can be counted from those is not in the row.

func eachGroup(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool { return yield(g) })
}

func (g *Group) encode(w *rowWriter) {
	w.string(g.ID)
	w.uint(uint64(g.Type))
	w.uint(uint64(g.State))
	w.int(g.Since)
	w.int(int64(g.Generation))
	w.string(g.ProtocolType)
	w.string(g.Protocol)
	w.string(g.Leader)
	w.uint(g.JoinSeq)
	w.bool(g.Initial)
	w.bool(g.Grown)
	w.int(int64(g.LeftMs))
	w.uint(g.SyncSeq)
	w.bool(g.SubscriptionsKnown)
	w.uint(uint64(len(g.Subscribed)))
	for _, topic := range g.Subscribed {
		w.string(topic)
	}
}

// Fields shows what people ask a group for; the deadlines of a rebalance are not among it.
func (g *Group) Fields() []Field {
	return []Field{
		{"group", g.ID}, {"type", TypeName(g.Type)}, {"state", g.State.String()}, {"since", g.Since},
		{"generation", int64(g.Generation)}, {"protocol-type", g.ProtocolType}, {"protocol", g.Protocol}, {"leader", g.Leader},
		{"members", int64(g.Size())}, {"subscribed", g.Subscribed},
	}
}

// TypeName is Kafka's name of a type of groups.
func TypeName(t journal.GroupType) string {
	if t < journal.GroupClassic || t > journal.GroupStreams {
		return "unknown"
	}
	return t.String()
}

func loadGroup(s *State, r *rowReader) {
	if g := readGroup(r); g != nil {
		s.Groups.put(g)
	}
}

func readGroup(r *rowReader) *Group {
	g := newGroup(r.string(), journal.GroupType(r.small()), 0)
	g.State, g.Since, g.Generation = GroupState(r.small()), r.int(), r.int32()
	g.ProtocolType, g.Protocol, g.Leader = r.string(), r.string(), r.string()
	g.JoinSeq, g.Initial, g.Grown, g.LeftMs = r.uint(), r.bool(), r.bool(), r.int32()
	g.SyncSeq, g.SubscriptionsKnown = r.uint(), r.bool()
	for range r.count() {
		g.Subscribed = append(g.Subscribed, r.string())
	}
	g.held = bytesOfNames(g.Subscribed)
	if int(g.State) >= len(groupStateNames) || TypeName(g.Type) == "unknown" {
		r.fail(fmt.Errorf("group %q: type %d, state %d", g.ID, g.Type, g.State))
		return nil
	}
	return g
}

// What a group was before the rebalance that is under way has the same rows in tables of their own.

func eachSettled(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool { return g.Settled == nil || yield(g.Settled) })
}

func loadSettled(s *State, r *rowReader) {
	settled := readGroup(r)
	if settled == nil {
		return
	}
	g := s.Groups.Get(settled.ID)
	if g == nil || g.Settled != nil {
		r.fail(fmt.Errorf("group %q before a rebalance: no such group, or twice", settled.ID))
		return
	}
	g.Settled = settled
}

// memberRow is a member under its group's id.
type memberRow struct {
	group string
	*Member
}

func eachMember(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool { return g.yieldMembers(yield) })
}

func eachSettledMember(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool { return g.Settled == nil || g.Settled.yieldMembers(yield) })
}

func (g *Group) yieldMembers(yield func(row) bool) bool {
	for _, m := range g.Members {
		if !yield(memberRow{g.ID, m}) {
			return false
		}
	}
	return true
}

func (m memberRow) encode(w *rowWriter) {
	w.string(m.group)
	w.string(m.ID)
	w.bool(m.Static)
	w.string(m.InstanceID)
	w.string(m.ClientID)
	w.string(m.ClientHost)
	w.int(int64(m.SessionTimeoutMs))
	w.int(int64(m.RebalanceTimeoutMs))
	w.bytes(m.Assignment)
	w.uint(m.Joined)
	w.uint(m.Active)
	for _, flag := range []bool{m.New, m.Rejoins, m.Synced, m.Syncs} {
		w.bool(flag)
	}
	w.uint(uint64(len(m.Protocols)))
	for _, p := range m.Protocols {
		w.string(p.Name)
		w.bytes(p.Metadata)
	}
}

// Fields shows the member's metadata and assignment by their sizes: they are the clients' own encoding.
func (m memberRow) Fields() []Field {
	protocols := make([]string, len(m.Protocols))
	for i, p := range m.Protocols {
		protocols[i] = fmt.Sprintf("%s(%d)", p.Name, len(p.Metadata))
	}
	return []Field{
		{"group", m.group}, {"member", m.ID}, {"static", m.Static}, {"instance", m.InstanceID}, {"client", m.ClientID}, {"host", m.ClientHost},
		{"session-ms", int64(m.SessionTimeoutMs)}, {"rebalance-ms", int64(m.RebalanceTimeoutMs)}, {"protocols", protocols},
		{"assignment-bytes", int64(len(m.Assignment))}, {"rejoins", m.Rejoins}, {"synced", m.Synced},
	}
}

func loadMember(s *State, r *rowReader) {
	group, m := readMember(r)
	if s.Groups.Get(group).load(group, m, r) {
		s.Groups.bytes += m.Bytes()
	}
}

func loadSettledMember(s *State, r *rowReader) {
	group, m := readMember(r)
	var settled *Group
	if g := s.Groups.Get(group); g != nil {
		settled = g.Settled
	}
	settled.load(group, m, r)
}

func readMember(r *rowReader) (group string, m *Member) {
	group = r.string()
	m = &Member{
		ID: r.string(), Static: r.bool(), InstanceID: r.string(), ClientID: r.string(), ClientHost: r.string(),
		SessionTimeoutMs: r.int32(), RebalanceTimeoutMs: r.int32(), Assignment: r.bytes(), Joined: r.uint(), Active: r.uint(),
		New: r.bool(), Rejoins: r.bool(), Synced: r.bool(), Syncs: r.bool(),
	}
	for range r.count() {
		m.Protocols = append(m.Protocols, journal.MemberProtocol{Name: r.string(), Metadata: r.bytes()})
	}
	return group, m
}

// load adds a member to a group of a fresh state, where nobody else sees it.
func (g *Group) load(group string, m *Member, r *rowReader) bool {
	if g == nil || len(g.Members) > 0 && g.Members[len(g.Members)-1].ID >= m.ID {
		r.fail(fmt.Errorf("member %q: no such group as %q, or out of order", m.ID, group))
		return false
	}
	g.Members = append(g.Members, m)
	g.count(m.Protocols, 1)
	g.held += m.Bytes()
	if m.Rejoins {
		g.Waiting++
	}
	return true
}

// pendingRow is an id that was handed out, under its group's.
type pendingRow struct {
	group string
	PendingMember
}

func eachPending(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool {
		for _, p := range g.Pending {
			if !yield(pendingRow{g.ID, p}) {
				return false
			}
		}
		return true
	})
}

func (p pendingRow) encode(w *rowWriter) {
	w.string(p.group)
	w.string(p.ID)
	w.int(int64(p.SessionTimeoutMs))
	w.uint(p.Active)
}

// Fields shows the id and how long it is good for.
func (p pendingRow) Fields() []Field {
	return []Field{{"group", p.group}, {"member", p.ID}, {"session-ms", int64(p.SessionTimeoutMs)}}
}

func loadPending(s *State, r *rowReader) {
	group := r.string()
	p := PendingMember{ID: r.string(), SessionTimeoutMs: r.int32(), Active: r.uint()}
	g := s.Groups.Get(group)
	if g == nil || !slices.IsSortedFunc(append(g.Pending, p), func(a, b PendingMember) int { return strings.Compare(a.ID, b.ID) }) {
		r.fail(fmt.Errorf("member id %q: no such group as %q, or out of order", p.ID, group))
		return
	}
	g.Pending = append(g.Pending, p)
	g.held += p.bytes()
	s.Groups.bytes += p.bytes()
}
