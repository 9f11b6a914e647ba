//go:build linux

package main

import (
	"context"
	"time"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
	"doze/conformance/bench/machine"
)

// produce sends one ready-made batch to one partition, one request in hand at a time.
type produce struct {
	s        *subject
	batch    []byte
	requests int
	conn     *load.Conn
	req      func() error
}

// Batches of 1,000-byte values: the largest that a default broker takes is 1,048,588 bytes.
const (
	recordsOf1M  = 1000
	recordsOf16K = 16
	valueSize    = 1000
)

func newProduce1M(s *subject) workload {
	return &produce{s: s, batch: load.Batch(recordsOf1M, valueSize, time.Now().UnixMilli()), requests: s.size(200, 1000)}
}

func newProduce16K(s *subject) workload {
	return &produce{s: s, batch: load.Batch(recordsOf16K, valueSize, time.Now().UnixMilli()), requests: s.size(5000, 20000)}
}

func newProduceOne(s *subject) workload {
	return &produce{s: s, batch: load.Batch(1, 100, time.Now().UnixMilli()), requests: s.size(5000, 30000)}
}

func (w *produce) prepare(context.Context) error {
	topic, err := w.s.topic("data", 1, nil)
	if err != nil {
		return err
	}
	if w.conn, err = w.s.connect(); err != nil {
		return err
	}
	w.req = w.s.producer(w.conn, topic, w.batch)
	return nil
}

// producer returns a function that sends the batch to partition 0 and checks the answer.
func (s *subject) producer(c *load.Conn, topic load.Topic, batch []byte) func() error {
	req := load.ProduceRequest(topic, []int32{0}, batch, 1)
	frame := load.Frame(req)
	return func() error {
		answer, err := c.Exchange(frame)
		if err != nil || s.kind == brokers.Floor {
			return err
		}
		return load.CheckProduce(req, answer)
	}
}

func (w *produce) measure(ctx context.Context) (sample, error) {
	cpu, wall, err := w.s.cost(func() error { return repeat(ctx, w.requests, w.req) })
	if err != nil {
		return nil, err
	}
	m, err := machine.MemoryOf(w.s.broker.PID())
	if err != nil {
		return nil, err
	}
	bytes := w.requests * len(w.batch)
	values := sample{"rate": float64(bytes) / 1e6 / wall.Seconds(), "rss": mebibytes(m.RSS), "wall": perUnit(wall, w.requests)}
	if len(w.batch) < 1000 {
		values["cpu"] = perUnit(cpu, w.requests)
	} else {
		values["cpu"] = perGB(cpu, bytes)
	}
	return values, nil
}

func (w *produce) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}

// repeat calls do n times, and stops early at an error or a cancelled context.
func repeat(ctx context.Context, n int, do func() error) error {
	for range n {
		if err := do(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
