package projections

import (
	"slices"
	"strings"
	"sync"

	"doze/journal"
)

// GroupState is the state of a group of any type, by Kafka's names.
type GroupState uint8

// The states of groups. Empty and Stable are of every type. A group without a row is Dead. Numbers are stored.
const (
	Empty               GroupState = iota
	PreparingRebalance             // classic: the join phase
	CompletingRebalance            // classic: the sync phase
	Stable
	Assigning   // consumer, streams: the target assignment is older than the group
	Reconciling // consumer, streams: members are on the way to the target assignment
	NotReady    // streams: the topology's topics are not as they must be
)

var groupStateNames = [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Assigning", "Reconciling", "NotReady"}

func (s GroupState) String() string { return groupStateNames[s] }

// Group is a group with its members: an immutable value, replaced as a whole by the events of the group.
type Group struct {
	ID    string
	Type  journal.GroupType
	State GroupState
	Since int64 // ms: when it came into State

	Generation   int32
	ProtocolType string // empty until a member has joined
	Protocol     string // of the current generation
	Leader       string // empty: none

	// Of a classic group.
	Members []*Member       // sorted by id
	Pending []PendingMember // sorted by id: ids handed out, not joined with yet
	Counts  []ProtocolCount // sorted by name
	Waiting int             // members that wait for the generation to start

	// Of the join phase.
	JoinSeq uint64 // the entry that set its deadline
	Initial bool   // the group was Empty before
	Grown   bool   // members joined since the deadline was set
	LeftMs  int32  // how long an initial join phase may still be extended

	SyncSeq uint64 // the entry that started the current generation

	SubscriptionsKnown bool
	Subscribed         []string // sorted; the topics that the current generation reads

	// What a group of a later type holds; nil in all others.
	Consumer *ConsumerGroup
	Share    *ShareGroup
	Streams  *StreamsGroup

	// Settled is the group as it was before the rebalance that is under way, nil when there is none: a start goes back to
	// it, for what Kafka writes down of a group is its last assignment.
	Settled *Group

	held int64 // bytes of Members, Pending and Subscribed, as Bytes reckons them
}

// typed is what a group of a later type holds beside what all groups have. Each type has rows, events and a file of its own.
type typed interface {
	bytes() int64         // what it is reckoned to take, with its members
	size() int            // how many members there are
	check(g *Group) error // what is inconsistent in it, if anything is
}

// typed gives what the group's type holds; nil of a classic group.
func (g *Group) typed() typed {
	switch g.Type {
	case journal.GroupConsumer:
		return g.Consumer
	case journal.GroupShare:
		return g.Share
	case journal.GroupStreams:
		return g.Streams
	}
	return nil
}

// newGroup is a group without members.
func newGroup(id string, kind journal.GroupType, at int64) *Group {
	g := &Group{ID: id, Type: kind, Since: at}
	switch kind {
	case journal.GroupConsumer:
		g.ProtocolType, g.Consumer = "consumer", newConsumerGroup()
	case journal.GroupShare:
		g.ProtocolType, g.Share = "share", newShareGroup()
	case journal.GroupStreams:
		g.ProtocolType, g.Streams = "streams", newStreamsGroup()
	}
	return g
}

// Size is how many members the group has.
func (g *Group) Size() int {
	if t := g.typed(); t != nil {
		return t.size()
	}
	return len(g.Members)
}

// enter puts the group, a copy that is about to replace it, into a state.
func (g *Group) enter(state GroupState, at int64) {
	if g.State != state {
		g.State, g.Since = state, at
	}
}

// Member is a member of a classic group: an immutable value.
type Member struct {
	ID                 string
	Static             bool
	InstanceID         string
	ClientID           string
	ClientHost         string
	SessionTimeoutMs   int32
	RebalanceTimeoutMs int32
	Protocols          []journal.MemberProtocol // most wanted first
	Assignment         []byte

	Joined  uint64 // the entry that brought it in: members of longer standing lead first
	Active  uint64 // the entry that last began its session anew
	New     bool   // has not been in a generation yet
	Rejoins bool   // waits for the generation to start
	Synced  bool   // has asked for its assignment in this generation
	Syncs   bool   // waits for its assignment
}

// PendingMember is an id that was handed out and that nobody has joined with yet.
type PendingMember struct {
	ID               string
	SessionTimeoutMs int32
	Active           uint64
}

// ProtocolCount says how many members support a protocol.
type ProtocolCount struct {
	Name    string
	Members int
}

// Groups holds the groups of every type, by id.
type Groups struct {
	tree  tree[*Group]
	bytes int64
}

func newGroups() Groups {
	return Groups{tree: newTree(func(a, b *Group) bool { return a.ID < b.ID })}
}

func (g *Groups) clone() Groups { return Groups{g.tree.clone(), g.bytes} }

// groupKeys lends what the tree is asked with: every request of a group asks several times, and a Group is large.
var groupKeys = sync.Pool{New: func() any { return new(Group) }}

// Get finds a group by its id; nil when there is none.
func (g Groups) Get(id string) *Group {
	key := groupKeys.Get().(*Group)
	defer groupKeys.Put(key)
	key.ID = id
	found, _ := g.tree.Get(key)
	key.ID = ""
	return found
}

// Len counts groups.
func (g Groups) Len() int { return g.tree.Len() }

// Each yields groups in id order, from the first whose id is at least from.
func (g Groups) Each(from string, yield func(*Group) bool) {
	g.tree.AscendGreaterOrEqual(&Group{ID: from}, yield)
}

// Member returns the member of that id, or nil.
func (g *Group) Member(id string) *Member {
	if i, ok := g.memberIndex(id); ok {
		return g.Members[i]
	}
	return nil
}

func (g *Group) memberIndex(id string) (int, bool) {
	return slices.BinarySearchFunc(g.Members, id, func(m *Member, id string) int { return strings.Compare(m.ID, id) })
}

// StaticMember returns the member with that group instance id, or nil.
func (g *Group) StaticMember(instance string) *Member {
	for _, m := range g.Members {
		if m.Static && m.InstanceID == instance {
			return m
		}
	}
	return nil
}

// PendingMember returns the id that was handed out, or nil.
func (g *Group) PendingMember(id string) *PendingMember {
	if i, ok := g.pendingIndex(id); ok {
		return &g.Pending[i]
	}
	return nil
}

func (g *Group) pendingIndex(id string) (int, bool) {
	return slices.BinarySearchFunc(g.Pending, id, func(p PendingMember, id string) int { return strings.Compare(p.ID, id) })
}

// AtRest says whether nobody is expected to do anything: no rebalance, and no id that is handed out.
func (g *Group) AtRest() bool { return g.Settled == nil && len(g.Pending) == 0 && g.AllSynced() }

// AllJoined says whether the join phase has nobody left to wait for.
func (g *Group) AllJoined() bool { return g.Waiting == len(g.Members) && len(g.Pending) == 0 }

// AllSynced says whether every member has asked for its assignment.
func (g *Group) AllSynced() bool {
	return !slices.ContainsFunc(g.Members, func(m *Member) bool { return !m.Synced })
}

// RebalanceTimeoutMs is how long the group waits for its members: as long as the most patient of them asks for.
func (g *Group) RebalanceTimeoutMs() int32 {
	var most int32
	for _, m := range g.Members {
		most = max(most, m.RebalanceTimeoutMs)
	}
	return most
}

// Supporters returns how many members support the protocol.
func (g *Group) Supporters(protocol string) int {
	if i, ok := g.countIndex(protocol); ok {
		return g.Counts[i].Members
	}
	return 0
}

func (g *Group) countIndex(protocol string) (int, bool) {
	return slices.BinarySearchFunc(g.Counts, protocol, func(c ProtocolCount, name string) int { return strings.Compare(c.Name, name) })
}

// Simple says whether the group is nothing but a name for offsets: it never had a member.
func (g *Group) Simple() bool {
	return g.Type == journal.GroupClassic && g.ProtocolType == "" && g.State == Empty && len(g.Pending) == 0
}

// Metadata returns what the member says of itself in the protocol.
func (m *Member) Metadata(protocol string) []byte {
	for _, p := range m.Protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}
