//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"doze/conformance/bench/load"
)

// lookup asks for random places of a partition whose batches are 16 records, one millisecond apart.
type lookup struct {
	s       *subject
	ask     func() error
	batches int
	start   int64 // time of the first record
	topic   load.Topic
	conn    *load.Conn
	random  *rand.Rand
}

func newLookup(s *subject) *lookup {
	return &lookup{s: s, batches: s.size(4000, 16000), start: time.Now().Add(-time.Hour).UnixMilli(), random: rand.New(rand.NewPCG(3, 4))}
}

func newRandomFetch(s *subject) workload {
	w := newLookup(s)
	w.ask = w.fetchOne
	return w
}

func newListOffsetsByTime(s *subject) workload {
	w := newLookup(s)
	w.ask = w.listOne
	return w
}

func (w *lookup) prepare(ctx context.Context) (err error) {
	if w.topic, err = w.s.topic("data", 1, nil); err != nil {
		return err
	}
	if w.conn, err = load.Dial(w.s.broker.Addr); err != nil {
		return err
	}
	batch, i := load.Batch(recordsOf16K, valueSize, 0), 0
	return repeat(ctx, w.batches, func() error {
		load.SetTime(batch, w.start+int64(i*recordsOf16K))
		i++
		return w.s.producer(w.conn, w.topic, batch)()
	})
}

func (w *lookup) measure(ctx context.Context) (sample, error) {
	n := w.s.size(5000, 20000)
	cpu, wall, err := w.s.cost(func() error { return repeat(ctx, n, w.ask) })
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perUnit(cpu, n), "wall": perUnit(wall, n)}, nil
}

// fetchOne fetches the batch that holds a random offset: the bound of one byte gives the first batch whole, no more.
func (w *lookup) fetchOne() error {
	offset := w.random.Int64N(int64(w.batches * recordsOf16K))
	req := load.FetchRequest(w.topic, []int32{0}, offset, 1)
	frame, err := w.conn.Exchange(load.Frame(req))
	if err != nil {
		return err
	}
	return load.FetchedSets(req, frame, func(_ int32, set []byte) error {
		s, ok := load.NextBatch(set)
		if !ok || offset < s.FirstOffset || offset > s.LastOffset {
			return fmt.Errorf("fetch at %d: got %d to %d", offset, s.FirstOffset, s.LastOffset)
		}
		return nil
	})
}

// listOne asks for the offset of a random time; record i has the time start+i.
func (w *lookup) listOne() error {
	want := w.random.Int64N(int64(w.batches * recordsOf16K))
	got, err := load.ListOffsets(w.conn, load.ListOffsetsRequest(w.topic, []int32{0}, w.start+want))
	if err == nil && got != want {
		err = fmt.Errorf("list offsets at %d: offset %d, want %d", w.start+want, got, want)
	}
	return err
}

func (w *lookup) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}
