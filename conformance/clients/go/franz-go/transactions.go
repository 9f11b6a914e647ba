package main

import (
	"context"

	"doze/conformance/clients/go/walk"

	"github.com/twmb/franz-go/pkg/kgo"
)

// transactor writes in transactions. kgo takes the id at the first Begin's records, so opening asks for it at once.
type transactor struct{ kgo *kgo.Client }

func (c *client) Transactor(id, topic string) (walk.Transactor, error) {
	k, err := kgo.NewClient(kgo.SeedBrokers(c.seed), kgo.TransactionalID(id), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return nil, err
	}
	_, _, err = k.ProducerID(context.Background())
	return &transactor{k}, err
}

func (t *transactor) Begin() error { return t.kgo.BeginTransaction() }

func (t *transactor) Send(ctx context.Context, values ...string) error {
	var out []*kgo.Record
	for _, v := range values {
		out = append(out, kgo.StringRecord(v))
	}
	return t.kgo.ProduceSync(ctx, out...).FirstErr()
}

func (t *transactor) End(ctx context.Context, commit bool) error {
	return t.kgo.EndTransaction(ctx, kgo.TransactionEndTry(commit))
}

func (t *transactor) Close() { t.kgo.Close() }

func (c *client) Values(ctx context.Context, topic string, committed bool, atLeast int) ([]string, error) {
	level := kgo.ReadUncommitted()
	if committed {
		level = kgo.ReadCommitted()
	}
	k, err := kgo.NewClient(kgo.SeedBrokers(c.seed), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(level),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer k.Close()
	var values []string
	for len(values) < atLeast {
		fetches := k.PollFetches(ctx)
		if ctx.Err() != nil {
			return values, ctx.Err()
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values, nil
}
