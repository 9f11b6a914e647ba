package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"
	"time"
)

// Mem is a file system in memory that forgets what was not synced. It is the strict reading of POSIX: a file's bytes
// survive a power loss after File.Sync, a directory's entries (creations, renames, removals) after SyncDir of that
// directory, and nothing else does. [Mem.Crash] gives the file system as it is found afterwards; [Mem.Inject] makes
// operations fail; [Mem.Trace] records them.
type Mem struct {
	mu     sync.Mutex
	root   *memNode
	faults []*Fault
	ops    int
	trace  *[]string
	locked map[string]bool
	space  Space
}

// memNode is an inode: a directory when entries is not nil.
type memNode struct {
	entries map[string]*memNode // what a reader sees
	synced  map[string]*memNode // what SyncDir made durable

	data        []byte // bytes up to the highest one written; the rest of size reads as zero
	size        int64
	durable     []byte // as data and size, at the last Sync
	durableSize int64
	dirtyFrom   int64 // range of data written since the last Sync
	dirtyTo     int64
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	return &Mem{root: newDir(), locked: map[string]bool{}, space: Space{Total: 1 << 40, Free: 1 << 39}}
}

func newDir() *memNode {
	return &memNode{entries: map[string]*memNode{}, synced: map[string]*memNode{}}
}

func (n *memNode) isDir() bool { return n.entries != nil }

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// lookup finds a node; the caller holds mu.
func (m *Mem) lookup(op, name string) (*memNode, error) {
	if !fs.ValidPath(name) {
		return nil, pathError(op, name, fs.ErrInvalid)
	}
	n := m.root
	if name == "." {
		return n, nil
	}
	for part := range splitPath(name) {
		if n == nil || !n.isDir() || n.entries[part] == nil {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
		n = n.entries[part]
	}
	return n, nil
}

func splitPath(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name != "" {
			part := name
			for i := range len(name) {
				if name[i] == '/' {
					part = name[:i]
					break
				}
			}
			name = name[min(len(part)+1, len(name)):]
			if !yield(part) {
				return
			}
		}
	}
}

// parent finds the directory that holds name; the caller holds mu.
func (m *Mem) parent(op, name string) (*memNode, string, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, "", pathError(op, name, fs.ErrInvalid)
	}
	dir, err := m.lookup(op, path.Dir(name))
	if err != nil {
		return nil, "", pathError(op, name, fs.ErrNotExist)
	}
	if !dir.isDir() {
		return nil, "", pathError(op, name, fs.ErrInvalid)
	}
	return dir, path.Base(name), nil
}

func (m *Mem) OpenFile(name string, flag int) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("open", name)
	if err != nil {
		return nil, err
	}
	n := dir.entries[base]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, pathError("open", name, fs.ErrNotExist)
	case n != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, pathError("open", name, fs.ErrExist)
	case n != nil && n.isDir() && flag&(os.O_RDWR|os.O_WRONLY) != 0:
		return nil, pathError("open", name, fs.ErrInvalid)
	}
	op := OpOpen
	if n == nil {
		op = OpCreate
	}
	if _, err := m.step(op, name, 0); err != nil {
		return nil, pathError("open", name, err)
	}
	if n == nil {
		n = &memNode{}
		dir.entries[base] = n
	}
	if flag&os.O_TRUNC != 0 {
		n.truncate(0)
	}
	return &memFile{m: m, n: n, name: name, writable: flag&(os.O_RDWR|os.O_WRONLY) != 0}, nil
}

func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !fs.ValidPath(name) {
		return pathError("mkdir", name, fs.ErrInvalid)
	}
	if n, err := m.lookup("mkdir", name); err == nil && n.isDir() {
		return nil
	}
	if _, err := m.step(OpMkdir, name, 0); err != nil {
		return pathError("mkdir", name, err)
	}
	n := m.root
	for part := range splitPath(name) {
		child := n.entries[part]
		if child == nil {
			child = newDir()
			n.entries[part] = child
		} else if !child.isDir() {
			return pathError("mkdir", name, fs.ErrExist)
		}
		n = child
	}
	return nil
}

func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	src, srcName, err := m.parent("rename", from)
	if err != nil {
		return err
	}
	dst, dstName, err := m.parent("rename", to)
	if err != nil {
		return err
	}
	n, old := src.entries[srcName], dst.entries[dstName]
	if n == nil {
		return pathError("rename", from, fs.ErrNotExist)
	}
	if old != nil && (old.isDir() != n.isDir() || len(old.entries) > 0) {
		return pathError("rename", to, fs.ErrExist)
	}
	if _, err := m.step(OpRename, from+" "+to, 0); err != nil {
		return pathError("rename", from, err)
	}
	delete(src.entries, srcName)
	dst.entries[dstName] = n
	return nil
}

func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("remove", name)
	if err != nil {
		return err
	}
	n := dir.entries[base]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if len(n.entries) > 0 {
		return pathError("remove", name, fs.ErrExist)
	}
	if _, err := m.step(OpRemove, name, 0); err != nil {
		return pathError("remove", name, err)
	}
	delete(dir.entries, base)
	return nil
}

func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("remove", name)
	if err != nil || dir.entries[base] == nil {
		return nil
	}
	if _, err := m.step(OpRemove, name, 0); err != nil {
		return pathError("remove", name, err)
	}
	delete(dir.entries, base)
	return nil
}

func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup("open", name)
	if err != nil {
		return nil, err
	}
	if !n.isDir() {
		return nil, pathError("readdir", name, fs.ErrInvalid)
	}
	out := make([]fs.DirEntry, 0, len(n.entries))
	for _, child := range sortedNames(n.entries) {
		out = append(out, fs.FileInfoToDirEntry(infoOf(child, n.entries[child])))
	}
	return out, nil
}

func sortedNames(entries map[string]*memNode) []string {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup("stat", name)
	if err != nil {
		return nil, err
	}
	return infoOf(path.Base(name), n), nil
}

func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup("sync", name)
	if err != nil {
		return err
	}
	if _, err := m.step(OpSyncDir, name, 0); err != nil {
		return pathError("sync", name, err)
	}
	n.synced = make(map[string]*memNode, len(n.entries))
	for child, node := range n.entries {
		n.synced[child] = node
	}
	return nil
}

// Lock works between users of this Mem; the pid it reports is this process's.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked[name] {
		return nil, &LockedError{Name: name, PID: os.Getpid()}
	}
	m.locked[name] = true
	return &memLock{m, name}, nil
}

func (m *Mem) Space() (Space, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.space, nil
}

// SetSpace decides what Space answers; writes do not count against it (use Inject with ENOSPC for that).
func (m *Mem) SetSpace(s Space) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.space = s
}

type memLock struct {
	m    *Mem
	name string
}

func (l *memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locked, l.name)
	return nil
}

type memInfo struct {
	name string
	size int64
	dir  bool
}

func infoOf(name string, n *memNode) fs.FileInfo { return memInfo{name, n.size, n.isDir()} }

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return time.Time{} }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return nil }

func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

// Dump draws the tree, one line a file with its size, for golden tests.
func (m *Mem) Dump() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b []byte
	dumpNode(&b, "", m.root)
	return string(b)
}

func dumpNode(b *[]byte, prefix string, n *memNode) {
	for _, name := range sortedNames(n.entries) {
		child := n.entries[name]
		if child.isDir() {
			dumpNode(b, prefix+name+"/", child)
			continue
		}
		*b = fmt.Appendf(*b, "%s%s %d\n", prefix, name, child.size)
	}
}
