package names

import (
	"fmt"
	"os"
	"strings"
)

// startOf is when the process began, in ticks since the machine did; "" when it is gone. A zombie is gone.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// pid (name, which may have anything) state ppid ... the 22nd is the start.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const state, start = 0, 19
	if len(fields) <= start {
		return ""
	}
	if fields[state] == "Z" {
		return "ended"
	}
	return fields[start]
}
