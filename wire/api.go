package wire

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// APIs is the table of what is served. It must not change while a server runs.
type APIs interface {
	// Lookup finds the handler of an API at a version. false closes the connection, as Kafka does for an API or a
	// version that it does not serve (ApiVersions excepted: a version beyond its range is answered, see Versions).
	Lookup(key, version int16) (Handle, bool)
	// Versions is the advertised range of an API; the server asks it only for ApiVersions (18), to answer a client
	// that is too new.
	Versions(key int16) (low, high int16, ok bool)
}

// Handle answers one request. An error closes the connection without an answer; everything that a client may see is in
// the reply. ctx ends when the peer is found gone or the server stops; a handler that parks waits on ctx.Done().
type Handle func(ctx context.Context, r *Request) (Reply, error)

// Reply is one of
//
//	kmsg.Response  encoded at the request's version (the server sets it)
//	*Chunked       a body made of byte slices and file sections
//	Later          resolved while the next request of the connection is in hand
//	nil            no answer at all (Produce with acks=0)
type Reply any

// Later is a reply that is not ready: it is called once, on a goroutine of its own, after every earlier reply of the
// connection has been written, and gives a kmsg.Response, a *Chunked or nil. An error closes the connection.
type Later func(ctx context.Context) (Reply, error)

// Request is a decoded request. The records of a Produce alias the frame's buffer and are valid until its reply is
// written (for a Later: until it has resolved); everything else may be kept.
type Request struct {
	Conn        *Conn
	Key         int16
	Version     int16
	Correlation int32
	ClientID    string // null is ""
	Body        kmsg.Request
	Received    time.Time // when the frame was whole
	Size        int       // bytes of the frame, its length prefix not counted

	frame  frame
	cost   int64 // bytes that the budget of decoded requests is charged
	queued bool  // its answer waits in the outbox, which lets go of it
}

// Header bytes and what an answer's header needs.
func (r *Request) flexibleAnswer() bool {
	return r.Key != keyAPIVersions && r.Body != nil && r.Body.IsFlexible()
}

// Observer is told of traffic. Its methods are called on the connection's goroutines and must not block. A nil Observer
// costs a nil check. Arguments are valid only during the call.
type Observer interface {
	// Request is called after a request was decoded, before its handler.
	Request(r *Request)
	// Answer is called after the answer was written, or when it is known that there will be none.
	Answer(r *Request, a Answer)
	// Closed is called once when a connection has ended, with the reason (nil: the peer closed).
	Closed(c *Conn, why error)
}

// Answer is what an Observer is told of an answer.
type Answer struct {
	Response kmsg.Response // nil when there is none (acks=0, or a Chunked without Describe)
	Size     int           // bytes of the frame, its length prefix not counted; 0: nothing was written
	Handled  time.Time     // when the handler, or the Later, returned
	Written  time.Time
	Err      error // why the connection closes instead of an answer
}
