package names

import "syscall"

// alive says whether the process runs.
func alive(pid int, _ string) bool {
	const queryLimited, stillActive = 0x1000, 259
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return false
	}
	defer syscall.CloseHandle(h) //nolint:errcheck // nothing is lost with it
	var code uint32
	return syscall.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
