package eos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Of abortEvery transactions of a copier one is aborted on purpose, so that there is something that must not be seen.
const abortEvery = 10

// CopyWithFranz is the copy job of franz-go, as a process: it copies until it is ended, and returns when it cannot go on.
func CopyWithFranz(ctx context.Context) error {
	per, err := strconv.Atoi(os.Getenv("PER"))
	if err != nil {
		return fmt.Errorf("read PER: %w", err)
	}
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(os.Getenv("BOOTSTRAP")), kgo.TransactionalID(os.Getenv("GROUP")), kgo.TransactionTimeout(time.Minute),
		kgo.ConsumerGroup(os.Getenv("GROUP")), kgo.InstanceID("copier"), kgo.SessionTimeout(10*time.Second),
		kgo.ConsumeTopics(os.Getenv("IN")), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DefaultProduceTopic(os.Getenv("OUT")),
	)
	if err != nil {
		return err
	}
	defer session.Close()
	for transactions := 1; ctx.Err() == nil; transactions++ {
		if err := copyOnce(ctx, session, per, transactions%abortEvery == 3); err != nil {
			return err
		}
	}
	return nil
}

// copyOnce copies one poll's records in one transaction.
func copyOnce(ctx context.Context, session *kgo.GroupTransactSession, per int, abort bool) error {
	fetches := session.PollRecords(ctx, per)
	if fetches.NumRecords() == 0 {
		return nil // what is wrong with the broker passes, or the next call says it
	}
	if err := session.Begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	first := kgo.AbortingFirstErrPromise(session.Client())
	fetches.EachRecord(func(r *kgo.Record) {
		value := Transformed(string(r.Value))
		if abort {
			value = "aborted " + value
		}
		session.Produce(ctx, &kgo.Record{Partition: r.Partition, Key: r.Key, Value: []byte(value)}, first.Promise())
	})
	failed := first.Err()
	committed, err := session.End(ctx, kgo.TransactionEndTry(failed == nil && !abort))
	if err != nil {
		return fmt.Errorf("end: %w", errors.Join(err, failed))
	}
	if !committed {
		fmt.Printf("aborted %d records: asked to: %t, failed: %v\n", fetches.NumRecords(), abort, failed)
	}
	return nil
}
