package traffic

import (
	"sync"

	"doze/wire"
)

// Bounds of a ring.
const (
	MaxRequests = 2000     // kept
	MaxBytes    = 24 << 20 // that their messages are reckoned to take; the oldest ones keep their line and lose their fields
)

// Ring keeps the last requests. It is a [wire.Observer] and an inside.Traffic.
type Ring struct {
	name TopicNamer
	own  func(*wire.Conn) bool

	mu     sync.Mutex
	kept   [MaxRequests]*exchange // by id modulo MaxRequests
	last   uint64                 // id of the newest, which begin at 1
	heavy  uint64                 // the oldest id whose messages are kept
	bytes  int
	groups groupRings
}

// New makes a ring. name gives the names of topics that messages name by id; it is called when somebody looks. own
// tells connections of who looks: what these only read is not kept, or a page that is open would push out what it is there to show.
// nil: there are none.
func New(name TopicNamer, own func(*wire.Conn) bool) *Ring {
	return &Ring{name: name, own: own, heavy: 1, groups: newGroupRings()}
}

// reads are the APIs that change nothing.
var reads = map[int16]bool{
	1: true, 2: true, 3: true, 9: true, 10: true, 15: true, 16: true, 18: true, 23: true, 29: true, 32: true, 35: true, 41: true, 46: true, 48: true,
	50: true, 55: true, 60: true, 61: true, 65: true, 66: true, 69: true, 71: true, 74: true, 75: true, 77: true, 89: true, 90: true,
}

// Request is told before the handler has it: the answer says everything.
func (*Ring) Request(*wire.Request) {}

// Closed is told when a connection ends; what it was asked has been kept.
func (*Ring) Closed(*wire.Conn, error) {}

// Answer keeps a request and its answer.
func (r *Ring) Answer(req *wire.Request, a wire.Answer) {
	if req.Body == nil || r.own != nil && reads[req.Key] && r.own(req.Conn) {
		return
	}
	x := newExchange(req, a, r.name)
	event := eventOf(req, a, x, r.name)
	light := r.add(x, x.bytes(), event)
	for _, old := range light {
		old.lighten(r.name)
	}
}

// add puts an exchange into the ring and gives those that have to lose their messages for it.
func (r *Ring) add(x *exchange, weight int, event *groupEvent) (light []*exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	x.id = r.last
	at := &r.kept[x.id%MaxRequests]
	if old := *at; old != nil && old.id >= r.heavy {
		r.heavy = old.id + 1
		r.bytes -= old.reckoned
	}
	*at = x
	x.reckoned = weight
	r.bytes += weight
	for r.bytes > MaxBytes && r.heavy < r.last {
		old := r.kept[r.heavy%MaxRequests]
		r.bytes -= old.reckoned
		light = append(light, old)
		r.heavy++
	}
	if event != nil {
		r.groups.add(event)
	}
	return light
}
