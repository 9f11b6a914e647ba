package journal

// Kind numbers a type of event. Numbers are never reused; a changed meaning is a new kind.
type Kind uint16

// Durability is a property of an event's kind: when may its Update be answered?
type Durability uint8

const (
	// Buffered: after write(2); fsynced within a second.
	Buffered Durability = iota
	// Durable: after fsync.
	Durable
)

func (d Durability) String() string {
	if d == Durable {
		return "durable"
	}
	return "buffered"
}

// Event is one fact in the past tense. Events are pointers to structs of this package; they hold fixed-width integers,
// bools, strings, bytes and slices of such: no map, no float, no int, no pointer.
type Event interface {
	Kind() Kind
}

// Cause says who made an entry: a request (API >= 0) or a timer (API = -1).
type Cause struct {
	API         int16 // Kafka API key; -1 for a timer or the broker itself
	Conn        uint64
	Correlation int32
	ClientID    string
	Principal   string
	Timer       string // "session", "retention", "start", ...; empty for a request
}

// Timed is the cause of an entry that no request asked for.
func Timed(timer string) Cause { return Cause{API: -1, Timer: timer} }

// Entry is one Update as it is on disk: atomic, 1..n events.
type Entry struct {
	Seq    uint64 // 1, 2, 3, ...
	At     int64  // milliseconds since the Unix epoch, never going back
	Cause  Cause
	Events []Event
}
