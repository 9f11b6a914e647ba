// Package disk is the seam between doze and the file system: journal and segments reach files only through it, so that a
// test can lose what was not synced, fail the n-th operation or fill the disk. It is a leaf: it imports nothing of doze.
//
// Two real implementations: [OS], and the in-memory [Mem] with crash and fault injection.
package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// FS is what doze asks of a file system. Names are slash-separated paths relative to the FS's root; no name leaves it.
type FS interface {
	// OpenFile is os.OpenFile. Files are created with mode 0600, directories with 0700.
	OpenFile(name string, flag int) (File, error)
	MkdirAll(name string) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	// ReadDir lists a directory sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals in the directory survive a power loss.
	SyncDir(name string) error
	// Lock takes the file name as an exclusive lock for this process and writes its pid into it; the file stays behind
	// after Close, unlocked. When somebody holds it the error is a *[LockedError].
	Lock(name string) (io.Closer, error)
	// Space tells how much the file system holds and has left for us.
	Space() (Space, error)
}

// File is an open file. All writes are positional, so that two writers never share a cursor.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	// Preallocate reserves space so that the file is at least size bytes long (the new bytes read as zero); a file
	// system that cannot do so does nothing.
	Preallocate(size int64) error
	// NextData returns the position of the first byte from off on that may be other than zero, the file's size when
	// there is none: what was reserved and not written can be stepped over without being read. Where the file system
	// does not tell, that is off itself.
	NextData(off int64) (int64, error)
	// Sync makes data and size survive a power loss (fdatasync where there is one).
	Sync() error
	Size() (int64, error)
	Close() error
	// OS returns the operating system's file, for sendfile; nil when there is none.
	OS() *os.File
}

// Space is the size of a file system and what an unprivileged process may still write, in bytes.
type Space struct {
	Total, Free uint64
}

// LockedError says that another holder has a lock.
type LockedError struct {
	Name string
	PID  int // of the holder; 0 when it could not be read
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("lock %s: held by another process", e.Name)
	}
	return fmt.Sprintf("lock %s: held by process %d", e.Name, e.PID)
}

// ReadFile reads a whole file of at most limit bytes.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fmt.Errorf("read %s: %d bytes, more than the %d it may have", name, size, limit)
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// WriteFile replaces a file so that after a crash it has either the old content or the new one, never a mixture: it
// writes name+".new", syncs it, renames it over name and syncs the directory dir that holds it.
func WriteFile(fsys FS, dir, name string, content []byte) error {
	tmp := name + ".new"
	f, err := fsys.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		_ = fsys.Remove(tmp) // the half-written copy has no use; the error that counts is the first
		return err
	}
	return fsys.SyncDir(dir)
}
