package doze

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/handlers"
	"doze/wire"
)

// trafficLog writes a line for each answered request, at level debug.
type trafficLog struct{ log *slog.Logger }

// newTrafficLog observes traffic when anybody wants to see it; nil costs the connections nothing.
func newTrafficLog(log *slog.Logger) wire.Observer {
	if !log.Enabled(context.Background(), slog.LevelDebug) {
		return nil
	}
	return trafficLog{log}
}

// Request is told before the handler has it: the answer says everything.
func (trafficLog) Request(*wire.Request) {}

// Answer logs what was asked, by whom, and how long it took.
func (t trafficLog) Answer(r *wire.Request, a wire.Answer) {
	t.log.Debug("request", "api", kmsg.NameForKey(r.Key), "version", r.Version, "asks", handlers.Describe(r.Body),
		"client", r.ClientID, "principal", r.Conn.Principal(), "conn", r.Conn.ID, "request", r.Correlation, "bytes-in", r.Size, "bytes-out", a.Size,
		"took", a.Handled.Sub(r.Received), "error", a.Err)
}

// Closed logs the end of a connection.
func (t trafficLog) Closed(c *wire.Conn, why error) {
	t.log.Debug("connection closed", "conn", c.ID, "client", c.Remote(), "why", why)
}
