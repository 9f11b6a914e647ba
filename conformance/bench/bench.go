//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/machine"
)

// bench runs rows. It is used by one goroutine.
type bench struct {
	options
	launcher *brokers.Launcher
	shared   map[brokers.Kind]*brokers.Broker
	live     []*brokers.Broker // all that run, to be frozen while another is measured
	temp     string
}

func newBench(o options, cpu int) (*bench, error) {
	temp, err := os.MkdirTemp(o.dir, "doze-bench-")
	if err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	b := &bench{options: o, temp: temp, shared: map[brokers.Kind]*brokers.Broker{}}
	l := brokers.NewLauncher(o.basePort)
	l.Dir, l.CPU, l.Pprof = temp, cpu, o.profile != ""
	if err := b.findPrograms(l); err != nil {
		os.RemoveAll(temp)
		return nil, err
	}
	b.launcher = l
	return b, nil
}

// close ends every broker and removes what they wrote.
func (b *bench) close() {
	for _, broker := range b.live {
		broker.Kill()
	}
	if err := os.RemoveAll(b.temp); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// abandonAtSignal ends the run at an interrupt, wherever it waits.
func (b *bench) abandonAtSignal() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	b.launcher.KillAll()
	os.RemoveAll(b.temp)
	os.Exit(1)
}

func (b *bench) measureRows(ctx context.Context) (*report, error) {
	r := &report{Facts: machine.FactsOf(b.temp), Quick: b.quick, Runs: b.runs, kinds: b.kinds}
	var err error
	if r.FloorsBefore, err = machine.Floors(b.temp); err != nil {
		return nil, err
	}
	for _, row := range rows() {
		if !b.only.MatchString(row.name) {
			continue
		}
		r.Rows = append(r.Rows, b.measureRow(ctx, row))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	r.LoadAfter = machine.Load()
	r.FloorsAfter, err = machine.Floors(b.temp)
	return r, err
}

// warmUps is how many turns do not count. Two full ones compile what a Java broker uses.
func (b *bench) warmUps(r row) int {
	switch {
	case r.cold:
		return 0
	case r.broker == shared && !b.quick:
		return 2
	}
	return 1
}

// measureRow measures one row. A broker that fails leaves the row with its error; the others go on.
func (b *bench) measureRow(ctx context.Context, r row) rowReport {
	out := newRowReport(r)
	turns := b.beginTurns(ctx, r, &out)
	runs := b.runs
	if r.runs > 0 {
		runs = min(runs, r.runs)
	}
	for run := 1 - b.warmUps(r); run <= runs && ctx.Err() == nil; run++ {
		for i := range turns {
			// Each run begins with another broker: none is always the one that follows the same other.
			t := turns[(run+2+i)%len(turns)]
			if out.Errors[t.subject.kind] == "" {
				b.takeTurn(ctx, t, run, &out)
			}
		}
	}
	b.profileRow(ctx, r, turns, &out)
	for _, t := range turns {
		b.endTurn(r, t)
	}
	return out
}

// A turn is one broker's part in a row.
type turn struct {
	subject *subject
	work    workload
}

func (b *bench) beginTurns(ctx context.Context, r row, out *rowReport) []turn {
	var turns []turn
	for _, kind := range b.kinds {
		if r.columns != nil && !slices.Contains(r.columns, kind) {
			continue
		}
		s := &subject{bench: b, kind: kind, row: r.name}
		t := turn{subject: s}
		err := b.provideBroker(ctx, r, s)
		if err == nil {
			b.freezeOthers(s.broker)
			t.work = r.make(s)
			err = t.work.prepare(ctx)
		}
		b.say("%s: %s is prepared", r.name, kind)
		if err != nil {
			b.fail(s, err, out)
		}
		turns = append(turns, t)
	}
	return turns
}

func (b *bench) provideBroker(ctx context.Context, r row, s *subject) (err error) {
	switch r.broker {
	case shared:
		if b.shared[s.kind] == nil {
			b.shared[s.kind], err = b.startBroker(ctx, s.kind, r.setup)
		}
		s.broker = b.shared[s.kind]
	case own:
		s.broker, err = b.startBroker(ctx, s.kind, r.setup)
	case none:
		b.freezeOthers(nil)
	}
	return err
}

// startBroker starts a broker while all others are frozen.
func (b *bench) startBroker(ctx context.Context, kind brokers.Kind, setup brokers.Setup) (*brokers.Broker, error) {
	b.freezeOthers(nil)
	broker, err := b.launcher.Start(ctx, kind, setup)
	if err != nil {
		return nil, err
	}
	b.live = append(b.live, broker)
	return broker, nil
}

// removeBroker ends a broker that startBroker started.
func (b *bench) removeBroker(broker *brokers.Broker) error {
	b.live = slices.DeleteFunc(b.live, func(other *brokers.Broker) bool { return other == broker })
	return broker.Remove()
}

func (b *bench) freezeOthers(mine *brokers.Broker) {
	for _, broker := range b.live {
		if broker == mine {
			broker.Thaw()
		} else {
			broker.Freeze()
		}
	}
}

func (b *bench) takeTurn(ctx context.Context, t turn, run int, out *rowReport) {
	b.freezeOthers(t.subject.broker)
	values, err := t.work.measure(ctx) // with an error: the figures that were there before it
	if run >= 1 && len(values) > 0 {
		b.say("%s: %s run %d: %s", out.Name, t.subject.kind, run, values)
		out.add(t.subject.kind, values)
	}
	if err != nil {
		b.fail(t.subject, err, out)
	}
}

// fail leaves the row with a broker's error.
func (b *bench) fail(s *subject, err error, out *rowReport) {
	if s.broker != nil {
		err = s.broker.Explain(err)
	}
	out.fail(s.kind, err)
	b.say("%s: %s: %v", out.Name, s.kind, err)
}

func (b *bench) endTurn(r row, t turn) {
	if t.work != nil {
		t.work.close()
	}
	if r.broker == shared {
		b.freezeOthers(t.subject.broker)
		if err := t.subject.removeTopics(); err != nil {
			b.say("%s: %s: remove what the row wrote: %v", r.name, t.subject.kind, err)
		}
	}
	if r.broker == own && t.subject.broker != nil {
		if err := b.removeBroker(t.subject.broker); err != nil {
			b.say("%s: %v", r.name, err)
		}
	}
}

// say reports progress on stderr.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

func (b *bench) programPath(name string) string { return filepath.Join(b.temp, name) }
