//go:build linux

// Package machine asks the operating system what the bench needs to know: which CPUs a process may use, how much CPU and
// memory another process has used, and how fast this machine does the bare work that no broker can avoid (the floors).
//
// CPU of a process is read from its CPU-time clock (clock_gettime of the clock that belongs to the pid), which counts
// nanoseconds of all its threads, those that ended too. A thread that runs at the moment of the reading may lag by one
// scheduler tick (4 ms at 250 Hz), so a reading is taken when the process rests. Children are not counted; the brokers
// that the bench starts have none.
package machine
