//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: needs Linux: it pins processes to CPUs and reads their CPU clocks; run it in a Linux container or machine")
	os.Exit(1)
}
