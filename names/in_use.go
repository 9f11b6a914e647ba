package names

import (
	"errors"
	"syscall"
)

// inUse tells whether another process has the address.
func inUse(err error) bool {
	const inUseOnWindows = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, inUseOnWindows)
}
