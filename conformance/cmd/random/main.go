// Random plays random scripts of requests against a real Kafka and against doze, and prints where they differ: of the members
// of a group, of transactional producers, or of batches, configs and look-ups of a log.
//
//	go run ./conformance/cmd/random [--groups classic|consumer|share|records|streams|tasks|migration|transactions|log] [--seed N]
//	  [--times N] [--steps N] [--port PORT]
//
// A script is made from its seed alone; a difference is seen again with --seed N --times 1. On a busy machine Kafka may take
// longer for an answer than a script waits before it goes on, which shows as "until step" of another number: play it again. What
// Kafka leaves to the order of hash maps of random ids differs now and then: who leads a group that has become a classic one
// (migration), how many tasks a member has while others still give theirs up (tasks).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"doze"
	"doze/conformance"
	"doze/conformance/kafka"
	"doze/conformance/recording"
)

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "of the first script")
	flag.IntVar(&o.times, "times", 20, "how many scripts")
	flag.IntVar(&o.steps, "steps", 40, "how many steps each")
	flag.IntVar(&o.port, "port", 29092, "the port that Kafka listens on; the next one is its controller's")
	flag.StringVar(&o.groups, "groups", "classic", "the type of the groups: classic, consumer, share, records (of share groups), streams, tasks (of streams groups) or migration; or else transactions or log")
	flag.Parse()
	if err := o.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "random:", err)
		os.Exit(1)
	}
}

// scripts makes a script from its seed and the number of its steps, by the type of its group or what else it is about.
var scripts = map[string]func(uint64, int) conformance.Scenario{
	"classic": conformance.RandomGroups, "consumer": conformance.RandomConsumers,
	"share": conformance.RandomSharers, "records": conformance.RandomShares,
	"streams": conformance.RandomStreams, "tasks": conformance.RandomTasks, "migration": conformance.RandomMigration,
	"transactions": conformance.RandomTxns, "log": conformance.RandomLog,
}

type options struct {
	groups       string
	seed         uint64
	times, steps int
	port         int
}

func (o options) run(ctx context.Context) error {
	if scripts[o.groups] == nil {
		return fmt.Errorf("no groups of type %q", o.groups)
	}
	set := scripts[o.groups](o.seed, o.steps).Set
	node, err := kafka.Start(ctx, kafka.Options{Name: fmt.Sprintf("random-%d-%d", o.port, os.Getpid()), Port: o.port, Set: set})
	if err != nil {
		return err
	}
	theirs := kafka.Broker{Node: node}
	defer theirs.Close() //nolint:errcheck // it leaves nothing that anybody needs
	ours, err := doze.New(doze.Options{Ephemeral: true, Properties: set, Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}})
	if err != nil {
		return err
	}
	defer ours.Close() //nolint:errcheck // it keeps nothing
	go ours.Run(ctx)   //nolint:errcheck // what it answers is looked at
	differ := 0
	for i := range o.times {
		seed := o.seed + uint64(i)
		if !o.same(seed, theirs, served{ours}) {
			differ++
		}
	}
	fmt.Printf("%d scripts, %d differ\n", o.times, differ)
	if differ > 0 {
		return fmt.Errorf("%d of %d scripts differ", differ, o.times)
	}
	return nil
}

// same plays one script against both, and prints the differences.
func (o options) same(seed uint64, theirs, ours conformance.Broker) bool {
	script := scripts[o.groups](seed, o.steps)
	want, wantErr := conformance.Play(script, theirs)
	got, gotErr := conformance.Play(script, ours)
	blur(want, o.groups)
	blur(got, o.groups)
	err := errors.Join(wantErr, gotErr)
	if err == nil && len(recording.Diff(want, got)) == 0 {
		fmt.Printf("seed %d: the same in %d steps\n", seed, len(want.Steps))
		return true
	}
	fmt.Printf("seed %d differs: Kafka %v, doze %v\n%s", seed, wantErr, gotErr, firstDifference(want, got))
	return false
}

// firstDifference is the way to the first step that differs, and how it does: from then on two scripts are told apart.
func firstDifference(want, got *recording.Recording) string {
	var way strings.Builder
	for n := range min(len(want.Steps), len(got.Steps)) {
		a, b := *want, *got
		a.Steps, b.Steps = want.Steps[n:n+1], got.Steps[n:n+1]
		if diffs := recording.Diff(&a, &b); len(diffs) > 0 {
			asked, _ := json.Marshal(want.Steps[n].Request)
			fmt.Fprintf(&way, "  asked %.1000s\n", asked)
			return way.String() + recording.Report(diffs, "Kafka", "doze")
		}
		if step := want.Steps[n]; step.Name != "describe" && step.Name != "commit of another group" {
			answer, _ := json.Marshal(step.Answer)
			fmt.Fprintf(&way, "  %s: %.300s %s\n", step.Name, answer, step.Took)
		}
	}
	return way.String() + "  one of them ended here\n"
}

// served is doze in this process; scripts do not restart it.
type served struct{ broker *doze.Broker }

var errNotHere = errors.New("a random script does not restart its broker")

func (s served) Addr() string   { return s.broker.Addr() }
func (s served) Restart() error { return errNotHere }
func (s served) Kill() error    { return errNotHere }
func (s served) Close() error   { return s.broker.Close() }
