package names

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const someHosts = "127.0.0.1\tlocalhost\n# a comment\n::1 localhost\n10.0.0.1 build.example.com build"

// machine is a root directory with files.
func machine(t *testing.T, system string, files map[string]string) Zone {
	t.Helper()
	z := Zone{Root: t.TempDir(), System: system}
	for name, text := range files {
		path := z.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return z
}

func nobody(netip.AddrPort) bool { return false }

// all are the files of a root with their texts.
func all(t *testing.T, z Zone) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(z.Root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(z.Root, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func setUp(t *testing.T, z Zone, busy Busy, names ...string) Plan {
	t.Helper()
	p, err := z.SetUp(names, nil, busy)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	return p
}

const hostsBlock = `
# doze: begin (doze setup --remove takes these lines away)
127.0.0.3	kafka.doze
127.0.0.62	orders.doze
# doze: end
`

func TestSetUpWithSystemdResolved(t *testing.T) {
	before := map[string]string{"etc/hosts": someHosts, "etc/systemd/resolved.conf": "[Resolve]\n", "proc/sys/net/ipv4/ip_unprivileged_port_start": "1024\n"}
	z := machine(t, Linux, before)
	p := setUp(t, z, nobody, "orders")
	want := map[string]string{
		"etc/hosts":                                    someHosts + hostsBlock,
		"etc/systemd/resolved.conf":                    "[Resolve]\n",
		"etc/systemd/resolved.conf.d/doze.conf":        "# doze: the resolver is 127.0.0.2:53\n# made by doze setup\n[Resolve]\nDNS=127.0.0.2\nDomains=~doze\n",
		"etc/dnssec-trust-anchors.d/doze.negative":     "; made by doze setup\ndoze\n",
		"etc/sysctl.d/60-doze.conf":                    "# made by doze setup\nnet.ipv4.ip_unprivileged_port_start = 53\n",
		"proc/sys/net/ipv4/ip_unprivileged_port_start": "1024\n",
	}
	if got := all(t, z); !equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := p.Commands; len(got) != 2 || got[0][0] != "systemctl" || got[1][0] != "sysctl" {
		t.Error(got)
	}
	found, err := z.Look()
	if err != nil || found.Resolver.String() != "127.0.0.2:53" || found.Hosts["orders"] != loopback(62) || !found.Covers("kafka") || !found.Covers("any") {
		t.Errorf("%+v, %v", found, err)
	}
	// Again there is nothing to do; another name is one line.
	if p := setUp(t, z, nobody, "orders"); len(p.Changes)+len(p.Commands) != 0 {
		t.Errorf("%+v", p)
	}
	if p := setUp(t, z, nobody, "a"); len(p.Changes) != 1 || !slices.Equal(p.Changes[0].Lines(), []string{"+ 127.0.0.22\ta.doze"}) {
		t.Errorf("%+v", p)
	}
	down, err := z.TakeDown()
	if err != nil || down.Write() != nil {
		t.Fatal(err)
	}
	before["etc/hosts"] += "\n"
	if got := all(t, z); !equal(got, before) {
		t.Errorf("%q", got)
	}
	if down, err := z.TakeDown(); err != nil || len(down.Changes) != 0 {
		t.Error(down, err)
	}
}

func equal(a, b map[string]string) bool {
	for name := range b {
		if a[name] != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestSetUpWithDnsmasq(t *testing.T) {
	z := machine(t, Linux, map[string]string{"etc/dnsmasq.d/README": ""})
	everywhere := func(at netip.AddrPort) bool { return at.Port() == 53 }
	p := setUp(t, z, everywhere)
	files := all(t, z)
	if got := files["etc/dnsmasq.d/doze.conf"]; got != "# doze: the resolver is 127.0.0.2:5323\n# made by doze setup\nserver=/doze/127.0.0.2#5323\n" || files["etc/sysctl.d/60-doze.conf"] != "" {
		t.Errorf("%q", files)
	}
	if !slices.Equal(p.Commands[0], []string{"systemctl", "restart", "dnsmasq"}) {
		t.Error(p.Commands)
	}
	taken := func(at netip.AddrPort) bool { return at == netip.MustParseAddrPort("127.0.0.2:53") }
	z = machine(t, Linux, map[string]string{"etc/NetworkManager/dnsmasq.d/x": "", "proc/sys/net/ipv4/ip_unprivileged_port_start": "0\n"})
	setUp(t, z, taken)
	files = all(t, z)
	if got := files["etc/NetworkManager/dnsmasq.d/doze.conf"]; !strings.Contains(got, "server=/doze/127.0.0.66\n") || files["etc/sysctl.d/60-doze.conf"] != "" {
		t.Errorf("%q", files)
	}
}

func TestSetUpWithHostsAlone(t *testing.T) {
	z := machine(t, Linux, map[string]string{"etc/hosts": "127.0.0.1 localhost\n127.0.0.30 mine.doze\n"})
	p := setUp(t, z, nobody)
	if len(p.Changes) != 1 || len(p.Notes) != 1 {
		t.Errorf("%+v", p)
	}
	found, err := z.Look()
	if err != nil || found.Covers("other") || !found.Covers("kafka") || found.Hosts["mine"] != loopback(30) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestSetUpOnAMac(t *testing.T) {
	z := machine(t, Mac, map[string]string{"etc/hosts": "127.0.0.1\tlocalhost\n"})
	p := setUp(t, z, nobody)
	files := all(t, z)
	if got := files["etc/resolver/doze"]; got != "# doze: the resolver is 127.0.0.1:5323\n# made by doze setup\nnameserver 127.0.0.1\nport 5323\n" {
		t.Errorf("%q", got)
	}
	plist := files["Library/LaunchDaemons/dev.doze.loopback.plist"]
	for _, part := range []string{"<string>dev.doze.loopback</string>", "/sbin/ifconfig lo0 alias 127.0.0.3 up; /sbin/ifconfig lo0 alias 127.0.0.10 up;", "alias 127.0.0.65 up</string>", "<key>RunAtLoad</key>"} {
		if !strings.Contains(plist, part) {
			t.Errorf("%s has no %s", plist, part)
		}
	}
	if len(p.Commands) != 2 || p.Commands[1][0] != "launchctl" {
		t.Error(p.Commands)
	}
	found, err := z.Look()
	if err != nil || found.Resolver.String() != "127.0.0.1:5323" {
		t.Error(found, err)
	}
	down, err := z.TakeDown()
	if err != nil || down.Write() != nil || len(all(t, z)) != 1 {
		t.Error(all(t, z), err)
	}
}

func TestAnotherSystemHasNoZone(t *testing.T) {
	z := machine(t, "windows", nil)
	if _, err := z.SetUp(nil, nil, nobody); err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Error(err)
	}
	if found, err := z.Look(); err != nil || found.Covers("kafka") {
		t.Error(found, err)
	}
}

func TestHostsFileBehindALinkKeepsItsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no zone, and links are a privilege
	}
	z := machine(t, Linux, map[string]string{"etc/static/hosts": "127.0.0.1 localhost\n"})
	if err := os.Chmod(z.path("etc/static/hosts"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("static/hosts", z.path("etc/hosts")); err != nil {
		t.Fatal(err)
	}
	setUp(t, z, nobody)
	info, err := os.Stat(z.path("etc/static/hosts"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info, err)
	}
	if link, err := os.Readlink(z.path("etc/hosts")); err != nil || link != "static/hosts" {
		t.Error(link, err)
	}
}

func FuzzHosts(f *testing.F) {
	f.Add([]byte(someHosts))
	f.Add([]byte(someHosts + hostsBlock + "127.0.0.9 x.doze"))
	f.Add([]byte("# doze: the resolver is 127.0.0.2:53\r\n" + hostsBegin + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name := range parseHosts(text) {
			if CheckName(name) != nil {
				t.Fatalf("name %q", name)
			}
		}
		if at, ok := parseResolver(text); ok && !at.Addr().IsLoopback() {
			t.Fatal(at)
		}
		names := map[string]netip.Addr{"kafka": loopback(3), "a": loopback(22)}
		with := editHosts(text, names)
		if again := editHosts(with, names); !bytes.Equal(again, with) && bytes.Count(text, []byte(hostsBegin)) == 0 {
			t.Fatalf("%q becomes %q, then %q", text, with, again)
		}
		without := editHosts(with, nil)
		if bytes.Count(text, []byte(hostsBegin)) == 0 && !bytes.Equal(bytes.TrimSuffix(without, []byte("\n")), bytes.TrimSuffix(text, []byte("\n"))) {
			t.Fatalf("%q becomes %q", text, without)
		}
	})
}
