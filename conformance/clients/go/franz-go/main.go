// Command franz-go walks github.com/twmb/franz-go (kgo and kadm) through the client matrix.
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"doze/conformance/clients/go/walk"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func main() { walk.Main(open) }

type client struct {
	seed  string
	kgo   *kgo.Client
	admin *kadm.Client
}

func open(bootstrap string) (walk.Client, error) {
	c, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return nil, err
	}
	return &client{seed: bootstrap, kgo: c, admin: kadm.NewClient(c)}, nil
}

func (*client) Traits() walk.Traits {
	return walk.Traits{Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Idempotent: true}
}

func (c *client) CreateTopic(ctx context.Context, topic string, partitions int) error {
	r, err := c.admin.CreateTopic(ctx, int32(partitions), 1, nil, topic)
	if err != nil {
		return err
	}
	return r.Err
}

type producer struct{ kgo *kgo.Client }

func (c *client) Producer(codec, topic string) (walk.Producer, error) {
	k, err := kgo.NewClient(kgo.SeedBrokers(c.seed), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codecs[codec]),
		kgo.ProducerLinger(5*time.Millisecond))
	return &producer{k}, err
}

func (p *producer) Produce(ctx context.Context, records []walk.Record) error {
	var out []*kgo.Record
	for _, r := range records {
		k := &kgo.Record{Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			k.Headers = append(k.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
		out = append(out, k)
	}
	return p.kgo.ProduceSync(ctx, out...).FirstErr()
}

func (p *producer) Close() { p.kgo.Close() }

// newProtocol says whether members speak the consumer protocol (KIP-848).
func newProtocol() bool { return os.Getenv("GROUP_PROTOCOL") == "consumer" }

// member is a group member that polls in a goroutine of its own.
type member struct {
	kgo      *kgo.Client
	mu       sync.Mutex
	assigned map[int32]bool
	done     chan struct{}
}

func (c *client) Join(group, topic string, sink func(walk.Record)) (walk.Member, error) {
	m := &member{assigned: map[int32]bool{}, done: make(chan struct{})}
	change := func(have bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, parts map[string][]int32) { m.change(parts[topic], have) }
	}
	options := []kgo.Opt{kgo.SeedBrokers(c.seed), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(10 * time.Second), kgo.HeartbeatInterval(300 * time.Millisecond),
		kgo.OnPartitionsAssigned(change(true)), kgo.OnPartitionsRevoked(change(false)), kgo.OnPartitionsLost(change(false))}
	if newProtocol() {
		options = append(options, kgo.ServerSideBalancer())
	}
	k, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	m.kgo = k
	go m.poll(sink)
	return m, nil
}

func (m *member) change(parts []int32, have bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range parts {
		if have {
			m.assigned[p] = true
		} else {
			delete(m.assigned, p)
		}
	}
}

func (m *member) poll(sink func(walk.Record)) {
	defer close(m.done)
	for {
		fetches := m.kgo.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(k *kgo.Record) {
			r := walk.Record{Key: k.Key, Value: k.Value, Partition: k.Partition, Offset: k.Offset}
			for _, h := range k.Headers {
				r.Headers = append(r.Headers, walk.Header{Key: h.Key, Value: h.Value})
			}
			sink(r)
		})
	}
}

func (m *member) Assigned() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.assigned)
}

func (m *member) Commit(ctx context.Context) error { return m.kgo.CommitUncommittedOffsets(ctx) }

func (m *member) Close() {
	m.kgo.Close()
	<-m.done
}

func (c *client) Close() { c.kgo.Close() }
