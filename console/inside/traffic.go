package inside

import "time"

// Traffic is the requests that came in lately.
type Traffic interface {
	// Requests gives the requests that a filter lets through, newest first.
	Requests(RequestFilter) RequestPage
	// Open opens a request; false: it is not kept any more.
	Open(id uint64) (OpenRequest, bool)
	// Find finds the request that an entry of the journal names as its cause: the one that was answered at or after the
	// time at (ms). 0: it is not kept.
	Find(conn uint64, correlation int32, api int16, at int64) uint64
	// GroupEvents is what a group's members asked for and got, oldest first.
	GroupEvents(group string) []GroupEvent
}

// RequestFilter picks requests. The zero value lets all through.
type RequestFilter struct {
	Client    string // part of the client id
	API       string // of its name, without regard to case
	Topic     string // whole name
	Group     string // whole name
	Principal string // whole, as User:alice
	Errors    bool   // only those that were refused something
	Before    uint64 // only those with a lower id; 0: all
	Limit     int    // 0: 100
}

// RequestPage is a part of the requests.
type RequestPage struct {
	Requests []Request
	Next     uint64 // the Before of the page behind this one; 0: there is none
	Newest   uint64 // the id of the newest request that is kept, shown or not
	Oldest   uint64 // of the oldest
	Kept     int    // how many there are
	Lost     uint64 // how many have been there since the start and are not kept
}

// Request is one request with its answer, in a line.
type Request struct {
	ID          uint64 // rises by one
	At          time.Time
	Took        time.Duration // until the answer was there
	Sent        time.Duration // until it was written, from At on
	Client      string
	Software    string // name and version that the client gave; empty: none
	Principal   string
	Address     string
	Conn        uint64
	Correlation int32
	Key         int16 // of the API
	API         string
	Version     int16
	Asked       string // in words
	Got         string // in words
	In, Out     int    // bytes
	Error       string // Kafka's names of what was refused, or why the connection ended; empty: nothing
	Topics      []string
	Groups      []string
}

// OpenRequest is one request as its decoded fields.
type OpenRequest struct {
	Request
	AskedFields []Line
	GotFields   []Line
	Note        string // what is not shown and why; empty: all is
}

// Line is one field of a decoded message, or one event's.
type Line struct {
	Depth int
	Name  string
	Value string // empty for what has lines below it
}

// GroupEvent is something that a group's members asked for and got.
type GroupEvent struct {
	Request uint64 // its id; of several alike: the last
	At      time.Time
	Took    time.Duration
	API     string
	Client  string
	Member  string
	Asked   string
	Got     string
	Error   string
	Times   int       // more than 1: as many alike one after another
	Since   time.Time // the first of them
}
