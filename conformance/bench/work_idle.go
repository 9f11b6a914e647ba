//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"doze/conformance/bench/load"
	"doze/conformance/bench/machine"
)

// idle looks at a broker that nobody asks anything.
type idle struct{ s *subject }

func newIdle(s *subject) workload { return &idle{s} }

// prepare waits until what a start leaves to do is done.
func (w *idle) prepare(ctx context.Context) error { return sleep(ctx, w.seconds(2, 10)) }

func (w *idle) seconds(quick, full int) time.Duration {
	return time.Duration(w.s.size(quick, full)) * time.Second
}

func (w *idle) measure(ctx context.Context) (sample, error) {
	span := w.seconds(2, 10)
	cpu, wall, err := w.s.cost(func() error { return sleep(ctx, span) })
	if err != nil {
		return nil, err
	}
	m, err := machine.MemoryOf(w.s.broker.PID())
	if err != nil {
		return nil, err
	}
	return sample{"rss": mebibytes(m.RSS), "pss": mebibytes(m.PSS), "cpu": milliseconds(cpu) / wall.Seconds()}, nil
}

func (w *idle) close() {}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// sleep is for a broker to rest, the thing that is measured here; it is never a wait for something to happen.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// connections opens many connections to a fresh broker, each of which sends ApiVersions as every client does, and leaves
// them open.
type connections struct {
	s     *subject
	conns []*load.Conn
}

func newConnections(s *subject) workload { return &connections{s: s} }

func (w *connections) prepare(context.Context) error { return nil }

func (w *connections) measure(ctx context.Context) (sample, error) {
	if err := w.s.startOwn(ctx); err != nil {
		return nil, err
	}
	defer w.close()
	if err := sleep(ctx, time.Second); err != nil {
		return nil, err
	}
	before, err := machine.MemoryOf(w.s.broker.PID())
	if err != nil {
		return nil, err
	}
	n := w.s.size(1000, 5000)
	cpu, _, err := w.s.cost(func() error { return w.open(n) })
	if err != nil {
		return nil, err
	}
	after, err := machine.MemoryOf(w.s.broker.PID())
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perUnit(cpu, n), "memory": float64(after.RSS-before.RSS) / 1024 / float64(n)}, nil
}

func (w *connections) open(n int) error {
	frame := load.Frame(load.ApiVersionsRequest())
	for i := range n {
		c, err := load.Dial(w.s.broker.Addr)
		if err != nil {
			return fmt.Errorf("open connection %d: %w", i+1, err)
		}
		w.conns = append(w.conns, c)
		if _, err := c.Exchange(frame); err != nil {
			return fmt.Errorf("ask on connection %d: %w", i+1, err)
		}
	}
	return nil
}

func (w *connections) close() {
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
	w.s.dropOwn()
}
