package handlers

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// groupBench is a coordinator over a journal on a disk in memory, and a clock that stands still until it is told to
// advance.
type groupBench struct {
	t       *testing.T
	out     strings.Builder
	now     atomic.Int64
	ids     uint64
	fs      *disk.Mem
	store   *journal.Store[*projections.State]
	opened  []*journal.Store[*projections.State] // by every start
	state   *projections.State                   // as published
	entries []journal.Entry
	c       *coordinator
	set     groupSettings
	broker  *configs.Broker
	quiet   bool // prints nothing and keeps no entries
	// unchecked leaves the state's invariants to whoever drives the bench.
	unchecked bool
	waits     []*benchWait
	full      bool // the disk
}

type benchWait struct {
	name string
	w    *waiter
}

const benchStart = 1_000_000

func newGroupBench(t *testing.T) *groupBench {
	broker := configs.NewBroker(nil, nil, nil)
	b := &groupBench{t: t, fs: disk.NewMem(), broker: broker, set: groupSettingsOf(broker)}
	b.now.Store(benchStart)
	b.start()
	return b
}

func (b *groupBench) NowMillis() int64 { return b.now.Load() }

// start opens the journal and takes up the groups there are.
func (b *groupBench) start() {
	b.t.Helper()
	b.waits = nil
	b.open()
	b.c = &coordinator{
		update: b.update, view: func() *projections.State { return b.state }, clock: b, now: b.NowMillis, settings: b.set,
		waiters: map[deadlineKey]*waiter{}, deadlines: newDeadlines(), current: map[string]knownTopics{}, wake: make(chan struct{}, 1),
		configs: func(*projections.State) *configs.Broker { return b.broker },
		level:   func(*projections.State, string) int16 { return 1 },
	}
	if err := b.c.resumeGroups(context.Background()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *groupBench) open() {
	b.t.Helper()
	ids := b.ids // those that the journal takes for itself do not count
	opened, _, err := journal.Open(b.fs, journal.Options{Clock: b, IDs: b}, projections.New)
	if err != nil {
		b.t.Fatal(err)
	}
	if b.opened == nil {
		b.t.Cleanup(b.closeAll)
	}
	b.opened = append(b.opened, opened)
	b.store, b.ids = opened, ids
	b.state, _ = opened.View()
}

// closeAll closes what was opened: a store that was killed goes on, on a disk that nobody has.
func (b *groupBench) closeAll() {
	for _, s := range b.opened {
		_ = s.Close()
	}
	b.opened = nil
}

func (b *groupBench) update(ctx context.Context, cause journal.Cause, decide func(*groupDecision)) error {
	var e journal.Entry
	err := b.store.Update(ctx, cause, func(tx *tx) {
		e = journal.Entry{Seq: tx.Seq, At: tx.At, Cause: cause}
		d := &groupDecision{state: tx.State, seq: tx.Seq, at: tx.At, settings: &b.set, newUUID: tx.NewUUID, configs: b.broker, drop: tx.Drop, streams: &b.c.streams}
		d.emit = func(ev journal.Event) {
			tx.Emit(ev)
			e.Events = append(e.Events, ev)
		}
		decide(d)
		tx.Then(func() { b.c.apply(d.effects) })
	})
	if errors.Is(err, journal.ErrDropped) {
		return err
	}
	if err != nil && b.full {
		b.printf("  not written: %s\n", cause.Timer)
		return err
	}
	if err != nil {
		b.t.Fatalf("%v\n%s", err, b.out.String())
	}
	b.state, _ = b.store.View()
	if b.quiet {
		if !b.unchecked {
			b.check()
		}
		return nil
	}
	if len(e.Events) > 0 {
		b.entries = append(b.entries, e)
		b.printEntry(&e)
		b.check()
	}
	return nil
}

// fill fills the disk, or frees it.
func (b *groupBench) fill(full bool) {
	b.fs.Clear()
	if b.full = full; full {
		b.fs.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite}, Persistent: true})
	}
}

func (b *groupBench) printEntry(e *journal.Entry) {
	by := ""
	if e.Cause.Timer != "" {
		by = " by " + e.Cause.Timer
	}
	for _, ev := range e.Events {
		b.printf("  %d%s: %s\n", e.Seq, by, describe(ev))
	}
}

// NewUUID counts.
func (b *groupBench) NewUUID() (u [16]byte) {
	b.ids++
	u[15], u[14] = byte(b.ids), byte(b.ids>>8)
	return u
}

func (b *groupBench) printf(format string, args ...any) { fmt.Fprintf(&b.out, format, args...) }

func (b *groupBench) take() string {
	s := shortIDs.ReplaceAllStringFunc(b.out.String(), func(id string) string {
		n, _ := strconv.ParseUint(id[1:][len(id)-5:], 16, 64)
		return fmt.Sprintf("#%d", n)
	})
	b.out.Reset()
	if s == "" {
		return "ok\n"
	}
	return s
}

var shortIDs = regexp.MustCompile(`-00000000-0000-0000-0000-00000000[0-9a-f]{4}`)

func longIDs(s string) string {
	return regexp.MustCompile(`#\d+`).ReplaceAllStringFunc(s, func(id string) string {
		n, _ := strconv.Atoi(id[1:])
		return fmt.Sprintf("-00000000-0000-0000-0000-%012x", n)
	})
}

