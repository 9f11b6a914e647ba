package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrUnsupported closes a connection that asked for an API or a version that is not served.
var ErrUnsupported = errors.New("not served")

// RequestError says which request closed its connection, and why.
type RequestError struct {
	Key, Version int16
	Err          error
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("request %s v%d: %v", kmsg.NameForKey(e.Key), e.Version, e.Err)
}

func (e *RequestError) Unwrap() error { return e.Err }

// decode fills a request in from its frame and finds its handler. Body is nil for an ApiVersions request of a version
// beyond the advertised range, whose body is not parsed.
func (c *Conn) decode(r *Request) (Handle, error) {
	h, rest, err := parseHeader(r.frame.body)
	if err != nil {
		return nil, err
	}
	r.Key, r.Version, r.Correlation, r.ClientID = h.key, h.version, h.correlation, validText(h.clientID)
	handle, ok := c.server.apis.Lookup(h.key, h.version)
	if !ok {
		return nil, c.unsupported(h, rest)
	}
	body, err := c.server.decodeBody(r, rest)
	if err != nil {
		return nil, &RequestError{h.key, h.version, err}
	}
	r.Body = body
	return handle, nil
}

// unsupported is nil for an ApiVersions request that is to be answered with the range that is served.
func (c *Conn) unsupported(h header, rest []byte) error {
	if h.key != keyAPIVersions {
		return &RequestError{h.key, h.version, ErrUnsupported}
	}
	if h.version >= firstFlexibleAPIVersions {
		if _, err := skipTags(rest); err != nil {
			return err
		}
	}
	return nil
}

const firstFlexibleAPIVersions = 3

// freeDecode is what a decoded request may take without asking the budget: most do, and no two then meet at its lock.
const freeDecode = 16 << 10

// decodeBody parses the tags of a flexible header, checks the body's shape, reserves the memory that it takes decoded,
// and decodes it. The records of a produce stay where they are; any other request lets go of its frame: it may be parked
// for long (a fetch, a join), and so may many of its kind.
//
//fuzz:parser class=body FuzzDecodeBody
func (s *Server) decodeBody(r *Request, b []byte) (kmsg.Request, error) {
	body := kmsg.RequestForKey(r.Key)
	shape := shapeOf(r.Key, r.Version)
	if body == nil || shape == nil || r.Version > body.MaxVersion() {
		return nil, ErrUnsupported
	}
	body.SetVersion(r.Version)
	if body.IsFlexible() {
		var err error
		if b, err = skipTags(b); err != nil {
			return nil, err
		}
	}
	m, err := shape.check(b, s.opt.DecodeMemory)
	if err != nil {
		return nil, err
	}
	keep := m.aliases && r.Key == keyProduce
	if m.aliases && !keep {
		m.cost += int64(len(b))
	}
	if err := s.reserve(r, m.cost); err != nil {
		return nil, err
	}
	if m.aliases && !keep {
		b = bytes.Clone(b)
	}
	if err := body.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	if m.mend {
		mendText(body)
	}
	if !keep {
		r.frame.release()
	}
	return body, nil
}

// reserve charges what a request takes decoded. Who has not logged in gets no room for other than messages of logins: requests
// that come in their place are answered, at many times their size, and would take the memory of those who have.
func (s *Server) reserve(r *Request, cost int64) error {
	if cost <= freeDecode {
		return nil
	}
	if !r.Conn.open() && r.Key != keySASLAuthenticate {
		return fmt.Errorf("take %d bytes before the login: %w", cost, ErrMemory)
	}
	if err := s.decoding.take(cost, r.Conn.ended()); err != nil {
		return err
	}
	r.cost = cost
	return nil
}

// release lets go of what a request holds, when its answer is written. It may be called again.
func (r *Request) release() {
	r.frame.release()
	if r.cost > 0 {
		r.Conn.server.decoding.put(r.cost)
		r.cost = 0
	}
}

// tooNew answers an ApiVersions request whose version is not served: UNSUPPORTED_VERSION in the format of version 0, with
// the range of ApiVersions itself as the only entry. The connection stays open.
func (c *Conn) tooNew(r *Request) error {
	low, high, ok := c.server.apis.Versions(keyAPIVersions)
	if !ok {
		err := &RequestError{r.Key, r.Version, ErrUnsupported}
		c.finish(r, nil, err)
		return err
	}
	r.Body = kmsg.NewPtrApiVersionsRequest()
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = 35
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: keyAPIVersions, MinVersion: low, MaxVersion: high}}
	r.Version = 0
	c.answer(r, resp)
	return nil
}
