// Package disk is the seam between doze and the file system: journal and segments reach files only through it, so that a
// test can lose what was not synced, fail the n-th operation or fill the disk. It is a leaf: it imports nothing of doze.
//
// Two real implementations: [OS], and the in-memory [Mem] with crash and fault injection.
package disk

import (
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
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals in the directory survive a power loss.
	SyncDir(name string) error
}

// File is an open file. All writes are positional, so that two writers never share a cursor.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	// Preallocate reserves space so that the file is at least size bytes long (the new bytes read as zero); a file
	// system that cannot do so does nothing.
	Preallocate(size int64) error
	// Sync makes data and size survive a power loss (fdatasync where there is one).
	Sync() error
	Size() (int64, error)
	Close() error
	// OS returns the operating system's file, for sendfile; nil when there is none.
	OS() *os.File
}
