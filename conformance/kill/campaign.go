package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Options of a campaign.
type Options struct {
	Binary string    // of doze
	Times  int       // how often the broker is killed
	Seed   uint64    // of the moments
	Dir    string    // for the data directory and the broker's log
	Out    io.Writer // progress, a line every ten kills
}

// Report is what a campaign found.
type Report struct {
	Kills    int
	Acked    int
	Consumed int
	Slowest  time.Duration // of all restarts
	Faults   []string
}

const (
	topic      = "campaign"
	partitions = 4
	group      = "campaign-group"
	// Between two kills the broker lives this long at least and at most after it is ready.
	lifeMin = 5 * time.Millisecond
	lifeMax = 500 * time.Millisecond
)

// Run kills a broker again and again under load, then checks what it kept.
func Run(ctx context.Context, opt Options) (*Report, error) {
	b, err := NewBroker(opt.Binary, opt.Dir)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if _, err := b.Start(); err != nil {
		return nil, err
	}
	h := newHistory()
	if err := createTopic(ctx, b.addr); err != nil {
		return nil, errors.Join(err, b.Kill())
	}
	report := &Report{}
	if err := underLoad(ctx, b, h, func() error { return killAgain(ctx, b, opt, report, h) }); err != nil {
		return nil, err
	}
	return report, finish(ctx, b, report, h)
}

// catchUp is how long the group may take, once it is left in peace, to read what was acknowledged.
const catchUp = 2 * time.Minute

// underLoad does the work while two producers and a group of two run against the broker. The producers end with it; the
// group goes on until it has read every record that was acknowledged.
func underLoad(ctx context.Context, b *Broker, h *history, work func() error) error {
	produce, stopProducers := context.WithCancel(ctx)
	consume, stopConsumers := context.WithCancel(ctx)
	var producers, consumers sync.WaitGroup
	for i := range 2 {
		producers.Go(func() { produceUntil(produce, b.addr, i, h) })
		consumers.Go(func() { consumeUntil(consume, b.addr, h) })
	}
	err := work()
	stopProducers()
	producers.Wait()
	if err == nil {
		h.awaitGroup(ctx, catchUp)
	}
	stopConsumers()
	consumers.Wait()
	return err
}

func killAgain(ctx context.Context, b *Broker, opt Options, report *Report, h *history) error {
	moments := rand.New(rand.NewPCG(opt.Seed, 1))
	for report.Kills < opt.Times {
		select {
		case <-time.After(lifeMin + time.Duration(moments.Int64N(int64(lifeMax-lifeMin)))):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.Kill())
		}
		if err := b.Kill(); err != nil {
			return err
		}
		report.Kills++
		took, err := b.Start()
		if err != nil {
			return fmt.Errorf("after kill %d: %w", report.Kills, err)
		}
		report.Slowest = max(report.Slowest, took)
		if report.Kills%10 == 0 {
			h.mu.Lock()
			fmt.Fprintf(opt.Out, "%d kills, %d records acknowledged, %d read by the group, slowest start %v\n",
				report.Kills, len(h.acked), h.consumed, report.Slowest.Round(time.Millisecond))
			h.mu.Unlock()
		}
	}
	return nil
}

// finish reads everything back, stops the broker cleanly and has its journal replayed.
func finish(ctx context.Context, b *Broker, report *Report, h *history) error {
	log, err := readAll(ctx, b.addr)
	if err != nil {
		return errors.Join(err, b.Kill())
	}
	report.Faults = h.judge(log)
	report.Acked, report.Consumed = len(h.acked), h.consumed
	if err := b.Stop(); err != nil {
		return err
	}
	if err := b.Check(ctx); err != nil {
		report.Faults = append(report.Faults, err.Error())
	}
	return nil
}
