package main

import (
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() { scriptCommands["awaited"] = awaited }

// awaited FILE waits until the file is there and not empty.
func awaited(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(ts.MkAbs(args[0])); len(text) > 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s is not there", args[0])
		}
	}
}
