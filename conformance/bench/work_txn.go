//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/conformance/bench/load"
)

// smallTransactions commits transactions of one record each through franz-go's client, from one producer or from several
// at once. The client decides by the broker's features whether it speaks transactions v1 or v2.
type smallTransactions struct {
	s         *subject
	each      int // transactions of one producer in a turn
	producers []*kgo.Client
}

func newTransactionsOfOne(s *subject) workload {
	return &smallTransactions{s: s, each: s.size(200, 1000), producers: make([]*kgo.Client, 1)}
}

func newTransactionsOfEight(s *subject) workload {
	return &smallTransactions{s: s, each: s.size(100, 500), producers: make([]*kgo.Client, 8)}
}

func (w *smallTransactions) prepare(ctx context.Context) error {
	topic, err := w.s.topic("data", int32(len(w.producers)), nil)
	if err != nil {
		return err
	}
	for i := range w.producers {
		if w.producers[i], err = w.s.transactional(topic, i); err != nil {
			return err
		}
		if err := w.commit(ctx, i, 1); err != nil { // the producer id is got, the coordinator found
			return err
		}
	}
	return nil
}

// transactional returns a client with a transactional id of its own that produces to one partition without delay.
func (s *subject) transactional(topic load.Topic, n int, opts ...kgo.Opt) (*kgo.Client, error) {
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(s.broker.Addr), kgo.TransactionalID(s.name(fmt.Sprint("txn-", n))), kgo.DefaultProduceTopic(topic.Name),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()),
	}, opts...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return client, nil
}

// commit makes n transactions of one record from one producer, one after the other.
func (w *smallTransactions) commit(ctx context.Context, producer, n int) error {
	value := make([]byte, 100)
	client := w.producers[producer]
	return repeat(ctx, n, func() error {
		return inTransaction(ctx, client, kgo.TryCommit, &kgo.Record{Partition: int32(producer), Value: value})
	})
}

// inTransaction produces the records in a transaction of their own and ends it.
func inTransaction(ctx context.Context, client *kgo.Client, end kgo.TransactionEndTry, records ...*kgo.Record) error {
	if err := client.BeginTransaction(); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce in transaction: %w", err)
	}
	if err := client.EndTransaction(ctx, end); err != nil {
		return fmt.Errorf("end transaction: %w", err)
	}
	return nil
}

func (w *smallTransactions) measure(ctx context.Context) (sample, error) {
	cpu, wall, err := w.s.cost(func() error {
		done := make(chan error, len(w.producers))
		for i := range w.producers {
			go func() { done <- w.commit(ctx, i, w.each) }()
		}
		var errs []error
		for range w.producers {
			errs = append(errs, <-done)
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return nil, err
	}
	n := w.each * len(w.producers)
	return sample{"rate": float64(n) / wall.Seconds(), "cpu": perUnit(cpu, n)}, nil
}

func (w *smallTransactions) close() {
	for _, client := range w.producers {
		if client != nil {
			client.Close()
		}
	}
}

// fetchCommitted reads a log of transactions, one in ten aborted, at both isolation levels.
type fetchCommitted struct {
	s     *subject
	topic load.Topic
	conn  *load.Conn
	end   int64
}

func newFetchCommitted(s *subject) workload { return &fetchCommitted{s: s} }

// recordsOfTxn of valueSize bytes are one transaction of the log that fetchCommitted reads.
const recordsOfTxn = 200

func (w *fetchCommitted) prepare(ctx context.Context) (err error) {
	if w.topic, err = w.s.topic("data", 1, nil); err != nil {
		return err
	}
	if err := w.fill(ctx); err != nil {
		return err
	}
	if w.conn, err = load.Dial(w.s.broker.Addr); err != nil {
		return err
	}
	req := load.ListOffsetsRequest(w.topic, []int32{0}, -1)
	return untilServed(func() error { w.end, err = load.ListOffsets(w.conn, req); return err })
}

func (w *fetchCommitted) fill(ctx context.Context) error {
	client, err := w.s.transactional(w.topic, 0)
	if err != nil {
		return err
	}
	defer client.Close()
	records := make([]*kgo.Record, recordsOfTxn)
	n := 0
	return repeat(ctx, w.s.size(300, 2000), func() error {
		for i := range records {
			records[i] = &kgo.Record{Value: make([]byte, valueSize)}
		}
		n++
		end := kgo.TryCommit
		if n%10 == 0 {
			end = kgo.TryAbort
		}
		return inTransaction(ctx, client, end, records...)
	})
}

func (w *fetchCommitted) measure(ctx context.Context) (sample, error) {
	values := sample{}
	for isolation, key := range []string{"uncommitted", "committed"} {
		bytes := 0
		cpu, _, err := w.s.cost(func() (err error) { bytes, err = w.read(ctx, int8(isolation)); return err })
		if err != nil {
			return nil, err
		}
		values[key] = perGB(cpu, bytes)
	}
	return values, nil
}

// read reads the log from start to end and returns its bytes.
func (w *fetchCommitted) read(ctx context.Context, isolation int8) (bytes int, err error) {
	for offset := int64(0); offset < w.end; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		req := load.FetchRequest(w.topic, []int32{0}, offset, fetchBytes)
		req.IsolationLevel = isolation
		got, err := w.fetch(req, &offset)
		if err != nil {
			return 0, err
		}
		if got == 0 {
			return 0, fmt.Errorf("fetch at %d of %d: nothing", offset, w.end)
		}
		bytes += got
	}
	return bytes, nil
}

// fetch asks once, moves offset behind what came and returns its bytes.
func (w *fetchCommitted) fetch(req *kmsg.FetchRequest, offset *int64) (bytes int, err error) {
	frame, err := w.conn.Exchange(load.Frame(req))
	if err != nil {
		return 0, err
	}
	err = load.FetchedSets(req, frame, func(_ int32, set []byte) error {
		for {
			s, ok := load.NextBatch(set)
			if !ok {
				return nil
			}
			*offset, set, bytes = s.LastOffset+1, set[s.Bytes:], bytes+s.Bytes
		}
	})
	return bytes, err
}

func (w *fetchCommitted) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}
