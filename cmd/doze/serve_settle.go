package main

import (
	"runtime/debug"
	"time"
)

// settleAfter is how long after it is ready a broker gives back what only its start needed: late enough not to be in the way of
// the first clients.
const settleAfter = 3 * time.Second

// settle gives memory of the start back, once: what the heap no longer holds, and the pages of the program's file that only
// the start looked at. It costs some milliseconds, and one collection of a heap that is large.
func settle() {
	debug.FreeOSMemory()
	dropStartPages()
}
