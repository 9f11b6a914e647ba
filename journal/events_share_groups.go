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

func (*ShareStateInitialized) Kind() Kind { return 62 }
func (*ShareStateLoaded) Kind() Kind      { return 63 }
func (*ShareStateWritten) Kind() Kind     { return 64 }
func (*ShareStateDeleted) Kind() Kind     { return 65 }