// run runs "NAME VERB ARGS" or "VERB ARGS"; NAME is what the answer is printed under.
func (b *groupBench) run(line string) {
	words := strings.Fields(longIDs(line))
	name := ""
	if strings.HasSuffix(words[0], ":") {
		name, words = strings.TrimSuffix(words[0], ":"), words[1:]
	}
	args := parseArgs(words[1:])
	switch words[0] {
	case "join":
		b.join(name, args)
	case "sync":
		b.sync(name, args)
	case "heartbeat":
		resp := b.c.heartbeat(args.heartbeat())
		b.printf("%s: heartbeat %s\n", name, codeName(resp.ErrorCode))
	case "leave":
		b.leave(name, args)
	case "beat":
		b.beat(name, args)
	case "share":
		b.share(name, args)
	case "describe-share":
		b.describeShare(args)
	case "streams":
		b.streamsBeat(name, args)
	case "describe":
		b.describeConsumers(args)
	case "advance":
		b.advance(args.words[0])
	case "restart":
		b.restart()
	case "disk":
		b.fill(args.words[0] == "full")
	case "dump":
		b.dump()
	case "set":
		b.configure(args)
	case "topic":
		b.topic(args)
	case "delete-topic":
		b.deleteTopic(args)
	case "commit":
		b.commit(name, args)
	case "fetch":
		b.fetch(name, args)
	case "delete-offsets":
		b.deleteOffsets(name, args)
	case "delete":
		resp := b.c.deleteGroups(context.Background(), caller{}, &kmsg.DeleteGroupsRequest{Groups: args.words})
		for _, g := range resp.Groups {
			b.printf("%s: delete %s %s\n", name, g.Group, codeName(g.ErrorCode))
		}
	case "expire":
		if err := b.c.expireOffsets(context.Background()); err != nil {
			b.t.Fatal(err)
		}
	default:
		b.t.Fatalf("unknown command %q", line)
	}
}

func (b *groupBench) answer(name string, parked bool, resp any, w *waiter) {
	if parked {
		b.waits = append(b.waits, &benchWait{name: name, w: w})
	} else {
		b.printf("%s: %s\n", name, describeAnswer(resp))
	}
	b.deliver()
}

// deliver prints the answers that have come to requests that waited.
func (b *groupBench) deliver() {
	var left []*benchWait
	for _, w := range b.waits {
		select {
		case resp := <-w.w.answer:
			b.printf("%s: %s\n", w.name, describeAnswer(resp))
		default:
			left = append(left, w)
		}
	}
	b.waits = left
}

// advance lets time pass, and every deadline on the way.
func (b *groupBench) advance(by string) {
	d, err := time.ParseDuration(by)
	if err != nil {
		b.t.Fatal(err)
	}
	end := b.now.Load() + d.Milliseconds()
	for {
		next, ok := b.c.deadlines.next()
		if !ok || next > end {
			break
		}
		b.now.Store(max(b.now.Load(), next))
		n := len(b.entries)
		b.c.firePassed(context.Background())
		if len(b.entries) > n {
			b.printf("  at +%s\n", time.Duration(b.now.Load()-benchStart)*time.Millisecond)
		}
		b.deliver()
	}
	b.now.Store(end)
}

// restart kills the broker: what was written is there, and nobody waits any more.
func (b *groupBench) restart() {
	for _, w := range b.waits {
		b.printf("%s: dropped\n", w.name)
	}
	b.replay()
	b.fs = b.fs.Crash(disk.KillProcess())
	b.start()
}

// replay folds the events into a new state, and stops and opens the journal: each gives the state that was there.
func (b *groupBench) replay() {
	b.t.Helper()
	again := projections.New()
	for _, e := range b.entries {
		for _, ev := range e.Events {
			if err := again.Apply(e.Seq, e.At, ev); err != nil {
				b.t.Fatalf("replay %d: %v", e.Seq, err)
			}
		}
	}
	b.same("a replay", rowsOf(b.t, again))
	kept := b.fs
	live := rowsOf(b.t, b.state)
	for _, how := range []string{"a kill", "a clean stop"} { // the second time from the snapshot that the first stop wrote
		b.fs = b.fs.Crash(disk.KillProcess())
		b.open()
		b.same(how, live)
		if err := b.store.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
	b.fs = kept
}

func (b *groupBench) same(how string, rows []string) {
	b.t.Helper()
	if live := rowsOf(b.t, b.state); !slices.Equal(live, rows) {
		b.t.Fatalf("state after %s:\n%q\nand:\n%q", how, live, rows)
	}
	b.check()
}

func (b *groupBench) dump() { b.printf("%s", dumpGroups(b.state)) }

func (b *groupBench) configure(a benchArgs) {
	b.set.maxSize = int(a.number("max.size", int32(b.set.maxSize)))
	b.set.initialRebalanceDelayMs = a.number("initial.delay", b.set.initialRebalanceDelayMs)
	b.set.offsetsRetentionMs = int64(a.number("retention", int32(b.set.offsetsRetentionMs)))
	b.configureConsumers(a)
	b.configureStreams(a)
	l := &b.set.limits
	l.groups, l.members = int(a.number("groups", int32(l.groups))), int(a.number("members", int32(l.members)))
	l.pending, l.offsets = int(a.number("member.ids", int32(l.pending))), int(a.number("offsets", int32(l.offsets)))
	l.groupBytes, l.groupsBytes = int64(a.number("group.bytes", int32(l.groupBytes))), int64(a.number("groups.bytes", int32(l.groupsBytes)))
	l.offsetsBytes = int64(a.number("offsets.bytes", int32(l.offsetsBytes)))
	b.c.settings = b.set
}

func (b *groupBench) check() {
	if err := b.state.Check(); err != nil {
		b.t.Fatalf("after entry %d: %v\n%s", len(b.entries), err, b.out.String())
	}
}
