// Command fuzz runs every fuzz target of testdata/fuzz-targets.txt for a given time each, one after another.
//
//	go run ./conformance/cmd/fuzz -time 30s
//	go run ./conformance/cmd/fuzz -time 10m -only 'wire|FuzzCheckBatch'
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	each := flag.String("time", "30s", "how long each target runs: a duration, or a number of inputs as 1000x")
	only := flag.String("only", ".", "regular expression of \"package target class\"")
	list := flag.String("list", "testdata/fuzz-targets.txt", "the list of targets; run from the module's root")
	flag.Parse()
	want, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(*list)
	if err != nil {
		return fmt.Errorf("%w; run this from the root of the module", err)
	}
	passed, failed := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if !want.MatchString(line) {
			continue
		}
		if err := fuzz(strings.Fields(line), *each); err != nil {
			failed++
			fmt.Printf("FAIL %s: %v\n", line, err)
			continue
		}
		passed++
		fmt.Println("ok  ", line)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		return fmt.Errorf("%d targets failed, %d passed", failed, passed)
	}
	return nil
}

func fuzz(fields []string, each string) error {
	pkg, name := "./"+fields[0], fields[1]
	cmd := exec.Command("go", "test", pkg, "-run", "^$", "-fuzz", "^"+name+"$", "-fuzztime", each)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
