// Record plays conformance scenarios against a real Kafka and writes their recordings, or with --check compares the
// run with the recordings there are.
//
//	go run ./conformance/cmd/record [--check] [--kafka start|ADDR] [--port PORT] [--dir DIR] [NAME...]
//
// Without names it takes every scenario. A NAME that ends in * takes those that begin so.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"doze/conformance"
	"doze/conformance/recording"
)

func main() {
	var o options
	flag.StringVar(&o.kafka, "kafka", "start", "`start` brings up brokers as scenarios ask for them; an address takes that broker for all")
	flag.IntVar(&o.port, "port", 29092, "the port that started brokers listen on; the next one is their controller's")
	flag.StringVar(&o.dir, "dir", "conformance/recordings", "where the recordings are")
	flag.BoolVar(&o.check, "check", false, "compare with the recordings, write nothing")
	flag.BoolVar(&o.missing, "missing", false, "only scenarios that have no recording yet")
	flag.Parse()
	if err := o.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

type options struct {
	kafka   string
	port    int
	dir     string
	check   bool
	missing bool
}

func (o options) run(names []string) error {
	scenarios, err := o.pick(names)
	if err != nil {
		return err
	}
	brokers := &brokers{options: o}
	defer brokers.close()
	defer func() { _ = conformance.RemoveSignedTokens() }()
	failed := 0
	for _, s := range inBrokerOrder(scenarios) {
		if err := o.one(s, brokers); err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d scenarios failed", failed, len(scenarios))
	}
	return nil
}

// inBrokerOrder puts scenarios that can share a broker next to each other.
func inBrokerOrder(list []conformance.Scenario) []conformance.Scenario {
	slices.SortStableFunc(list, func(a, b conformance.Scenario) int {
		return strings.Compare(brokerKey(a), brokerKey(b))
	})
	return list
}

func (o options) pick(names []string) ([]conformance.Scenario, error) {
	var picked []conformance.Scenario
	for _, s := range conformance.Scenarios() {
		if o.missing {
			if _, err := recording.Load(o.dir, s.Name); err == nil {
				continue
			}
		}
		if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return matches(n, s.Name) }) {
			picked = append(picked, s)
		}
	}
	if len(picked) == 0 && !o.missing {
		return nil, fmt.Errorf("no scenario is named %s", strings.Join(names, ", "))
	}
	return picked, nil
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

func (o options) one(s conformance.Scenario, brokers *brokers) error {
	b, err := brokers.take(context.Background(), s)
	if err != nil {
		return err
	}
	if o.check {
		return check(s, o.dir, b)
	}
	rec, err := conformance.Play(s, b)
	if err != nil {
		return err
	}
	fmt.Printf("recorded %s: %d steps\n", s.Name, len(rec.Steps))
	return rec.Save(o.dir)
}

func check(s conformance.Scenario, dir string, b conformance.Broker) error {
	diffs, err := conformance.Replay(s, dir, b)
	if len(diffs) > 0 {
		return fmt.Errorf("differs from its recording:\n%s%v", recording.Report(diffs, "recorded", "now"), err)
	}
	if err == nil {
		fmt.Printf("same %s\n", s.Name)
	}
	return err
}
