package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// consumeCmd prints records.
type consumeCmd struct {
	clientFlags
	Topic     string  `arg:"" help:"Name of the topic."`
	From      string  `help:"Where to begin: beginning, end, OFFSET, -N, a time, or 10m for ten minutes ago. Default: beginning." default:"beginning" placeholder:"POSITION"`
	Until     string  `help:"Where to stop, in the same notation; end is where the log ends now. Default: never." placeholder:"POSITION"`
	Count     int     `short:"n" help:"Stop after as many records." placeholder:"N"`
	Partition []int32 `short:"p" help:"Partition to read. May be repeated. Default: all." placeholder:"N"`
	Group     string  `short:"g" help:"Read as a member of a group: from its committed offsets, and commit." placeholder:"NAME"`
	Format    string  `short:"f" help:"How a record is printed: text (its value), json, or a layout such as '%p %o %k %v\\n'. Default: text." default:"text" placeholder:"FORMAT"`
	JSON      bool    `help:"The same as --format json: a JSON object a line, which doze produce --format json takes." name:"json"`
	Isolation string  `help:"read_committed leaves out records of aborted and open transactions. Default: read_committed." enum:"read_committed,read_uncommitted" default:"read_committed" placeholder:"LEVEL"`
}

// Help is shown below the flags.
func (*consumeCmd) Help() string {
	return `A layout has %t topic, %p partition, %o offset, %k key, %v value, %d time (ms), %h{%k=%v } headers, %T %K %V their lengths, \n \t;
%v{hex} and %v{base64} for bytes, %d{strftime[%F %T]} for times.

Examples:
  doze consume orders
  doze consume orders --from=-10 --until end
  doze consume orders --from 5m -f '%d{go#RFC3339#} %k %v\n'
  doze consume orders --until end --json | doze produce copies --format json`
}

// Run prints records until there is a reason to stop.
func (c *consumeCmd) Run(p *process) error {
	if c.JSON {
		c.Format = "json"
	}
	print, err := recordPrinter(c.Format)
	if err != nil {
		return usageError{err}
	}
	now := time.Now()
	from, err := parsePosition(c.From, now)
	if err != nil {
		return usageError{fmt.Errorf("--from: %w", err)}
	}
	until, err := parseUntil(c.Until, now)
	if err != nil {
		return usageError{err}
	}
	if c.Group != "" && (c.Until != "" || len(c.Partition) > 0) {
		return usageError{errors.New("--group reads what the group gives it; leave --until and --partition out")}
	}
	at, err := c.find(p)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := &reading{consumeCmd: c, print: print, out: bufio.NewWriter(p.stdout), note: p.stderr}
	if c.Group != "" {
		return r.asMember(ctx, at, from)
	}
	return r.directly(ctx, at, from, until)
}

// parseUntil reads --until; nothing is a position that is never reached.
//
//fuzz:not-a-parser parsePosition reads it
func parseUntil(s string, now time.Time) (*position, error) {
	if s == "" {
		return nil, nil
	}
	until, err := parsePosition(s, now)
	if err != nil {
		return nil, fmt.Errorf("--until: %w", err)
	}
	return &until, nil
}

func (c *consumeCmd) clientOptions() []kgo.Opt {
	level := kgo.ReadCommitted()
	if c.Isolation == "read_uncommitted" {
		level = kgo.ReadUncommitted()
	}
	return []kgo.Opt{kgo.FetchIsolationLevel(level), kgo.FetchMaxWait(500 * time.Millisecond), kgo.KeepControlRecords()}
}

