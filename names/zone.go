package names

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
)

// Systems that have a zone.
const (
	Linux = "linux"
	Mac   = "darwin"
)

// Zone is where a system keeps what doze sets up.
type Zone struct {
	// Root is the directory that stands for /. Tests, and who wants to see first, name another.
	Root string
	// System is Linux or Mac; another one has no zone.
	System string
}

// Files of a zone, from the root.
const (
	hostsPath    = "etc/hosts"
	resolvedPath = "etc/systemd/resolved.conf.d/doze.conf"
	anchorPath   = "etc/dnssec-trust-anchors.d/doze.negative"
	dnsmasqPath  = "etc/dnsmasq.d/doze.conf"
	managerPath  = "etc/NetworkManager/dnsmasq.d/doze.conf"
	sysctlPath   = "etc/sysctl.d/60-doze.conf"
	macPath      = "etc/resolver/doze"
	aliasPath    = "Library/LaunchDaemons/dev.doze.loopback.plist"
)

// resolverMark precedes the resolver's address in the file that sends queries there.
const resolverMark = "# doze: the resolver is "

// Found is what is set up.
type Found struct {
	Hosts    map[string]netip.Addr // apex names in the hosts file, with their addresses
	Resolver netip.AddrPort        // where queries for the zone go; the zero value: nowhere
	By       string                // the file that says so
}

// Covers says whether clients of this machine can find a name.
func (f Found) Covers(name string) bool {
	_, inHosts := f.Hosts[name]
	return inHosts || f.Resolver.IsValid()
}

// Exists says whether the system can have a zone.
func (z Zone) Exists() bool { return z.System == Linux || z.System == Mac }

func (z Zone) path(name string) string { return filepath.Join(z.Root, filepath.FromSlash(name)) }

// Look reads what is set up. It asks no DNS: a query for a name that is not set up would leave the machine.
func (z Zone) Look() (Found, error) {
	if !z.Exists() {
		return Found{}, nil
	}
	text, err := z.read(hostsPath)
	if err != nil {
		return Found{}, err
	}
	f := Found{Hosts: parseHosts(text)}
	for _, name := range []string{resolvedPath, dnsmasqPath, managerPath, macPath} {
		text, err := z.read(name)
		if err != nil {
			return Found{}, err
		}
		if at, ok := parseResolver(text); ok {
			f.Resolver, f.By = at, z.path(name)
			break
		}
	}
	return f, nil
}

// parseResolver finds the address behind our mark.
//
//fuzz:parser class=config FuzzHosts
func parseResolver(text []byte) (netip.AddrPort, bool) {
	for line := range bytes.Lines(text) {
		if rest, ours := bytes.CutPrefix(line, []byte(resolverMark)); ours {
			at, err := netip.ParseAddrPort(string(bytes.TrimSpace(rest)))
			return at, err == nil && at.Addr().IsLoopback() && at.Port() != 0
		}
	}
	return netip.AddrPort{}, false
}

// read is a file's content, nil when it is not there.
//
//fuzz:not-a-parser parseHosts and parseResolver look inside
func (z Zone) read(name string) ([]byte, error) {
	f, err := os.Open(z.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, hostsMax+1))
	if err == nil && len(text) > hostsMax {
		err = fmt.Errorf("%s has more than %d bytes", z.path(name), hostsMax)
	}
	return text, err
}

func (z Zone) there(names ...string) bool {
	for _, name := range names {
		if _, err := os.Stat(z.path(name)); err == nil {
			return true
		}
	}
	return false
}
