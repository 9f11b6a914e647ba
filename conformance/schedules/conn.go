package schedules

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience bounds an answer, and the wait for a transaction to be settled.
const patience = 30 * time.Second

// conn is one connection: a request, then its answer.
type conn struct{ net.Conn }

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return &conn{c}, nil
}

// ask sends a request at a version and reads its answer.
func (c *conn) ask(version int16, req kmsg.Request) (kmsg.Response, error) {
	req.SetVersion(version)
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.Write(frame(req)); err != nil {
		return nil, fmt.Errorf("send %s: %w", kmsg.NameForKey(req.Key()), err)
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", kmsg.NameForKey(req.Key()), err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c, body); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", kmsg.NameForKey(req.Key()), err)
	}
	resp := req.ResponseKind()
	resp.SetVersion(version)
	header := 4
	if resp.IsFlexible() {
		header = 5
	}
	if err := resp.ReadFrom(body[min(header, len(body)):]); err != nil {
		return nil, fmt.Errorf("decode the answer to %s: %w", kmsg.NameForKey(req.Key()), err)
	}
	return resp, nil
}

func frame(req kmsg.Request) []byte {
	const client = "schedules"
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(req.Key()))
	b = binary.BigEndian.AppendUint16(b, uint16(req.GetVersion()))
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint16(b, uint16(len(client)))
	b = append(b, client...)
	if req.IsFlexible() {
		b = append(b, 0)
	}
	b = req.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}
