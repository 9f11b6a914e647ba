//go:build unix

package doze

import "syscall"

// openFilesLimit is how many files the process may have open, 0 when the system does not say.
func openFilesLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur)
}
