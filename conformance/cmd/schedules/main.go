// Command schedules plays seeded schedules of delayed, duplicated and reordered requests of transactions.
//
//	go run ./conformance/cmd/schedules -n 500                     # against this tree's doze
//	go run ./conformance/cmd/schedules -n 500 -kafka start        # v1 compared with a real Kafka on the same schedules
//	go run ./conformance/cmd/schedules -record -kafka start       # write conformance/schedules/recorded
//
// Seeds that are recorded are compared with the recording; the second protocol is judged at any seed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"doze/conformance/eos"
	"doze/conformance/schedules"
)

type options struct {
	broker, doze, kafka, dir string
	port                     int
	from                     uint64
	n                        int
	record                   bool
}

func main() {
	var o options
	flag.StringVar(&o.broker, "broker", "doze", "`doze` starts this tree's; an address takes that broker")
	flag.StringVar(&o.doze, "doze", "", "the doze binary; built from this module when it is not given")
	flag.StringVar(&o.kafka, "kafka", "", "a real Kafka to compare with or to record: `start`, or an address")
	flag.IntVar(&o.port, "port", 29292, "the port of a started Kafka; the next one is its controller's")
	flag.StringVar(&o.dir, "dir", "conformance/schedules/recorded", "where the recorded outcomes are")
	flag.Uint64Var(&o.from, "from", 1, "the first seed")
	flag.IntVar(&o.n, "n", 200, "how many seeds")
	flag.BoolVar(&o.record, "record", false, "record what Kafka answers")
	flag.Parse()
	if err := o.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "schedules:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context) (err error) {
	work, err := os.MkdirTemp("", "doze-schedules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var kafka eos.Broker
	if o.kafka != "" {
		if kafka, err = o.startKafka(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, kafka.Close()) }()
	}
	if o.record {
		return o.recordAll(kafka)
	}
	broker, err := o.start(ctx, work)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.Close()) }()
	return errors.Join(o.compareAll(broker, kafka), broker.Finish(ctx))
}

func (o *options) startKafka(ctx context.Context) (eos.Broker, error) {
	if o.kafka != "start" {
		return eos.Elsewhere(o.kafka), nil
	}
	return eos.StartKafka(ctx, o.port)
}

func (o *options) start(ctx context.Context, work string) (eos.Broker, error) {
	if o.broker != "doze" {
		return eos.Elsewhere(o.broker), nil
	}
	if o.doze == "" {
		o.doze = filepath.Join(work, "doze")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.doze, "doze/cmd/doze").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build doze: %w\n%s", err, out)
		}
	}
	return eos.StartDoze(o.doze, work)
}

func (o *options) recordAll(kafka eos.Broker) error {
	if kafka == nil {
		return errors.New("record: name a Kafka with -kafka")
	}
	for _, protocol := range []schedules.Protocol{schedules.V1, schedules.V2} {
		var all []*schedules.Outcome
		for i := range uint64(o.n) {
			outcome, err := schedules.Play(kafka.Addr(), protocol, o.from+i)
			if err != nil {
				return err
			}
			for _, fault := range outcome.Faults {
				fmt.Printf("Kafka does not hold v%d, seed %d: %s\n", protocol, outcome.Seed, fault)
			}
			all = append(all, outcome)
		}
		if err := schedules.Save(o.dir, protocol, all); err != nil {
			return err
		}
		fmt.Printf("recorded %d schedules of v%d\n", len(all), protocol)
	}
	return nil
}

func (o *options) compareAll(broker, kafka eos.Broker) error {
	bad := 0
	for _, protocol := range []schedules.Protocol{schedules.V1, schedules.V2} {
		recorded, err := schedules.LoadRecorded(o.dir, protocol)
		if err != nil {
			return err
		}
		compared := 0
		for i := range uint64(o.n) {
			faults, known, err := one(protocol, o.from+i, recorded, broker, kafka)
			if err != nil {
				return err
			}
			if known {
				compared++
			}
			for _, fault := range faults {
				bad++
				fmt.Printf("FAULT v%d, seed %d: %s\n", protocol, o.from+i, fault)
			}
		}
		fmt.Printf("v%d: %d schedules, %d compared with Kafka\n", protocol, o.n, compared)
	}
	if bad > 0 {
		return fmt.Errorf("%d faults", bad)
	}
	return nil
}

// one plays a seed and tells what is wrong, and whether there was an outcome of Kafka to compare with.
func one(protocol schedules.Protocol, seed uint64, recorded schedules.Recorded, broker, kafka eos.Broker) ([]string, bool, error) {
	got, err := schedules.Play(broker.Addr(), protocol, seed)
	if err != nil {
		return nil, false, err
	}
	want, known := recorded[seed]
	if kafka != nil {
		live, err := schedules.Play(kafka.Addr(), protocol, seed)
		if err != nil {
			return nil, false, err
		}
		want, known = live.Lines, true
	}
	faults := got.Faults
	if known {
		if difference := schedules.Compare(want, got.Lines); difference != "" {
			faults = append(faults, difference)
		}
	}
	return faults, known, nil
}
