//go:build linux

package machine

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Facts says what machine a figure comes from.
type Facts struct {
	CPU        string `json:"cpu"`
	Kernel     string `json:"kernel"`
	FileSystem string `json:"file_system"`
	Load       string `json:"load"`
	CPUs       int    `json:"cpus"`
	MemoryMiB  int64  `json:"memory_mib"`
}

// FactsOf describes this machine and the file system under dir. What cannot be read stays empty.
func FactsOf(dir string) Facts {
	f := Facts{CPU: valueOf("/proc/cpuinfo", "model name"), FileSystem: fileSystemOf(dir), Load: Load()}
	f.CPUs = strings.Count("\n"+readFile("/proc/cpuinfo"), "\nprocessor")
	f.Kernel = strings.TrimSpace(readFile("/proc/sys/kernel/osrelease"))
	var kib int64
	fmt.Sscanf(valueOf("/proc/meminfo", "MemTotal"), "%d kB", &kib)
	f.MemoryMiB = kib >> 10
	return f
}

// Load returns the load averages of 1, 5 and 15 minutes.
func Load() string {
	f := strings.Fields(readFile("/proc/loadavg"))
	if len(f) < 3 {
		return ""
	}
	return strings.Join(f[:3], " ")
}

func readFile(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

func valueOf(path, key string) string {
	lines := bufio.NewScanner(strings.NewReader(readFile(path)))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func fileSystemOf(dir string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return ""
	}
	switch uint32(st.Type) {
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x01021994:
		return "tmpfs"
	case 0x794c7630:
		return "overlay"
	}
	return fmt.Sprintf("type %#x", uint32(st.Type))
}
