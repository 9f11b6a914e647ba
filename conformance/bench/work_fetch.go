//go:build linux

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
)

// fetch reads a partition from its start to its end, by one consumer or by several at once.
type fetch struct {
	s         *subject
	batch     []byte
	batches   int
	consumers int
	topic     load.Topic
}

// fetchBytes is what a consumer asks a partition for by default.
const fetchBytes = 1 << 20

func newFetch1M(s *subject) workload {
	return &fetch{s: s, batch: load.Batch(recordsOf1M, valueSize, time.Now().UnixMilli()), batches: s.size(200, 1000), consumers: 1}
}

func newFetch16K(s *subject) workload {
	return &fetch{s: s, batch: load.Batch(recordsOf16K, valueSize, time.Now().UnixMilli()), batches: s.size(12000, 60000), consumers: 1}
}

func newFetchFanOut(s *subject) workload {
	return &fetch{s: s, batch: load.Batch(recordsOf1M, valueSize, time.Now().UnixMilli()), batches: s.size(50, 250), consumers: 8}
}

func (w *fetch) prepare(ctx context.Context) (err error) {
	w.topic, err = w.s.fill(ctx, w.batch, w.batches)
	return err
}

// fill makes a topic with one partition that holds the batch n times.
func (s *subject) fill(ctx context.Context, batch []byte, n int) (load.Topic, error) {
	topic, err := s.topic("data", 1, nil)
	if err != nil {
		return topic, err
	}
	c, err := load.Dial(s.broker.Addr)
	if err != nil {
		return topic, err
	}
	defer c.Close()
	return topic, repeat(ctx, n, s.producer(c, topic, batch))
}

func (w *fetch) measure(ctx context.Context) (sample, error) {
	total := w.batches * len(w.batch) * w.consumers
	cpu, wall, err := w.s.cost(func() error { return w.consumeAll(ctx) })
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perGB(cpu, total), "rate": float64(total) / 1e6 / wall.Seconds()}, nil
}

func (w *fetch) consumeAll(ctx context.Context) error {
	errs := make([]error, w.consumers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = w.consume(ctx) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// consume reads from the start until every byte that was produced has come.
func (w *fetch) consume(ctx context.Context) error {
	c, err := w.s.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	next := w.nextByOffset
	if w.s.kind == brokers.Floor {
		next = w.nextByPosition
	}
	position, left := int64(0), w.batches*len(w.batch)
	for left > 0 && ctx.Err() == nil {
		frame, err := c.Exchange(load.Frame(load.FetchRequest(w.topic, []int32{0}, position, fetchBytes)))
		if err != nil {
			return err
		}
		bytes := 0
		if position, bytes, err = next(position, frame); err != nil {
			return err
		}
		if bytes == 0 {
			return fmt.Errorf("fetch at %d: nothing, %d bytes left", position, left)
		}
		left -= bytes
	}
	return ctx.Err()
}

// nextByOffset reads what came and returns the offset after it.
func (w *fetch) nextByOffset(offset int64, frame []byte) (int64, int, error) {
	bytes := 0
	req := load.FetchRequest(w.topic, nil, offset, 0)
	err := load.FetchedSets(req, frame, func(_ int32, set []byte) error {
		for {
			s, ok := load.NextBatch(set)
			if !ok {
				return nil
			}
			offset, set, bytes = s.LastOffset+1, set[s.Bytes:], bytes+s.Bytes
		}
	})
	return offset, bytes, err
}

// nextByPosition is for the floor, whose offsets are positions in a file.
func (w *fetch) nextByPosition(position int64, frame []byte) (int64, int, error) {
	bytes := len(frame) - 4
	return position + int64(bytes), bytes, nil
}

func (w *fetch) close() {}
