// Kafka starts and stops real Kafka nodes on this machine, to record from, to measure against, or to look at.
//
//	go run ./conformance/cmd/kafka start [--version V] [--name N] [--port P] [KEY=VALUE...]   prints the address
//	go run ./conformance/cmd/kafka stop|wipe|pid|log [--name N]
//	go run ./conformance/cmd/kafka run [--version V] CLASS [ARG...]                           runs a class of Kafka's
//	go run ./conformance/cmd/kafka classpath [--version V]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"doze/conformance/kafka"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kafka:", err)
		os.Exit(1)
	}
}

const usage = "use start, stop, wipe, pid, log, run or classpath; see the head of conformance/cmd/kafka/main.go"

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	var o kafka.Options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.Name, "name", "ref", "the node's name")
	flags.StringVar(&o.Version, "version", kafka.Reference, "the release of Kafka")
	flags.IntVar(&o.Port, "port", 29092, "the listener's port; the next one is the controller's")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ctx, rest := context.Background(), flags.Args()
	switch args[0] {
	case "start":
		return start(ctx, o, rest)
	case "stop":
		return kafka.StopNamed(o.Name)
	case "wipe":
		return kafka.WipeNamed(o.Name)
	case "pid":
		return printed(kafka.PIDOf(o.Name))
	case "log":
		return printed(kafka.LogOf(o.Name))
	case "classpath":
		return printed(kafka.ClassPath(ctx, o.Version))
	case "run":
		return runClass(ctx, o.Version, rest)
	}
	return errors.New(usage)
}

func printed[T any](v T, err error) error {
	if err == nil {
		fmt.Println(v)
	}
	return err
}

func start(ctx context.Context, o kafka.Options, properties []string) error {
	o.Detach, o.Set = true, map[string]string{}
	for _, p := range properties {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return fmt.Errorf("read property %s: it has no =", p)
		}
		o.Set[name] = value
	}
	node, err := kafka.Start(ctx, o)
	if err != nil {
		return err
	}
	fmt.Println(node.Addr())
	return nil
}

func runClass(ctx context.Context, version string, args []string) error {
	cp, err := kafka.ClassPath(ctx, version)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "java", append([]string{"-Xmx512m", "-Dorg.apache.logging.log4j.level=WARN", "-cp", cp}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
