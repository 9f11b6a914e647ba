package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func (a attempt) franz() sasl.Mechanism {
	switch a.mechanism {
	case "SCRAM-SHA-256":
		return scram.Auth{User: a.user, Pass: a.password}.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return scram.Auth{User: a.user, Pass: a.password}.AsSha512Mechanism()
	}
	return plain.Auth{User: a.user, Pass: a.password}.AsMechanism()
}

func tryFranz(ctx context.Context, a attempt) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(a.bootstrap), kgo.DialTLSConfig(a.tls), kgo.SASL(a.franz()), kgo.RetryTimeout(time.Second),
		kgo.ConsumeTopics(a.topic), kgo.ConsumerGroup(a.topic+"-franz-go"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		return err
	}
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: a.topic, Value: []byte(a.id)}).FirstErr(); err != nil {
		return err
	}
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, r := range fetches.Records() {
			if string(r.Value) == a.id {
				return nil
			}
		}
	}
}
