//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientProduce produces JSON records of about 1,000 bytes through franz-go's client.
type clientProduce struct {
	s      *subject
	opts   []kgo.Opt
	values [][]byte
	bytes  int // of one turn
	client *kgo.Client
}

// clientPartitions is how many partitions the client's topic has.
const clientPartitions = 4

func newProduceLZ4(s *subject) workload  { return newClientProduce(s, kgo.Lz4Compression()) }
func newProduceZstd(s *subject) workload { return newClientProduce(s, kgo.ZstdCompression()) }

func newClientProduce(s *subject, codec kgo.CompressionCodec) workload {
	return &clientProduce{s: s, bytes: s.size(100e6, 500e6), opts: []kgo.Opt{
		kgo.ProducerBatchCompression(codec), kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()}}
}

func (w *clientProduce) prepare(context.Context) (err error) {
	w.values = jsonValues(1000)
	w.client, err = w.s.client("data", nil, w.opts...)
	return err
}

// client creates a topic and returns a client that produces to it.
func (s *subject) client(topic string, configs map[string]string, opts ...kgo.Opt) (*kgo.Client, error) {
	t, err := s.topic(topic, clientPartitions, configs)
	if err != nil {
		return nil, err
	}
	opts = append([]kgo.Opt{kgo.SeedBrokers(s.broker.Addr), kgo.DefaultProduceTopic(t.Name), kgo.MaxBufferedRecords(20000)}, opts...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return client, nil
}

func (w *clientProduce) measure(ctx context.Context) (sample, error) {
	cpu, wall, err := w.s.cost(func() error { return produceValues(ctx, w.client, w.values, w.bytes) })
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perGB(cpu, w.bytes), "rate": float64(w.bytes) / 1e6 / wall.Seconds()}, nil
}

func (w *clientProduce) close() {
	if w.client != nil {
		w.client.Close()
	}
}

// produceValues produces records until their values make up that many bytes, and waits for all answers.
func produceValues(ctx context.Context, client *kgo.Client, values [][]byte, bytes int) error {
	failed := make(chan error, 1)
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			select {
			case failed <- err:
			default:
			}
		}
	}
	for i := 0; bytes > 0; i++ {
		value := values[i%len(values)]
		client.Produce(ctx, &kgo.Record{Value: value}, promise)
		bytes -= len(value)
	}
	if err := client.Flush(ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	select {
	case err := <-failed:
		return fmt.Errorf("produce: %w", err)
	default:
		return nil
	}
}

// jsonValues makes n JSON documents of about 1,000 bytes, as compressible as what people send: names repeat, values vary.
func jsonValues(n int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"order", "customer", "payment", "shipped", "pending", "warehouse", "berlin", "oslo", "lyon", "porto", "standard", "express"}
	values := make([][]byte, n)
	for i := range values {
		doc := map[string]any{"id": random.Uint64(), "customer": fmt.Sprintf("c-%08d", random.IntN(1e8)), "amount": random.IntN(1e6)}
		for j := range 14 {
			doc[fmt.Sprintf("attribute_%d", j)] = words[random.IntN(len(words))] + " " + words[random.IntN(len(words))]
			doc[fmt.Sprintf("measure_%d", j)] = random.IntN(1e9)
		}
		values[i], _ = json.Marshal(doc)
	}
	return values
}

// producedSynced measures throughput at acks=all, plain and on a topic where a broker that does not sync by itself is
// told to sync every batch.
type produceSynced struct {
	s             *subject
	values        [][]byte
	plain, synced *kgo.Client
}

func newProduceSynced(s *subject) workload { return &produceSynced{s: s} }

func (w *produceSynced) prepare(context.Context) (err error) {
	w.values = jsonValues(1000)
	if w.plain, err = w.s.client("plain", nil, kgo.ProducerBatchCompression(kgo.NoCompression())); err != nil {
		return err
	}
	w.synced, err = w.s.client("synced", map[string]string{"flush.messages": "1"}, kgo.ProducerBatchCompression(kgo.NoCompression()))
	return err
}

func (w *produceSynced) measure(ctx context.Context) (sample, error) {
	values := sample{}
	for key, client := range map[string]*kgo.Client{"rate": w.plain, "synced": w.synced} {
		bytes := w.s.size(100e6, 500e6)
		_, wall, err := w.s.cost(func() error { return produceValues(ctx, client, w.values, bytes) })
		if err != nil {
			return nil, err
		}
		values[key] = float64(bytes) / 1e6 / wall.Seconds()
	}
	return values, nil
}

func (w *produceSynced) close() {
	for _, client := range []*kgo.Client{w.plain, w.synced} {
		if client != nil {
			client.Close()
		}
	}
}
