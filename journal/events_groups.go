package journal

// Events of groups have the numbers 40 to 89. A group of any type is created and deleted by the same two events
// ([GroupCreated], [GroupDeleted]) and may become one of another type ([GroupConverted]); what happens in between has events
// of its own for each type. Here: what all have, and the classic protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), 40
// to 53. Consumer groups have 54 to 61, share groups 62 to 75, streams groups 76 to 89.
//
// Every choice that the coordinator makes is in the event (the leader, the protocol, the generation), so that a later
// doze that chooses otherwise still folds an old journal to the same state.

// GroupType says which protocol a group's members speak. Numbers are stored and never reused.
type GroupType uint8

// The types of groups.
const (
	GroupClassic  GroupType = 1
	GroupConsumer GroupType = 2 // KIP-848
	GroupShare    GroupType = 3 // KIP-932
	GroupStreams  GroupType = 4 // KIP-1071
)

// RemovalReason says why a member, or an id that was handed out, is gone. Numbers are stored and never reused.
type RemovalReason uint8

// The reasons for a removal.
const (
	RemovedLeft           RemovalReason = 1 // LeaveGroup, by the member or an administrator
	RemovedSessionExpired RemovalReason = 2
	RemovedNotRejoined    RemovalReason = 3 // the join phase ended without it
	RemovedNotSynced      RemovalReason = 4 // no SyncGroup within the rebalance timeout
	RemovedGroupFull      RemovalReason = 5 // group.max.size
	RemovedNotRevoked     RemovalReason = 6 // did not give up in time what it had to
)

// RebalanceReason says why a join phase began. Numbers are stored and never reused.
type RebalanceReason uint8

// The reasons for a rebalance.
const (
	RebalanceMemberJoined   RebalanceReason = 1
	RebalanceMemberChanged  RebalanceReason = 2 // other protocols or metadata
	RebalanceLeaderRejoined RebalanceReason = 3
	RebalanceStaticReplaced RebalanceReason = 4
	RebalanceMemberRemoved  RebalanceReason = 5
	RebalanceOverCapacity   RebalanceReason = 6 // found above group.max.size at start
)

// GroupCreated: a group exists, Empty, in generation 0, without a protocol type.
type GroupCreated struct {
	Group string    `msgpack:"g"`
	Type  GroupType `msgpack:"t"`
}

// GroupConverted: the group is of another type from here on: Empty, in the given epoch (a classic group: generation). Its
// committed offsets stay, its members are gone; those that stay join again in the same entry.
type GroupConverted struct {
	Group string    `msgpack:"g"`
	Type  GroupType `msgpack:"t"`
	Epoch int32     `msgpack:"e"`
	Hash  uint64    `msgpack:"h,omitempty"` // of the topics that a consumer group's members read
}

// TopicPartitions are partitions of a topic, in order.
type TopicPartitions struct {
	TopicID    [16]byte `msgpack:"t"`
	Partitions []int32  `msgpack:"p,omitempty"`
}

// MemberIDAssigned: an id was handed out (MEMBER_ID_REQUIRED, KIP-394); the group waits for its owner to join with it.
type MemberIDAssigned struct {
	Group            string `msgpack:"g"`
	Member           string `msgpack:"m"`
	SessionTimeoutMs int32  `msgpack:"s"`
}

// MemberProtocol is one protocol that a member supports, with what it says about itself in it.
type MemberProtocol struct {
	Name     string `msgpack:"n"`
	Metadata []byte `msgpack:"m,omitempty"`
}

// MemberJoined: a member that the group did not have is in, and waits for the generation to start.
type MemberJoined struct {
	Group              string           `msgpack:"g"`
	Member             string           `msgpack:"m"`
	Static             bool             `msgpack:"st,omitempty"`
	InstanceID         string           `msgpack:"i,omitempty"` // of a static member; may be empty
	ClientID           string           `msgpack:"c,omitempty"`
	ClientHost         string           `msgpack:"h,omitempty"`
	SessionTimeoutMs   int32            `msgpack:"s"`
	RebalanceTimeoutMs int32            `msgpack:"r"`
	ProtocolType       string           `msgpack:"t"`
	Protocols          []MemberProtocol `msgpack:"p,omitempty"` // most wanted first
	Leads              bool             `msgpack:"l,omitempty"`
}

// MemberRejoined: a member of the group waits for the next generation to start.
type MemberRejoined struct {
	Group              string           `msgpack:"g"`
	Member             string           `msgpack:"m"`
	SessionTimeoutMs   int32            `msgpack:"s"`
	RebalanceTimeoutMs int32            `msgpack:"r"`
	Protocols          []MemberProtocol `msgpack:"p,omitempty"` // none: as before
}

