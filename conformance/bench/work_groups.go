//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
)

// firstAssignment starts clients, each alone in a group of its own, and waits until they have their partitions.
type firstAssignment struct {
	s     *subject
	topic load.Topic
	group int
}

func newFirstAssignment(s *subject) workload { return &firstAssignment{s: s} }

func (w *firstAssignment) prepare(context.Context) (err error) {
	w.topic, err = w.s.topic("data", clientPartitions, nil)
	return err
}

func (w *firstAssignment) measure(ctx context.Context) (sample, error) {
	out := sample{}
	for kind, opts := range map[string][]kgo.Opt{"classic": nil, "consumer": {kgo.ServerSideBalancer()}} {
		var all []time.Duration
		for range w.s.size(3, 10) {
			took, err := w.join(ctx, opts...)
			if err != nil {
				return nil, fmt.Errorf("first assignment of a %s group: %w", kind, err)
			}
			all = append(all, took)
		}
		slices.Sort(all)
		out[kind], out[kind+"-median"] = milliseconds(all[len(all)-1]), milliseconds(all[len(all)/2])
	}
	return out, nil
}

// join is what a program waits for: from the making of the client until it is told of its partitions.
func (w *firstAssignment) join(ctx context.Context, opts ...kgo.Opt) (time.Duration, error) {
	w.group++
	assigned := make(chan time.Time, 1)
	opts = append(opts, kgo.SeedBrokers(w.s.broker.Addr), kgo.ConsumerGroup(w.s.name(fmt.Sprint(w.group))), kgo.ConsumeTopics(w.topic.Name),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
			if len(parts[w.topic.Name]) == clientPartitions {
				select {
				case assigned <- time.Now():
				default:
				}
			}
		}))
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	began := time.Now()
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return 0, fmt.Errorf("make client: %w", err)
	}
	defer client.Close()
	select {
	case at := <-assigned:
		return at.Sub(began), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (w *firstAssignment) close() {}

// manyGroups has groups of one member join at the same moment, with the wait before a first rebalance that a broker has by itself.
type manyGroups struct {
	s     *subject
	turn  int
	conns []*load.Conn
}

func newManyGroups(s *subject) workload { return &manyGroups{s: s} }

func (w *manyGroups) prepare(context.Context) error {
	for range w.s.size(200, 2000) {
		c, err := load.Dial(w.s.broker.Addr)
		if err != nil {
			return err
		}
		w.conns = append(w.conns, c)
	}
	return load.FindCoordinator(w.conns[0], w.s.name("0"))
}

// kafkaWait is what Kafka waits before the first rebalance of a group by itself.
const kafkaWait = 3 * time.Second

func (w *manyGroups) measure(context.Context) (sample, error) {
	w.turn++
	members := make([]load.Member, len(w.conns))
	cpu, wall, err := w.s.cost(func() error {
		return atOnce(len(w.conns), func(i int) error {
			return untilServed(func() (err error) {
				members[i], err = load.JoinAlone(w.conns[i], w.s.name(fmt.Sprintf("%d-%d", w.turn, i)))
				return err
			})
		})
	})
	if err != nil {
		return nil, err
	}
	for i, m := range members {
		if err := load.Leave(w.conns[i], m); err != nil {
			return nil, err
		}
	}
	out := sample{"wall": milliseconds(wall), "own": milliseconds(wall), "cpu": perUnit(cpu, len(w.conns))}
	if w.s.kind == brokers.Kafka {
		out["own"] -= milliseconds(kafkaWait)
	}
	return out, nil
}

func (w *manyGroups) close() {
	for _, c := range w.conns {
		c.Close()
	}
}

// atOnce runs n pieces of work, each in a goroutine of its own.
func atOnce(n int, work func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = work(i) })
	}
	all.Wait()
	failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d failed, one with: %w", len(failed), n, failed[0])
	}
	return nil
}

// thousandClassic has the leader of one classic group join again, and all others when they have heard of it: they ask every 20 ms.
type thousandClassic struct {
	s       *subject
	members []*load.ClassicMember
}

func newThousandClassic(s *subject) workload { return &thousandClassic{s: s} }

