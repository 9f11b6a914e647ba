package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"doze/conformance/clients/go/walk"

	"github.com/segmentio/kafka-go"
)

// member uses kafka.ConsumerGroup, which kafka.Reader with a group stands on: it tells what is assigned.
type member struct {
	seed, topic string
	sink        func(walk.Record)
	group       *kafka.ConsumerGroup
	end         context.CancelFunc
	done        chan struct{}

	mu         sync.Mutex
	generation *kafka.Generation // nil between two
	next       map[int]int64     // one past what the sink was given in this generation
}

func (c *client) Join(group, topic string, sink func(walk.Record)) (walk.Member, error) {
	g, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: group, Brokers: []string{c.seed}, Topics: []string{topic}, StartOffset: kafka.FirstOffset,
		HeartbeatInterval: 300 * time.Millisecond, SessionTimeout: 10 * time.Second, JoinGroupBackoff: 300 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	m := &member{seed: c.seed, topic: topic, sink: sink, group: g, end: end, done: make(chan struct{})}
	go m.run(ctx)
	return m, nil
}

func (m *member) run(ctx context.Context) {
	defer close(m.done)
	for {
		g, err := m.group.Next(ctx)
		if ctx.Err() != nil || errors.Is(err, kafka.ErrGroupClosed) {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "next generation:", err)
			continue
		}
		m.begin(g)
	}
}

func (m *member) begin(g *kafka.Generation) {
	m.mu.Lock()
	m.generation, m.next = g, map[int]int64{}
	m.mu.Unlock()
	g.Start(func(ctx context.Context) {
		<-ctx.Done()
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.generation == g {
			m.generation = nil
		}
	})
	for _, p := range g.Assignments[m.topic] {
		g.Start(func(ctx context.Context) { m.read(ctx, g, p) })
	}
}

// read hands a partition's records to the sink until the generation ends.
func (m *member) read(ctx context.Context, g *kafka.Generation, p kafka.PartitionAssignment) {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{m.seed}, Topic: m.topic, Partition: p.ID, MaxWait: 500 * time.Millisecond})
	defer r.Close()
	if err := r.SetOffset(p.Offset); err != nil {
		fmt.Fprintln(os.Stderr, "set offset:", err)
	}
	for {
		k, err := r.ReadMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "read partition %d: %v\n", p.ID, err)
			continue
		}
		m.arrive(g, k)
	}
}

func (m *member) arrive(g *kafka.Generation, k kafka.Message) {
	r := walk.Record{Key: k.Key, Value: k.Value, Partition: int32(k.Partition), Offset: k.Offset}
	for _, h := range k.Headers {
		r.Headers = append(r.Headers, walk.Header{Key: h.Key, Value: h.Value})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.generation == g {
		m.sink(r)
		m.next[k.Partition] = k.Offset + 1
	}
}

func (m *member) Assigned() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.generation == nil {
		return 0
	}
	return len(m.generation.Assignments[m.topic])
}

func (m *member) Commit(context.Context) error {
	m.mu.Lock()
	g, next := m.generation, maps.Clone(m.next)
	m.mu.Unlock()
	if g == nil {
		return errors.New("between two generations")
	}
	if len(next) == 0 {
		return nil
	}
	return g.CommitOffsets(map[string]map[int]int64{m.topic: next})
}

func (m *member) Close() {
	_ = m.group.Close()
	m.end()
	<-m.done
}
