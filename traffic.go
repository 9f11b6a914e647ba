package doze

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/traffic"
	"doze/wire"
)

// observer is told of the connections' traffic: the log at level debug, and the ring that a console reads. nil, when nobody
// wants to see any, costs the connections a nil check.
func observer(log *slog.Logger, ring *traffic.Ring) wire.Observer {
	logs := log.Enabled(context.Background(), slog.LevelDebug)
	switch {
	case logs && ring != nil:
		return observers{trafficLog{log}, ring}
	case logs:
		return trafficLog{log}
	case ring != nil:
		return ring
	}
	return nil
}

// observers tells two observers what one is told.
type observers [2]wire.Observer

// Request tells both of a request.
func (o observers) Request(r *wire.Request) {
	o[0].Request(r)
	o[1].Request(r)
}

// Answer tells both of an answer.
func (o observers) Answer(r *wire.Request, a wire.Answer) {
	o[0].Answer(r, a)
	o[1].Answer(r, a)
}

// Closed tells both of the end of a connection.
func (o observers) Closed(c *wire.Conn, why error) {
	o[0].Closed(c, why)
	o[1].Closed(c, why)
}

// trafficLog writes a line for each answered request, at level debug.
type trafficLog struct{ log *slog.Logger }

// Request is told before the handler has it: the answer says everything.
func (trafficLog) Request(*wire.Request) {}

// Answer logs what was asked, by whom, and how long it took.
func (t trafficLog) Answer(r *wire.Request, a wire.Answer) {
	t.log.Debug("request", "api", kmsg.NameForKey(r.Key), "version", r.Version, "asks", traffic.Asked(r.Body, nil),
		"client", r.ClientID, "principal", r.Conn.Principal(), "conn", r.Conn.ID, "request", r.Correlation, "bytes-in", traffic.SizeShown(r), "bytes-out", a.Size,
		"took", a.Handled.Sub(r.Received), "error", a.Err)
}

// Closed logs the end of a connection.
func (t trafficLog) Closed(c *wire.Conn, why error) {
	t.log.Debug("connection closed", "conn", c.ID, "client", c.Remote(), "why", why)
}