// StaticMemberReplaced: another process took the place of a static member, under a new id and with the old one's
// assignment; the old id is fenced.
type StaticMemberReplaced struct {
	Group              string           `msgpack:"g"`
	InstanceID         string           `msgpack:"i,omitempty"`
	Old                string           `msgpack:"o"`
	Member             string           `msgpack:"m"`
	SessionTimeoutMs   int32            `msgpack:"s"`
	RebalanceTimeoutMs int32            `msgpack:"r"`
	Protocols          []MemberProtocol `msgpack:"p,omitempty"` // none: as before
	Waits              bool             `msgpack:"w,omitempty"` // for the next generation to start
}

// MemberRemoved: a member, or an id that was handed out and not used, is gone.
type MemberRemoved struct {
	Group  string        `msgpack:"g"`
	Member string        `msgpack:"m"`
	Reason RemovalReason `msgpack:"r"`
	Leader string        `msgpack:"l,omitempty"` // of the group from here on; empty when nobody is left
}

// RebalanceStarted: the join phase of the next generation began (PreparingRebalance).
type RebalanceStarted struct {
	Group  string          `msgpack:"g"`
	Reason RebalanceReason `msgpack:"r"`
	Member string          `msgpack:"m,omitempty"` // on whose account
	// Initial: the group was Empty, and waits for more members before it goes on, however few there are.
	Initial bool  `msgpack:"i,omitempty"`
	LeftMs  int32 `msgpack:"l,omitempty"` // of an initial rebalance: how long it may still wait after the first delay
}

// RebalanceExtended: members joined during the initial delay, so there is another.
type RebalanceExtended struct {
	Group  string `msgpack:"g"`
	LeftMs int32  `msgpack:"l,omitempty"` // how long it may still wait after that
}

// RebalanceInterrupted: the broker stopped during a rebalance, or with ids handed out that nobody had joined with: the
// group is what it was before.
type RebalanceInterrupted struct {
	Group string `msgpack:"g"`
}

// GenerationStarted: the join phase is over; the group waits for the leader's assignment (CompletingRebalance).
type GenerationStarted struct {
	Group      string `msgpack:"g"`
	Generation int32  `msgpack:"n"`
	Protocol   string `msgpack:"p"`
	Leader     string `msgpack:"l"`
	// Subscribed holds the topics that the members read, sorted, when SubscriptionsKnown: the coordinator could tell.
	SubscriptionsKnown bool     `msgpack:"k,omitempty"`
	Subscribed         []string `msgpack:"s,omitempty"`
}

// GroupEmptied: the last member left; the group is Empty in the given generation.
type GroupEmptied struct {
	Group      string `msgpack:"g"`
	Generation int32  `msgpack:"n"`
	// SubscriptionsKnown: the group's protocol type is one whose subscriptions the coordinator reads; there are none now.
	SubscriptionsKnown bool `msgpack:"k,omitempty"`
}

// MemberSynced: a member asked for its assignment of the current generation.
type MemberSynced struct {
	Group  string `msgpack:"g"`
	Member string `msgpack:"m"`
	Waits  bool   `msgpack:"w,omitempty"` // for the leader
}

// MemberAssignment is what the leader gave to a member.
type MemberAssignment struct {
	Member     string `msgpack:"m"`
	Assignment []byte `msgpack:"a,omitempty"`
}

// AssignmentsMade: the leader handed in the assignment; the group is Stable. Members that it left out have none.
type AssignmentsMade struct {
	Group       string             `msgpack:"g"`
	Assignments []MemberAssignment `msgpack:"a,omitempty"`
}

func (*GroupCreated) Kind() Kind         { return 40 }
func (*MemberIDAssigned) Kind() Kind     { return 41 }
func (*MemberJoined) Kind() Kind         { return 42 }
func (*MemberRejoined) Kind() Kind       { return 43 }
func (*StaticMemberReplaced) Kind() Kind { return 44 }
func (*MemberRemoved) Kind() Kind        { return 45 }
func (*RebalanceStarted) Kind() Kind     { return 46 }
func (*RebalanceExtended) Kind() Kind    { return 47 }
func (*RebalanceInterrupted) Kind() Kind { return 48 }
func (*GenerationStarted) Kind() Kind    { return 49 }
func (*GroupEmptied) Kind() Kind         { return 50 }
func (*MemberSynced) Kind() Kind         { return 51 }
func (*AssignmentsMade) Kind() Kind      { return 52 }
func (*GroupConverted) Kind() Kind       { return 53 }
