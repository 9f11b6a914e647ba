// Command kafka-go walks github.com/segmentio/kafka-go through the client matrix. Its producer is not idempotent, and its
// reader hands out an empty header as a null one.
package main

import (
	"context"
	"net"
	"time"

	"doze/conformance/clients/go/walk"

	"github.com/segmentio/kafka-go"
)

var codecs = map[string]kafka.Compression{
	"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
}

func main() { walk.Main(open) }

type client struct {
	seed string
	addr net.Addr
	api  *kafka.Client
}

func open(bootstrap string) (walk.Client, error) {
	addr := kafka.TCP(bootstrap)
	return &client{bootstrap, addr, &kafka.Client{Addr: addr}}, nil
}

func (*client) Traits() walk.Traits {
	return walk.Traits{Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"}, EmptyIsNull: true}
}

type producer struct{ writer *kafka.Writer }

// Producer's attempts outlast a restart of Kafka; the library's default is 10.
func (c *client) Producer(codec, topic string) (walk.Producer, error) {
	return &producer{&kafka.Writer{
		Addr: c.addr, Topic: topic, Compression: codecs[codec], RequiredAcks: kafka.RequireAll,
		BatchTimeout: 5 * time.Millisecond, MaxAttempts: 60,
	}}, nil
}

func (p *producer) Produce(ctx context.Context, records []walk.Record) error {
	var out []kafka.Message
	for _, r := range records {
		m := kafka.Message{Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, kafka.Header{Key: h.Key, Value: h.Value})
		}
		out = append(out, m)
	}
	return p.writer.WriteMessages(ctx, out...)
}

func (p *producer) Close() { _ = p.writer.Close() }

func (c *client) Close() {}
