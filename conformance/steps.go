package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"doze/conformance/recording"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// C is what a scenario's script acts through: it holds the broker, the connections and the steps so far. It is used by
// one goroutine; requests are in flight together because an answer is read only when it is awaited.
type C struct {
	broker Broker
	scrub  *scrubber
	conns  map[string]*Conn
	steps  []*recording.Step

	aclPhase int // how often ACLs were set
}

// stop is the panic that ends a script early.
type stop struct{ err error }

// Fatalf ends the scenario: what it needs to go on did not happen.
func (c *C) Fatalf(format string, args ...any) {
	panic(stop{fmt.Errorf(format, args...)})
}

// Addr is the broker's address.
func (c *C) Addr() string { return c.broker.Addr() }

// Restart stops the broker cleanly and starts it again on the same data.
func (c *C) Restart() {
	c.drop()
	c.again("restart", c.broker.Restart)
}

// Kill ends the broker without warning (kill -9) and starts it again on the same data. The connections go with it, not
// before: it would otherwise depend on chance whether the broker hears of their end.
func (c *C) Kill() {
	c.again("kill", c.broker.Kill)
	c.drop()
}

func (c *C) drop() {
	for name, conn := range c.conns {
		conn.drop()
		delete(c.conns, name)
	}
}

func (c *C) again(how string, do func() error) {
	if err := do(); err != nil {
		c.Fatalf("%s broker: %w", how, err)
	}
	c.scrub.setAddr(c.broker.Addr())
	c.steps = append(c.steps, &recording.Step{Name: how, Outcome: how})
}

func (c *C) close() {
	for _, conn := range c.conns {
		conn.drop()
	}
}

// Conn gives the connection of this name; it is opened at first use, and again after the broker closed it.
func (c *C) Conn(name string) *Conn {
	if conn := c.conns[name]; conn != nil {
		return conn
	}
	conn := &Conn{c: c, name: name, clientID: clientID}
	c.conns[name] = conn
	return conn
}

// Conn is one connection.
type Conn struct {
	c           *C
	name        string
	socket      *socket
	correlation int32
	waiting     []*Pending
	login       func(*socket) error // nil: at the first listener, which asks for none
	clientID    string
}

// As gives what follows on the connection another client id.
func (n *Conn) As(clientID string) *Conn {
	n.clientID = clientID
	return n
}

func (n *Conn) open() *socket {
	if n.socket == nil {
		s, err := dial(n.addr())
		if err == nil && n.login != nil {
			err = n.login(s)
		}
		if err != nil {
			n.c.Fatalf("connection %s: %w", n.name, err)
		}
		n.socket = s
	}
	return n.socket
}

// Close closes the connection from this side.
func (n *Conn) Close() { n.drop() }

func (n *Conn) drop() {
	if n.socket != nil {
		n.socket.conn.Close()
	}
	n.socket, n.waiting = nil, nil
}

// Pending is a request whose answer has not been read yet.
type Pending struct {
	conn        *Conn
	step        *recording.Step
	response    kmsg.Response // nil: the answer is kept as bytes
	correlation int32
	sent        time.Time
	only        [][]string // what is kept of the answer; nil: all of it
	inflated    bool
}

// Send sends a request at a version and does not wait for its answer.
func (n *Conn) Send(step string, version int16, req kmsg.Request) *Pending {
	req.SetVersion(version)
	awaitOwnMillisecond(req)
	p := n.begin(step, req)
	p.step.Request = n.c.scrub.request(req)
	n.post(p, frameAs(n.clientID, req, p.correlation))
	return p
}

// awaitOwnMillisecond keeps what is written to a log out of the millisecond of what was written before: scripts ask for the
// latest time, and a quick broker would give several batches the same one.
func awaitOwnMillisecond(req kmsg.Request) {
	switch req.(type) {
	case *kmsg.ProduceRequest, *kmsg.WriteTxnMarkersRequest, *kmsg.EndTxnRequest:
		now := time.Now()
		time.Sleep(now.Truncate(time.Millisecond).Add(time.Millisecond).Sub(now))
	}
}

// SendRaw sends a frame that a request cannot express. The answer is read as that of like (at like's version), or kept
// as bytes when like is nil. The frame holds its own correlation id.
func (n *Conn) SendRaw(step string, frame []byte, like kmsg.Request) *Pending {
	p := n.begin(step, like)
	p.correlation = -1
	if len(frame) >= 8 {
		p.correlation = int32(uint32(frame[4])<<24 | uint32(frame[5])<<16 | uint32(frame[6])<<8 | uint32(frame[7]))
	}
	p.step.Raw = hex.EncodeToString(frame)
	n.post(p, frame)
	return p
}

