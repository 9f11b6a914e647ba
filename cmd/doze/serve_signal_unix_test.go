//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() { scriptCommands["echoed"] = echoed }

// echoed sends the commands in the background a signal and its echo. They stand still meanwhile, so that none of them has
// ended, or seen time pass, when the second is sent.
func echoed(ts *testscript.TestScript, neg bool, args []string) {
	for _, cmd := range ts.BackgroundCmds() {
		for _, s := range []os.Signal{syscall.SIGSTOP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCONT} {
			ts.Check(cmd.Process.Signal(s))
		}
	}
}
