//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
	"doze/conformance/bench/machine"
)

// A row of the table: what is done, what is measured, what is to be reached.
type row struct {
	name    string
	title   string
	metrics []metric
	columns []brokers.Kind // who takes part; nil: all
	broker  ownership
	setup   brokers.Setup // of a fresh one
	runs    int           // at most; 0: as --runs says
	cold    bool          // no turn of warming up
	make    func(s *subject) workload
}

// ownership says which process a row measures.
type ownership int

const (
	shared ownership = iota // one that serves many rows, warm
	own                     // a fresh one for this row
	none                    // the workload starts its own
)

// A workload is one row's work against one broker.
type workload interface {
	prepare(ctx context.Context) error
	measure(ctx context.Context) (sample, error)
	close()
}

// A sample holds the values of one turn by metric key.
type sample map[string]float64

// String lists the values in the order of their keys.
func (s sample) String() string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(s)) {
		out = append(out, key+" "+number(s[key]))
	}
	return strings.Join(out, ", ")
}

// A subject is a broker as one row sees it.
type subject struct {
	bench  *bench
	kind   brokers.Kind
	broker *brokers.Broker // nil where the row owns none
	row    string
	topics []string // that were created for the row
}

// size chooses a work size.
func (s *subject) size(quick, full int) int {
	if s.bench.quick {
		return quick
	}
	return full
}

// connect opens a connection for the row's work: with TLS where the broker has it.
func (s *subject) connect() (*load.Conn, error) {
	if s.broker.TLSAddr != "" {
		return load.DialTLS(s.broker.TLSAddr)
	}
	return load.Dial(s.broker.Addr)
}

// name makes a topic or group name that no other row uses.
func (s *subject) name(suffix string) string { return "bench-" + s.row + "-" + suffix }

// removeTopics gives back the space that the row's records take; the floor has one file for all.
func (s *subject) removeTopics() error {
	if s.broker == nil || len(s.topics) == 0 && s.kind != brokers.Floor {
		return nil
	}
	c, err := load.Dial(s.broker.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if s.kind == brokers.Floor {
		_, err := c.Exchange(load.Frame(load.DeleteTopicsRequest(nil)))
		return err
	}
	return load.DeleteTopics(c, s.topics)
}

// topic creates a topic for the row; the floor has none and wants none.
func (s *subject) topic(suffix string, partitions int32, configs map[string]string) (load.Topic, error) {
	name := s.name(suffix)
	if s.kind == brokers.Floor {
		return load.Topic{Name: name, Partitions: partitions}, nil
	}
	c, err := load.Dial(s.broker.Addr)
	if err != nil {
		return load.Topic{}, err
	}
	defer c.Close()
	topics, err := load.CreateTopics(c, []string{name}, partitions, configs)
	if err != nil {
		return load.Topic{}, err
	}
	s.topics = append(s.topics, name)
	return topics[0], awaitLeaders(c, topics)
}

// rest is how long a broker gets to come to rest around a measurement, so that its CPU clock is exact and what thawing
// woke is done.
const rest = 100 * time.Millisecond

// cost runs the work and returns what it took of the broker's CPU and of time.
func (s *subject) cost(work func() error) (cpu, wall time.Duration, err error) {
	time.Sleep(rest)
	before, err := machine.CPUTime(s.broker.PID())
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := work(); err != nil {
		return 0, 0, err
	}
	wall = time.Since(start)
	time.Sleep(rest / 5)
	after, err := machine.CPUTime(s.broker.PID())
	if err != nil {
		return 0, 0, err
	}
	return after - before, wall, nil
}

// perGB scales a duration to seconds per 10^9 bytes.
func perGB(d time.Duration, bytes int) float64 { return d.Seconds() / float64(bytes) * 1e9 }

// perUnit scales a duration to microseconds per unit.
func perUnit(d time.Duration, units int) float64 { return d.Seconds() / float64(units) * 1e6 }

// awaitLeaders waits until every partition answers ListOffsets; Kafka elects after it has answered CreateTopics.
func awaitLeaders(c *load.Conn, topics []load.Topic) error {
	for _, topic := range topics {
		req := load.ListOffsetsRequest(topic, allPartitions(topic), -1)
		if err := untilServed(func() error { _, err := load.ListOffsets(c, req); return err }); err != nil {
			return fmt.Errorf("await leaders of %s: %w", topic.Name, err)
		}
	}
	return nil
}

// servedTimeout bounds the wait for a starting or creating broker to serve.
const servedTimeout = 5 * time.Minute

// untilServed repeats what a broker answers with a retriable error, after a pause that grows from 1 ms to 50 ms: precise
// for a broker that is soon ready, no burden for one that is not.
func untilServed(ask func() error) error {
	pause := time.Millisecond
	for deadline := time.Now().Add(servedTimeout); ; pause = min(pause*2, 50*time.Millisecond) {
		err := ask()
		if err == nil || !load.Retriable(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}

func allPartitions(topic load.Topic) []int32 {
	list := make([]int32, topic.Partitions)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}
