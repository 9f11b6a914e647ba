package eos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Options of a job.
type Options struct {
	Broker             Broker
	Program            Program
	Messages           int
	PerTransaction     int
	BrokerKills        int
	JobKills           int
	Seed               uint64 // of the moments
	TransactionVersion int16  // 1 and 0 make clients speak v1; below 0 it stays what it is
	Dir                string // for the job's log and state
	Out                io.Writer
}

// Report is what came of a job.
type Report struct {
	Job         string
	Messages    int
	Took        time.Duration
	BrokerKills int
	JobKills    int
	Deaths      int // ends of the job that were not ours
	Aborted     int // records that a read_uncommitted reader gets beside the committed ones
	Faults      []string
}

// stall is how long a job may commit nothing.
const stall = 3 * time.Minute

// job is one run of a program over its input.
type job struct {
	opt                Options
	in, out, group     string
	process            *process
	log                *os.File
	report             *Report
	then               func(context.Context) error // waits for what is not done when the input is committed
	progress           int64
	lastMove, lastSaid time.Time
}

// newJob names what a job uses after it: jobs may share a broker.
func newJob(opt Options) (*job, error) {
	log, err := os.Create(filepath.Join(opt.Dir, opt.Program.Name+".log"))
	if err != nil {
		return nil, err
	}
	name := "eos-" + opt.Program.Name
	j := &job{opt: opt, in: name + "-in", out: name + "-out", group: name, log: log}
	j.report = &Report{Job: opt.Program.Name, Messages: opt.Messages}
	return j, nil
}

// prepare makes the topics and fills the input, at the transaction version that is asked for.
func (j *job) prepare(ctx context.Context, input []*kgo.Record) error {
	addr := j.opt.Broker.Addr()
	if j.opt.TransactionVersion >= 0 {
		if err := setTransactionVersion(ctx, addr, j.opt.TransactionVersion); err != nil {
			return err
		}
	}
	if err := makeTopics(ctx, addr, j.in, j.out); err != nil {
		return err
	}
	return fill(ctx, addr, j.in, input)
}

// run starts the job, kills it and the broker at their moments, and stops it when all of its input is committed.
func (j *job) run(ctx context.Context) error {
	env := []string{
		"BOOTSTRAP=" + j.opt.Broker.Addr(), "IN=" + j.in, "OUT=" + j.out, "GROUP=" + j.group,
		fmt.Sprint("PER=", j.opt.PerTransaction), "WORK=" + j.opt.Dir,
	}
	began := time.Now()
	j.lastMove = began
	var err error
	if j.process, err = supervise(j.opt.Program, env, j.log); err != nil {
		return err
	}
	err = j.drive(ctx)
	j.report.Took = time.Since(began)
	err = errors.Join(err, j.process.stop(ctx))
	j.report.Deaths = j.process.diedByItself()
	if err != nil {
		return fmt.Errorf("%w; see %s", err, j.log.Name())
	}
	return nil
}

func (j *job) drive(ctx context.Context) error {
	cl, err := client(j.opt.Broker.Addr())
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	for _, m := range moments(j.opt.Seed, int64(j.opt.Messages), j.opt.BrokerKills, j.opt.JobKills) {
		if err := j.await(ctx, adm, m.progress); err != nil {
			return err
		}
		time.Sleep(m.delay)
		if err := j.strike(m); err != nil {
			return err
		}
	}
	if err := j.await(ctx, adm, int64(j.opt.Messages)); err != nil || j.then == nil {
		return err
	}
	return j.then(ctx)
}

func (j *job) strike(m moment) error {
	fmt.Fprintf(j.log, "=== kill the %s at %d\n", m.victim, j.progress)
	if m.victim == theJob {
		j.report.JobKills++
		return j.process.kill()
	}
	j.report.BrokerKills++
	if err := j.opt.Broker.Kill(); err != nil {
		return fmt.Errorf("kill the broker and start it again: %w", err)
	}
	return nil
}

// await waits until so many input records are committed. Input offsets are those of plain records: their sum counts them.
func (j *job) await(ctx context.Context, adm *kadm.Client, progress int64) error {
	for {
		if n, err := committed(ctx, adm, j.group, j.in); err == nil && n != j.progress {
			j.progress, j.lastMove = n, time.Now()
			j.say()
		}
		if j.progress >= progress {
			return nil
		}
		if time.Since(j.lastMove) > stall {
			return fmt.Errorf("%s committed nothing for %s, at %d of %d", j.opt.Program.Name, stall, j.progress, j.opt.Messages)
		}
		select {
		case err := <-j.process.ended:
			j.process.ended <- err
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// say tells progress every few seconds.
func (j *job) say() {
	if time.Since(j.lastSaid) < 5*time.Second {
		return
	}
	j.lastSaid = time.Now()
	fmt.Fprintf(j.opt.Out, "%s: %d of %d committed, %d kills of the broker, %d of the job\n", j.opt.Program.Name, j.progress,
		j.opt.Messages, j.report.BrokerKills, j.report.JobKills)
}
