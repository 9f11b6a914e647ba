package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"

	"doze"
	"doze/names"
)

type addr = netip.Addr

// place is where a broker stands in the zone, and in the list of those that run.
type standing struct {
	book     *names.Book // nil: this user has no place for one
	name     string      // that it has claimed; "" for none
	address  addr
	resolver netip.AddrPort
	note     string // why it has claimed none, for people
	left     sync.Once
}

// stand claims the broker's name, if nobody says where it is to listen and the zone has the name, and gives the options the
// name's address. Otherwise the options stay: 127.0.0.1:9092, or where somebody wants it.
func stand(g gathered, o *doze.Options, zone names.Zone) (*standing, error) {
	s := new(standing)
	book, err := openBook()
	if err == nil {
		s.book = book
	}
	if g.saysWhere(*o) || !zone.Exists() {
		return s, nil
	}
	found, err := zone.Look()
	switch {
	case s.book == nil:
		s.note = "there is no state directory to claim a name in; listening on " + doze.DefaultAddress
	case names.CheckName(o.Name) != nil:
		s.note = fmt.Sprintf("%v; listening on %s", names.CheckName(o.Name), doze.DefaultAddress)
	case err != nil:
		s.note = fmt.Sprintf("the .doze zone cannot be read (%v); listening on %s", err, doze.DefaultAddress)
	case !found.Covers(o.Name):
		s.note = fmt.Sprintf("%s%s is not set up on this machine (%s%s does that); listening on %s", o.Name, names.Suffix, asRoot("setup"), setupName(o.Name), doze.DefaultAddress)
	default:
		return s, s.claim(g, o, found)
	}
	return s, nil
}

func setupName(name string) string {
	if name == names.DefaultName {
		return ""
	}
	return " --name " + name
}

// saysWhere tells whether somebody decided where clients connect.
func (g gathered) saysWhere(o doze.Options) bool {
	for _, name := range []string{"listen", "advertise"} {
		if g.own[name].values != nil {
			return true
		}
	}
	for _, name := range []string{"listeners", "advertised.listeners"} {
		if g.properties[name].values != nil {
			return true
		}
	}
	return len(o.Listeners) != 1 || o.Listeners[0].Address != doze.DefaultAddress
}

// claim takes the name and its address. An address that is none of this machine (macOS, before its aliases are made) is left.
func (s *standing) claim(g gathered, o *doze.Options, found names.Found) error {
	dataDir := o.DataDir
	if o.Ephemeral {
		dataDir = ""
	}
	address, err := s.book.Claim(o.Name, dataDir, found.Hosts[o.Name])
	var held *names.HeldError
	if errors.As(err, &held) {
		return fmt.Errorf("%w; stop it, or start this one under another name: --name NAME", err)
	}
	if err != nil {
		s.note = fmt.Sprintf("%s%s cannot be claimed (%v); listening on %s", o.Name, names.Suffix, err, doze.DefaultAddress)
		return nil
	}
	if !isLocal(address) {
		s.note = fmt.Sprintf("%s is no address of this machine (%s makes it one); listening on %s", address, asRoot("setup"), doze.DefaultAddress)
		s.withdraw()
		return nil
	}
	if other, listed := found.Hosts[o.Name]; listed && other != address {
		s.note = fmt.Sprintf("/etc/hosts has %s for %s%s; clients reach this broker by %s", other, o.Name, names.Suffix, address)
	}
	s.name, s.address, s.resolver = o.Name, address, found.Resolver
	o.Listeners[0].Address = s.at(names.KafkaPort)
	if o.SchemaRegistry == doze.DefaultSchemaRegistry && g.text("schema-registry-addr") == "" {
		o.SchemaRegistry = s.at(names.RegistryPort)
	}
	if o.Console == doze.DefaultConsole && g.text("console-addr") == "" {
		o.Console = s.at(names.ConsolePort)
	}
	return nil
}

// at is the broker's own address with a port.
func (s *standing) at(port uint16) string { return netip.AddrPortFrom(s.address, port).String() }

// isLocal tries whether the address can be listened on at all.
func isLocal(a addr) bool {
	ln, err := net.Listen("tcp", netip.AddrPortFrom(a, 0).String())
	if err == nil {
		ln.Close()
	}
	return !errors.Is(err, syscall.EADDRNOTAVAIL)
}

// announce lists the broker for the commands that look for one, and answers the zone's queries until ctx ends.
func (s *standing) announce(ctx context.Context, ready doze.Ready, o doze.Options) {
	if s.book == nil {
		return
	}
	i := names.Instance{Name: o.Name, Claimed: s.name != "", Address: s.address, Kafka: ready.Kafka[0], Registry: ready.Registry, Console: ready.Console, DataDir: ready.DataDir}
	if err := s.book.Announce(i); err != nil {
		o.Logger.Info("the broker is not in the list of those that run", "error", err)
	}
	if s.name == "" || !s.resolver.IsValid() {
		return
	}
	go func() {
		if err := names.Hold(ctx, s.resolver, s.book.Lookup); err != nil {
			o.Logger.Warn("names of the zone are not answered by this broker; see doze doctor", "address", s.resolver, "error", err)
		}
	}()
}

// leave takes the broker off the list; who ends without it is off by its pid.
func (s *standing) leave() {
	if s == nil || s.book == nil {
		return
	}
	s.left.Do(func() { _ = s.book.Leave() })
}

// withdraw gives back what a start claimed that came to nothing, so that it leaves no more behind than it found.
func (s *standing) withdraw() {
	if s.book == nil {
		return
	}
	s.left.Do(func() { _ = s.book.Withdraw() })
}

// named is where the broker is reached, for people: by its name, where it has one.
func (s *standing) named(ready doze.Ready) doze.Ready {
	if s.name == "" {
		return ready
	}
	host := s.name + names.Suffix
	ready.Kafka = []string{fmt.Sprintf("%s:%d (%s)", host, names.KafkaPort, ready.Kafka[0])}
	ready.Registry, ready.Console = s.url(ready.Registry), s.url(ready.Console)
	return ready
}

// url is a URL with the name instead of the address.
func (s *standing) url(u string) string {
	return strings.Replace(u, "://"+s.address.String()+":", "://"+s.name+names.Suffix+":", 1)
}
