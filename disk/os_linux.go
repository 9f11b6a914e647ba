package disk

import (
	"errors"
	"os"
	"syscall"
)

// datasync flushes data and what is needed to read it back, but not the times, which would cost a second disk write.
func datasync(f *os.File) error {
	return onDescriptor(f, "fdatasync", func(fd int) error { return syscall.Fdatasync(fd) })
}

// preallocate extends the file with space that reads as zero, so that a later fdatasync has no size to write.
func preallocate(f *os.File, size int64) error {
	err := onDescriptor(f, "fallocate", func(fd int) error { return syscall.Fallocate(fd, 0, 0, size) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}

func onDescriptor(f *os.File, op string, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = call(int(fd)); failed != syscall.EINTR {
				return
			}
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}

func spaceOf(path string) (Space, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return Space{Total: st.Blocks * uint64(st.Bsize), Free: st.Bavail * uint64(st.Bsize)}, nil
}
