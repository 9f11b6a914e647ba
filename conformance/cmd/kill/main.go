// Command kill ends a broker with SIGKILL at random moments under load and checks that nothing acknowledged is lost or
// there twice.
//
//	go run ./conformance/cmd/kill -times 200
//	go run ./conformance/cmd/kill -times 200 -transactions
//	go run ./conformance/cmd/kill -times 25 -registry
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"doze/conformance/kill"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	times := flag.Int("times", 200, "how often to kill the broker")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments")
	transactions := flag.Bool("transactions", false, "kill it under transactions instead, and look for what was committed and nothing else")
	registry := flag.Bool("registry", false, "kill it under registrations of schemas instead, and look for every id that was acknowledged")
	binary := flag.String("doze", "", "the doze binary; built from this module when it is not given")
	flag.Parse()
	dir, err := os.MkdirTemp("", "doze-kill-")
	if err != nil {
		return err
	}
	if *binary == "" {
		*binary = filepath.Join(dir, "doze")
		if out, err := exec.Command("go", "build", "-o", *binary, "doze/cmd/doze").CombinedOutput(); err != nil {
			return fmt.Errorf("build doze: %w\n%s", err, out)
		}
	}
	fmt.Printf("seed %d, directory %s\n", *seed, dir)
	opt := kill.Options{Binary: *binary, Times: *times, Seed: *seed, Dir: dir, Out: os.Stdout}
	campaign := records
	switch {
	case *transactions:
		campaign = underTransactions
	case *registry:
		campaign = schemas
	}
	faults, err := campaign(opt)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		for _, fault := range faults {
			fmt.Println("FAULT", fault)
		}
		return fmt.Errorf("%d faults with seed %d; the data is in %s", len(faults), *seed, dir)
	}
	return os.RemoveAll(dir)
}

func records(opt kill.Options) (faults []string, err error) {
	report, err := kill.Run(context.Background(), opt)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d kills: %d records acknowledged, %d read by the group, slowest start %v\n", report.Kills, report.Acked,
		report.Consumed, report.Slowest.Round(time.Millisecond))
	return report.Faults, nil
}

func underTransactions(opt kill.Options) (faults []string, err error) {
	report, err := kill.RunTransactions(context.Background(), opt)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d kills, %d stops: %d transactions committed, %d aborted, %d unknown; %d records are seen; slowest start %v\n",
		report.Kills, report.Stops, report.Committed, report.Aborted, report.Unknown, report.Records, report.Slowest.Round(time.Millisecond))
	return report.Faults, nil
}

func schemas(opt kill.Options) (faults []string, err error) {
	report, err := kill.RunRegistry(context.Background(), opt)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d kills: %d ids and %d versions acknowledged, %d hidden, %d ids read back, slowest start %v\n", report.Kills,
		report.Registered, report.Versions, report.Hidden, report.Checked, report.Slowest.Round(time.Millisecond))
	return report.Faults, nil
}
