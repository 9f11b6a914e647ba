package inside

import "time"

// Telemetry is what clients push about themselves (KIP-714).
type Telemetry interface {
	// Clients are the client instances that have pushed, the last one first.
	Clients() []Client
	// Client is one of them with its metrics; false: it is not known any more.
	Client(id string) (ClientMetrics, bool)
	// Pushes rises with every push.
	Pushes() uint64
}

// Client is a client instance that has pushed metrics.
type Client struct {
	ID          string // its own id, as Kafka shows it
	ClientID    string
	Software    string // name and version
	Principal   string
	Address     string
	First, Last time.Time // push
	Pushes      int
	Interval    time.Duration // between pushes
	Ended       bool          // it has said that its last push was the last
	Metrics     int           // in the last push
}

// ClientMetrics is a client with what it pushed.
type ClientMetrics struct {
	Client
	Series []Series // by name
	More   int      // metrics that are not kept
}

// Series is one metric of a client over its last pushes.
type Series struct {
	Name   string
	Labels string // name=value, ...
	Unit   string
	Sum    bool // it only grows: a rate is told, not the number
	Points []Point
}

// Point is a value at a push.
type Point struct {
	At    int64 // ms
	Value float64
}
