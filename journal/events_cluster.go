package journal

// ClusterCreated is the first event of a journal.
type ClusterCreated struct {
	ClusterID [16]byte `msgpack:"i"` // the one in the file headers; clients see it as 22 characters of URL-safe base64
}

func (*ClusterCreated) Kind() Kind { return 1 }

// BrokerStarted is emitted once a start, before any request is served. Leader epochs count these.
type BrokerStarted struct {
	Version string `msgpack:"v"` // of doze
}

func (*BrokerStarted) Kind() Kind { return 2 }

// StateHashed says what the state's hash is after entry Seq. The journal writes it beside every snapshot and at a clean
// stop, so that every journal proves its own replay. It does not change state.
type StateHashed struct {
	Seq  uint64   `msgpack:"s"`
	Hash [32]byte `msgpack:"h"` // SHA-256 over the rows, each after its length as a 4-byte little-endian integer
}

func (*StateHashed) Kind() Kind { return 3 }

// DamageAccepted is what `doze repair --accept-loss` leaves behind: the entries that were given up, or, of a file of a
// partition, the records; then FirstSeq is 1 and LastSeq 0, and Reason has the offsets.
type DamageAccepted struct {
	File     string   `msgpack:"f"`           // the damaged file's name
	Offset   int64    `msgpack:"o"`           // where it stops being readable
	FirstSeq uint64   `msgpack:"a"`           // first entry given up
	LastSeq  uint64   `msgpack:"z"`           // last entry known to be given up; below FirstSeq when only history was lost
	Reason   string   `msgpack:"r"`           // what was found
	Kept     []string `msgpack:"k,omitempty"` // where the damaged bytes are kept
}

func (*DamageAccepted) Kind() Kind { return 4 }

// FeatureUpdated: a feature of KIP-584 runs at this level from here on (UpdateFeatures).
type FeatureUpdated struct {
	Name  string `msgpack:"n"`
	Level int16  `msgpack:"l"` // 0: it is off
}

func (*FeatureUpdated) Kind() Kind { return 5 }
