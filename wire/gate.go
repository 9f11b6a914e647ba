package wire

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Gate stands before the table on a listener that asks for a login. Nil on a plain listener.
type Gate interface {
	// Session begins a connection's way through the gate.
	Session(c *Conn) Session
}

// Session is one connection's login. Its methods are called on the connection's goroutine, one at a time.
type Session interface {
	// Open says that the login is done (and has not expired): frames may be as long as the server's limit, and
	// requests go to the table.
	Open() bool
	// Frame is shown every frame while the session is not open, before its header is parsed: SASL tokens after a
	// SaslHandshake v0 have none. taken: the answer (without length prefix) is sent, if there is one, and the frame is
	// done with.
	Frame(ctx context.Context, frame []byte) (answer []byte, taken bool, err error)
	// Request is shown every request while the session is not open, and those for the SASL APIs always. pass: the
	// table's handler answers it. An ApiVersions request of a version that is too new has no Body. A reply that is a Last
	// ends the connection.
	Request(ctx context.Context, r *Request) (reply Reply, pass bool, err error)
}

// Last is the reply of a gate that refuses: the answer is written, then the connection is closed.
type Last struct {
	Response kmsg.Response
	Why      error
}

// Before login a frame is at most this long: Kafka's sasl.server.max.receive.size.
const maxFrameBeforeLogin = 512 << 10

const (
	keySASLHandshake    int16 = 17
	keySASLAuthenticate int16 = 36
)

func (c *Conn) open() bool { return c.gate == nil || c.gate.Open() }

// frameLimit is the longest frame that the connection may send now.
func (c *Conn) frameLimit() int32 {
	if c.open() {
		return c.server.opt.MaxFrame
	}
	return min(maxFrameBeforeLogin, c.server.opt.MaxFrame)
}

// toGate says whether the gate wants to see a request.
func (c *Conn) toGate(key int16) bool {
	return c.gate != nil && (!c.gate.Open() || key == keySASLHandshake || key == keySASLAuthenticate)
}
