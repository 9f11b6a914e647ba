package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropStartPages takes the read-only pages of the program's file out of this process's page tables (madvise MADV_DONTNEED). A start
// runs the init functions of all packages and reads their tables, also those of commands and libraries that this broker will not
// use; the kernel maps 64 KiB around each page that is touched.
//
// What it does: those pages no longer count as resident in this process. What runs again comes back by a minor fault from the page
// cache, 64 KiB each time. What it does not do: it frees no memory by itself. The pages stay in the page cache, as they are
// in any case, and the kernel may drop them from there when it is short, a bit sooner when nobody has them mapped. Writable mappings
// (data, heap) are never touched: their contents would be lost. Where it does not work it changes nothing, so errors are not told.
func dropStartPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for _, m := range mappingsOf(string(maps), program) {
		// Neither a mapping that is gone by now nor a kernel that cannot do it does harm.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// mapping is a part of the address space.
type mapping struct{ start, end uintptr }

// mappingsOf are the lines of /proc/PID/maps that map the file, private and not writable:
//
//	00400000-01679000 r-xp 00000000 fd:01 1234  /usr/bin/doze
func mappingsOf(maps, file string) (found []mapping) {
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) != 6 || fields[5] != file || fields[1] != "r-xp" && fields[1] != "r--p" {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil && start < end {
			found = append(found, mapping{uintptr(start), uintptr(end)})
		}
	}
	return found
}
