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
)

// TxnReport is what a campaign of transactions found.
type TxnReport struct {
	Kills, Stops                int
	Committed, Aborted, Unknown int // transactions, by what their producers were told
	Records                     int // that read_committed sees in the end
	Slowest                     time.Duration
	Faults                      []string
}

const (
	plainTopic   = "txn-plain"   // of small segments
	compactTopic = "txn-compact" // of small segments that are compacted all the time
	txnWorkers   = 6
	txnReaders   = 2
	// Every so many ends of the broker one is a clean stop.
	stopEvery = 9
)

// RunTransactions kills a broker again and again under producers of transactions of both versions, which commit, abort and
// walk away, and readers of what is committed. Then it compares what the readers were given, and what there is, with what the
// producers were told.
func RunTransactions(ctx context.Context, opt Options) (*TxnReport, error) {
	b, err := NewBroker(opt.Binary, opt.Dir, "--set", "log.cleaner.backoff.ms=100")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if _, err := b.Start(); err != nil {
		return nil, err
	}
	if err := createTxnTopics(ctx, b.addr); err != nil {
		return nil, errors.Join(err, b.Kill())
	}
	h, report := newTxnHistory(), &TxnReport{}
	load, stopLoad := context.WithCancel(ctx)
	var running sync.WaitGroup
	for i := range txnWorkers {
		running.Go(func() { newTxnWorker(b.addr, i, opt.Seed, h).run(load) })
	}
	for range txnReaders {
		running.Go(func() { readCommittedUntil(load, b.addr, h) })
	}
	err = endAgain(ctx, b, opt, report, h)
	stopLoad()
	running.Wait()
	if err != nil {
		return nil, errors.Join(err, b.Kill())
	}
	return report, finishTxns(ctx, b, report, h)
}

func createTxnTopics(ctx context.Context, addr string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		return err
	}
	defer client.Close()
	for name, configs := range map[string]map[string]*string{
		plainTopic:   {"segment.bytes": kadm.StringPtr("8192")},
		compactTopic: {"segment.bytes": kadm.StringPtr("4096"), "cleanup.policy": kadm.StringPtr("compact")},
	} {
		if _, err := kadm.NewClient(client).CreateTopic(ctx, partitions, 1, configs, name); err != nil {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	return nil
}

// endAgain ends the broker at random moments, mostly with SIGKILL.
func endAgain(ctx context.Context, b *Broker, opt Options, report *TxnReport, h *txnHistory) error {
	moments := rand.New(rand.NewPCG(opt.Seed, 2))
	for n := 1; report.Kills < opt.Times; n++ {
		select {
		case <-time.After(lifeMin + time.Duration(moments.Int64N(int64(2*lifeMax)))):
		case <-ctx.Done():
			return ctx.Err()
		}
		if n%stopEvery == 0 {
			if err := b.Stop(); err != nil {
				return err
			}
			report.Stops++
		} else {
			if err := b.Kill(); err != nil {
				return err
			}
			report.Kills++
		}
		took, err := b.Start()
		if err != nil {
			return fmt.Errorf("after kill %d: %w", report.Kills, err)
		}
		report.Slowest = max(report.Slowest, took)
		if n%10 == 0 {
			committed, aborted, unknown := h.count()
			fmt.Fprintf(opt.Out, "%d kills: %d transactions committed, %d aborted, %d unknown; slowest start %v\n",
				report.Kills, committed, aborted, unknown, report.Slowest.Round(time.Millisecond))
		}
	}
	return nil
}

// finishTxns ends what was left open, reads everything back, stops the broker cleanly and has its journal replayed.
func finishTxns(ctx context.Context, b *Broker, report *TxnReport, h *txnHistory) error {
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err := fenceAll(limited, b.addr)
	log := map[partition][]stored{}
	for _, topic := range []string{plainTopic, compactTopic} {
		for number := range int32(partitions) {
			p := partition{topic, number}
			if err == nil {
				log[p], err = readCommitted(limited, b.addr, p)
			}
		}
	}
	if err != nil {
		return errors.Join(err, b.Kill())
	}
	report.Faults = h.judge(log)
	report.Committed, report.Aborted, report.Unknown = h.count()
	for _, records := range log {
		report.Records += len(records)
	}
	if err := b.Stop(); err != nil {
		return err
	}
	if err := b.Check(ctx); err != nil {
		report.Faults = append(report.Faults, err.Error())
	}
	return nil
}
