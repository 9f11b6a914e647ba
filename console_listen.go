package doze

import (
	"fmt"
	"net"
	"net/netip"
	"os"
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
	if err := b.opt.checkConsole(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", b.opt.Console)
	if b.opt.ConsoleMayLack && (&ListenError{Err: err}).InUse() {
		b.noConsole = b.opt.Console
		b.opt.Logger.Warn("there is no console: another program has its address", "address", b.noConsole)
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen on %s for the console: %w; give --console-addr a free address, or --console=false", b.opt.Console, err)
	}
	b.consoleListener = ln
	b.onClose(func() error { ln.Close(); return nil }) // the server has closed it already, unless the start failed
	return nil
}

// checkConsole refuses to show what clients must log in for to whoever reaches the machine.
func (o Options) checkConsole() error {
	if err := checkHostPort("console address", o.Console); err != nil {
		return err
	}
	if o.ConsoleUnprotected || loopback(o.Console) || !o.protects() {
		return nil
	}
	return fmt.Errorf("console address %s can be reached from other machines, and the console asks nobody who he is while a listener has a login or TLS; "+
		"give a loopback address such as 127.0.0.1:9093, or --console-unprotected if everybody may see and change everything", o.Console)
}

// protects says whether a listener asks for a login or encrypts.
func (o Options) protects() bool {
	for _, l := range o.Listeners {
		if protocolOf(o, l) != plaintext {
			return true
		}
	}
	return false
}

const plaintext = "PLAINTEXT"

// protocolOf is the security protocol of a listener.
func protocolOf(o Options, l Listener) string {
	for _, entry := range configs.Entries(o.Properties["listener.security.protocol.map"]) {
		if name, protocol, ok := strings.Cut(entry, ":"); ok && strings.TrimSpace(name) == l.Name {
			return strings.ToUpper(strings.TrimSpace(protocol))
		}
	}
	return plaintext
}

// loopback says whether only this machine reaches the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
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
	c, err := console.New(console.Options{
		Bootstrap: []string{b.Addr()}, Dial: b.consolePipe.dial, Registry: b.registryURL(), Hosts: consoleHosts(b.opt.Console),
		Broker: consoleBroker{b, time.Now()}, Logger: b.opt.Logger,
	})
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
	return append(hosts, ".docker.internal")
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
	for i, l := range c.b.listeners {
		about.Endpoints = append(about.Endpoints, console.Endpoint{Name: c.b.opt.Listeners[i].Name, Address: reachable(l), Protocol: protocolOf(c.b.opt, c.b.opt.Listeners[i])})
	}
	return about
}

// Acts says whether a config key changes what doze does.
func (consoleBroker) Acts(resource, key string) bool {
	table, known := map[string]*configs.Table{
		"topic": configs.TopicKeys, "broker": configs.BrokerKeys, "group": configs.GroupKeys, "client-metrics": configs.ClientMetricsKeys,
	}[resource]
	if !known {
		return false
	}
	d, known := table.Lookup(key)
	return known && d.Acts
}
