//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// neverWait opens a pipe that stands where a file should be without waiting for who is at its other end: it is
// then like an empty file that cannot be written. It says nothing to files and directories.
const neverWait = syscall.O_NONBLOCK

// fileLock is a file under flock: the kernel lets go of it when the process dies, however it dies, so a stale file never
// blocks.
type fileLock struct{ *os.File }

func lockFile(o *OS, name string) (io.Closer, error) {
	f, err := o.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, &LockedError{Name: name, PID: readPID(o, name)}
	}
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return fileLock{f}, nil
}

// Close unlocks by word: closing alone leaves the lock with every copy of the descriptor, and a program that embeds the
// broker and starts a child has one there from its fork to its exec.
func (l fileLock) Close() error {
	return errors.Join(flock(l.File, syscall.LOCK_UN), l.File.Close())
}

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = syscall.Flock(int(fd), how); failed != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return failed
}
