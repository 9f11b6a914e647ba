//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
	"doze/conformance/bench/machine"
)

// latency sends one record every millisecond on one connection and waits for each on another, by long polls. A
// record's time runs from before it is sent until the consumer has it. Against the floor it is the bare round trip.
type latency struct {
	s     *subject
	acks  int16
	topic load.Topic
	next  int64 // offset that the next turn begins at
}

func newLatency(s *subject) workload       { return &latency{s: s, acks: 1} }
func newLatencySynced(s *subject) workload { return &latency{s: s, acks: -1} }

func (w *latency) prepare(context.Context) (err error) {
	w.topic, err = w.s.topic("data", 1, nil)
	return err
}

func (w *latency) close() {}

func (w *latency) measure(ctx context.Context) (sample, error) {
	n := w.s.size(2000, 10000)
	sent, got := make([]time.Time, n), make([]time.Time, n)
	cpu, _, err := w.s.cost(func() error { return w.run(ctx, sent, got) })
	if err != nil {
		return nil, err
	}
	w.next += int64(n)
	took := make([]float64, n)
	for i := range took {
		took[i] = milliseconds(got[i].Sub(sent[i]))
	}
	return sample{"p50": machine.Median(took), "p99": machine.Quantile(took, 0.99), "cpu": perUnit(cpu, n)}, nil
}

// run sends and receives at once; sent and got are filled by one side each.
func (w *latency) run(ctx context.Context, sent, got []time.Time) error {
	producer, err := load.Dial(w.s.broker.Addr)
	if err != nil {
		return err
	}
	defer producer.Close()
	req := load.ProduceRequest(w.topic, []int32{0}, load.Batch(1, 100, time.Now().UnixMilli()), w.acks)
	results := make(chan error, 3)
	expected := 2
	if w.s.kind == brokers.Floor {
		go func() { results <- readAnswers(producer, len(sent), func([]byte) error { return nil }, got) }()
	} else {
		consumer, err := load.Dial(w.s.broker.Addr)
		if err != nil {
			return err
		}
		defer consumer.Close()
		expected++
		check := func(frame []byte) error { return load.CheckProduce(req, frame) }
		go func() { results <- readAnswers(producer, len(sent), check, nil) }()
		go func() { results <- w.consume(ctx, consumer, got) }()
	}
	go func() { results <- sendEveryMillisecond(ctx, producer, load.Frame(req), sent) }()
	for range expected {
		if err := <-results; err != nil {
			return err
		}
	}
	return nil
}

// sendEveryMillisecond keeps to a timetable: a late send is followed at once by the next one that is due. It sleeps on a
// thread of its own, because a Go timer is only good to a millisecond.
func sendEveryMillisecond(ctx context.Context, c *load.Conn, frame []byte, sent []time.Time) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	for i := range sent {
		if wait := time.Until(start.Add(time.Duration(i) * time.Millisecond)); wait > 0 {
			pause := syscall.NsecToTimespec(int64(wait))
			syscall.Nanosleep(&pause, nil)
		}
		sent[i] = time.Now()
		if err := c.Send(frame); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// readAnswers reads n answers to what is produced and notes when each came, if got is given.
func readAnswers(c *load.Conn, n int, check func(frame []byte) error, got []time.Time) error {
	for i := range n {
		frame, err := c.Receive()
		if err != nil {
			return err
		}
		if got != nil {
			got[i] = time.Now()
		}
		if err := check(frame); err != nil {
			return err
		}
	}
	return nil
}

func (w *latency) consume(ctx context.Context, c *load.Conn, got []time.Time) error {
	for have := 0; have < len(got); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		req := load.FetchRequest(w.topic, []int32{0}, w.next+int64(have), fetchBytes)
		frame, err := c.Exchange(load.Frame(req))
		if err != nil {
			return err
		}
		now := time.Now()
		err = load.FetchedSets(req, frame, func(_ int32, set []byte) error {
			for s, ok := load.NextBatch(set); ok; s, ok = load.NextBatch(set) {
				if s.FirstOffset != w.next+int64(have) || have >= len(got) {
					return fmt.Errorf("fetched offset %d, want %d", s.FirstOffset, w.next+int64(have))
				}
				got[have] = now
				have++
				set = set[s.Bytes:]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
