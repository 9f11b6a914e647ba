//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"doze/conformance/bench/load"
)

// restart holds topics in a broker that is stopped, killed and started again.
type restart struct {
	s       *subject
	topics  []load.Topic
	batch   []byte
	offsets bool // a million committed offsets too
	data    int  // batches in each partition
	fill    func(ctx context.Context) error
	served  func() error
}

const partitionsPerTopic = 100

func newRestart(s *subject) workload {
	w := &restart{s: s, batch: load.Batch(16, 1000, time.Now().Add(-time.Hour).UnixMilli()), data: s.size(2, 16)}
	w.fill, w.served = w.fillData, w.allFetched
	return w
}

func newRestartMany(s *subject) workload {
	w := &restart{s: s}
	w.fill, w.served = w.create(100), w.allListed
	return w
}

func newRestartOffsets(s *subject) workload {
	w := &restart{s: s, offsets: true}
	w.fill, w.served = w.fillOffsets, w.allListedAndCommitted
	return w
}

func (w *restart) prepare(ctx context.Context) error {
	if err := w.s.startOwn(ctx); err != nil {
		return err
	}
	return w.fill(ctx)
}

// create returns a step that creates that many topics of 100 partitions.
func (w *restart) create(topics int) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := load.Dial(w.s.broker.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		for i := range topics {
			t, err := load.CreateTopics(c, []string{w.s.name(fmt.Sprint(i))}, partitionsPerTopic, nil)
			if err != nil {
				return err
			}
			w.topics = append(w.topics, t...)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return awaitLeaders(c, w.topics)
	}
}

func (w *restart) fillData(ctx context.Context) error {
	if err := w.create(10)(ctx); err != nil {
		return err
	}
	return w.produce(w.data)
}

// produce appends n batches to every partition.
func (w *restart) produce(n int) error {
	c, err := load.Dial(w.s.broker.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, topic := range w.topics {
		req := load.ProduceRequest(topic, allPartitions(topic), w.batch, 1)
		frame := load.Frame(req)
		for range n {
			// A Kafka that has just started answers a Fetch before it leads the partition.
			err := untilServed(func() error {
				answer, err := c.Exchange(frame)
				if err != nil {
					return err
				}
				return load.CheckProduce(req, answer)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// The million: 100 groups that committed each of the 10,000 partitions.
const committedGroups = 100

func (w *restart) fillOffsets(ctx context.Context) error {
	if err := w.create(100)(ctx); err != nil {
		return err
	}
	c, err := load.Dial(w.s.broker.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for g := range committedGroups {
		req := load.OffsetCommitRequest(w.group(g), w.topics, int64(g))
		answer, err := c.Exchange(load.Frame(req))
		if err != nil {
			return err
		}
		if err := load.CheckOffsetCommit(req, answer); err != nil {
			return err
		}
	}
	return nil
}

func (w *restart) group(i int) string { return w.s.name(fmt.Sprintf("group-%d", i)) }

func (w *restart) measure(ctx context.Context) (sample, error) {
	if err := w.s.broker.Stop(); err != nil {
		return nil, err
	}
	clean, cpu, err := timeRestart(ctx, w.s.broker, w.served)
	if err != nil {
		return nil, fmt.Errorf("restart after a clean stop: %w", err)
	}
	values := sample{"clean": milliseconds(clean), "cpu": milliseconds(cpu)}
	// A broker that was only read from has nothing to recover: each partition gets one more batch first.
	if w.data > 0 {
		if err := w.produce(1); err != nil {
			return values, err
		}
	}
	w.s.broker.Kill()
	killed, _, err := timeRestart(ctx, w.s.broker, w.served)
	if err != nil {
		return values, fmt.Errorf("restart after kill -9: %w", err)
	}
	values["killed"] = milliseconds(killed)
	return values, nil
}

// allFetched returns when every partition has answered a Fetch with its first batch.
func (w *restart) allFetched() error {
	return w.eachTopic(func(c *load.Conn, topic load.Topic) error {
		req := load.FetchRequest(topic, allPartitions(topic), 0, int32(len(w.batch)))
		frame, err := c.Exchange(load.Frame(req))
		if err != nil {
			return err
		}
		answered := 0
		err = load.FetchedSets(req, frame, func(partition int32, set []byte) error {
			if _, ok := load.NextBatch(set); !ok {
				return fmt.Errorf("%s-%d: no batch in %d bytes", topic.Name, partition, len(set))
			}
			answered++
			return nil
		})
		if err == nil && answered != partitionsPerTopic {
			err = fmt.Errorf("%s: %d of %d partitions answered", topic.Name, answered, partitionsPerTopic)
		}
		return err
	})
}

// allListed returns when every partition has answered ListOffsets.
func (w *restart) allListed() error {
	return w.eachTopic(func(c *load.Conn, topic load.Topic) error {
		_, err := load.ListOffsets(c, load.ListOffsetsRequest(topic, allPartitions(topic), -1))
		return err
	})
}

// allListedAndCommitted also reads one offset of every group, which must be what was committed.
func (w *restart) allListedAndCommitted() error {
	if err := w.allListed(); err != nil {
		return err
	}
	c, err := load.Dial(w.s.broker.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for g := range committedGroups {
		at, err := load.CommittedOffset(c, w.group(g), w.topics[g], int32(g))
		if err != nil {
			return err
		}
		if at != int64(g) {
			return fmt.Errorf("group %s: committed %d, read %d", w.group(g), g, at)
		}
	}
	return nil
}

func (w *restart) eachTopic(ask func(c *load.Conn, topic load.Topic) error) error {
	c, err := load.Dial(w.s.broker.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, topic := range w.topics {
		if err := untilServed(func() error { return ask(c, topic) }); err != nil {
			return err
		}
	}
	return nil
}

func (w *restart) close() { w.s.dropOwn() }