// SendBytes sends bytes that are not a frame.
func (n *Conn) SendBytes(step string, b []byte) *Pending {
	p := n.begin(step, nil)
	p.step.Raw = "unframed " + hex.EncodeToString(b)
	p.sent = time.Now()
	n.waiting = append(n.waiting, p)
	if err := n.open().sendBytes(b); err != nil {
		n.c.Fatalf("send %s: %w", step, err)
	}
	return p
}

func (n *Conn) begin(step string, req kmsg.Request) *Pending {
	n.correlation++
	p := &Pending{conn: n, correlation: n.correlation, step: &recording.Step{Name: step, Conn: n.name}}
	if req != nil {
		p.response = req.ResponseKind()
		p.response.SetVersion(req.GetVersion())
		p.step.API = recording.APIName(req.Key(), req.GetVersion())
	}
	n.c.steps = append(n.c.steps, p.step)
	return p
}

func (n *Conn) post(p *Pending, frame []byte) {
	p.sent = time.Now()
	n.waiting = append(n.waiting, p)
	if err := n.open().send(frame); err != nil {
		n.c.Fatalf("send %s: %w", p.step.Name, err)
	}
}

// Only keeps some fields of the answer, for a claim that is not about the others. In a path a dot goes down a level,
// through every element of a list.
func (p *Pending) Only(paths ...string) *Pending {
	for _, path := range paths {
		p.only = append(p.only, strings.Split(path, "."))
	}
	return p
}

// Inflated shows the records of compressed batches in the answer, not the bytes that the broker's compressor chose.
func (p *Pending) Inflated() *Pending {
	p.inflated = true
	return p
}

// Await reads the answer, or notes that the broker closed the connection. It gives nil when there is no answer.
// Answers are awaited in the order in which their requests were sent, as they arrive.
func (p *Pending) Await() kmsg.Response { return p.await(patience) }

// Parked notes that no answer has come within a moment. The answer can be awaited later.
func (p *Pending) Parked() {
	const moment = 150 * time.Millisecond
	if p.conn.socket.readable(moment) {
		p.conn.c.Fatalf("step %s: an answer came where none was expected yet", p.step.Name)
	}
	p.step.Took = "parked"
}

// Unanswered notes that this request has no answer at all (acks=0): the next answer on the connection is that of the
// next request.
func (p *Pending) Unanswered() {
	p.leave()
	p.step.Outcome = "no answer"
}

func (p *Pending) leave() {
	for i, w := range p.conn.waiting {
		if w == p {
			p.conn.waiting = append(p.conn.waiting[:i], p.conn.waiting[i+1:]...)
			return
		}
	}
}

func (p *Pending) await(wait time.Duration) kmsg.Response {
	if len(p.conn.waiting) == 0 || p.conn.waiting[0] != p {
		if p.conn.socket == nil {
			p.step.Outcome = "closed"
			return nil
		}
		p.conn.c.Fatalf("await %s: an earlier answer of connection %s was not awaited", p.step.Name, p.conn.name)
	}
	frame, err := p.conn.socket.receive(wait)
	p.leave()
	switch {
	case err == nil:
		return p.answer(frame)
	case err == errClosed:
		p.step.Outcome = "closed"
		p.conn.drop()
		return nil
	case isTimeout(err):
		p.step.Outcome = "no answer"
		return nil
	}
	p.conn.c.Fatalf("await %s: %w", p.step.Name, err)
	return nil
}

// answer decodes a frame and adds it to the step.
func (p *Pending) answer(frame []byte) kmsg.Response {
	c := p.conn.c
	if p.response == nil {
		p.step.Answer = recording.Object{{Name: "Frame", Value: hex.EncodeToString(frame)}}
		return nil
	}
	correlation, body, err := splitAnswer(frame, p.response.Key(), p.response.IsFlexible())
	if err != nil {
		c.Fatalf("step %s: %w", p.step.Name, err)
	}
	if correlation != p.correlation {
		c.Fatalf("step %s: the answer has correlation id %d, not %d", p.step.Name, correlation, p.correlation)
	}
	p.decode(body)
	return p.response
}

