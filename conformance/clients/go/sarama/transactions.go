package main

import (
	"context"

	"doze/conformance/clients/go/walk"

	"github.com/IBM/sarama"
)

type transactor struct {
	sarama sarama.SyncProducer
	topic  string
}

func (c *client) Transactor(id, topic string) (walk.Transactor, error) {
	conf := config()
	conf.Producer.Transaction.ID = id
	conf.Producer.Idempotent, conf.Producer.RequiredAcks, conf.Net.MaxOpenRequests = true, sarama.WaitForAll, 1
	conf.Producer.Return.Successes = true
	p, err := sarama.NewSyncProducer(c.seeds, conf)
	if err != nil {
		return nil, err
	}
	return &transactor{p, topic}, nil
}

func (t *transactor) Begin() error { return t.sarama.BeginTxn() }

func (t *transactor) Send(_ context.Context, values ...string) error {
	var out []*sarama.ProducerMessage
	for _, v := range values {
		out = append(out, &sarama.ProducerMessage{Topic: t.topic, Value: sarama.StringEncoder(v)})
	}
	return t.sarama.SendMessages(out)
}

func (t *transactor) End(_ context.Context, commit bool) error {
	if commit {
		return t.sarama.CommitTxn()
	}
	return t.sarama.AbortTxn()
}

func (t *transactor) Close() { _ = t.sarama.Close() }

func (c *client) Values(ctx context.Context, topic string, committed bool, atLeast int) ([]string, error) {
	conf := config()
	if committed {
		conf.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	consumer, err := sarama.NewConsumer(c.seeds, conf)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	part, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	var values []string
	for len(values) < atLeast {
		select {
		case m := <-part.Messages():
			values = append(values, string(m.Value))
		case <-ctx.Done():
			return values, ctx.Err()
		}
	}
	return values, nil
}
