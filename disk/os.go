package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// OS is the operating system's file system below one directory. It is rooted with [os.Root]: a name or a symbolic link
// that leads out of the directory is an error.
type OS struct {
	root *os.Root
	path string
}

// OpenOS makes the directory path when it is missing and roots a file system there.
func OpenOS(path string) (*OS, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open directory %s: %w", path, err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("create directory %s: %w", abs, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open directory %s: %w", abs, err)
	}
	return &OS{root: root, path: abs}, nil
}

// Path returns the absolute path of the root.
func (o *OS) Path() string { return o.path }

// Close lets go of the root directory; files that are open stay usable.
func (o *OS) Close() error { return o.root.Close() }

func (o *OS) OpenFile(name string, flag int) (File, error) {
	f, err := o.root.OpenFile(name, flag|neverWait, 0o600)
	if err != nil {
		return nil, err
	}
	return &osFile{f}, nil
}

func (o *OS) MkdirAll(name string) error          { return o.root.MkdirAll(name, 0o700) }
func (o *OS) Rename(from, to string) error        { return o.root.Rename(from, to) }
func (o *OS) Remove(name string) error            { return o.root.Remove(name) }
func (o *OS) RemoveAll(name string) error         { return o.root.RemoveAll(name) }
func (o *OS) Space() (Space, error)               { return spaceOf(o.path) }
func (o *OS) SyncDir(name string) error           { return syncDir(o.root, name) }
func (o *OS) Lock(name string) (io.Closer, error) { return lockFile(o, name) }

func (o *OS) Stat(name string) (fs.FileInfo, error) { return o.root.Stat(name) }

// statsAtOnce is up to how many entries of a directory are asked about while it is open. That costs one call each; later
// it costs an open and a close for each directory on the way too, but of a large directory only names are wanted.
const statsAtOnce = 16

// ReadDir reads all names, and of the first few entries what else they can say. The others are asked about when the entry
// is asked.
func (o *OS) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := o.root.OpenFile(name, os.O_RDONLY|neverWait, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(statsAtOnce)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(entries) == statsAtOnce {
		names, err := d.Readdirnames(-1)
		if err != nil {
			return nil, err
		}
		of := make([]osEntry, len(names))
		for i := range names {
			of[i] = osEntry{o.root, name, names[i]}
			entries = append(entries, &of[i])
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

type osEntry struct {
	root      *os.Root
	dir, name string
}

func (e *osEntry) Name() string               { return e.name }
func (e *osEntry) Info() (fs.FileInfo, error) { return e.root.Lstat(path.Join(e.dir, e.name)) }
func (e *osEntry) IsDir() bool                { return e.Type().IsDir() }

// Type of an entry that is gone by now is 0, a regular file's.
func (e *osEntry) Type() fs.FileMode {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.Mode().Type()
}

type osFile struct{ f *os.File }

func (f *osFile) ReadAt(p []byte, off int64) (int, error)  { return f.f.ReadAt(p, off) }
func (f *osFile) WriteAt(p []byte, off int64) (int, error) { return f.f.WriteAt(p, off) }
func (f *osFile) Truncate(size int64) error                { return f.f.Truncate(size) }
func (f *osFile) Close() error                             { return f.f.Close() }
func (f *osFile) OS() *os.File                             { return f.f }
func (f *osFile) Sync() error                              { return datasync(f.f) }
func (f *osFile) Preallocate(size int64) error             { return preallocate(f.f, size) }
func (f *osFile) NextData(off int64) (int64, error)        { return nextData(f.f, off) }

func (f *osFile) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readPID reads the pid that the holder of a lock wrote into the file.
func readPID(o *OS, name string) int {
	b, err := ReadFile(o, name, 32)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}

// writePID makes this process's pid the content of a lock file.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
