package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"doze/console"
	"doze/wire/httpguard"
)

// consoleCmd is the web console by itself, in front of any Kafka.
type consoleCmd struct {
	clientFlags
	ConsoleAddr        string   `help:"Address to serve on. Default: 127.0.0.1:9093." placeholder:"HOST:PORT" default:"127.0.0.1:9093"`
	ConsoleLogin       bool     `help:"Ask who uses the console for a name and password of the broker's, by --sasl-mechanism (PLAIN or SCRAM); he may do there what that user may."`
	ConsoleTraceHeader []string `help:"Header that holds a trace's id, which is linked across topics as traceparent and b3 are. May be repeated." placeholder:"NAME" sep:"none"`
}

// Help is shown below the flags.
func (*consoleCmd) Help() string {
	return `A broker that doze serve runs has its console already. This one knows what any client can know: it has neither
traffic nor timeline.

Examples:
  doze console --bootstrap localhost:9092
  doze console --bootstrap unix:/tmp/kafka.sock --console-addr 127.0.0.1:0
  doze console --bootstrap kafka.example:9093 --tls --sasl-mechanism SCRAM-SHA-512 --username ada --password-file secret.txt
  doze console --bootstrap kafka.example:9093 --tls --sasl-mechanism SCRAM-SHA-512 --console-login
  doze console --client-config client.properties`
}

// Run serves until a signal.
func (c *consoleCmd) Run(p *process) error {
	at, o, err := c.options(p)
	if err != nil {
		return err
	}
	pages, err := console.New(o)
	if err != nil {
		return usageError{err}
	}
	defer pages.Close()
	ln, err := net.Listen("tcp", c.ConsoleAddr)
	if err != nil {
		return fmt.Errorf("listen on %s for the console: %w%s; give --console-addr a free address", c.ConsoleAddr, err, heldBy(c.ConsoleAddr))
	}
	ctx, stop := untilSignal(func() {})
	defer stop()
	if _, err := io.WriteString(p.stdout, fmt.Sprintf("ready kafka=%s console=http://%s\n", strings.Join(at.servers, ","), ln.Addr())); err != nil {
		return errors.Join(fmt.Errorf("print the ready line: %w", err), ln.Close())
	}
	return serveUntil(ctx, httpguard.Server(pages), ln)
}

// options are the console's, and where it goes.
func (c *consoleCmd) options(p *process) (endpoint, console.Options, error) {
	at, err := c.place(p)
	if err != nil {
		return at, console.Options{}, err
	}
	if at.registry, err = at.registry.checked(); err != nil {
		return at, console.Options{}, usageError{err}
	}
	host, _, err := net.SplitHostPort(c.ConsoleAddr)
	if err != nil {
		return at, console.Options{}, usageError{fmt.Errorf("--console-addr is %q; give it HOST:PORT", c.ConsoleAddr)}
	}
	o := console.Options{
		Bootstrap: at.servers, TLS: at.security.tls, Client: at.security.loginOptions(), Endpoint: at.shown(c.securityFlags),
		Registry: at.registry.url, RegistryTransport: at.registry.roundTripper(),
		Hosts: []string{host, ".docker.internal"}, TraceHeaders: c.ConsoleTraceHeader,
		Logger: slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if c.ConsoleLogin {
		o.Login = at.consoleLogin()
		o.Client, o.RegistryTransport = nil, nil // before a login the console is nobody
	}
	return at, o, nil
}

// shown is how clients are told to reach the broker: as this one does.
func (at endpoint) shown(flags securityFlags) console.Endpoint {
	e := console.Endpoint{Address: strings.Join(at.servers, ","), Protocol: cmp.Or(at.security.protocol, "PLAINTEXT"), CAFile: flags.TLSCA}
	if at.security.mechanism != "" {
		e.Mechanisms = []string{at.security.mechanism}
	}
	return e
}

// serveUntil serves, and lets requests in hand finish when ctx ends.
func serveUntil(ctx context.Context, server *http.Server, ln net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if server.Shutdown(patience) != nil {
		return server.Close()
	}
	return nil
}
