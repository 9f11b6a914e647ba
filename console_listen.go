package doze

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"doze/configs"
	"doze/console"
	"doze/wire"
	"doze/wire/httpguard"
)

// bindConsole takes the console's address, before anything is made on the disk.
func (b *Broker) bindConsole() error {
	if b.opt.Console == "" {
		return nil
	}
	if err := b.checkConsole(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", b.opt.Console)
	if b.opt.ConsoleMayLack && (&ListenError{Err: err}).InUse() {
		b.noConsole = b.opt.Console
		b.opt.Logger.Warn("there is no console: another program has its address", "address", b.noConsole)
		return nil
	}
	if err != nil {
		return &ListenError{Address: b.opt.Console, Err: err, For: "the console", Flag: "console"}
	}
	b.consoleListener = ln
	b.onClose(func() error { ln.Close(); return nil }) // the server has closed it already, unless the start failed
	return nil
}

// checkConsole refuses to show what clients must log in for, or what they cannot reach, to other machines.
func (b *Broker) checkConsole() error {
	o := b.opt
	if err := checkHostPort("console address", o.Console); err != nil {
		return err
	}
	if o.ConsoleUnprotected || !reachableFromOutside(o.Console) {
		return nil
	}
	if !slices.ContainsFunc(o.Listeners, func(l Listener) bool { return o.protocolOf(l) != protocolPlain }) {
		return b.refuseExposed(o.Console, "the console", "give --console-unprotected", false)
	}
	if o.ConsoleLogin {
		return fmt.Errorf("console address %s can be reached from other machines, and the console speaks plain HTTP: passwords and sessions could be read on the way; "+
			"give a loopback address such as 127.0.0.1:9093 and reach it through a proxy with TLS or ssh -L, or --console-unprotected if the network is trusted", o.Console)
	}
	return fmt.Errorf("console address %s can be reached from other machines, and the console asks nobody who he is while a listener has a login or TLS; "+
		"give a loopback address such as 127.0.0.1:9093, or --console-unprotected if everybody may see and change everything", o.Console)
}

// listenConsolePipe makes the console's way to the broker, one of the server's listeners.
func (b *Broker) listenConsolePipe() error {
	if b.consoleListener == nil {
		return nil
	}
	b.consolePipe = newPipeListener()
	_, err := b.server.ListenOn(b.consolePipe, wire.ListenOptions{Name: "CONSOLE", Gate: consoleGate{}})
	return err
}

// serveConsole answers browsers from now on.
func (b *Broker) serveConsole() error {
	if b.consoleListener == nil {
		return nil
	}
	o := console.Options{
		Bootstrap: []string{b.Addr()}, Dial: b.consolePipe.dialAs(consolePrincipal, nil), Hosts: consoleHosts(b.opt.Console),
		Broker: consoleBroker{b, time.Now()}, Access: consoleAccess{b.opt.Properties}, Doctor: b.opt.ConsoleDoctor, Logger: b.opt.Logger,
		TraceHeaders: b.opt.ConsoleTraceHeaders,
	}
	if b.registryListener != nil {
		o.Registry = b.registryURL()
		o.RegistryHandler = b.registryFor("")
	}
	b.insideOf(&o)
	var err error
	if o.Login, err = b.consoleLogin(); err != nil {
		return err
	}
	c, err := console.New(o)
	if err != nil {
		return err
	}
	server := httpguard.Server(c)
	go server.Serve(b.consoleListener) //nolint:errcheck // it ends when it is closed
	b.onClose(func() error {
		err := stopHTTP(server)
		c.Close()
		return err
	})
	return nil
}

// consoleHosts are names that browsers may call the console by, beside addresses and localhost.
func consoleHosts(address string) []string {
	var hosts []string
	if host, _, err := net.SplitHostPort(address); err == nil {
		hosts = append(hosts, host)
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	return append(hosts, ".docker.internal", ".doze")
}

func (b *Broker) consoleURL() string {
	if b.consoleListener == nil {
		return ""
	}
	addr, _ := b.consoleListener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// consoleBroker tells the console what no client can ask for.
type consoleBroker struct {
	b       *Broker
	started time.Time
}

// About is what the broker was started with.
func (c consoleBroker) About() console.About {
	about := console.About{
		Version: Version(), KafkaVersion: c.b.opt.KafkaVersion, DataDir: c.b.fs.Path(), Ephemeral: c.b.opt.Ephemeral, Started: c.started,
	}
	if found := c.b.Recovered(); found != "" {
		about.Recovered = strings.Split(found, "\n")
	}
	for i, bound := range c.b.listeners {
		l := c.b.opt.Listeners[i]
		e := console.Endpoint{Name: l.Name, Address: reachable(bound), Protocol: c.b.opt.protocolOf(l)}
		if c.b.opt.asksForLogin(l) {
			e.Mechanisms = c.b.opt.mechanismsOf(l)
		}
		if hasTLS(e.Protocol) {
			e.CAFile = c.b.opt.source(l).CertFile
		}
		about.Endpoints = append(about.Endpoints, e)
	}
	return about
}

// Acts says whether a config key changes what doze does.
func (consoleBroker) Acts(resource, key string) bool {
	if resource == "broker" {
		return configs.BrokerKeyActs(key)
	}
	table, known := map[string]*configs.Table{
		"topic": configs.TopicKeys, "group": configs.GroupKeys, "client-metrics": configs.ClientMetricsKeys,
	}[resource]
	if !known {
		return false
	}
	d, known := table.Lookup(key)
	return known && d.Acts
}
