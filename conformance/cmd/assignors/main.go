// Assignors asks Kafka's own server-side assignors what they make of generated groups, and writes the answers to
// assignors/testdata, where the tests of our assignors compare.
//
//	go run ./conformance/cmd/assignors [-groups N] [-seed S]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"

	"doze/assignors/assignorstest"
	"doze/conformance/kafka"
)

func main() {
	groups := flag.Int("groups", 150, "how many groups for each assignor")
	seed := flag.Uint64("seed", 1, "what the groups are made from")
	out := flag.String("out", "assignors/testdata/kafka-"+kafka.Reference+".jsonl", "where the answers go")
	flag.Parse()
	if err := ask(*groups, *seed, *out); err != nil {
		fmt.Fprintln(os.Stderr, "assignors:", err)
		os.Exit(1)
	}
}

func ask(groups int, seed uint64, out string) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, name := range assignorstest.Names {
		for i := range groups {
			if err := encoder.Encode(assignorstest.Generate(name, seed+uint64(i))); err != nil {
				return fmt.Errorf("encode a group: %w", err)
			}
		}
	}
	classpath, err := kafka.ClassPath(context.Background(), kafka.Reference)
	if err != nil {
		return err
	}
	java := exec.Command("java", "-cp", classpath, "conformance/cmd/assignors/Ask.java")
	java.Stdin, java.Stderr = &lines, os.Stderr
	answers, err := java.Output()
	if err != nil {
		return fmt.Errorf("run Kafka's assignors: %w", err)
	}
	if err := os.WriteFile(out, answers, 0o644); err != nil {
		return fmt.Errorf("write the answers: %w", err)
	}
	return nil
}
