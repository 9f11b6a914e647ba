package main

import (
	"os"
	"slices"
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
// in any case, and the kernel may drop them from there when it is short, a bit sooner when nobody has them mapped. What differs from
// the file is never touched, as it would be lost: writable mappings, and read-only ones that somebody has written to (the
// relocations of a position-independent build, a debugger's breakpoints). Where it does not work it changes nothing, so errors are
// not told.
func dropStartPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range fileMappings(string(maps), program) {
		// Neither a mapping that is gone by now nor a kernel that cannot do it does harm.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// mapping is a part of the address space. It is changed when pages of it are not the file's.
type mapping struct {
	start, end uintptr
	changed    bool
}

// fileMappings are the mappings of the file in /proc/PID/smaps that are private, not writable and as the file is. Of each mapping
// there is a line as this, then one for each of its figures:
//
//	00400000-01679000 r-xp 00000000 fd:01 1234  /usr/bin/doze
//	Anonymous:             0 kB
func fileMappings(smaps, file string) (found []mapping) {
	var here *mapping // nil: not to be looked at
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 0 && !strings.HasSuffix(fields[0], ":"):
			if here = nil; len(fields) == 6 && fields[5] == file && (fields[1] == "r-xp" || fields[1] == "r--p") {
				found = append(found, mapping{changed: true}) // until it is said that it is not
				here = &found[len(found)-1]
				here.start, here.end = addresses(fields[0])
			}
		case here != nil && len(fields) > 1 && fields[0] == "Anonymous:":
			here.changed = fields[1] != "0"
		case here != nil && len(fields) > 1 && fields[0] == "Swap:" && fields[1] != "0":
			here.changed = true
		}
	}
	return slices.DeleteFunc(found, func(m mapping) bool { return m.changed || m.start >= m.end })
}

// addresses are the two ends of a mapping, zero where they cannot be read.
func addresses(text string) (start, end uintptr) {
	from, to, _ := strings.Cut(text, "-")
	first, err1 := strconv.ParseUint(from, 16, 64)
	last, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return uintptr(first), uintptr(last)
}
