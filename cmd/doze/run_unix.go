//go:build unix

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that go on to the command of doze run.
var passedOn = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// terminalSends tells a signal that the terminal has sent to the command itself, being in the foreground with us: passed on it
// would come twice, and a second Ctrl-C often means to stop at once.
func terminalSends(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}

// exitStatus is the status that a shell would give.
func exitStatus(state *os.ProcessState) int {
	if state == nil {
		return exitOurs
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return exitSignalBase + int(w.Signal())
	}
	return state.ExitCode()
}

func signalNumber(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}
