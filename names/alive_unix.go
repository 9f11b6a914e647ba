//go:build unix

package names

import (
	"errors"
	"syscall"
)

// alive says whether the process runs. One that began at another time is another process.
func alive(pid int, started string) bool {
	if pid <= 0 {
		return false
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	now := startOf(pid)
	return started == "" || now == "" || now == started
}
