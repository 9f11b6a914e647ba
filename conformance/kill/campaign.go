package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	b, err := newBroker(opt)
	if err != nil {
		return nil, err
	}
	defer b.log.Close()
	if _, err := b.start(); err != nil {
		return nil, err
	}
	h := newHistory()
	if err := createTopic(ctx, b.addr); err != nil {
		return nil, errors.Join(err, b.kill())
	}
	report := &Report{}
	load, stopLoad := context.WithCancel(ctx)
	var running sync.WaitGroup
	for i := range 2 {
		running.Go(func() { produceUntil(load, b.addr, i, h) })
		running.Go(func() { consumeUntil(load, b.addr, h) })
	}
	err = killAgain(ctx, b, opt, report, h)
	stopLoad()
	running.Wait()
	if err != nil {
		return nil, err
	}
	return report, finish(ctx, b, opt, report, h)
}

func newBroker(opt Options) (*broker, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(opt.Dir, "broker.log"))
	if err != nil {
		return nil, fmt.Errorf("make the broker's log: %w", err)
	}
	return &broker{binary: opt.Binary, dir: filepath.Join(opt.Dir, "data"), addr: addr, log: log}, nil
}

// freeAddr finds a port that stays free while the broker is down: below those that systems give to outgoing connections.
func freeAddr() (string, error) {
	const first, last = 20_000, 32_000
	var err error
	for range 100 {
		var free net.Listener
		if free, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", first+rand.IntN(last-first))); err == nil {
			return free.Addr().String(), free.Close()
		}
	}
	return "", fmt.Errorf("find a free port: %w", err)
}

func killAgain(ctx context.Context, b *broker, opt Options, report *Report, h *history) error {
	moments := rand.New(rand.NewPCG(opt.Seed, 1))
	for report.Kills < opt.Times {
		select {
		case <-time.After(lifeMin + time.Duration(moments.Int64N(int64(lifeMax-lifeMin)))):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.kill())
		}
		if err := b.kill(); err != nil {
			return err
		}
		report.Kills++
		took, err := b.start()
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
func finish(ctx context.Context, b *broker, opt Options, report *Report, h *history) error {
	log, err := readAll(ctx, b.addr)
	if err != nil {
		return errors.Join(err, b.kill())
	}
	report.Faults = h.judge(log)
	report.Acked, report.Consumed = len(h.acked), h.consumed
	if err := b.stop(); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, opt.Binary, "replay", b.dir, "--check").CombinedOutput()
	if err != nil {
		report.Faults = append(report.Faults, fmt.Sprintf("the journal does not replay: %v\n%s", err, out))
	}
	return nil
}