func (w *thousandClassic) prepare(context.Context) error {
	for range w.s.size(100, 1000) {
		m, err := load.NewClassicMember(w.s.broker.Addr, w.s.name("group"))
		if err != nil {
			return err
		}
		w.members = append(w.members, m)
	}
	conn, err := w.s.coordinator(w.s.name("group"))
	if err != nil {
		return err
	}
	conn.Close()
	return w.rebalance()
}

func (w *thousandClassic) rebalance() error {
	return atOnce(len(w.members), func(i int) error { return untilServed(w.members[i].Rebalance) })
}

func (w *thousandClassic) measure(context.Context) (sample, error) {
	cpu, wall, err := w.s.cost(w.rebalance)
	if err != nil {
		return nil, err
	}
	for _, m := range w.members {
		if m.Generation != w.members[0].Generation {
			return nil, fmt.Errorf("members of generations %d and %d", w.members[0].Generation, m.Generation)
		}
	}
	return sample{"wall": milliseconds(wall), "cpu": milliseconds(cpu)}, nil
}

func (w *thousandClassic) close() {
	for _, m := range w.members {
		m.Close()
	}
}

// thousandConsumer has one more member join a consumer group; all heartbeat at the interval that the broker tells them.
type thousandConsumer struct {
	s       *subject
	topic   load.Topic
	members []*load.ConsumerMember
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	epochs  []atomic.Int32
	has     []atomic.Int32
	failed  chan error
}

func newThousandConsumer(s *subject) workload {
	return &thousandConsumer{s: s, failed: make(chan error, 1)}
}

func (w *thousandConsumer) prepare(ctx context.Context) (err error) {
	n := w.s.size(100, 1000)
	if w.topic, err = w.s.topic("data", int32(2*n), nil); err != nil {
		return err
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	w.epochs, w.has = make([]atomic.Int32, n+100), make([]atomic.Int32, n+100)
	conn, err := w.s.coordinator(w.s.name("group"))
	if err != nil {
		return err
	}
	conn.Close()
	for range n {
		if err := w.join(); err != nil {
			return err
		}
	}
	return w.settled(3 * time.Minute)
}

func (w *thousandConsumer) join() error {
	i := len(w.members)
	m, err := load.NewConsumerMember(w.s.broker.Addr, w.s.name("group"), fmt.Sprintf("member-%04d", i), w.topic.Name)
	if err != nil {
		return err
	}
	w.members = append(w.members, m)
	w.running.Go(func() { w.run(i, m) })
	return nil
}

func (w *thousandConsumer) run(i int, m *load.ConsumerMember) {
	for w.ctx.Err() == nil {
		wait, err := m.Beat()
		if err != nil {
			select {
			case w.failed <- err:
			default:
			}
			return
		}
		w.has[i].Store(int32(m.Has))
		w.epochs[i].Store(m.Epoch)
		_ = sleep(w.ctx, wait)
	}
}

// settled waits until all members are at one epoch and have all partitions between them.
func (w *thousandConsumer) settled(limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; {
		select {
		case err := <-w.failed:
			return err
		case <-time.After(5 * time.Millisecond):
		}
		partitions, same := int32(0), true
		for i := range w.members {
			partitions += w.has[i].Load()
			same = same && w.has[i].Load() > 0 && w.epochs[i].Load() == w.epochs[0].Load()
		}
		if same && partitions == w.topic.Partitions {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d members have %d of %d partitions", len(w.members), partitions, w.topic.Partitions)
		}
	}
}

func (w *thousandConsumer) measure(context.Context) (sample, error) {
	cpu, wall, err := w.s.cost(func() error {
		if err := w.join(); err != nil {
			return err
		}
		return w.settled(3 * time.Minute)
	})
	if err != nil {
		return nil, err
	}
	return sample{"wall": milliseconds(wall), "cpu": milliseconds(cpu)}, nil
}

func (w *thousandConsumer) close() {
	if w.stop == nil {
		return
	}
	w.stop()
	w.running.Wait()
	for _, m := range w.members {
		m.Close()
	}
}
