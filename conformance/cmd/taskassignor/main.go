// Taskassignor asks Kafka's own assignor of streams groups what it makes of generated groups, and writes the answers to
// assignors/tasks/testdata, where the tests of ours compare.
//
//	go run ./conformance/cmd/taskassignor [-groups N] [-seed S]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"

	"doze/assignors/tasks/taskstest"
	"doze/conformance/kafka"
)

func main() {
	groups := flag.Int("groups", 400, "how many groups")
	seed := flag.Uint64("seed", 1, "what the groups are made from")
	out := flag.String("out", "assignors/tasks/testdata/kafka-"+kafka.Reference+".jsonl", "where the answers go")
	flag.Parse()
	if err := ask(*groups, *seed, *out); err != nil {
		fmt.Fprintln(os.Stderr, "taskassignor:", err)
		os.Exit(1)
	}
}

func ask(groups int, seed uint64, out string) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range groups {
		if err := encoder.Encode(taskstest.Generate(seed + uint64(i))); err != nil {
			return fmt.Errorf("encode a group: %w", err)
		}
	}
	classpath, err := kafka.ClassPath(context.Background(), kafka.Reference)
	if err != nil {
		return err
	}
	java := exec.Command("java", "-cp", classpath, "conformance/cmd/taskassignor/Ask.java")
	java.Stdin, java.Stderr = &lines, os.Stderr
	answers, err := java.Output()
	if err != nil {
		return fmt.Errorf("run Kafka's assignor: %w", err)
	}
	if err := os.WriteFile(out, answers, 0o644); err != nil {
		return fmt.Errorf("write the answers: %w", err)
	}
	return nil
}