// asMember reads as a member of a group and commits what was printed.
func (r *reading) asMember(ctx context.Context, at endpoint, from position) error {
	if from.kind != "beginning" && from.kind != "end" {
		return usageError{errors.New("--group begins at its committed offsets; --from is beginning or end there, for partitions without one")}
	}
	reset := kgo.NewOffset().AtStart()
	if from.kind == "end" {
		reset = kgo.NewOffset().AtEnd()
	}
	client, err := at.client(ctx, append(r.clientOptions(), kgo.ConsumerGroup(r.Group), kgo.ConsumeTopics(r.Topic),
		kgo.ConsumeResetOffset(reset), kgo.AutoCommitMarks(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	r.printed = func(record *kgo.Record) { client.MarkCommitRecords(record) }
	err = r.poll(ctx, client, client.AllowRebalance)
	commit, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	return errors.Join(err, client.CommitMarkedOffsets(commit))
}

// directly reads partitions from where the position is, without a group.
func (r *reading) directly(ctx context.Context, at endpoint, from position, until *position) error {
	client, err := at.client(ctx, r.clientOptions()...)
	if err != nil {
		return err
	}
	defer client.Close()
	asking, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	starts, ends, err := r.bounds(asking, newAdministrator(client), from, until)
	if err != nil {
		return err
	}
	begin := map[int32]kgo.Offset{}
	for partition, offset := range starts {
		if end, bounded := ends[partition]; !bounded || offset < end {
			begin[partition] = kgo.NewOffset().At(offset)
		}
	}
	if r.ends = ends; len(begin) == 0 {
		return nil
	}
	r.open = len(begin)
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{r.Topic: begin})
	return r.poll(ctx, client, func() {})
}

// bounds are where to begin and, unless until is nil, to stop in each partition.
func (r *reading) bounds(ctx context.Context, admin *administrator, from position, until *position) (starts, ends map[int32]int64, err error) {
	topics, err := admin.ListTopicsWithInternal(ctx, r.Topic)
	if err != nil {
		return nil, nil, fmt.Errorf("find topic %s: %w", r.Topic, err)
	}
	if err := topics[r.Topic].Err; err != nil {
		return nil, nil, noTopic(r.Topic, err)
	}
	committed := r.Isolation != "read_uncommitted"
	all, err := from.offsets(ctx, admin, committed, r.Topic)
	if err != nil {
		return nil, nil, err
	}
	starts = all[r.Topic]
	if len(r.Partition) > 0 {
		wanted := map[int32]int64{}
		for _, n := range r.Partition {
			offset, there := starts[n]
			if !there {
				return nil, nil, fmt.Errorf("topic %s has no partition %d; it has 0 to %d", r.Topic, n, len(starts)-1)
			}
			wanted[n] = offset
		}
		starts = wanted
	}
	if until == nil {
		return starts, nil, nil
	}
	all, err = until.offsets(ctx, admin, committed, r.Topic)
	return starts, all[r.Topic], err
}

// reading is a consume command at work.
type reading struct {
	*consumeCmd
	print   func([]byte, *kgo.Record) []byte
	printed func(*kgo.Record)
	out     *bufio.Writer
	note    interface{ Write([]byte) (int, error) }
	ends    map[int32]int64 // where to stop; nil: nowhere
	open    int             // partitions that have not come to their end
	count   int
	buffer  []byte
}

// idleLimit is how long a partition that has records before its end, by its offsets, may give none: all that is left there may
// have been compacted away.
const idleLimit = 10 * time.Second

// poll prints what comes until a signal, the ends or the count; between polls it calls between.
func (r *reading) poll(ctx context.Context, client *kgo.Client, between func()) error {
	done := map[int32]bool{}
	for last := time.Now(); ; {
		polling, cancel := context.WithTimeout(ctx, time.Second)
		fetches := client.PollFetches(polling)
		cancel()
		stop, err := r.take(fetches, done)
		if flush := r.out.Flush(); flush != nil || err != nil {
			return errors.Join(err, flush)
		}
		between()
		if stop || ctx.Err() != nil {
			return nil
		}
		if fetches.NumRecords() > 0 {
			last = time.Now()
		}
		if r.ends != nil && time.Since(last) > idleLimit {
			fmt.Fprintf(r.note, "doze: nothing more came for %s before the end of %d partitions: what is left there is compacted away\n", idleLimit, r.open-len(done))
			return nil
		}
	}
}

// take prints the records of a poll and says whether that was all.
func (r *reading) take(fetches kgo.Fetches, done map[int32]bool) (stop bool, err error) {
	for _, failed := range fetches.Errors() {
		if !errors.Is(failed.Err, context.DeadlineExceeded) && !errors.Is(failed.Err, context.Canceled) {
			return true, fmt.Errorf("read %s partition %d: %w", r.Topic, failed.Partition, failed.Err)
		}
	}
	for records := fetches.RecordIter(); !records.Done(); {
		record := records.Next()
		end, bounded := r.ends[record.Partition]
		if record.Attrs.IsControl() || bounded && record.Offset >= end {
			// A marker has nothing to print, but may be the last before the end.
		} else {
			r.buffer = r.print(r.buffer[:0], record)
			if _, err := r.out.Write(r.buffer); err != nil {
				return true, err
			}
			if r.count++; r.count == r.Count {
				stop = true
			}
		}
		if r.printed != nil {
			r.printed(record)
		}
		if bounded && record.Offset+1 >= end {
			done[record.Partition] = true
		}
		if stop {
			return true, nil
		}
	}
	return r.ends != nil && len(done) == r.open, nil
}

// recordPrinter appends a record in a format.
func recordPrinter(format string) (func([]byte, *kgo.Record) []byte, error) {
	switch format {
	case "text":
		return func(b []byte, r *kgo.Record) []byte { return append(append(b, r.Value...), '\n') }, nil
	case "json":
		return appendRecordJSON, nil
	}
	if !strings.Contains(format, "%") {
		return nil, fmt.Errorf("--format %q: write text, json, or a layout such as '%%p %%o %%k %%v\\n'", format)
	}
	f, err := kgo.NewRecordFormatter(format)
	if err != nil {
		return nil, fmt.Errorf("--format: %w; see doze consume --help", err)
	}
	return f.AppendRecord, nil
}
