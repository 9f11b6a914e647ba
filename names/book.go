package names

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"doze/disk"
)

// Files of a book.
const (
	bookFile = "names.json"
	lockFile = "names.lock"
)

const (
	bookMax      = 1 << 20 // bytes
	namesMax     = 56 + 1  // one for each address
	instancesMax = 1000
	version      = 1
)

// Instance is a broker that runs.
type Instance struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// Started tells the process from a later one with its pid; empty where the system does not say.
	Started string `json:"started,omitempty"`
	// Claimed: it holds its name, and Address is the name's.
	Claimed  bool       `json:"claimed,omitempty"`
	Address  netip.Addr `json:"address,omitzero"`
	Kafka    string     `json:"kafka,omitempty"` // HOST:PORT; empty while it starts
	Registry string     `json:"registry,omitempty"`
	Console  string     `json:"console,omitempty"`
	DataDir  string     `json:"dataDir,omitempty"`
}

// content is the file.
type content struct {
	Version   int                   `json:"version"`
	Names     map[string]netip.Addr `json:"names"`
	Instances []Instance            `json:"instances"`
}

// Book is a user's names.json.
type Book struct {
	dir   string
	alive func(pid int, started string) bool
	made  string // the name that had no address before this process claimed it
}

// OpenBook is the book in a directory, which is made with the first change.
func OpenBook(dir string) *Book { return &Book{dir: dir, alive: alive} }

// HeldError says that a living instance has the name.
type HeldError struct{ By Instance }

func (e *HeldError) Error() string {
	where := ""
	if e.By.Kafka != "" {
		where = " at " + e.By.Kafka
	}
	if e.By.DataDir != "" {
		where += ", data in " + e.By.DataDir
	}
	return fmt.Sprintf("the name %s%s is held by the broker with pid %d%s", e.By.Name, Suffix, e.By.PID, where)
}

// Claim makes this process the owner of a name and returns the name's address: wanted if that is one and free, else the one it
// had before, else the one it prefers, else the next free one. A [HeldError] says that another process owns it.
func (b *Book) Claim(name, dataDir string, wanted netip.Addr) (netip.Addr, error) {
	if err := CheckName(name); err != nil {
		return netip.Addr{}, err
	}
	var address netip.Addr
	err := b.change(func(c *content) error {
		for _, i := range c.Instances {
			if i.Name == name && i.Claimed && i.PID != os.Getpid() {
				return &HeldError{i}
			}
		}
		_, known := c.Names[name]
		if address = c.place(name, wanted); !address.IsValid() {
			return fmt.Errorf("all %d addresses of the zone%s have names whose brokers run; stop one, or give this one --listen HOST:PORT", namesMax, Suffix)
		}
		c.put(Instance{Name: name, Claimed: true, Address: address, DataDir: dataDir})
		if !known {
			b.made = name
		}
		return nil
	})
	return address, err
}

// Announce tells where this process is reached; it may do so without a claim.
func (b *Book) Announce(i Instance) error {
	return b.change(func(c *content) error {
		if len(c.Instances) >= instancesMax {
			return fmt.Errorf("%d brokers run; no more are listed", instancesMax)
		}
		c.put(i)
		return nil
	})
}

// Leave takes this process off the list. Its name keeps its address.
func (b *Book) Leave() error {
	return b.change(func(c *content) error {
		c.Instances = slices.DeleteFunc(c.Instances, func(i Instance) bool { return i.PID == os.Getpid() })
		return nil
	})
}

// Withdraw takes a claim back, of a process that came to nothing: it is off the list, and a name that had no address before the claim
// has none again.
func (b *Book) Withdraw() error {
	return b.change(func(c *content) error {
		c.Instances = slices.DeleteFunc(c.Instances, func(i Instance) bool { return i.PID == os.Getpid() })
		if b.made != "" && !c.owned(b.made) {
			delete(c.Names, b.made)
		}
		return nil
	})
}

// Live are the instances that run, by name and pid.
func (b *Book) Live() ([]Instance, error) {
	c, err := b.read()
	if err != nil {
		return nil, err
	}
	b.bury(c)
	return c.Instances, nil
}

// Names are the addresses that names have for good.
func (b *Book) Names() (map[string]netip.Addr, error) {
	c, err := b.read()
	if err != nil {
		return nil, err
	}
	return c.Names, nil
}

// Stale is how many entries belong to processes that are gone; the next change removes them.
func (b *Book) Stale() (int, error) {
	c, err := b.read()
	if err != nil {
		return 0, err
	}
	before := len(c.Instances)
	b.bury(c)
	return before - len(c.Instances), nil
}

// put replaces what the list says of this process.
func (c *content) put(i Instance) {
	i.PID = os.Getpid()
	i.Started = startOf(i.PID)
	c.Instances = slices.DeleteFunc(c.Instances, func(other Instance) bool { return other.PID == i.PID })
	c.Instances = append(c.Instances, i)
	slices.SortFunc(c.Instances, func(a, b Instance) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.PID-b.PID) })
}

