package wire

import (
	"encoding/binary"
	"fmt"
)

// frame is a whole request frame: its bytes without the length prefix, and what holds them.
type frame struct {
	body  []byte
	chunk *chunk  // the body lies in a shared read buffer, or
	big   *buffer // in one of its own,
	mem   *budget // and this budget is charged for it

	charged int64
}

func (f *frame) release() {
	if f.chunk != nil {
		f.chunk.release()
	}
	if f.big != nil {
		f.mem.put(f.charged)
		f.big.release()
	}
	*f = frame{}
}

// FrameError says why a frame's length closes the connection.
type FrameError struct {
	Length int32
	Limit  int32
}

func (e *FrameError) Error() string {
	if name := foreign(binary.BigEndian.AppendUint32(nil, uint32(e.Length))); name != "" {
		return fmt.Sprintf("read frame: the peer speaks %s, not the Kafka protocol", name)
	}
	if e.Length <= 0 {
		return fmt.Sprintf("read frame: length %d", e.Length)
	}
	return fmt.Sprintf("read frame: length %d is over the limit of %d", e.Length, e.Limit)
}

// foreign names the protocol that begins with these four bytes, if it is one that often knocks at the wrong door. Read
// as a length, each of them is over every limit; the name is only for the message.
func foreign(p []byte) string {
	switch string(p) {
	case "GET ", "POST", "PUT ", "HEAD", "OPTI", "DELE", "PATC", "CONN", "TRAC", "PRI ":
		return "HTTP"
	case "PROX", "\r\n\r\n":
		return "the PROXY protocol"
	case "SSH-":
		return "SSH"
	}
	if p[0] == 0x16 && p[1] == 3 {
		return "TLS"
	}
	return ""
}

// checkLength judges a frame's declared length before anything is allocated for it.
//
//fuzz:parser class=frame FuzzReadFrame
func checkLength(prefix []byte, limit int32) (int, error) {
	n := int32(binary.BigEndian.Uint32(prefix))
	if n <= 0 || n > limit {
		return 0, &FrameError{Length: n, Limit: limit}
	}
	return int(n), nil
}
