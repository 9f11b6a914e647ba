package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// portHolder says which process listens on the TCP port: "java (pid 4711)"; "" when that cannot be seen.
func portHolder(port string) string {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return ""
	}
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listeningSockets(table, uint16(n), sockets)
	}
	if len(sockets) == 0 {
		return ""
	}
	return processWith(func(fd string) bool { return sockets[fd] })
}

// listeningSockets adds the listening sockets of a port, as /proc/PID/fd links name them.
func listeningSockets(table string, port uint16, sockets map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	suffix := fmt.Sprintf(":%04X", port)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
		fields := strings.Fields(lines.Text())
		const listening = "0A"
		if len(fields) > 9 && fields[3] == listening && strings.HasSuffix(fields[1], suffix) {
			sockets["socket:["+fields[9]+"]"] = true
		}
	}
}

// processWith names the first process that has a file which fits open.
func processWith(fits func(link string) bool) string {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range links {
		if to, err := os.Readlink(l); err != nil || !fits(to) {
			continue
		}
		pid := strings.Split(l, "/")[2]
		name, _ := os.ReadFile("/proc/" + pid + "/comm")
		return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), pid)
	}
	return ""
}

// dirHolder says which process has a file of the directory open; "" for none that can be seen.
func dirHolder(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return processWith(func(link string) bool { return strings.HasPrefix(link, abs+"/") })
}