// place gives a name its address. A name without a living owner gives its address up when no other is left.
func (c *content) place(name string, wanted netip.Addr) netip.Addr {
	taken := map[netip.Addr]string{}
	for n, a := range c.Names {
		taken[a] = n
	}
	fits := func(a netip.Addr) bool {
		return slices.Contains(Addresses(), a) && (a == loopback(3)) == (name == DefaultName)
	}
	free := func(a netip.Addr) bool {
		other, is := taken[a]
		return fits(a) && (!is || other == name)
	}
	if other := taken[wanted]; fits(wanted) && other != name && !c.owned(other) {
		delete(c.Names, other) // the hosts file says so, and no broker minds
		delete(taken, wanted)
	}
	for _, a := range append([]netip.Addr{wanted, c.Names[name]}, from(Preferred(name))...) {
		if free(a) {
			c.Names[name] = a
			return a
		}
	}
	for _, a := range from(Preferred(name)) {
		if !c.owned(taken[a]) && fits(a) {
			delete(c.Names, taken[a])
			c.Names[name] = a
			return a
		}
	}
	return netip.Addr{}
}

// from are all addresses in turn, beginning with one.
func from(first netip.Addr) []netip.Addr {
	all := Addresses()
	at := slices.Index(all, first)
	return append(slices.Clone(all[at:]), all[:at]...)
}

func (c *content) owned(name string) bool {
	return slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Name == name && i.Claimed })
}

// bury removes the dead.
func (b *Book) bury(c *content) {
	c.Instances = slices.DeleteFunc(c.Instances, func(i Instance) bool { return !b.alive(i.PID, i.Started) })
}

// change reads, changes and replaces the file under its lock.
func (b *Book) change(f func(*content) error) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", b.dir, err)
	}
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := b.read()
	var torn *tornError
	if errors.As(err, &torn) {
		c, err = newContent(), b.setAside()
	}
	if err != nil {
		return err
	}
	b.bury(c)
	if err := f(c); err != nil {
		return err
	}
	return b.write(c)
}

// lockLimit is how long another process may have the lock: it has it for a read and a write.
const lockLimit = 10 * time.Second

func (b *Book) lock() (unlock func(), err error) {
	dir, err := disk.OpenOS(b.dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", b.dir, err)
	}
	for deadline := time.Now().Add(lockLimit); ; time.Sleep(2 * time.Millisecond) {
		lock, err := dir.Lock(lockFile)
		if err == nil {
			return func() { lock.Close(); dir.Close() }, nil
		}
		var held *disk.LockedError
		if !errors.As(err, &held) || time.Now().After(deadline) {
			dir.Close()
			return nil, fmt.Errorf("lock %s: %w", filepath.Join(b.dir, lockFile), err)
		}
	}
}

// tornError says that the file is there and is none of ours.
type tornError struct {
	path string
	err  error
}

func (e *tornError) Error() string {
	return fmt.Sprintf("read %s: %v; the next start of a broker sets it aside", e.path, e.err)
}

func (b *Book) path() string { return filepath.Join(b.dir, bookFile) }

func (b *Book) read() (*content, error) {
	f, err := os.Open(b.path())
	if errors.Is(err, fs.ErrNotExist) {
		return newContent(), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, bookMax+1))
	if err != nil {
		return nil, err
	}
	c, err := parseBook(text)
	if err != nil {
		return nil, &tornError{b.path(), err}
	}
	return c, nil
}

func newContent() *content { return &content{Version: version, Names: map[string]netip.Addr{}} }

// parseBook reads names.json.
//
//fuzz:parser class=config FuzzBook
func parseBook(text []byte) (*content, error) {
	if len(text) > bookMax {
		return nil, fmt.Errorf("has more than %d bytes", bookMax)
	}
	c := newContent()
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if d.More() || c.Version != version {
		return nil, fmt.Errorf("is of version %d, or has more after its end", c.Version)
	}
	if c.Names == nil {
		c.Names = map[string]netip.Addr{}
	}
	seen := map[netip.Addr]bool{}
	for name, a := range c.Names {
		if CheckName(name) != nil || !slices.Contains(Addresses(), a) || seen[a] || (a == loopback(3)) != (name == DefaultName) {
			return nil, fmt.Errorf("name %q has address %s, which it cannot have", name, a)
		}
		seen[a] = true
	}
	if len(c.Instances) > instancesMax {
		return nil, fmt.Errorf("has more than %d brokers", instancesMax)
	}
	return c, nil
}

// write replaces the file at once. It is not synced: after a power loss nobody runs.
func (b *Book) write(c *content) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	made, err := os.CreateTemp(b.dir, "."+bookFile+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", b.path(), err)
	}
	_, err = made.Write(append(text, '\n'))
	err = errors.Join(err, made.Close())
	if err == nil {
		err = os.Rename(made.Name(), b.path())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", b.path(), err), os.Remove(made.Name()))
	}
	return nil
}

// setAside keeps a file that cannot be read beside the new one.
func (b *Book) setAside() error {
	if err := os.Rename(b.path(), b.path()+".bad"); err != nil {
		return fmt.Errorf("set %s aside: %w", b.path(), err)
	}
	return nil
}
