package replay

import (
	"io/fs"
	"os"
	"path/filepath"

	"doze/disk"
)

// dirFS is a directory of the real file system.
type dirFS struct {
	disk.FS
	root string
}

func (d dirFS) at(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d dirFS) OpenFile(name string, flag int) (disk.File, error) {
	f, err := os.OpenFile(d.at(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}
func (d dirFS) MkdirAll(name string) error                 { return os.MkdirAll(d.at(name), 0o700) }
func (d dirFS) Rename(from, to string) error               { return os.Rename(d.at(from), d.at(to)) }
func (d dirFS) Remove(name string) error                   { return os.Remove(d.at(name)) }
func (d dirFS) RemoveAll(name string) error                { return os.RemoveAll(d.at(name)) }
func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(d.at(name)) }
func (d dirFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(d.at(name)) }
func (d dirFS) SyncDir(name string) error {
	f, err := os.Open(d.at(name))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

type osFile struct{ *os.File }

func (f osFile) OS() *os.File { return f.File }
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
func (f osFile) Preallocate(size int64) error {
	if n, err := f.Size(); err != nil || n >= size {
		return err
	}
	return f.Truncate(size)
}
