package segments

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"doze/disk"
)

// files bounds how many files are open at once, whatever the number of partitions. A file that nobody uses right now
// may be closed at any time and is opened again by name at its next use.
type files struct {
	fs    disk.FS
	limit int

	unsyncedLimit int

	unsynced atomic.Int64 // how many files are

	mu   sync.Mutex
	open []*file // every file with f != nil
	hand int     // where the search for a victim goes on (second-chance order)
}

// unsyncedMost is how many times the limit may be open because they wait for their sync, unless the options say.
const unsyncedMost = 4

// file is a file that is open while somebody uses it and as long after that as there is room.
type file struct {
	cache *files
	name  string

	mu       sync.Mutex
	f        disk.File
	refs     int
	recent   bool // used since the hand last passed
	unsynced bool // written since its last sync; it stays open, see wrote
	doomed   bool // not to be opened again
	erase    bool // to be removed from disk when refs is 0
	slot     int  // in cache.open
}

var errRemoved = errors.New("file was removed")

func (c *files) file(name string) *file { return &file{cache: c, name: name} }

// acquire opens the file when it is not open. Each acquire needs a release.
func (f *file) acquire() (disk.File, error) { return f.acquireWith(os.O_RDWR) }

// create makes the file, empty, and acquires it.
func (f *file) create() (disk.File, error) {
	return f.acquireWith(os.O_RDWR | os.O_CREATE | os.O_TRUNC)
}

func (f *file) acquireWith(flag int) (disk.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.doomed {
		return nil, fmt.Errorf("open %s: %w", f.name, errRemoved)
	}
	if f.f == nil {
		var opened disk.File
		err := f.cache.withRoom(func() (err error) { opened, err = f.cache.fs.OpenFile(f.name, flag); return err })
		if err != nil {
			return nil, fmt.Errorf("open segment file: %w", err)
		}
		f.f = opened
		f.cache.add(f)
	}
	f.refs++
	f.recent = true
	return f.f, nil
}

// retain adds a reference to a file that the caller has acquired.
func (f *file) retain() {
	f.mu.Lock()
	f.refs++
	f.mu.Unlock()
}

func (f *file) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refs--
	f.closeWhenIdle()
}

// wrote notes a write that is to be synced with this descriptor: the system tells those who had the file open when it
// could not write a page, and need not tell who opens it later. The caller has acquired the file. When too many files
// wait for their sync, full is true and the caller syncs at once, so that their number is bounded.
func (f *file) wrote() (full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsynced {
		return false
	}
	f.unsynced = true
	return f.cache.unsynced.Add(1) > int64(f.cache.unsyncedLimit)
}

// sync puts on disk what was written before the call.
func (f *file) sync() error {
	opened, err := f.acquire()
	if err != nil {
		return err
	}
	defer f.release()
	f.mu.Lock()
	f.noteSynced()
	f.mu.Unlock()
	return opened.Sync()
}

// noteSynced lets go of the descriptor as far as wrote held it; the caller holds f.mu.
func (f *file) noteSynced() {
	if f.unsynced {
		f.unsynced = false
		f.cache.unsynced.Add(-1)
	}
}

// remove deletes the file from disk, as soon as nobody uses it.
func (f *file) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.doomed {
		f.doomed, f.erase = true, true
		f.closeWhenIdle()
	}
}

// closeWhenIdle does what was put off while the file was in use; the caller holds f.mu.
func (f *file) closeWhenIdle() {
	if f.refs > 0 || !f.doomed {
		return
	}
	f.closeNow()
	if f.erase {
		f.erase = false
		_ = f.cache.fs.Remove(f.name) // what stays behind is removed at the next open of the partition
	}
}

// forget closes the file when nobody uses it, and keeps it from being opened again under a name that it lost.
func (f *file) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.doomed = true
	f.closeWhenIdle()
}

// closeNow closes the descriptor; the caller holds f.mu.
func (f *file) closeNow() {
	if f.f == nil {
		return
	}
	f.f.Close()
	f.f = nil
	f.noteSynced()
	f.cache.drop(f)
}

// close closes a file that nobody uses.
func (f *file) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refs == 0 {
		f.closeNow()
	}
}

// add takes a file that was just opened; its mutex is held. Lock order: a file, then the cache, then other files by
// TryLock only, so two files never wait for each other.
func (c *files) add(f *file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.open) >= c.limit && c.evict() {
	}
	f.slot = len(c.open)
	c.open = append(c.open, f)
}

// evict closes one file, if there is one, that is not in use and waits for no sync. When there is none the limit gives way: it bounds what
// is kept, what is in use is bounded by the requests in hand, and what waits for its sync by wrote.
func (c *files) evict() bool {
	for range 2 * len(c.open) {
		c.hand++
		if c.hand >= len(c.open) {
			c.hand = 0
		}
		v := c.open[c.hand]
		if !v.mu.TryLock() {
			continue
		}
		if v.refs == 0 && !v.recent && !v.unsynced {
			v.f.Close()
			v.f = nil
			c.unlink(v)
			v.mu.Unlock()
			return true
		}
		v.recent = false
		v.mu.Unlock()
	}
	return false
}

// withRoom calls open, and again after closing a file as long as the process has too many open.
func (c *files) withRoom(open func() error) error {
	for {
		err := open()
		if !tooManyOpen(err) {
			return err
		}
		c.mu.Lock()
		more := c.evict()
		c.mu.Unlock()
		if !more {
			return err
		}
	}
}

// tooManyOpen tells whether it is the number of open files, of the process or the system, that an error is about.
func tooManyOpen(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func (d *Dir) syncDir(name string) error {
	return d.files.withRoom(func() error { return d.fs.SyncDir(name) })
}

func (c *files) drop(f *file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unlink(f)
}

func (c *files) unlink(f *file) {
	last := c.open[len(c.open)-1]
	c.open[f.slot] = last
	last.slot = f.slot
	c.open[len(c.open)-1] = nil
	c.open = c.open[:len(c.open)-1]
}

// count tells how many files are open.
func (c *files) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}
