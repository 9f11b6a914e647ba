package main

import (
	"os"
	"syscall"
)

// passedOn are the signals that doze run waits for. Windows sends both to every process of the console.
var passedOn = []os.Signal{os.Interrupt, syscall.SIGTERM}

func terminalSends(os.Signal) bool { return true }

func exitStatus(state *os.ProcessState) int {
	if state == nil {
		return exitOurs
	}
	return state.ExitCode()
}

func signalNumber(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}
