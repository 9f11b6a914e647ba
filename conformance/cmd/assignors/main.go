// Assignors asks Kafka's own server-side assignors what they make of generated groups, and writes the answers to the testdata
// of assignors and of assignors/tasks, where the tests of ours compare.
//
//	go run ./conformance/cmd/assignors [-tasks] [-groups N] [-seed S] [-out FILE]
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
	"doze/assignors/tasks/taskstest"
	"doze/conformance/kafka"
)

// question is what is asked, and of whom.
type question struct {
	groups int    // how many, if nothing else is said
	java   string // the program that asks
	out    string // where the answers go
	make   func(groups int, seed uint64) []any
}

var partitions = question{
	groups: 150, java: "Ask.java", out: "assignors/testdata",
	make: func(groups int, seed uint64) (all []any) {
		for _, name := range assignorstest.Names {
			for i := range groups {
				all = append(all, assignorstest.Generate(name, seed+uint64(i)))
			}
		}
		return all
	},
}

var tasks = question{
	groups: 400, java: "AskTasks.java", out: "assignors/tasks/testdata",
	make: func(groups int, seed uint64) (all []any) {
		for i := range groups {
			all = append(all, taskstest.Generate(seed+uint64(i)))
		}
		return all
	},
}

func main() {
	ofTasks := flag.Bool("tasks", false, "ask the assignor of streams groups, not those of consumer and share groups")
	groups := flag.Int("groups", 0, "how many groups for each assignor (default 150, of tasks 400)")
	seed := flag.Uint64("seed", 1, "what the groups are made from")
	out := flag.String("out", "", "where the answers go (default the testdata of the tests)")
	flag.Parse()
	q := partitions
	if *ofTasks {
		q = tasks
	}
	if *groups == 0 {
		*groups = q.groups
	}
	if *out == "" {
		*out = q.out + "/kafka-" + kafka.Reference + ".jsonl"
	}
	if err := ask(&q, *groups, *seed, *out); err != nil {
		fmt.Fprintln(os.Stderr, "assignors:", err)
		os.Exit(1)
	}
}

func ask(q *question, groups int, seed uint64, out string) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, group := range q.make(groups, seed) {
		if err := encoder.Encode(group); err != nil {
			return fmt.Errorf("encode a group: %w", err)
		}
	}
	classpath, err := kafka.ClassPath(context.Background(), kafka.Reference)
	if err != nil {
		return err
	}
	java := exec.Command("java", "-cp", classpath, "conformance/cmd/assignors/"+q.java)
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
