package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

const neverWait = 0 // no file there makes an open wait

const errSharingViolation = syscall.Errno(32)

// lockFile opens the file so that others may read it (for the pid) but not write it; Windows closes it when the process
// dies.
func lockFile(o *OS, name string) (io.Closer, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("lock %s: the name leaves the directory", name)
	}
	path, err := syscall.UTF16PtrFromString(filepath.Join(o.path, name))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, &LockedError{Name: name, PID: readPID(o, name)}
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	f := os.NewFile(uintptr(h), name)
	if err := writePID(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

var getDiskFreeSpaceEx = syscall.NewLazyDLL("kernel32.dll").NewProc("GetDiskFreeSpaceExW")

func spaceOf(path string) (Space, error) {
	p, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return Space{}, fmt.Errorf("free space of %s: %w", path, err)
	}
	var s Space
	ok, _, err := getDiskFreeSpaceEx.Call(uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&s.Free)),
		uintptr(unsafe.Pointer(&s.Total)), 0)
	if ok == 0 {
		return Space{}, fmt.Errorf("free space of %s: %w", path, err)
	}
	return s, nil
}

// syncDir has no counterpart on Windows: NTFS logs its own metadata.
func syncDir(*os.Root, string) error { return nil }
