package kill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// txnWorker is one transactional id: a producer that is replaced whenever it does not know how its transaction ended.
type txnWorker struct {
	addr   string
	number int
	r      *rand.Rand
	h      *txnHistory
	client *kgo.Client
}

func newTxnWorker(addr string, number int, seed uint64, h *txnHistory) *txnWorker {
	return &txnWorker{addr: addr, number: number, r: rand.New(rand.NewPCG(seed, uint64(100+number))), h: h}
}

func transactionalID(worker int) string { return fmt.Sprint("worker-", worker) }

// txnProducer is a client with a worker's transactional id. Every third speaks transactions v1.
func txnProducer(addr string, worker int) (*kgo.Client, error) {
	opts := append(impatient(), kgo.SeedBrokers(addr), kgo.TransactionalID(transactionalID(worker)), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionTimeout(time.Minute), kgo.UnknownTopicRetries(-1))
	if worker%3 == 2 {
		opts = append(opts, kgo.MaxVersions(kversion.V3_7_0()))
	}
	return kgo.NewClient(opts...)
}

func (w *txnWorker) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		if w.client == nil {
			client, err := txnProducer(w.addr, w.number)
			if err != nil {
				w.h.fault("worker %d: %v", w.number, err)
				return
			}
			w.client = client
		}
		if w.transaction(ctx, n) {
			w.client.Close()
			w.client = nil
		}
	}
	if w.client != nil {
		w.client.Close()
	}
}

// transaction runs one, and says whether the client is of no use any more.
func (w *txnWorker) transaction(ctx context.Context, n int) (spoiled bool) {
	if err := w.client.BeginTransaction(); err != nil {
		return true
	}
	sent := w.h.begin(w.number, n)
	failed := w.produce(ctx, sent)
	switch chance := w.r.IntN(20); {
	case failed:
		w.h.ended(sent, aborted)
		return w.end(kgo.TryAbort) != nil
	case chance == 0: // it walks away
		w.h.ended(sent, aborted)
		return true
	case chance < 6:
		w.h.ended(sent, aborted)
		return w.end(kgo.TryAbort) != nil
	}
	if err := w.end(kgo.TryCommit); err != nil {
		w.h.ended(sent, unknown)
		return true
	}
	w.h.ended(sent, committed)
	return false
}

func (w *txnWorker) end(try kgo.TransactionEndTry) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return w.client.EndTransaction(ctx, try)
}

// produce writes the records of a transaction, in a few bursts, and says whether one was refused.
func (w *txnWorker) produce(ctx context.Context, sent *txnSent) (failed bool) {
	limited, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	for burst := range 1 + w.r.IntN(3) {
		if burst > 0 {
			select {
			case <-time.After(time.Duration(w.r.IntN(30)) * time.Millisecond):
			case <-ctx.Done():
			}
		}
		for range 1 + w.r.IntN(8) {
			p := partition{plainTopic, int32(w.r.IntN(partitions))}
			key := ""
			if w.r.IntN(2) == 0 {
				key = fmt.Sprint(w.number, "-", w.r.IntN(10))
				p = partition{compactTopic, int32(key[len(key)-1]-'0') % partitions}
			}
			value := w.h.value(sent, p, key)
			record := &kgo.Record{Topic: p.topic, Partition: p.number, Value: []byte(value)}
			if key != "" {
				record.Key = []byte(key)
			}
			w.client.Produce(limited, record, func(r *kgo.Record, err error) {
				mu.Lock()
				defer mu.Unlock()
				failed = failed || err != nil
				if err == nil {
					w.h.acked(sent, value, r.Offset)
				}
			})
		}
		if err := w.client.Flush(limited); err != nil {
			return true
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return failed
}

// readCommittedUntil reads both topics until ctx ends and notes what it was given.
func readCommittedUntil(ctx context.Context, addr string, h *txnHistory) {
	client, err := kgo.NewClient(append(impatient(), kgo.SeedBrokers(addr), kgo.ConsumeTopics(plainTopic, compactTopic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(200*time.Millisecond))...)
	if err != nil {
		h.fault("reader: %v", err)
		return
	}
	defer client.Close()
	last := map[partition]int64{}
	for ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			p := partition{r.Topic, r.Partition}
			if before, some := last[p]; some && r.Offset <= before {
				h.fault("a reader was given offset %d of %v after %d", r.Offset, p, before)
			}
			last[p] = r.Offset
			h.read(p, stored{r.Offset, string(r.Value)})
		})
	}
}

// fenceAll takes every transactional id over, which aborts what it has open.
func fenceAll(ctx context.Context, addr string) error {
	for worker := range txnWorkers {
		client, err := txnProducer(addr, worker)
		if err != nil {
			return err
		}
		_, _, err = client.ProducerID(ctx)
		client.Close()
		if err != nil {
			return fmt.Errorf("take over %s: %w", transactionalID(worker), err)
		}
	}
	return nil
}

// readCommitted reads what is committed of a partition, up to its end: nothing is left open.
func readCommitted(ctx context.Context, addr string, p partition) ([]stored, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.topic: {p.number: kgo.NewOffset().AtStart()}}))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, p.topic)
	if err != nil {
		return nil, fmt.Errorf("list end offsets: %w", err)
	}
	end, _ := ends.Lookup(p.topic, p.number)
	var log []stored
	for next := int64(0); next < end.Offset; {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return nil, fmt.Errorf("read %v: stopped at %d of %d: %w", p, next, end.Offset, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			next = r.Offset + 1
			if !r.Attrs.IsControl() {
				log = append(log, stored{r.Offset, string(r.Value)})
			}
		})
	}
	return log, nil
}
