package journal

// Events of share groups have the numbers 62 to 75. What a share partition keeps, the state of one partition as one group
// reads it, goes through these:
//
//	ShareStateInitialized   the group reads the partition; where from is decided by its first fetch, or named here
//	ShareStateLoaded        the partition's leader has taken it up, in this leader epoch
//	ShareStateWritten       records were accepted, released, rejected, or came back when their lock ended
//	ShareStateDeleted       the group starts anew with the topic
//
// What is acquired is not in the journal: as in Kafka, a start releases it.
//
// Membership goes through ShareMemberJoined, ShareMemberChanged and ShareMemberRemoved; ShareEpochRaised says that the
// assignment is to be worked out anew, ShareTargetAssigned what it came to, ShareMemberReconciled what a member was told.

// ShareStateInit is a partition whose state begins.
type ShareStateInit struct {
	Partition int32 `msgpack:"p"`
	Start     int64 `msgpack:"s"` // -1: share.auto.offset.reset says where, at the first fetch
}

// ShareStateInitialized: the group keeps a state of these partitions, which begins anew.
type ShareStateInitialized struct {
	Group      string           `msgpack:"g"`
	Topic      [16]byte         `msgpack:"t"`
	StateEpoch int32            `msgpack:"e"` // the group's epoch: what an older one writes is refused
	Partitions []ShareStateInit `msgpack:"p,omitempty"`
}

// ShareStateLoaded: the state was read in a leader epoch that it was not read in before.
type ShareStateLoaded struct {
	Group       string   `msgpack:"g"`
	Topic       [16]byte `msgpack:"t"`
	Partition   int32    `msgpack:"p"`
	LeaderEpoch int32    `msgpack:"l"`
}

// ShareStateBatch is a range of offsets with the state of their records: 0 to be delivered (again), 2 accepted, 4 archived.
type ShareStateBatch struct {
	First         int64 `msgpack:"f"`
	Last          int64 `msgpack:"l"`
	State         uint8 `msgpack:"s,omitempty"`
	DeliveryCount int16 `msgpack:"c"`
}

// ShareStateWritten: these records have these states. What lies below the start is done and forgotten.
type ShareStateWritten struct {
	Group     string            `msgpack:"g"`
	Topic     [16]byte          `msgpack:"t"`
	Partition int32             `msgpack:"p"`
	Start     int64             `msgpack:"s"`
	Complete  int32             `msgpack:"d,omitempty"` // records from the start on that are done
	Batches   []ShareStateBatch `msgpack:"b,omitempty"`
}

// ShareStateDeleted: the group has no state of the topic any more.
type ShareStateDeleted struct {
	Group string   `msgpack:"g"`
	Topic [16]byte `msgpack:"t"`
}

// ShareMemberJoined: a member that the group did not have is in, without partitions.
type ShareMemberJoined struct {
	Group      string   `msgpack:"g"`
	Member     string   `msgpack:"m"`
	Rack       string   `msgpack:"r,omitempty"`
	ClientID   string   `msgpack:"c,omitempty"`
	ClientHost string   `msgpack:"h,omitempty"`
	Topics     []string `msgpack:"t,omitempty"` // that it reads: sorted, without doubles
}

// ShareMemberChanged: a member of the group says something else of itself.
type ShareMemberChanged ShareMemberJoined

// ShareMemberRemoved: the member is gone.
type ShareMemberRemoved struct {
	Group  string        `msgpack:"g"`
	Member string        `msgpack:"m"`
	Reason RemovalReason `msgpack:"r"`
}

// ShareEpochReason says why a share group's assignment is to be worked out anew. Numbers are stored and never reused.
type ShareEpochReason uint8

// The reasons for an epoch.
const (
	ShareEpochSubscribed  ShareEpochReason = 1 // a member reads other topics
	ShareEpochInitialized ShareEpochReason = 2 // partitions became the group's
	ShareEpochTopics      ShareEpochReason = 3 // topics were created, deleted, grown
	ShareEpochRemoved     ShareEpochReason = 4 // a member is gone
)

// ShareEpochRaised: the group is in another epoch, for which there is no assignment yet.
type ShareEpochRaised struct {
	Group  string           `msgpack:"g"`
	Epoch  int32            `msgpack:"e"`
	Reason ShareEpochReason `msgpack:"r"`
	Member string           `msgpack:"m,omitempty"` // on whose account
	Hash   uint64           `msgpack:"h,omitempty"` // of the topics that the members read
}

// ShareTarget is what a member is to have.
type ShareTarget struct {
	Member     string            `msgpack:"m"`
	Partitions []TopicPartitions `msgpack:"p,omitempty"` // in the order of topic ids
}

// ShareTargetAssigned: the assignment of an epoch was worked out. Members that are not named keep what they were to have.
type ShareTargetAssigned struct {
	Group   string        `msgpack:"g"`
	Epoch   int32         `msgpack:"e"`
	Members []ShareTarget `msgpack:"m,omitempty"`
}

// ShareMemberReconciled: the member was told what it has from here on, and its epoch.
type ShareMemberReconciled struct {
	Group    string            `msgpack:"g"`
	Member   string            `msgpack:"m"`
	Epoch    int32             `msgpack:"e"`
	Previous int32             `msgpack:"p"`
	Assigned []TopicPartitions `msgpack:"a,omitempty"` // in the order of topic ids
}

func (*ShareMemberJoined) Kind() Kind     { return 66 }
func (*ShareMemberChanged) Kind() Kind    { return 67 }
func (*ShareMemberRemoved) Kind() Kind    { return 68 }
func (*ShareEpochRaised) Kind() Kind      { return 69 }
func (*ShareTargetAssigned) Kind() Kind   { return 70 }
func (*ShareMemberReconciled) Kind() Kind { return 71 }

func (*ShareStateInitialized) Kind() Kind { return 62 }
func (*ShareStateLoaded) Kind() Kind      { return 63 }
func (*ShareStateWritten) Kind() Kind     { return 64 }
func (*ShareStateDeleted) Kind() Kind     { return 65 }
