package journal

// ProducerIDsAllocated: producer ids First to First+Count-1 are never given out again.
type ProducerIDsAllocated struct {
	First int64 `msgpack:"f"`
	Count int32 `msgpack:"c"`
}

func (*ProducerIDsAllocated) Kind() Kind { return 30 }

// OffsetsCommitted: the group's committed offsets of these partitions replace what was committed before.
type OffsetsCommitted struct {
	Group   string
	Offsets []CommittedOffset
}

func (*OffsetsCommitted) Kind() Kind { return 31 }

// CommittedOffset is one partition's part of a commit. Group offsets are keyed by topic name; the id is what a client
// gave or what the name meant at the time, all zero when there was no such topic.
type CommittedOffset struct {
	Topic       string
	TopicID     [16]byte
	Partition   int32
	Offset      int64
	LeaderEpoch int32 // -1: none
	Metadata    string
	CommitAt    int64 // ms since the Unix epoch
	ExpireAt    int64 // -1: by the group's retention
}

// TopicPartition names a partition by its topic's name, as groups do.
type TopicPartition struct {
	Topic     string `msgpack:"t"`
	Partition int32  `msgpack:"p"`
}

// OffsetsDeleted: a client removed these committed offsets (OffsetDelete), or their topic was deleted.
type OffsetsDeleted struct {
	Group      string           `msgpack:"g"`
	Partitions []TopicPartition `msgpack:"p,omitempty"`
}

func (*OffsetsDeleted) Kind() Kind { return 32 }

// OffsetsExpired: retention removed these committed offsets.
type OffsetsExpired struct {
	Group      string           `msgpack:"g"`
	Partitions []TopicPartition `msgpack:"p,omitempty"`
}

func (*OffsetsExpired) Kind() Kind { return 33 }

// GroupDeleted: the group and all its committed offsets are gone, by DeleteGroups or by retention.
type GroupDeleted struct {
	Group string `msgpack:"g"`
}

func (*GroupDeleted) Kind() Kind { return 34 }
