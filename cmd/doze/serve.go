package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"doze"
	"doze/names"
)

// Run starts the broker, says when it is ready, and stops it at a signal; at another one it is gone at once.
func (c *serveCmd) Run(kctx *kong.Context, p *process) error {
	g, err := gather(kctx, p, c.Config)
	if err != nil {
		return usageError{err}
	}
	o, err := g.options(p.stderr)
	if err != nil {
		return usageError{nameDataDir(err, " with --data-dir")}
	}
	profiles, err := servePprof(c.Pprof)
	if err != nil {
		return err
	}
	defer profiles.Close()
	file := readyFile(g.text("ready-file"))
	if err := file.prepare(); err != nil {
		return err
	}
	health, err := listenHealth(g.text("health-addr"))
	if err != nil {
		return err
	}
	defer health.Close()
	seeds, err := loadSeeds(g)
	if err != nil {
		return usageError{err}
	}
	where, err := stand(g, &o, zoneAt(c.ZoneRoot))
	if err != nil {
		return err
	}
	defer where.leave()
	var running atomic.Pointer[doze.Broker]
	ctx, stop := untilSignal(func() { abandon(running.Load(), file); where.leave() })
	defer stop()
	o.ConsoleDoctor = consoleDoctor{o}
	broker, err := openBroker(o)
	if err != nil {
		where.withdraw()
		return explainListen(err)
	}
	running.Store(broker)
	err = serve(ctx, broker, health, func() error {
		if err := seeds.apply(ctx, broker.Ready(), o); err != nil {
			return err
		}
		where.announce(ctx, broker.Ready(), o)
		return announce(broker, o, g, where, health.url, file, p.stdout)
	})
	return errors.Join(err, file.remove())
}

// openGCPercent is how far the heap may grow between collections while a broker opens. What is read from disk then stays, so
// that collecting in between finds next to nothing: some 4 ms of every start, a quarter of one with 100,000 schemas.
const openGCPercent = 400

func openBroker(o doze.Options) (*doze.Broker, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(openGCPercent))
	return doze.New(o)
}

// abandon removes what must not stay when the process ends at once.
func abandon(broker *doze.Broker, file readyFile) {
	if broker != nil {
		broker.Abandon()
		_ = file.remove() // nobody is left to be told
	}
}

func serve(ctx context.Context, broker *doze.Broker, health health, announce func() error) error {
	served := make(chan error, 1)
	go func() { served <- broker.Run(ctx) }()
	health.serve()
	if err := announce(); err != nil {
		return errors.Join(err, broker.Close(), <-served)
	}
	settled := time.AfterFunc(settleAfter, settle)
	defer settled.Stop()
	return <-served
}

// explainListen says who has an address that is in use, where that can be seen.
func explainListen(err error) error {
	var refused *doze.ListenError
	if !errors.As(err, &refused) || !refused.InUse() {
		return err
	}
	whose := ""
	if refused.For != "" {
		whose = " for " + refused.For
	}
	return fmt.Errorf("listen on %s%s: the address is in use%s; end that process, or %s", refused.Address, whose, heldBy(refused.Address), refused.Elsewhere())
}

// heldBy names who has the address, where that can be seen: " by NAME (pid N)".
func heldBy(address string) string {
	if _, port, err := net.SplitHostPort(address); err == nil {
		if holder := portHolder(port); holder != "" {
			return " by " + holder
		}
	}
	return ""
}

// announce writes the ready file, then prints the summary for people and the ready line for programs, last.
func announce(broker *doze.Broker, o doze.Options, g gathered, where *standing, health string, file readyFile, out io.Writer) error {
	plain := broker.Ready()
	ready := where.named(plain)
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
	b.WriteString(webLine("registry", ready.Registry, ready.NoRegistry, "schema-registry"))
	b.WriteString(webLine("console", ready.Console, ready.NoConsole, "console"))
	if health != "" {
		fmt.Fprintf(&b, "  health    %s\n", health)
	}
	if g.file != "" {
		fmt.Fprintf(&b, "  settings  %s\n", g.file)
	}
	if where.note != "" {
		fmt.Fprintf(&b, "  note      %s\n", where.note)
	}
	for _, remark := range append(g.remarks, recovered(broker)...) {
		fmt.Fprintf(&b, "  note      %s\n", remark)
	}
	if _, err := bootstrapServers(o.Listeners); !errors.Is(err, errNoTCP) {
		fmt.Fprintf(&b, "  shell     %s\n", where.envLine(plain, o))
	}
	if text := g.text("announce"); text != "" {
		fmt.Fprintln(&b, text)
	}
	fmt.Fprintln(&b, plain.Line())
	if err := file.write(plain.Line()); err != nil {
		return err
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("print the ready line: %w", err)
	}
	return nil
}

// webLine says where a server beside the broker is, or who has its address and which flag gives it another.
func webLine(what, url, taken, flag string) string {
	if taken != "" {
		return fmt.Sprintf("  %-9s none, for %s is in use%s; to have one, end what has it or give --%s-addr HOST:PORT;\n"+
			"            --%s=false says that none is wanted\n", what, taken, heldBy(taken), flag, flag)
	}
	if url == "" {
		return ""
	}
	return fmt.Sprintf("  %-9s %s\n", what, url)
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
func (s *standing) envLine(ready doze.Ready, o doze.Options) string {
	var args strings.Builder
	if s.name != "" && s.name != doze.DefaultName {
		fmt.Fprintf(&args, " --name %s", s.name)
	}
	if s.name == "" {
		for i, at := range ready.Kafka {
			if at != doze.DefaultAddress {
				fmt.Fprintf(&args, " --listen %s", at)
			}
			if o.Listeners[i].Advertise != "" {
				fmt.Fprintf(&args, " --advertise %s", o.Listeners[i].Advertise)
			}
		}
	}
	args.WriteString(s.registryArgs(ready.Registry))
	return `eval "$(doze env` + args.String() + `)"`
}

// registryArgs are what doze env has to be told of the registry: nothing where it is at its usual place.
func (s *standing) registryArgs(url string) string {
	usual := "http://" + doze.DefaultSchemaRegistry
	if s.name != "" {
		usual = "http://" + s.at(names.RegistryPort)
	}
	switch url {
	case "":
		return " --schema-registry=false"
	case usual:
		return ""
	}
	return " --schema-registry-addr " + strings.TrimPrefix(s.url(url), "http://")
}
