package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"doze"
	"doze/names"
)

// dnsLimit is how long a name may take to be found.
const dnsLimit = 2 * time.Second

// examineZone looks at the .doze zone: what is set up, whether the name's address can be had, who has the name, who answers. It
// gives the options the address that doze serve would listen on.
func examineZone(g gathered, o *doze.Options, zone names.Zone) []finding {
	if g.saysWhere(*o) || !zone.Exists() {
		return nil
	}
	found, err := zone.Look()
	if err != nil {
		return []finding{{"warn", fmt.Sprintf("the .doze zone: %v", err), "make the file one that can be read"}}
	}
	if names.CheckName(o.Name) != nil {
		return []finding{{"warn", names.CheckName(o.Name).Error(), "the broker listens on " + doze.DefaultAddress + "; choose another --name"}}
	}
	if !found.Covers(o.Name) {
		return []finding{{"ok", fmt.Sprintf("%s%s is not set up: the broker listens on %s", o.Name, names.Suffix, doze.DefaultAddress),
			asRoot("setup") + setupName(o.Name) + " gives it an address of its own"}}
	}
	book, err := openBook()
	if err != nil {
		return []finding{{"warn", err.Error(), "set HOME, or XDG_STATE_HOME"}}
	}
	d := &zoneDoctor{name: o.Name, dataDir: o.DataDir, found: found, book: book}
	if !d.examineAddress() {
		return d.findings
	}
	o.Listeners[0].Address = net.JoinHostPort(d.address.String(), fmt.Sprint(names.KafkaPort))
	if o.SchemaRegistry == doze.DefaultSchemaRegistry {
		o.SchemaRegistry = net.JoinHostPort(d.address.String(), fmt.Sprint(names.RegistryPort))
	}
	if o.Console == doze.DefaultConsole {
		o.Console = net.JoinHostPort(d.address.String(), fmt.Sprint(names.ConsolePort))
	}
	d.examineBook()
	d.examineResolver()
	if zone == zoneAt("") {
		d.examineLookup()
	}
	return d.findings
}

// zoneDoctor collects what there is to say of one name.
type zoneDoctor struct {
	name     string
	dataDir  string
	address  addr
	found    names.Found
	book     *names.Book
	findings []finding
}

func (d *zoneDoctor) add(f finding) { d.findings = append(d.findings, f) }

// examineAddress finds the name's address and says whether it is one of this machine.
func (d *zoneDoctor) examineAddress() bool {
	known, _ := d.book.Names() // a list that cannot be read is told below
	d.address = d.found.Hosts[d.name]
	if !slices.Contains(names.Addresses(), d.address) {
		d.address = known[d.name]
	}
	if !d.address.IsValid() {
		d.address = names.Preferred(d.name)
	}
	if other, listed := d.found.Hosts[d.name]; listed && other != d.address {
		d.add(finding{"warn", fmt.Sprintf("/etc/hosts has %s for %s%s, which the zone cannot give it", other, d.name, names.Suffix), "remove that line, and run " + asRoot("setup") + setupName(d.name)})
	}
	if !isLocal(d.address) {
		d.add(finding{"warn", fmt.Sprintf("%s of %s%s is no address of this machine: the broker listens on %s", d.address, d.name, names.Suffix, doze.DefaultAddress), "run " + asRoot("setup")})
		return false
	}
	d.add(fine("%s%s has %s", d.name, names.Suffix, d.address))
	return true
}

// examineBook says who has the name.
func (d *zoneDoctor) examineBook() {
	live, err := d.book.Live()
	if err != nil {
		d.add(finding{"warn", err.Error(), "start a broker, or remove the file"})
		return
	}
	for _, i := range live {
		if i.Name == d.name && i.Claimed && hasDir(i, d.dataDir) {
			return // the very broker
		}
		if i.Name == d.name && i.Claimed && i.PID != os.Getpid() {
			d.add(finding{"fail", (&names.HeldError{By: i}).Error(), "stop that broker, or start this one under another --name"})
			return
		}
	}
	stale, _ := d.book.Stale() // it could just be read
	text := "nobody holds the name"
	if stale > 0 {
		text += fmt.Sprintf("; %d brokers ended without a word, the next one strikes them off", stale)
	}
	d.add(fine("%s", text))
}

// examineResolver asks who answers for the zone; nobody does while no broker runs.
func (d *zoneDoctor) examineResolver() {
	if !d.found.Resolver.IsValid() {
		d.add(fine("only names of the hosts file are found: no rule sends queries for the zone to a broker"))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dnsLimit)
	defer cancel()
	_, err := names.Ask(ctx, d.found.Resolver, d.name)
	switch {
	case err == nil || errors.Is(err, names.ErrNoName):
		d.add(fine("a broker answers the zone's queries at %s", d.found.Resolver))
	case names.IsBusy(d.found.Resolver):
		d.add(finding{"warn", fmt.Sprintf("%s, where queries for the zone go, is another program's (%v)", d.found.Resolver, err), "run " + asRoot("setup --remove") + ", then " + asRoot("setup") + ": it chooses a free one"})
	default:
		d.add(fine("the next broker answers the zone's queries at %s", d.found.Resolver))
	}
}

// examineLookup asks the system for the name, as a client does.
func (d *zoneDoctor) examineLookup() {
	if _, inHosts := d.found.Hosts[d.name]; !inHosts {
		return // it is found when a broker runs
	}
	ctx, cancel := context.WithTimeout(context.Background(), dnsLimit)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", d.name+names.Suffix)
	if err != nil || !slices.Contains(all, d.address) {
		d.add(finding{"warn", fmt.Sprintf("the system finds %v for %s%s, not %s (%v)", all, d.name, names.Suffix, d.address, err), "see that hosts: in /etc/nsswitch.conf begins with files, and run " + asRoot("setup")})
		return
	}
	d.add(fine("the system finds %s%s", d.name, names.Suffix))
}
