package names

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Change is one file before and after; nil is no file.
type Change struct {
	Path          string
	Before, After []byte
	Why           string
}

// Plan is what setting up the zone, or undoing it, does: files, then commands that make the system read them.
type Plan struct {
	Changes  []Change
	Commands [][]string
	Notes    []string // what a person should know
}

// Busy says whether somebody has an address, of UDP or TCP.
type Busy func(netip.AddrPort) bool

// SetUp plans what makes the names findable, and others by the resolver where the system can ask it.
func (z Zone) SetUp(names []string, known map[string]netip.Addr, busy Busy) (Plan, error) {
	if !z.Exists() {
		return Plan{}, errors.New("this system has no zone for doze; every Kafka listens on 127.0.0.1:9092, and takes another address by --listen")
	}
	found, err := z.Look()
	if err != nil {
		return Plan{}, err
	}
	addresses, err := addressesFor(names, known, found.Hosts)
	if err != nil {
		return Plan{}, err
	}
	p := &planning{zone: z}
	p.edit(hostsPath, "names of the zone that every program finds", func(text []byte) []byte { return editHosts(text, addresses) })
	if z.System == Mac {
		p.mac()
	} else {
		p.linux(found, busy)
	}
	return p.Plan, p.err
}

// TakeDown plans what undoes [Zone.SetUp].
func (z Zone) TakeDown() (Plan, error) {
	p := &planning{zone: z}
	p.edit(hostsPath, "our lines are taken away", func(text []byte) []byte { return editHosts(text, nil) })
	for _, name := range []string{resolvedPath, anchorPath, dnsmasqPath, managerPath, sysctlPath, macPath, aliasPath} {
		before := len(p.Changes)
		p.edit(name, "it was ours", func([]byte) []byte { return nil })
		if len(p.Changes) == before {
			continue
		}
		switch name {
		case resolvedPath:
			p.command("systemctl", "restart", "systemd-resolved")
		case dnsmasqPath:
			p.command("systemctl", "restart", "dnsmasq")
		case managerPath:
			p.command("systemctl", "reload", "NetworkManager")
		case sysctlPath:
			p.Notes = append(p.Notes, "ports from 53 stay free for every program until the machine starts again; sysctl net.ipv4.ip_unprivileged_port_start=1024 ends that now")
		case macPath:
			p.command("dscacheutil", "-flushcache")
		case aliasPath:
			p.Notes = append(p.Notes, "the addresses of lo0 stay until the machine starts again")
		}
	}
	return p.Plan, p.err
}

// addressesFor are names with their addresses: those of the hosts file and of the book stay.
func addressesFor(names []string, known, hosts map[string]netip.Addr) (map[string]netip.Addr, error) {
	c := newContent()
	for name, a := range known {
		c.Names[name] = a
	}
	for name, a := range hosts {
		c.place(name, a)
	}
	for _, name := range append([]string{DefaultName}, names...) {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		if !c.place(name, netip.Addr{}).IsValid() {
			return nil, fmt.Errorf("no address is left for %s%s; there are %d", name, Suffix, namesMax)
		}
	}
	return c.Names, nil
}

type planning struct {
	Plan
	zone Zone
	err  error
}

// edit adds a change of a file, unless it is as it should be.
func (p *planning) edit(name, why string, f func([]byte) []byte) {
	before, err := p.zone.read(name)
	if err != nil {
		p.err = errors.Join(p.err, err)
		return
	}
	after := f(before)
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return
	}
	p.Changes = append(p.Changes, Change{Path: p.zone.path(name), Before: before, After: after, Why: why})
}

func (p *planning) put(name, why, text string) {
	p.edit(name, why, func([]byte) []byte { return []byte(text) })
}

func (p *planning) command(words ...string) { p.Commands = append(p.Commands, words) }

// linux sends the zone's queries to the resolver, by systemd-resolved or dnsmasq.
func (p *planning) linux(found Found, busy Busy) {
	at := found.Resolver
	if !at.IsValid() {
		at = freeResolver(busy)
	}
	before := len(p.Changes)
	switch {
	case p.zone.there("run/systemd/resolve", "etc/systemd/resolved.conf"):
		p.put(resolvedPath, "systemd-resolved asks doze for names that end with .doze", resolvedText(at))
		p.put(anchorPath, "the zone is not signed: nobody on the internet has it", "; made by doze setup\ndoze\n")
		p.afterChange(before, "systemctl", "restart", "systemd-resolved")
	case p.zone.there("etc/dnsmasq.d"):
		p.put(dnsmasqPath, "dnsmasq asks doze for names that end with .doze", dnsmasqText(at))
		p.afterChange(before, "systemctl", "restart", "dnsmasq")
	case p.zone.there("etc/NetworkManager/dnsmasq.d"):
		p.put(managerPath, "NetworkManager's dnsmasq asks doze for names that end with .doze", dnsmasqText(at))
		p.afterChange(before, "systemctl", "reload", "NetworkManager")
	default:
		p.Notes = append(p.Notes, "neither systemd-resolved nor dnsmasq is here: only the names of the hosts file are found; doze setup --name NAME adds one")
		return
	}
	if at.Port() < 1024 && p.unprivilegedFrom() > at.Port() {
		before := len(p.Changes)
		p.put(sysctlPath, "a broker that runs as you may answer on port 53 (and every other program on ports from 53)", fmt.Sprintf("# made by doze setup\nnet.ipv4.ip_unprivileged_port_start = %d\n", at.Port()))
		p.afterChange(before, "sysctl", "-p", p.zone.path(sysctlPath))
	}
}

