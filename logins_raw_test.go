package doze

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// rawClient sends requests without a client library around them.
type rawClient struct{ net.Conn }

func dialRaw(t testing.TB, addr string) rawClient {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return rawClient{c}
}

func (c rawClient) ask(t testing.TB, req kmsg.Request) kmsg.Response {
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("raw")).AppendRequest(nil, req, 1)
	if _, err := c.Write(frame); err != nil {
		t.Error(err)
		return nil
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Error(err)
		return nil
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(c, body); err != nil {
		t.Error(err)
		return nil
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	body = body[4:]
	if resp.IsFlexible() {
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		t.Error(err)
	}
	return resp
}

// login goes through SCRAM-SHA-256; final answers the broker's first message.
func (c rawClient) login(t testing.TB, bare string, final func(server string) string) {
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Version, handshake.Mechanism = 1, "SCRAM-SHA-256"
	c.ask(t, handshake)
	step := kmsg.NewPtrSASLAuthenticateRequest()
	step.Version, step.SASLAuthBytes = 2, []byte("n,,"+bare)
	first, ok := c.ask(t, step).(*kmsg.SASLAuthenticateResponse)
	if !ok || first.ErrorCode != 0 {
		t.Error("no first message of the broker")
		return
	}
	step.SASLAuthBytes = []byte(final(string(first.SASLAuthBytes)))
	if last, ok := c.ask(t, step).(*kmsg.SASLAuthenticateResponse); !ok || last.ErrorCode != 0 {
		t.Error("not logged in")
	}
}
