package journal

// Events of consumer groups (KIP-848) have the numbers 54 to 61. A group has an epoch; a target assignment that was worked
// out at some epoch of the group; and members, each on the way from the partitions that it has to those of the target.
// Each of these is in an event, so that membership and every assignment are there again after a restart.

// ConsumerMemberJoined: a member that the group did not have is in it, at epoch 0 and without partitions.
type ConsumerMemberJoined struct {
	Group              string   `msgpack:"g"`
	Member             string   `msgpack:"m"`
	Static             bool     `msgpack:"st,omitempty"`
	InstanceID         string   `msgpack:"i,omitempty"`
	Rack               string   `msgpack:"k,omitempty"`
	ClientID           string   `msgpack:"c,omitempty"`
	ClientHost         string   `msgpack:"h,omitempty"`
	RebalanceTimeoutMs int32    `msgpack:"r"`
	Topics             []string `msgpack:"t,omitempty"` // that it is subscribed to by name: sorted, without doubles
	Regex              string   `msgpack:"x,omitempty"` // that it is subscribed to; empty: none
	Assignor           string   `msgpack:"a,omitempty"` // that it asks for; empty: none
	// Classic: it speaks the classic protocol (JoinGroup, SyncGroup, Heartbeat), with a session and protocols of its own.
	Classic          bool             `msgpack:"cl,omitempty"`
	SessionTimeoutMs int32            `msgpack:"s,omitempty"`
	Protocols        []MemberProtocol `msgpack:"p,omitempty"` // most wanted first
}

// ConsumerMemberChanged: what a member says of itself is now this.
type ConsumerMemberChanged ConsumerMemberJoined

// ConsumerMemberReplaced: another process took the place of a static member, under a new id, at epoch 0 and with the
// partitions of the old one.
type ConsumerMemberReplaced struct {
	Group      string `msgpack:"g"`
	InstanceID string `msgpack:"i"`
	Old        string `msgpack:"o"`
	Member     string `msgpack:"m"`
}

// ConsumerMemberRemoved: a member is gone, and its partitions are free.
type ConsumerMemberRemoved struct {
	Group  string        `msgpack:"g"`
	Member string        `msgpack:"m"`
	Reason RemovalReason `msgpack:"r"`
}

// EpochReason says why a group's epoch rose. Numbers are stored and never reused.
type EpochReason uint8

// The reasons for an epoch.
const (
	EpochMemberSubscribed EpochReason = 1 // a member joined, or reads other topics
	EpochMemberRemoved    EpochReason = 2
	EpochTopicsChanged    EpochReason = 3 // a topic that the group reads was created, deleted or given partitions
	EpochRegexResolved    EpochReason = 4 // a regular expression stands for other topics
)

// ConsumerEpochRaised: the group's assignment is to be worked out anew.
type ConsumerEpochRaised struct {
	Group  string      `msgpack:"g"`
	Epoch  int32       `msgpack:"e"`
	Reason EpochReason `msgpack:"r"`
	Member string      `msgpack:"m,omitempty"` // on whose account
	Hash   uint64      `msgpack:"h,omitempty"` // of the topics that the group reads: their ids and sizes; 0: none
}

// ConsumerTarget is what a member is to have.
type ConsumerTarget struct {
	Member     string            `msgpack:"m"`
	Partitions []TopicPartitions `msgpack:"p,omitempty"`
}

// ConsumerTargetAssigned: the target assignment was worked out at that epoch of the group; members that are not named are to
// have what they were to have. Without an assignor it is what the members of a classic group had.
type ConsumerTargetAssigned struct {
	Group    string           `msgpack:"g"`
	Epoch    int32            `msgpack:"e"`
	Assignor string           `msgpack:"a,omitempty"`
	Members  []ConsumerTarget `msgpack:"m,omitempty"`
}

// ReconcileState is how far a member is on its way to the target assignment. Numbers are stored and never reused.
type ReconcileState uint8

// The states of a member on its way.
const (
	MemberStable     ReconcileState = 0 // it has all of the target of its epoch
	MemberUnrevoked  ReconcileState = 1 // it has to give up partitions first
	MemberUnreleased ReconcileState = 2 // it waits for partitions that others have not given up
)

// OwnedPartitions are partitions of a topic that a member has, in order, each with the epoch at which it was assigned.
type OwnedPartitions struct {
	TopicID    [16]byte `msgpack:"t"`
	Partitions []int32  `msgpack:"p,omitempty"`
	Epochs     []int32  `msgpack:"e,omitempty"`
}

// ConsumerMemberReconciled: a member is at that epoch with those partitions. -2 is the epoch of a static member that has left
// for a while.
type ConsumerMemberReconciled struct {
	Group    string            `msgpack:"g"`
	Member   string            `msgpack:"m"`
	Epoch    int32             `msgpack:"e"`
	Previous int32             `msgpack:"o"` // the epoch before
	State    ReconcileState    `msgpack:"s,omitempty"`
	Assigned []OwnedPartitions `msgpack:"a,omitempty"`
	Revoking []OwnedPartitions `msgpack:"r,omitempty"` // that it is to give up, and has not yet
}

// ResolvedRegex is what topics a regular expression stands for.
type ResolvedRegex struct {
	Regex  string   `msgpack:"x"`
	Topics []string `msgpack:"t,omitempty"` // sorted
}

// ConsumerRegexesResolved: what the group's regular expressions stand for. Those in Dropped nobody is subscribed to any more.
type ConsumerRegexesResolved struct {
	Group   string          `msgpack:"g"`
	Regexes []ResolvedRegex `msgpack:"x,omitempty"`
	Dropped []string        `msgpack:"d,omitempty"`
}

func (*ConsumerMemberJoined) Kind() Kind     { return 54 }
func (*ConsumerMemberChanged) Kind() Kind    { return 55 }
func (*ConsumerMemberReplaced) Kind() Kind   { return 56 }
func (*ConsumerMemberRemoved) Kind() Kind    { return 57 }
func (*ConsumerEpochRaised) Kind() Kind      { return 58 }
func (*ConsumerTargetAssigned) Kind() Kind   { return 59 }
func (*ConsumerMemberReconciled) Kind() Kind { return 60 }
func (*ConsumerRegexesResolved) Kind() Kind  { return 61 }
