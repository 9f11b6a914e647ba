//go:build linux

package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// CPUTime returns the user and system time that the process has used since its start. See the package comment.
func CPUTime(pid int) (time.Duration, error) {
	// A CPU clock's id is the complement of the pid, shifted over three bits that say: of a process, by the scheduler.
	clock := int32(^pid)<<3 | 2
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(uint32(clock)), uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0, fmt.Errorf("read cpu clock of process %d: %w", pid, errno)
	}
	return time.Duration(ts.Nano()), nil
}

// Memory is what a process holds, in bytes.
type Memory struct{ RSS, PSS int64 }

// MemoryOf reads the resident memory of a process.
func MemoryOf(pid int) (Memory, error) {
	path := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return Memory{}, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	var m Memory
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(string(f[1]), 10, 64)
		switch string(f[0]) {
		case "Rss:":
			m.RSS = kib << 10
		case "Pss:":
			m.PSS = kib << 10
		}
	}
	return m, nil
}
