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

// seekData is lseek's whence for the next part of a file that is not a hole.
const seekData = 3

// nextData asks for the next part of the file that is not a hole. It moves the descriptor's cursor, which nothing here
// goes by.
func nextData(f *os.File, off int64) (at int64, err error) {
	err = onDescriptor(f, "lseek", func(fd int) (err error) {
		at, err = syscall.Seek(fd, off, seekData)
		return err
	})
	switch {
	case err == nil:
		return at, nil
	case errors.Is(err, syscall.ENXIO): // a hole up to the end, or behind the end
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		return max(off, info.Size()), nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EOPNOTSUPP):
		return off, nil
	}
	return 0, err
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
