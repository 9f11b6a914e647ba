package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"doze"
	"doze/console"
	"doze/wire/httpguard"
)

// consoleCmd is the web console by itself, in front of any Kafka.
type consoleCmd struct {
	Bootstrap      []string `help:"Address of a broker: HOST:PORT or unix:PATH. May be repeated. Default: 127.0.0.1:9092." placeholder:"ADDR" sep:","`
	ConsoleAddr    string   `help:"Address to serve on. Default: 127.0.0.1:9093." placeholder:"HOST:PORT" default:"127.0.0.1:9093"`
	SchemaRegistry string   `help:"URL of the schema registry, if there is one." placeholder:"URL"`
}

// Help is shown below the flags.
func (*consoleCmd) Help() string {
	return `A broker that doze serve runs has its console already. This one knows what any client can know: it has neither
traffic nor timeline.

Examples:
  doze console --bootstrap localhost:9092
  doze console --bootstrap unix:/tmp/kafka.sock --console-addr 127.0.0.1:0`
}

// Run serves until a signal.
func (c *consoleCmd) Run(p *process) error {
	if len(c.Bootstrap) == 0 {
		c.Bootstrap = []string{doze.DefaultAddress}
	}
	host, _, err := net.SplitHostPort(c.ConsoleAddr)
	if err != nil {
		return usageError{fmt.Errorf("--console-addr is %q; give it HOST:PORT", c.ConsoleAddr)}
	}
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	pages, err := console.New(console.Options{Bootstrap: c.Bootstrap, Registry: c.SchemaRegistry, Hosts: []string{host, ".docker.internal"}, Logger: log})
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
	if _, err := io.WriteString(p.stdout, fmt.Sprintf("ready kafka=%s console=http://%s\n", strings.Join(c.Bootstrap, ","), ln.Addr())); err != nil {
		return errors.Join(fmt.Errorf("print the ready line: %w", err), ln.Close())
	}
	return serveUntil(ctx, httpguard.Server(pages), ln)
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
