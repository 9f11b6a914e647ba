//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// lockFile uses flock: the kernel lets go of it when the process dies, however it dies, so a stale file never blocks.
func lockFile(o *OS, name string) (io.Closer, error) {
	f, err := o.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	err = flock(f)
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
	return f, nil
}

func flock(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB); failed != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return failed
}