func (p *planning) afterChange(before int, words ...string) {
	if len(p.Changes) > before {
		p.command(words...)
	}
}

// unprivilegedFrom is the first port that any user may listen on.
func (p *planning) unprivilegedFrom() uint16 {
	text, err := p.zone.read("proc/sys/net/ipv4/ip_unprivileged_port_start")
	n, bad := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 16)
	if err != nil || bad != nil {
		return 1024
	}
	return uint16(n)
}

// freeResolver is an address of its own on port 53; where something listens on that port of all addresses, a high one.
func freeResolver(busy Busy) netip.AddrPort {
	for _, last := range []byte{2, 66, 67, 68, 69} {
		if at := netip.AddrPortFrom(loopback(last), 53); !busy(at) {
			return at
		}
	}
	return netip.AddrPortFrom(loopback(2), highPort)
}

// highPort is the resolver's where it cannot have 53.
const highPort = 5323

// IsBusy tries the address.
func IsBusy(at netip.AddrPort) bool {
	u, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if inUse(err) {
		return true
	}
	if err == nil {
		u.Close()
	}
	t, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err == nil {
		t.Close()
	}
	return inUse(err)
}

func resolvedText(at netip.AddrPort) string {
	server := at.Addr().String()
	if at.Port() != 53 {
		server = at.String()
	}
	return resolverMark + at.String() + "\n# made by doze setup\n[Resolve]\nDNS=" + server + "\nDomains=~doze\n"
}

func dnsmasqText(at netip.AddrPort) string {
	server := at.Addr().String()
	if at.Port() != 53 {
		server += "#" + strconv.Itoa(int(at.Port()))
	}
	return resolverMark + at.String() + "\n# made by doze setup\nserver=/doze/" + server + "\n"
}

// mac names the resolver, and gives lo0 the zone's addresses at every start of the machine: there only 127.0.0.1 is one.
func (p *planning) mac() {
	at := netip.AddrPortFrom(loopback(1), highPort)
	before := len(p.Changes)
	p.put(macPath, "names that end with .doze are asked of doze", fmt.Sprintf("%s%s\n# made by doze setup\nnameserver %s\nport %d\n", resolverMark, at, at.Addr(), at.Port()))
	p.afterChange(before, "dscacheutil", "-flushcache")
	before = len(p.Changes)
	p.put(aliasPath, "lo0 has the zone's addresses, now and after each start of the machine", aliasText())
	p.afterChange(before, "launchctl", "bootstrap", "system", p.zone.path(aliasPath))
}

func aliasText() string {
	var b strings.Builder
	for i, a := range Addresses() {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString("/sbin/ifconfig lo0 alias " + a.String() + " up")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.doze.loopback</string>
	<key>ProgramArguments</key>
	<array>
		<string>/bin/sh</string>
		<string>-c</string>
		<string>` + b.String() + `</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
</dict>
</plist>
`
}

// Lines are what a change takes away and adds, each line behind - or +.
func (c Change) Lines() []string {
	before, after := strings.Split(string(c.Before), "\n"), strings.Split(string(c.After), "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var lines []string
	for _, l := range trimEmpty(before) {
		lines = append(lines, "- "+l)
	}
	for _, l := range trimEmpty(after) {
		lines = append(lines, "+ "+l)
	}
	return lines
}

func trimEmpty(lines []string) []string {
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// Write makes the changes, each at once.
func (p Plan) Write() error {
	for _, c := range p.Changes {
		if err := c.write(); err != nil {
			return fmt.Errorf("write %s: %w", c.Path, err)
		}
	}
	return nil
}

func (c Change) write() error {
	if c.After == nil {
		return os.Remove(c.Path)
	}
	path := c.Path
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // what is in it is for all to read
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	made, err := os.CreateTemp(filepath.Dir(path), ".doze-*")
	if err != nil {
		return err
	}
	_, err = made.Write(c.After)
	err = errors.Join(err, made.Chmod(mode), made.Close())
	if err == nil {
		if err = os.Rename(made.Name(), path); err == nil {
			return nil
		}
	}
	_ = os.Remove(made.Name())
	if c.Before == nil {
		return err
	}
	return os.WriteFile(path, c.After, mode) // a container's hosts file is mounted: it cannot be replaced, but written
}
