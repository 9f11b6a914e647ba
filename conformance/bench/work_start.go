//go:build linux

package main

import (
	"context"
	"time"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/machine"
)

// coldStart starts a broker on an empty directory, again and again. What Kafka wants done before (formatting its
// directory) is not counted.
type coldStart struct{ s *subject }

func newColdStart(s *subject) workload { return &coldStart{s} }

func (w *coldStart) prepare(context.Context) error { return nil }

func (w *coldStart) measure(ctx context.Context) (sample, error) {
	broker, err := w.s.bench.startBroker(ctx, w.s.kind, brokers.Setup{})
	if err != nil {
		return nil, err
	}
	cpu, err := machine.CPUTime(broker.PID())
	if err != nil {
		return nil, err
	}
	return sample{"wall": milliseconds(broker.Took), "cpu": milliseconds(cpu)}, w.s.bench.removeBroker(broker)
}

func (w *coldStart) close() {}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// startOwn starts a broker that the workload keeps; it is the row's from then on.
func (s *subject) startOwn(ctx context.Context) (err error) {
	s.broker, err = s.bench.startBroker(ctx, s.kind, brokers.Setup{})
	return err
}

// dropOwn ends it.
func (s *subject) dropOwn() {
	if s.broker == nil {
		return
	}
	if err := s.bench.removeBroker(s.broker); err != nil {
		s.bench.say("%s: %s: %v", s.row, s.kind, err)
	}
	s.broker = nil
}

// timeRestart starts the broker again and returns the time until served returned, with the CPU it took.
func timeRestart(ctx context.Context, b *brokers.Broker, served func() error) (wall, cpu time.Duration, err error) {
	start := time.Now()
	if err := b.Restart(ctx); err != nil {
		return 0, 0, err
	}
	if err := served(); err != nil {
		return 0, 0, err
	}
	wall = time.Since(start)
	cpu, err = machine.CPUTime(b.PID())
	return wall, cpu, err
}
