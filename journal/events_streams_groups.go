package journal

// Events of streams groups (KIP-1071): 76 to 89. What the coordinator chose is in them: epochs, and who runs which task. What
// clients can be told anew after a restart is not: endpoint epochs, a request to shut down, delays.

// StreamsConfig is a config of an internal topic.
type StreamsConfig struct {
	Name  string `msgpack:"n"`
	Value string `msgpack:"v"`
}

// StreamsTopic is a topic that the coordinator makes for a subtopology.
type StreamsTopic struct {
	Name        string          `msgpack:"n"`
	Partitions  int32           `msgpack:"p,omitempty"` // 0: as many as the topology comes to
	Replication int16           `msgpack:"r,omitempty"` // 0: the broker's default
	Configs     []StreamsConfig `msgpack:"c,omitempty"`
}

// StreamsCopartition names topics of a subtopology that have to have the same number of partitions, by their places.
type StreamsCopartition struct {
	Sources      []int16 `msgpack:"s,omitempty"`
	Repartitions []int16 `msgpack:"r,omitempty"`
}

// StreamsSubtopology is a part of a topology: its tasks read the same partition of all its sources.
type StreamsSubtopology struct {
	ID           string               `msgpack:"i"`
	Sources      []string             `msgpack:"s,omitempty"`
	Changelogs   []StreamsTopic       `msgpack:"c,omitempty"`
	Sinks        []string             `msgpack:"w,omitempty"` // repartition topics that it writes
	Repartitions []StreamsTopic       `msgpack:"r,omitempty"` // repartition topics that it reads
	Copartitions []StreamsCopartition `msgpack:"p,omitempty"`
}

// StreamsTag is a client tag.
type StreamsTag struct {
	Key   string `msgpack:"k"`
	Value string `msgpack:"v"`
}

// StreamsTasks are tasks of one subtopology, by partition number, ascending.
type StreamsTasks struct {
	Subtopology string  `msgpack:"s"`
	Partitions  []int32 `msgpack:"p,omitempty"`
	Epochs      []int32 `msgpack:"e,omitempty"` // of active tasks of a member: the epoch since which it has each
}

// StreamsMemberSaid: a member is new, or said something else of itself.
type StreamsMemberSaid struct {
	Group              string       `msgpack:"g"`
	Member             string       `msgpack:"m"`
	ClientID           string       `msgpack:"c,omitempty"`
	ClientHost         string       `msgpack:"h,omitempty"`
	RebalanceTimeoutMs int32        `msgpack:"r"`
	TopologyEpoch      int32        `msgpack:"t"`
	Process            string       `msgpack:"p,omitempty"`
	HasRack            bool         `msgpack:"hr,omitempty"`
	Rack               string       `msgpack:"k,omitempty"`
	HasEndpoint        bool         `msgpack:"he,omitempty"`
	EndpointHost       string       `msgpack:"eh,omitempty"`
	EndpointPort       uint16       `msgpack:"ep,omitempty"`
	Tags               []StreamsTag `msgpack:"l,omitempty"` // sorted by key
}

// StreamsTopologySet: the group's topology is known; it stays so until the group is deleted.
type StreamsTopologySet struct {
	Group         string               `msgpack:"g"`
	Epoch         int32                `msgpack:"e"`
	Subtopologies []StreamsSubtopology `msgpack:"s,omitempty"`
}

// StreamsGroupBumped: the group's epoch rose; there is to be another assignment.
type StreamsGroupBumped struct {
	Group     string `msgpack:"g"`
	Epoch     int32  `msgpack:"e"`
	Topics    uint64 `msgpack:"t"` // hash of the topics that the topology needs
	Validated int32  `msgpack:"v"` // the epoch of the topology when all its topics are as they must be, else -1
	Standbys  int32  `msgpack:"s"` // how many copies of stateful tasks are asked for
}

// StreamsTarget is what a member is to have.
type StreamsTarget struct {
	Member  string         `msgpack:"m"`
	Active  []StreamsTasks `msgpack:"a,omitempty"`
	Standby []StreamsTasks `msgpack:"s,omitempty"`
}

// StreamsTargetsChanged: members are to have other tasks than before.
type StreamsTargetsChanged struct {
	Group   string          `msgpack:"g"`
	Targets []StreamsTarget `msgpack:"t,omitempty"`
}

// StreamsTasksAssigned: the assignment of a group epoch is whole.
type StreamsTasksAssigned struct {
	Group string `msgpack:"g"`
	Epoch int32  `msgpack:"e"`
}

// StreamsMemberState says how far a member is on its way to its target. Numbers are stored and never reused.
type StreamsMemberState uint8

// The states of members.
const (
	StreamsStable     StreamsMemberState = 1
	StreamsUnrevoked  StreamsMemberState = 2 // it has to give tasks back first
	StreamsUnreleased StreamsMemberState = 3 // others have to
)

// StreamsMemberMoved: a member has other tasks, or another epoch.
type StreamsMemberMoved struct {
	Group    string             `msgpack:"g"`
	Member   string             `msgpack:"m"`
	Epoch    int32              `msgpack:"e"`
	Previous int32              `msgpack:"p"` // the epoch before
	State    StreamsMemberState `msgpack:"st"`
	Active   []StreamsTasks     `msgpack:"a,omitempty"`
	Standby  []StreamsTasks     `msgpack:"s,omitempty"`
	// RevokedActive and RevokedStandby are what it has to give back.
	RevokedActive  []StreamsTasks `msgpack:"ra,omitempty"`
	RevokedStandby []StreamsTasks `msgpack:"rs,omitempty"`
}

// StreamsMemberRemoved: a member is gone, and the group's epoch rose.
type StreamsMemberRemoved struct {
	Group  string        `msgpack:"g"`
	Member string        `msgpack:"m"`
	Reason RemovalReason `msgpack:"r"`
	Epoch  int32         `msgpack:"e"`
}

func (*StreamsMemberSaid) Kind() Kind     { return 76 }
func (*StreamsTopologySet) Kind() Kind    { return 77 }
func (*StreamsGroupBumped) Kind() Kind    { return 78 }
func (*StreamsTargetsChanged) Kind() Kind { return 79 }
func (*StreamsTasksAssigned) Kind() Kind  { return 80 }
func (*StreamsMemberMoved) Kind() Kind    { return 81 }
func (*StreamsMemberRemoved) Kind() Kind  { return 82 }
