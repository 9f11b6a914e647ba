// Command sarama walks github.com/IBM/sarama through the client matrix.
package main

import (
	"context"
	"time"

	"doze/conformance/clients/go/walk"

	"github.com/IBM/sarama"
)

var codecs = map[string]sarama.CompressionCodec{
	"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

func main() { walk.Main(open) }

type client struct {
	seeds  []string
	sarama sarama.Client
	admin  sarama.ClusterAdmin
}

func open(bootstrap string) (walk.Client, error) {
	c := &client{seeds: []string{bootstrap}}
	var err error
	if c.sarama, err = sarama.NewClient(c.seeds, config()); err != nil {
		return nil, err
	}
	c.admin, err = sarama.NewClusterAdminFromClient(c.sarama)
	return c, err
}

// config is what every part of the walk has in common. The retries outlast a restart of Kafka; sarama's default is 300 ms of them.
func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	c.Metadata.Retry.Max, c.Producer.Retry.Max = 100, 100
	return c
}

func (*client) Traits() walk.Traits {
	return walk.Traits{Codecs: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Idempotent: true}
}

type producer struct {
	sarama sarama.SyncProducer
	topic  string
}

func (c *client) Producer(codec, topic string) (walk.Producer, error) {
	conf := config()
	conf.Producer.Compression = codecs[codec]
	conf.Producer.Return.Successes = true
	conf.Producer.RequiredAcks = sarama.WaitForAll
	conf.Producer.Idempotent = true
	conf.Net.MaxOpenRequests = 1
	conf.Producer.Flush.Frequency = 5 * time.Millisecond
	p, err := sarama.NewSyncProducer(c.seeds, conf)
	return &producer{p, topic}, err
}

func (p *producer) Produce(_ context.Context, records []walk.Record) error {
	var out []*sarama.ProducerMessage
	for _, r := range records {
		m := &sarama.ProducerMessage{Topic: p.topic, Key: encoder(r.Key), Value: encoder(r.Value)}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(h.Key), Value: h.Value})
		}
		out = append(out, m)
	}
	return p.sarama.SendMessages(out)
}

// encoder gives sarama's null, a nil interface, for nil.
func encoder(b []byte) sarama.Encoder {
	if b == nil {
		return nil
	}
	return sarama.ByteEncoder(b)
}

func (p *producer) Close() { _ = p.sarama.Close() }

func (c *client) Close() { _ = c.admin.Close() }
