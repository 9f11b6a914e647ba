package conformance

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// clientID is what every request names, except those sent as raw frames.
const clientID = "conformance"

// patience is how long a scenario waits for an answer before it notes that there is none, and for a condition before
// it gives up.
const patience = 20 * time.Second

// maxFrame bounds an answer.
const maxFrame = 128 << 20

// errClosed says that the broker closed the connection.
var errClosed = errors.New("closed")

// socket is a connection to the broker: frames out, frames in, nothing read before it is asked for.
type socket struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(addr string) (*socket, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return &socket{conn, bufio.NewReader(conn)}, nil
}

// send writes one frame. A peer that has closed shows when the answer is read, so that is not an error here.
func (s *socket) send(frame []byte) error {
	buf := binary.BigEndian.AppendUint32(nil, uint32(len(frame)))
	return s.sendBytes(append(buf, frame...))
}

func (s *socket) sendBytes(b []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := s.conn.Write(b)
	var op *net.OpError
	if errors.As(err, &op) && !op.Timeout() {
		return nil
	}
	return err
}

// receive reads one frame, errClosed when the broker closes instead, or a timeout.
func (s *socket) receive(wait time.Duration) ([]byte, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return nil, closedOr(err)
	}
	var head [4]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return nil, closedOr(err)
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return nil, fmt.Errorf("read answer: its length is %d", size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(s.in, frame); err != nil {
		return nil, closedOr(err)
	}
	return frame, nil
}

// readable looks whether something arrives in time, without taking it.
func (s *socket) readable(wait time.Duration) bool {
	if s.conn.SetReadDeadline(time.Now().Add(wait)) != nil {
		return true
	}
	_, err := s.in.Peek(1)
	return err == nil || !isTimeout(err)
}

// closedOr takes every end of a connection for the same: whether the peer's close arrives as EOF or as a reset depends
// on what was still unread.
func closedOr(err error) error {
	if isTimeout(err) {
		return err
	}
	return errClosed
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// frameOf encodes a request with its header.
func frameOf(req kmsg.Request, correlation int32) []byte { return frameAs(clientID, req, correlation) }

// frameAs is frameOf for another client id.
func frameAs(clientID string, req kmsg.Request, correlation int32) []byte {
	frame := binary.BigEndian.AppendUint16(nil, uint16(req.Key()))
	frame = binary.BigEndian.AppendUint16(frame, uint16(req.GetVersion()))
	frame = binary.BigEndian.AppendUint32(frame, uint32(correlation))
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(clientID)))
	frame = append(frame, clientID...)
	if req.IsFlexible() {
		frame = append(frame, 0)
	}
	return req.AppendTo(frame)
}

// splitAnswer takes the header off an answer. ApiVersions has the old header at every version, so that a client can
// read an answer of a version it did not ask for.
func splitAnswer(frame []byte, key int16, flexible bool) (correlation int32, body []byte, err error) {
	if len(frame) < 4 {
		return 0, nil, fmt.Errorf("read answer: %d bytes", len(frame))
	}
	correlation, body = int32(binary.BigEndian.Uint32(frame)), frame[4:]
	if !flexible || key == apiVersionsKey {
		return correlation, body, nil
	}
	if len(body) == 0 || body[0] != 0 {
		return 0, nil, fmt.Errorf("read answer: its header has tags: %x", frame[:min(len(frame), 32)])
	}
	return correlation, body[1:], nil
}

const apiVersionsKey = 18
