package names

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// waits in the environment makes the test's program a process that waits for its end: it stands for another broker.
const waits = "DOZE_NAMES_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(waits) != "" {
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // it ends with the test
		return
	}
	os.Exit(m.Run())
}

// write puts a book's file there.
func write(t *testing.T, b *Book, text string) {
	t.Helper()
	if err := os.WriteFile(b.path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAddressesAreFixed(t *testing.T) {
	for name, want := range map[string]string{"kafka": "127.0.0.3", "orders": "127.0.0.62", "a": "127.0.0.22", "b": "127.0.0.23"} {
		if got := Preferred(name); got.String() != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if all := Addresses(); len(all) != namesMax || all[1].String() != "127.0.0.10" || all[namesMax-1].String() != "127.0.0.65" {
		t.Error(all)
	}
	for name, fits := range map[string]bool{"kafka": true, "a-1": true, "": false, "A": false, "a.b": false, "-a": false, "a_b": false, strings.Repeat("a", 64): false} {
		if (CheckName(name) == nil) != fits {
			t.Errorf("%q: %v", name, CheckName(name))
		}
	}
}

func TestASecondClaimantIsTold(t *testing.T) {
	b := OpenBook(t.TempDir())
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), waits+"=1")
	if _, err := other.StdinPipe(); err != nil { // which stays open: it waits
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()         //nolint:errcheck // it is killed
	defer other.Process.Kill() //nolint:errcheck // it is there
	pid := other.Process.Pid
	write(t, b, fmt.Sprintf(`{"version":1,"names":{"kafka":"127.0.0.3"},"instances":[{"name":"kafka","pid":%d,"started":%q,"claimed":true,"address":"127.0.0.3","kafka":"127.0.0.3:9092","dataDir":"/d"}]}`, pid, startOf(pid)))
	_, err := b.Claim("kafka", "/e", netip.Addr{})
	var held *HeldError
	if !errors.As(err, &held) || err.Error() != fmt.Sprintf("the name kafka.doze is held by the broker with pid %d at 127.0.0.3:9092, data in /d", pid) {
		t.Fatal(err)
	}
	if live, err := b.Live(); err != nil || len(live) != 1 {
		t.Fatal(live, err)
	}
	// Its process ends, however it does: the name is free, and a process that got its pid later is not it.
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	other.Wait() //nolint:errcheck // it was killed
	if stale, err := b.Stale(); err != nil || stale != 1 {
		t.Error(stale, err)
	}
	if a, err := b.Claim("kafka", "/e", netip.Addr{}); err != nil || a.String() != "127.0.0.3" {
		t.Fatal(a, err)
	}
}

func TestAnotherProcessWithThePidIsNotTheOwner(t *testing.T) {
	b := OpenBook(t.TempDir())
	if startOf(os.Getpid()) == "" {
		return // this system does not say when a process began
	}
	write(t, b, fmt.Sprintf(`{"version":1,"instances":[{"name":"kafka","pid":%d,"started":"1","claimed":true}]}`, os.Getppid()))
	if _, err := b.Claim("kafka", "", netip.Addr{}); err != nil {
		t.Error(err)
	}
}

func TestClaimAnnounceLeave(t *testing.T) {
	b := OpenBook(filepath.Join(t.TempDir(), "not", "there"))
	a, err := b.Claim("orders", "/d", netip.Addr{})
	if err != nil || a != Preferred("orders") {
		t.Fatal(a, err)
	}
	if err := b.Announce(Instance{Name: "orders", Claimed: true, Address: a, Kafka: "127.0.0.62:9092"}); err != nil {
		t.Fatal(err)
	}
	live, err := b.Live()
	if err != nil || len(live) != 1 || live[0].Kafka != "127.0.0.62:9092" || live[0].PID != os.Getpid() {
		t.Fatal(live, err)
	}
	if got, ok := b.Lookup("orders"); !ok || got != a {
		t.Error(got, ok)
	}
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	live, err = b.Live()
	if got, ok := b.Lookup("orders"); err != nil || len(live) != 0 || !ok || got != a {
		t.Error("the name has lost its address", live, got, err)
	}
	if _, err := b.Claim("no.label", "", netip.Addr{}); err == nil {
		t.Error("a name with a dot is taken")
	}
}

// A start that comes to nothing leaves the list as it was: without a name that it was the first to claim, with one that was there.
func TestAClaimIsWithdrawn(t *testing.T) {
	b := OpenBook(t.TempDir())
	if _, err := b.Claim("old", "", netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		start := OpenBook(b.dir)
		if _, err := start.Claim(name, "", netip.Addr{}); err != nil {
			t.Fatal(err)
		}
		if err := start.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	live, err := b.Live()
	if err != nil || len(live) != 0 {
		t.Error(live, err)
	}
	if known, err := b.Names(); err != nil || len(known) != 1 || known["old"] != Preferred("old") {
		t.Error(known, err)
	}
}

func TestNamesThatCollideGetOthersAndKeepThem(t *testing.T) {
	b := OpenBook(t.TempDir())
	seen := map[netip.Addr]string{}
	for i := range namesMax - 1 {
		name := fmt.Sprint("n", i)
		a, err := b.Claim(name, "", netip.Addr{})
		if err != nil || seen[a] != "" || a == loopback(3) {
			t.Fatalf("%s: %s, %v", name, a, err)
		}
		seen[a] = name
	}
	for a, name := range seen {
		if again, err := b.Claim(name, "", netip.Addr{}); err != nil || again != a {
			t.Errorf("%s had %s, has %s, %v", name, a, again, err)
		}
	}
	// All addresses are given away; nobody owns a name but the last: another name takes the place of one that is gone.
	a, err := b.Claim("one-more", "", netip.Addr{})
	if err != nil || a != Preferred("one-more") {
		t.Error(a, err)
	}
	if _, there := b.Lookup(seen[a]); there {
		t.Error("two names have", a)
	}
	if a, err := b.Claim("kafka", "", netip.Addr{}); err != nil || a != loopback(3) {
		t.Error(a, err)
	}
}

func TestAddressOfTheHostsFileIsTaken(t *testing.T) {
	b := OpenBook(t.TempDir())
	if a, err := b.Claim("orders", "", loopback(20)); err != nil || a != loopback(20) {
		t.Error(a, err)
	}
	if a, err := b.Claim("other", "", loopback(200)); err != nil || a != Preferred("other") {
		t.Error(a, err)
	}
	if a, err := b.Claim("kafka", "", loopback(30)); err != nil || a != loopback(3) {
		t.Error(a, err)
	}
	if a, err := b.Claim("elsewhere", "", loopback(3)); err != nil || a != Preferred("elsewhere") {
		t.Error(a, err)
	}
	// The hosts file gives a name the address of another one that no broker has: it wins.
	if a, err := b.Claim("newer", "", loopback(20)); err != nil || a != loopback(20) {
		t.Error(a, err)
	}
	if _, there := b.Lookup("orders"); there {
		t.Error("two names have one address")
	}
	if _, err := b.Live(); err != nil {
		t.Error(err)
	}
}

func TestATornFileIsSetAside(t *testing.T) {
	b := OpenBook(t.TempDir())
	for _, text := range []string{"", "{", `{"version":1}x`, `{"version":2}`, `{"version":1,"names":{"kafka":"10.0.0.1"}}`, "\x00\x00\x00"} {
		write(t, b, text)
		if _, err := b.Live(); err == nil || !strings.Contains(err.Error(), "sets it aside") {
			t.Errorf("%q: %v", text, err)
		}
		if _, there := b.Lookup("kafka"); there {
			t.Errorf("%q has kafka", text)
		}
		if _, err := b.Claim("kafka", "", netip.Addr{}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if kept, err := os.ReadFile(b.path() + ".bad"); err != nil || string(kept) != text {
			t.Errorf("%q is kept as %q, %v", text, kept, err)
		}
	}
}

func TestChangesDoNotLoseOneAnother(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := OpenBook(dir).Claim(fmt.Sprint("n", i), "", netip.Addr{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if names, err := OpenBook(dir).Names(); err != nil || len(names) != 8 {
		t.Error(names, err)
	}
}

func FuzzBook(f *testing.F) {
	f.Add([]byte(`{"version":1,"names":{"kafka":"127.0.0.3","a":"127.0.0.10"},"instances":[{"name":"a","pid":1,"claimed":true,"address":"127.0.0.10"}]}`))
	f.Add([]byte(`{"version":1,"names":null,"instances":[{"pid":-1},{"address":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseBook(text)
		if err != nil {
			return
		}
		b := &Book{dir: t.TempDir(), alive: func(pid int, _ string) bool { return pid%2 == 0 }}
		b.bury(c)
		for i, name := range []string{"kafka", "a", "zz"} {
			if a := c.place(name, loopback(byte(3+len(text)%9*i))); a.IsValid() && c.Names[name] != a {
				t.Fatalf("%s has %s in %v", name, a, c.Names)
			}
		}
		if err := b.write(c); err != nil {
			t.Fatal(err)
		}
		if _, err := b.read(); err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
	})
}
