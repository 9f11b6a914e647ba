//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"doze/conformance/bench/brokers"
)

type options struct {
	only      *regexp.Regexp
	quick     bool
	kinds     []brokers.Kind
	runs      int
	json      bool
	list      bool
	profile   string
	doze      string
	kfake     string
	kafkaLibs string
	dir       string
	basePort  int

	brokerCPU, clientCPU int
	floorServer          string // set in the process that is the floor server
}

func readOptions(args []string) (options, error) {
	var o options
	var only, kinds string
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	f.StringVar(&only, "only", "", "measure the rows whose name matches `REGEX`")
	f.BoolVar(&o.quick, "quick", false, "small work sizes: a look, not a figure")
	f.StringVar(&kinds, "brokers", "floor,doze,kafka,kfake", "the `COLUMNS` to measure")
	f.IntVar(&o.runs, "runs", 3, "measure each row `N` times, after one turn of warming up")
	f.BoolVar(&o.json, "json", false, "print JSON with every single value instead of the table")
	f.BoolVar(&o.list, "list", false, "name the rows and end")
	f.StringVar(&o.profile, "profile", "", "write doze's CPU and heap profiles of each row to `DIR`")
	f.StringVar(&o.doze, "doze", "", "the doze binary (`PATH`; default: built from this repository)")
	f.StringVar(&o.kfake, "kfake", "", "the kfake server (`PATH`; default: built from conformance/bench/kfake)")
	f.StringVar(&o.kafkaLibs, "kafka-libs", os.Getenv("KAFKA_LIBS"), "Kafka's jars: a `DIR` or a class path (environment: KAFKA_LIBS)")
	f.StringVar(&o.dir, "dir", "", "make the data directories under `DIR`, on the disk to measure (default: the temporary directory)")
	f.IntVar(&o.basePort, "base-port", 24000, "listen on ports from `PORT` on")
	f.IntVar(&o.brokerCPU, "broker-cpu", -1, "the broker's `CPU` (default: the first)")
	f.IntVar(&o.clientCPU, "client-cpu", -1, "the client's `CPU` (default: the last)")
	f.StringVar(&o.floorServer, "floor-server", "", "be the floor server on `ADDR` (the bench starts itself so)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.floorServer != "" || o.list {
		return o, nil
	}
	return o, o.check(only, kinds)
}

func (o *options) check(only, kinds string) (err error) {
	if o.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("read --only: %w", err)
	}
	if o.runs < 1 {
		return fmt.Errorf("--runs %d: at least one run is needed", o.runs)
	}
	for name := range strings.SplitSeq(kinds, ",") {
		kind := brokers.Kind(strings.TrimSpace(name))
		if !slices.Contains(brokers.Kinds, kind) {
			return fmt.Errorf("--brokers: no broker is called %q, choose of %v", kind, brokers.Kinds)
		}
		o.kinds = append(o.kinds, kind)
	}
	if slices.Contains(o.kinds, brokers.Kafka) && o.kafkaLibs == "" {
		return fmt.Errorf("where are Kafka's jars? Name them by --kafka-libs or KAFKA_LIBS, or leave kafka out of --brokers")
	}
	return nil
}
