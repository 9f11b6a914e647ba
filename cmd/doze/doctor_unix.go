//go:build unix

package main

import "syscall"

// diskFree is how many bytes a user may still write on the directory's disk.
func diskFree(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

// openFilesMax is how many files this process may have open; Go has raised the soft limit to the hard one.
func openFilesMax() (uint64, error) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err
}

// writable says whether this user may make files in the directory.
func writable(dir string) bool {
	const write, enter = 2, 1
	return syscall.Access(dir, write|enter) == nil
}