// decode reads the body. ApiVersions answers a version it does not know in the form of version 0.
func (p *Pending) decode(body []byte) {
	if p.response.Key() == apiVersionsKey && len(body) > 2 && bytes.Equal(body[:2], []byte{0, 35}) {
		p.response.SetVersion(0)
	}
	if err := p.response.ReadFrom(body); err != nil {
		p.step.Wire = "does not decode: " + hex.EncodeToString(body)
		return
	}
	if again := p.response.AppendTo(nil); !bytes.Equal(again, body) {
		p.step.Wire = "not what the fields encode to"
	}
	p.step.Answer = p.conn.c.scrub.answer(p.response, p.only)
	if p.inflated {
		p.step.Answer = recording.Inflated(p.step.Answer, inflate).(recording.Object)
	}
}

// Do sends a request and awaits its answer: nil when the broker closed the connection instead.
func (n *Conn) Do(step string, version int16, req kmsg.Request) kmsg.Response {
	return n.Send(step, version, req).Await()
}

// DoRaw is SendRaw and Await.
func (n *Conn) DoRaw(step string, frame []byte, like kmsg.Request) kmsg.Response {
	return n.SendRaw(step, frame, like).Await()
}

// DoTimed is Do, and notes whether the answer took at least so long.
func (n *Conn) DoTimed(step string, version int16, req kmsg.Request, least time.Duration) kmsg.Response {
	p := n.Send(step, version, req)
	resp := p.Await()
	p.TookAtLeast(least)
	return resp
}

// TookAtLeast notes, after Await, whether so much time passed since the request was sent.
func (p *Pending) TookAtLeast(least time.Duration) {
	p.step.Took = "less than " + least.String()
	if time.Since(p.sent) >= least {
		p.step.Took = "at least " + least.String()
	}
}

// ThrottledWithin notes, after Await, that the answer's throttle time lies within bounds (ms), for one that depends on how
// fast the machine was. One that does not is kept as it is.
func (p *Pending) ThrottledWithin(low, high int32) {
	resp, ok := p.response.(kmsg.ThrottleResponse)
	if !ok || p.step.Answer == nil {
		return
	}
	if t, _ := resp.Throttle(); t < low || t > high {
		return
	}
	for i := range p.step.Answer {
		if p.step.Answer[i].Name == "ThrottleMillis" {
			p.step.Answer[i].Value = fmt.Sprintf("from %d to %d", low, high)
		}
	}
}

// Ask is Do for a script that uses the answer; no answer ends the scenario.
func Ask[R kmsg.Response](n *Conn, step string, version int16, req kmsg.Request) R {
	return need[R](n, step, n.Do(step, version, req))
}

// AwaitAs is Await for a script that uses the answer.
func AwaitAs[R kmsg.Response](p *Pending) R { return need[R](p.conn, p.step.Name, p.Await()) }

func need[R kmsg.Response](n *Conn, step string, resp kmsg.Response) R {
	r, ok := resp.(R)
	if !ok {
		n.c.Fatalf("step %s: there is no answer", step)
	}
	return r
}

// AskUntil sends a request again and again until the answer is as wanted, and keeps only the last one: Kafka's parts
// learn of a change one after the other.
func AskUntil[R kmsg.Response](n *Conn, step string, version int16, req kmsg.Request, ok func(R) bool) R {
	before, deadline := len(n.c.steps), time.Now().Add(patience)
	mark := n.c.scrub.mark()
	for {
		resp := Ask[R](n, step, version, req)
		if ok(resp) {
			return resp
		}
		if time.Now().After(deadline) {
			n.c.Fatalf("step %s: not as wanted within %s: %+v", step, patience, resp)
		}
		n.c.steps = n.c.steps[:before]
		n.c.scrub.reset(mark)
		time.Sleep(20 * time.Millisecond)
	}
}

// AskUntilOpen sends a request on new connections until one is answered: the broker learns of an ended connection a
// moment later.
func (n *Conn) AskUntilOpen(step string, version int16, req kmsg.Request) {
	before, deadline := len(n.c.steps), time.Now().Add(patience)
	for n.Do(step, version, req) == nil {
		if time.Now().After(deadline) {
			n.c.Fatalf("step %s: no connection is answered within %s", step, patience)
		}
		n.c.steps = n.c.steps[:before]
		time.Sleep(20 * time.Millisecond)
	}
}
