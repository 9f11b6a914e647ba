package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"doze"
)

// Run starts the broker, says when it is ready, and stops it at a signal; at another one it is gone at once.
func (c *serveCmd) Run(kctx *kong.Context, p *process) error {
	g, err := gather(kctx, p, c.Config)
	if err != nil {
		return usageError{err}
	}
	o, err := g.options(p.stderr)
	if err != nil {
		return usageError{err}
	}
	profiles, err := servePprof(c.Pprof)
	if err != nil {
		return err
	}
	defer profiles.Close()
	var running atomic.Pointer[doze.Broker]
	ctx, stop := untilSignal(func() {
		if broker := running.Load(); broker != nil {
			broker.Abandon()
		}
	})
	defer stop()
	broker, err := doze.New(o)
	if err != nil {
		return err
	}
	running.Store(broker)
	return serve(ctx, broker, o, g, p.stdout)
}

func serve(ctx context.Context, broker *doze.Broker, o doze.Options, g gathered, out io.Writer) error {
	health, err := serveHealth(g.text("health-addr"))
	if err != nil {
		return errors.Join(err, broker.Close())
	}
	defer health.Close()
	served := make(chan error, 1)
	go func() { served <- broker.Run(ctx) }()
	if err := announce(broker, o, g, health.url, out); err != nil {
		return errors.Join(err, broker.Close(), <-served)
	}
	return <-served
}

// announce prints the summary for people, and the ready line for programs, last.
func announce(broker *doze.Broker, o doze.Options, g gathered, health string, out io.Writer) error {
	ready := broker.Ready()
	var b strings.Builder
	fmt.Fprintf(&b, "doze %s, answering as Apache Kafka %s\n", buildVersion(), o.KafkaVersion)
	fmt.Fprintf(&b, "  clients   %s\n", strings.Join(ready.Kafka, ", "))
	for _, l := range o.Listeners {
		if hears := wildcard(l.Address); hears && l.Advertise == "" {
			fmt.Fprintf(&b, "            %s listens on every interface, and tells each client the address that it came to;\n", l.Address)
			fmt.Fprintf(&b, "            behind a forwarded port or in a container, add --advertise HOST:PORT with the outside address\n")
		}
	}
	data := ready.DataDir
	if o.Ephemeral {
		data += " (removed at exit)"
	}
	fmt.Fprintf(&b, "  data      %s\n", data)
	if health != "" {
		fmt.Fprintf(&b, "  health    %s\n", health)
	}
	if g.file != "" {
		fmt.Fprintf(&b, "  settings  %s\n", g.file)
	}
	for _, remark := range append(g.remarks, recovered(broker)...) {
		fmt.Fprintf(&b, "  note      %s\n", remark)
	}
	fmt.Fprintf(&b, "  shell     %s\n", envLine(ready, o))
	fmt.Fprintln(&b, ready.Line())
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("print the ready line: %w", err)
	}
	readyFile := g.text("ready-file")
	if readyFile == "" {
		return nil
	}
	if err := os.WriteFile(readyFile, []byte(ready.Line()+"\n"), 0o644); err != nil { //nolint:gosec // it is for others to read
		return fmt.Errorf("write the ready file: %w; name a file in a directory that is there", err)
	}
	return nil
}

func recovered(broker *doze.Broker) []string {
	if broker.Recovered() == "" {
		return nil
	}
	return strings.Split(broker.Recovered(), "\n")
}

func wildcard(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "" || host == "0.0.0.0" || host == "::")
}

// envLine is the command that gives a shell this broker's environment.
func envLine(ready doze.Ready, o doze.Options) string {
	var args strings.Builder
	for i, at := range ready.Kafka {
		if at != doze.DefaultAddress {
			fmt.Fprintf(&args, " --listen %s", at)
		}
		if o.Listeners[i].Advertise != "" {
			fmt.Fprintf(&args, " --advertise %s", o.Listeners[i].Advertise)
		}
	}
	return `eval "$(doze env` + args.String() + `)"`
}

// health is the HTTP server of /healthz; the zero value is none.
type health struct {
	server *http.Server
	url    string
}

// serveHealth answers /healthz with 200 on an address; on none when it is empty.
func serveHealth(address string) (health, error) {
	if address == "" {
		return health{}, nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return health{}, fmt.Errorf("listen on %s for /healthz: %w; give --health-addr a free address", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	go server.Serve(ln) //nolint:errcheck // it ends when it is closed
	return health{server, "http://" + ln.Addr().String() + "/healthz"}, nil
}

// Close ends the server, if there is one.
func (h health) Close() error {
	if h.server == nil {
		return nil
	}
	return h.server.Close()
}
