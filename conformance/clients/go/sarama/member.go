package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"doze/conformance/clients/go/walk"

	"github.com/IBM/sarama"
)

// member is a sarama.ConsumerGroupHandler: session is its current one, nil between two.
type member struct {
	group   sarama.ConsumerGroup
	topic   string
	sink    func(walk.Record)
	mu      sync.Mutex
	session sarama.ConsumerGroupSession
	end     context.CancelFunc
	done    chan struct{}
}

func (c *client) Join(group, topic string, sink func(walk.Record)) (walk.Member, error) {
	conf := config()
	conf.Consumer.Offsets.Initial = sarama.OffsetOldest
	conf.Consumer.Offsets.AutoCommit.Enable = false
	conf.Consumer.Group.Session.Timeout = 10 * time.Second
	conf.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	g, err := sarama.NewConsumerGroup(c.seeds, group, conf)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	m := &member{group: g, topic: topic, sink: sink, end: end, done: make(chan struct{})}
	go m.consume(ctx)
	return m, nil
}

// consume joins again after every rebalance and every loss of the broker.
func (m *member) consume(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		err := m.group.Consume(ctx, []string{m.topic}, m)
		if errors.Is(err, sarama.ErrClosedConsumerGroup) {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "consume:", err)
		}
	}
}

func (m *member) Setup(s sarama.ConsumerGroupSession) error { m.set(s); return nil }
func (m *member) Cleanup(sarama.ConsumerGroupSession) error { m.set(nil); return nil }

func (m *member) set(s sarama.ConsumerGroupSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session = s
}

func (m *member) current() sarama.ConsumerGroupSession {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session
}

func (m *member) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for k := range claim.Messages() {
		r := walk.Record{Key: k.Key, Value: k.Value, Partition: k.Partition, Offset: k.Offset}
		for _, h := range k.Headers {
			r.Headers = append(r.Headers, walk.Header{Key: string(h.Key), Value: h.Value})
		}
		m.sink(r)
		s.MarkMessage(k, "")
	}
	return nil
}

func (m *member) Assigned() int {
	if s := m.current(); s != nil {
		return len(s.Claims()[m.topic])
	}
	return 0
}

// Commit commits what is marked. What is not committed for an error of the broker, sarama says on a channel of errors only; the
// walk asks for the group's offsets afterwards.
func (m *member) Commit(context.Context) error {
	if s := m.current(); s != nil {
		s.Commit()
		return nil
	}
	return errors.New("between two generations")
}

func (m *member) Close() {
	m.end()
	<-m.done
	_ = m.group.Close()
}
