// Command eos runs jobs that promise exactly once, kills the broker and the job under them, and judges what came out.
//
//	go run ./conformance/cmd/eos                                  # all jobs, 100,000 messages, five kills of each
//	go run ./conformance/cmd/eos -messages 3000 -kills 1 franz-go # one of them, in seconds
//	go run ./conformance/cmd/eos -broker kafka -kills 0 java      # against a real Kafka
//
// Jobs: franz-go, java, librdkafka (copy a topic), streams and streams-group (count words). Each gets a broker of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"doze/conformance/eos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := runJobs
	if len(os.Args) == 2 && os.Args[1] == eos.FranzArgument {
		run = eos.CopyWithFranz
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "eos:", err)
		os.Exit(1)
	}
}

type options struct {
	broker, doze    string
	port            int
	messages, per   int
	kills, jobKills int
	seed            uint64
	txnVersion      int
	dir             string
	keep            bool
}

func runJobs(ctx context.Context) error {
	var o options
	flag.StringVar(&o.broker, "broker", "doze", "`doze`, kafka, or the address of a broker that is there (no kills of it)")
	flag.StringVar(&o.doze, "doze", "", "the doze binary; built from this module when it is not given")
	flag.IntVar(&o.port, "port", 29192, "the port of a started Kafka; the next one is its controller's")
	flag.IntVar(&o.messages, "messages", 100_000, "input records")
	flag.IntVar(&o.per, "per", 750, "records a transaction, at most")
	flag.IntVar(&o.kills, "kills", 5, "how often to kill the broker")
	flag.IntVar(&o.jobKills, "job-kills", -1, "how often to kill the job; as often as the broker when below 0")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the moments")
	flag.IntVar(&o.txnVersion, "transaction-version", -1, "set transaction.version first: 1 makes clients speak the older protocol")
	flag.BoolVar(&o.keep, "keep", false, "keep the directory when all is well")
	flag.Parse()
	if o.jobKills < 0 {
		o.jobKills = o.kills
	}
	var err error
	if o.dir, err = os.MkdirTemp("", "doze-eos-"); err != nil {
		return err
	}
	if err := o.build(ctx); err != nil {
		return err
	}
	jobs := flag.Args()
	if len(jobs) == 0 {
		jobs = eos.Jobs
	}
	fmt.Printf("seed %d, directory %s\n", o.seed, o.dir)
	var failed error
	for _, name := range jobs {
		if err := o.one(ctx, name); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s with seed %d: %w", name, o.seed, err))
		}
	}
	if failed != nil || o.keep {
		return failed
	}
	return os.RemoveAll(o.dir)
}

func (o *options) build(ctx context.Context) error {
	if o.broker != "doze" || o.doze != "" {
		return nil
	}
	o.doze = filepath.Join(o.dir, "doze")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.doze, "doze/cmd/doze").CombinedOutput(); err != nil {
		return fmt.Errorf("build doze: %w\n%s", err, out)
	}
	return nil
}

func (o *options) start(ctx context.Context, dir string) (eos.Broker, error) {
	switch o.broker {
	case "doze":
		return eos.StartDoze(o.doze, dir)
	case "kafka":
		return eos.StartKafka(ctx, o.port)
	}
	return eos.Elsewhere(o.broker), nil
}

// one runs a job on a broker of its own and prints its report.
func (o *options) one(ctx context.Context, name string) error {
	program, err := eos.Prepare(ctx, name)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	broker, err := o.start(ctx, dir)
	if err != nil {
		return err
	}
	run := eos.Copy
	if strings.HasPrefix(name, "streams") {
		run = eos.Count
	}
	report, err := run(ctx, eos.Options{
		Broker: broker, Program: program, Messages: o.messages, PerTransaction: o.per, BrokerKills: o.kills, JobKills: o.jobKills,
		Seed: o.seed, TransactionVersion: int16(o.txnVersion), Dir: dir, Out: os.Stdout,
	})
	if err == nil {
		err = broker.Finish(ctx)
	}
	err = errors.Join(err, broker.Close())
	if report != nil {
		print(report)
		if len(report.Faults) > 0 {
			err = errors.Join(err, fmt.Errorf("%d faults; the data is in %s", len(report.Faults), dir))
		}
	}
	return err
}

func print(r *eos.Report) {
	fmt.Printf("%s: %d records in %s; killed: broker %d times, job %d times; it ended by itself %d times; %d aborted records not seen; %d faults\n",
		r.Job, r.Messages, r.Took.Round(10*time.Millisecond), r.BrokerKills, r.JobKills, r.Deaths, r.Aborted, len(r.Faults))
	for _, fault := range r.Faults {
		fmt.Println("FAULT", r.Job+":", fault)
	}
}
