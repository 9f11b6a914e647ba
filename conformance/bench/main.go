//go:build linux

package main

import (
	"context"
	"fmt"
	"os"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/machine"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	o, err := readOptions(os.Args[1:])
	if err != nil {
		return err
	}
	if o.floorServer != "" {
		return brokers.ServeFloor(o.floorServer, o.dir)
	}
	if o.list {
		listRows()
		return nil
	}
	cpu, err := machine.PinSelf(o.brokerCPU, o.clientCPU)
	if err != nil {
		return err
	}
	b, err := newBench(o, cpu)
	if err != nil {
		return err
	}
	defer b.close()
	go b.abandonAtSignal()
	report, err := b.measureRows(context.Background())
	if err != nil {
		return err
	}
	if o.json {
		return report.writeJSON(os.Stdout)
	}
	return report.writeTable(os.Stdout)
}

func listRows() {
	for _, r := range rows() {
		fmt.Printf("%-20s %s\n", r.name, r.title)
	}
}
