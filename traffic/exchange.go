package traffic

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
	"doze/wire"
)

// What is kept of names that clients choose, in bytes.
const (
	maxKeptName  = 249 // of a topic or a group: the longest name of a topic
	maxKeptText  = 256 // a client id, a principal, an address, why a connection ended
	maxKeptWhole = 4 << 10
)

// exchange is one request with its answer.
type exchange struct {
	id                          uint64
	received, handled, written  time.Time
	conn                        uint64
	correlation                 int32
	key, version                int16
	client, principal, software string
	remote                      net.Addr
	in, out                     int
	reckoned                    int    // bytes, as the ring has counted them
	broke                       string // why the connection ended instead of an answer

	mu      sync.Mutex
	ask     kmsg.Request  // nil: put into words already
	got     kmsg.Response // nil: there was none, or it is in words already
	records []recordSum
	weight  int // what ask and got are reckoned to take
	row     *inside.Request
	opened  *inside.OpenRequest // of a message that is not kept decoded
}

// newExchange takes what is kept of a request and its answer. Nothing in it belongs to the connection any more.
func newExchange(r *wire.Request, a wire.Answer, name TopicNamer) *exchange {
	software, version := r.Conn.ClientSoftware()
	if version != "" {
		software += " " + version
	}
	x := &exchange{
		received: r.Received, handled: a.Handled, written: a.Written, conn: r.Conn.ID, correlation: r.Correlation, key: r.Key, version: r.Version,
		client: cut(r.ClientID, maxKeptText), principal: cut(r.Conn.Principal(), maxKeptText), software: cut(software, maxKeptText),
		remote: r.Conn.Remote(), in: SizeShown(r), out: a.Size, broke: whyEnded(r.Key, a.Err),
	}
	x.keep(r, a, name)
	return x
}

// SizeShown is the bytes of a request as they may be shown: none of a SaslAuthenticate, whose size tells the length of the
// password with PLAIN.
func SizeShown(r *wire.Request) int {
	if r.Key == keySASLAuthenticate {
		return 0
	}
	return r.Size
}

// whyEnded is what is kept of the reason that ended a connection.
func whyEnded(key int16, err error) string {
	switch {
	case err == nil:
		return ""
	case secretive(key):
		return "the connection was closed"
	case errors.Is(err, io.EOF):
		return "the client closed the connection"
	}
	return cut(err.Error(), maxKeptText)
}

// keep keeps the messages as they are when they are small, and what they say when they are large or may hold secrets.
func (x *exchange) keep(r *wire.Request, a wire.Answer, name TopicNamer) {
	x.ask, x.got = r.Body, a.Response
	if req, ok := r.Body.(*kmsg.ProduceRequest); ok {
		x.ask, x.records = withoutRecords(req)
	}
	x.weight = weigh(r, a)
	if x.weight > maxKeptWhole || secretive(r.Key) {
		x.settle(name)
	}
}

// Reckoned bytes of memory: decoded, a small message takes many times what it takes on the wire.
const (
	exchangeBytes = 768
	decodedTimes  = 8
)

// weigh reckons what a request and its answer take in memory, decoded and without records.
func weigh(r *wire.Request, a wire.Answer) int {
	asked, got := r.Size, a.Size
	if req, ok := r.Body.(*kmsg.ProduceRequest); ok {
		asked = 40 + len(value(req.TransactionID))
		for _, t := range req.Topics {
			asked += 20 + len(t.Topic) + 12*len(t.Partitions)
		}
	}
	switch resp := a.Response.(type) {
	case nil:
		got = 0
	case *kmsg.FetchResponse:
		got = 0
		for _, t := range resp.Topics {
			got += 20 + len(t.Topic)
			for _, p := range t.Partitions {
				got += 40 + 4*len(p.AbortedTransactions)
			}
		}
	case *kmsg.ShareFetchResponse:
		got = 0
		for _, t := range resp.Topics {
			got += 20
			for _, p := range t.Partitions {
				got += 40 + 4*len(p.AcquiredRecords)
			}
		}
	}
	return decodedTimes * (asked + got)
}

// settle puts the messages into words and lets go of them.
func (x *exchange) settle(name TopicNamer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ask == nil {
		return
	}
	opened := x.open(name)
	x.opened, x.row = &opened, &opened.Request
	x.ask, x.got, x.records = nil, nil, nil
}

// words is the exchange in a line.
func (x *exchange) words(name TopicNamer) inside.Request {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.line(name)
}

// line is words; the lock is held.
func (x *exchange) line(name TopicNamer) inside.Request {
	if x.row == nil {
		row := x.describe(name)
		x.row = &row
	}
	return *x.row
}

func (x *exchange) describe(name TopicNamer) inside.Request {
	row := inside.Request{
		ID: x.id, At: x.received, Took: x.handled.Sub(x.received), Sent: x.written.Sub(x.received), Client: x.client, Software: x.software,
		Principal: x.principal, Address: cut(x.remote.String(), maxKeptText), Conn: x.conn, Correlation: x.correlation, Key: x.key, API: kmsg.NameForKey(x.key),
		Version: x.version, In: x.in, Out: x.out, Error: x.broke,
	}
	if x.ask == nil {
		return row
	}
	row.Asked = asked(x.ask, x.records, name)
	if x.got != nil {
		row.Got = Got(x.got, name)
	}
	found := find(x.ask, x.got, name)
	row.Topics, row.Groups = found.topics, found.groups
	if refused := found.errors(); refused != "" {
		row.Error = refused
	}
	return row
}

// fields is the exchange opened.
func (x *exchange) fields(name TopicNamer) inside.OpenRequest {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opened != nil {
		opened := *x.opened
		opened.ID = x.id
		return opened
	}
	return x.open(name)
}

// open is fields of messages that are kept; the lock is held.
func (x *exchange) open(name TopicNamer) inside.OpenRequest {
	o := inside.OpenRequest{Request: x.line(name)}
	if x.ask == nil {
		o.Note = "its fields are not kept any more"
		return o
	}
	o.AskedFields, o.Note = openFields(x.key, x.ask, x.records, name)
	if x.got == nil {
		return o
	}
	var note string
	if o.GotFields, note = openFields(x.key, x.got, nil, name); note != "" {
		o.Note = note
	}
	return o
}

// bytes is what an exchange is reckoned to take.
func (x *exchange) bytes() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opened != nil {
		n := exchangeBytes
		for _, lines := range [][]inside.Line{x.opened.AskedFields, x.opened.GotFields} {
			for _, l := range lines {
				n += 48 + len(l.Name) + len(l.Value)
			}
		}
		return n
	}
	if x.ask == nil {
		return exchangeBytes
	}
	return exchangeBytes + x.weight
}

// lighten lets go of the messages and keeps the line.
func (x *exchange) lighten(name TopicNamer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.line(name)
	x.ask, x.got, x.records, x.opened, x.weight = nil, nil, nil, nil, 0
}
