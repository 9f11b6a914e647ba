package load

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerTimeout bounds the wait for any one answer; the slowest is Kafka creating a thousand partitions.
const answerTimeout = 2 * time.Minute

// frameMax bounds an answer: a broker under test may be wrong, the bench shall not run out of memory.
const frameMax = 256 << 20

var formatter = kmsg.NewRequestFormatter(kmsg.FormatterClientID("doze-bench"))

// Conn is one connection with one request in hand at a time, or as many as its user keeps in order.
type Conn struct {
	net.Conn
	buf  []byte
	send []byte
}

// Dial opens a connection.
func Dial(addr string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", addr, answerTimeout)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return &Conn{Conn: c}, nil
}

// DialTLS opens a connection with TLS. The certificate is not looked at: it is one that the bench has made, and checking it is
// not the broker's work.
func DialTLS(addr string) (*Conn, error) {
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: answerTimeout}, "tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return nil, fmt.Errorf("connect to %s with TLS: %w", addr, err)
	}
	return &Conn{Conn: c}, nil
}

// Frame returns the bytes of a request as they go on the wire.
func Frame(req kmsg.Request) []byte { return formatter.AppendRequest(nil, req, 1) }

// Send writes a frame.
func (c *Conn) Send(frame []byte) error {
	if _, err := c.Write(frame); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// Receive reads one answer: correlation id, header, body. The bytes are valid until the next call.
func (c *Conn) Receive() ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, fmt.Errorf("set deadline: %w", err)
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, fmt.Errorf("read answer length: %w", err)
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > frameMax {
		return nil, fmt.Errorf("read answer: length %d exceeds %d", size, frameMax)
	}
	if int(size) > cap(c.buf) {
		c.buf = make([]byte, size)
	}
	frame := c.buf[:size]
	if _, err := io.ReadFull(c, frame); err != nil {
		return nil, fmt.Errorf("read answer of %d bytes: %w", size, err)
	}
	return frame, nil
}

// Exchange sends a frame and returns the answer's bytes, valid until the next call.
func (c *Conn) Exchange(frame []byte) ([]byte, error) {
	if err := c.Send(frame); err != nil {
		return nil, err
	}
	return c.Receive()
}

// Request sends a request and decodes the answer. The answer's byte fields are valid until the next call.
func (c *Conn) Request(req kmsg.Request) (kmsg.Response, error) {
	c.send = formatter.AppendRequest(c.send[:0], req, 1)
	frame, err := c.Exchange(c.send)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kmsg.NameForKey(req.Key()), err)
	}
	return Decode(req, frame)
}

// Decode reads the answer to req from a frame.
//
//fuzz:not-a-parser the bench's client reads what brokers that it started itself answer
func Decode(req kmsg.Request, frame []byte) (kmsg.Response, error) {
	resp := req.ResponseKind()
	body, err := answerBody(frame, resp.IsFlexible() && req.Key() != int16(kmsg.ApiVersions))
	if err == nil {
		err = resp.ReadFrom(body)
	}
	if err != nil {
		return nil, fmt.Errorf("decode answer to %s v%d: %w", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return resp, nil
}

var errShort = errors.New("answer too short")

// answerBody strips the header: a correlation id and, in flexible versions, tagged fields, of which no broker sends any.
func answerBody(frame []byte, flexible bool) ([]byte, error) {
	skip := 4
	if flexible {
		skip++
	}
	if len(frame) < skip {
		return nil, errShort
	}
	if flexible && frame[4] != 0 {
		return nil, errors.New("tagged fields in an answer's header")
	}
	return frame[skip:], nil
}
