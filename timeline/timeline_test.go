package timeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"doze/console/inside"
	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// fixture is a journal that is being written and the timeline of it.
type fixture struct {
	testing.TB
	*Timeline
	fs    disk.FS
	store *journal.Store[*projections.State]
	clock clock
	ids   ids
}

type clock struct{ atomic.Int64 }

func (c *clock) NowMillis() int64 { return c.Add(1000) }

type ids struct{ atomic.Int64 }

func (i *ids) NewUUID() [16]byte {
	n := i.Add(1)
	return [16]byte{1, 14: byte(n >> 8), 15: byte(n)}
}

func start(t testing.TB, roll int64) *fixture {
	t.Helper()
	f := &fixture{TB: t, fs: disk.NewMem()}
	f.clock.Store(1_700_000_000_000)
	store, _, err := journal.Open(f.fs, journal.Options{Dir: "journal", Clock: &f.clock, IDs: &f.ids, RollBytes: roll}, projections.New)
	if err != nil {
		t.Fatal(err)
	}
	f.store = store
	t.Cleanup(func() { store.Close() })
	f.Timeline = New(Options{FS: f.fs, Dir: "journal", Store: store, Begun: 1, End: func(_ [16]byte, p int32, seq uint64) (int64, bool, bool) {
		return int64(seq) * 10, p == 0, true
	}})
	t.Cleanup(func() { f.Timeline.Close() })
	return f
}

// emit writes an entry and gives its number.
func (f *fixture) emit(client string, events ...journal.Event) (seq uint64) {
	f.Helper()
	cause := journal.Cause{API: 19, Conn: 7, Correlation: int32(f.clock.Load() % 1000), ClientID: client, Principal: "User:" + client}
	err := f.store.Update(context.Background(), cause, func(tx *journal.Tx[*projections.State]) {
		seq = tx.Seq
		for _, e := range events {
			tx.Emit(e)
		}
	})
	if err != nil {
		f.Fatal(err)
	}
	return seq
}

func topicID(n int) [16]byte { return [16]byte{9, 14: byte(n >> 8), 15: byte(n)} }

func created(n int, name string) *journal.TopicCreated {
	return &journal.TopicCreated{ID: topicID(n), Name: name, Partitions: 2, Configs: []journal.ConfigPair{{Name: "retention.ms", Value: "1000"}}}
}

func committed(group, topic string, n int, offset int64) *journal.OffsetsCommitted {
	return &journal.OffsetsCommitted{Group: group, Offsets: []journal.CommittedOffset{{Topic: topic, TopicID: topicID(n), Offset: offset, LeaderEpoch: -1, CommitAt: 5, ExpireAt: -1}}}
}

// history writes topics, configs, groups, commits, and a topic's end.
func (f *fixture) history(commits int) {
	f.emit("admin", created(1, "orders"))
	f.emit("admin", created(2, "payments"))
	f.emit("app", &journal.GroupCreated{Group: "g1", Type: journal.GroupClassic})
	f.emit("app", &journal.GroupCreated{Group: "g2", Type: journal.GroupClassic})
	for i := range commits {
		f.emit("app", committed(fmt.Sprint("g", 1+i%2), "orders", 1, int64(i)))
	}
	f.emit("bob", &journal.ConfigsAltered{ResourceType: 2, Resource: "orders", Set: []journal.ConfigPair{{Name: "retention.ms", Value: "2000"}}})
	f.emit("mallory", &journal.TopicDeleted{ID: topicID(2)})
}

func (f *fixture) entries(filter inside.EntryFilter) []inside.Entry {
	f.Helper()
	page, err := f.Entries(context.Background(), filter)
	if err != nil {
		f.Fatal(err)
	}
	return page.Entries
}

func seqs(entries []inside.Entry) (all []uint64) {
	for _, e := range entries {
		all = append(all, e.Seq)
	}
	return all
}

func TestEveryEntryIsOnOnePage(t *testing.T) {
	for n, limit := range []int{77, 77, firstStride, firstStride, 3 * firstStride, 3 * firstStride, 5, 5} {
		oldest := n%2 == 0
		f := start(t, 4<<10)
		f.history(700)
		_, last := f.store.View()
		var all []uint64
		filter := inside.EntryFilter{Limit: limit, Oldest: oldest}
		for {
			page, err := f.Entries(context.Background(), filter)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, seqs(page.Entries)...)
			if page.Next == 0 {
				break
			}
			if filter.Before = page.Next; oldest {
				filter.Before, filter.After = 0, page.Next
			}
		}
		if !oldest {
			slices.Reverse(all)
		}
		// Rolling files makes entries of its own, at any time.
		if newest := all[len(all)-1]; uint64(len(all)) != newest || newest < last || !slices.IsSorted(all) {
			t.Errorf("%d a page, oldest first %v: %d entries of %d, the first is %d", limit, oldest, len(all), last, all[0])
		}
	}
}

func TestEntriesAreFound(t *testing.T) {
	f := start(t, 0)
	f.history(6)
	for _, try := range []struct {
		filter inside.EntryFilter
		want   []uint64
	}{
		{inside.EntryFilter{Kind: "TopicCreated"}, []uint64{2, 1}},
		{inside.EntryFilter{Kind: "topiccreated", Oldest: true, Limit: 1}, []uint64{1}},
		{inside.EntryFilter{Area: "configs"}, []uint64{11}},
		{inside.EntryFilter{Topic: "payments"}, []uint64{12, 2}},
		{inside.EntryFilter{Topic: "orders", Area: "configs"}, []uint64{11}},
		{inside.EntryFilter{Group: "g2"}, []uint64{10, 8, 6, 4}},
		{inside.EntryFilter{Group: "g2", Before: 8}, []uint64{6, 4}},
		{inside.EntryFilter{Group: "g2", After: 8}, []uint64{10}},
		{inside.EntryFilter{Client: "bob"}, []uint64{11}},
		{inside.EntryFilter{Principal: "User:mallory"}, []uint64{12}},
		{inside.EntryFilter{Text: "RETENTION.ms", Limit: 2}, []uint64{11, 2}},
		{inside.EntryFilter{Topic: "none"}, nil},
	} {
		if got := seqs(f.entries(try.filter)); !slices.Equal(got, try.want) {
			t.Errorf("%+v finds %v, want %v", try.filter, got, try.want)
		}
	}
	at := f.entries(inside.EntryFilter{Kind: "TopicDeleted"})[0]
	if got := seqs(f.entries(inside.EntryFilter{From: at.At})); !slices.Equal(got, []uint64{12}) {
		t.Errorf("from its time on there are %v", got)
	}
	if got := seqs(f.entries(inside.EntryFilter{Conn: at.Cause.Conn, Corr: at.Cause.Correlation})); !slices.Contains(got, at.Seq) {
		t.Errorf("of its request there are %v", got)
	}
	if at.Cause.API != "CreateTopics" || at.Cause.Client != "mallory" || at.Events[0].Things[0] != (inside.Thing{Kind: "topic", Name: "payments"}) {
		t.Errorf("the deletion reads %+v", at)
	}
	one, err := f.Entry(context.Background(), 11)
	if err != nil || one.Seq != 11 || !slices.Contains(one.Events[0].Things, inside.Thing{Kind: "topic", Name: "orders"}) {
		t.Errorf("entry 11 reads %+v, %v", one, err)
	}
	var gone *NotThereError
	if _, err := f.Entry(context.Background(), 99); !errors.As(err, &gone) {
		t.Errorf("entry 99: %v", err)
	}
}

func TestStateAsOfEveryEntryIsTheFold(t *testing.T) {
	f := start(t, 4<<10)
	f.history(300)
	_, last := f.store.View()
	want := projections.New()
	hashes := map[uint64][32]byte{}
	err := f.visit(context.Background(), 0, func(e *journal.Entry, _ journal.Place) bool {
		if err := journal.ApplyEntry(want, e); err != nil {
			t.Fatal(err)
		}
		hashes[e.Seq] = hashOf(t, want)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range last {
		seq := 1 + (i*7919)%last // forth and back
		h, err := f.stateAt(context.Background(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if h.seq != seq || hashOf(t, h.state) != hashes[seq] {
			t.Fatalf("the state as of entry %d is another", seq)
		}
	}
	if n := len(f.states.kept); n > maxStates {
		t.Errorf("%d states are kept", n)
	}
}

func hashOf(t testing.TB, s *projections.State) [32]byte {
	t.Helper()
	sum, err := journal.HashOf(s.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestRowsAsOfAnEntry(t *testing.T) {
	f := start(t, 0)
	f.history(6)
	state, err := f.State(context.Background(), 9)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(q inside.RowQuery) string {
		r, err := state.Rows(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.Rows)
	}
	if got := rows(inside.RowQuery{Table: "topics"}); !strings.Contains(got, "orders") || !strings.Contains(got, "payments") {
		t.Errorf("topics then: %s", got)
	}
	if got := rows(inside.RowQuery{Table: "offsets", Column: "group", Is: "g1"}); !strings.Contains(got, "[g1 orders 0 4 -1  5 -1 90 86]") {
		t.Errorf("offsets then: %s", got)
	}
	if got := rows(inside.RowQuery{Table: "partitions", Contains: "payments", Skip: 1}); got != "[[payments 1 0 at most 90]]" {
		t.Errorf("partitions then: %s", got)
	}
	if got := rows(inside.RowQuery{Table: "configs", Contains: "orders"}); !strings.Contains(got, "1000") {
		t.Errorf("configs then: %s", got)
	}
	if _, err := state.Rows(context.Background(), inside.RowQuery{Table: "nothing"}); err == nil {
		t.Error("a table that is not there has rows")
	}
	if tables := fmt.Sprint(state.Tables()); !strings.Contains(tables, "{topics 2}") || !strings.Contains(tables, "{partitions 4}") {
		t.Errorf("tables: %s", tables)
	}
	state.Release()
}

func TestWhatChangedAndWhoDidIt(t *testing.T) {
	f := start(t, 0)
	f.history(6)
	changes, err := f.Changes(context.Background(), 12, 5) // either way round
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range changes.Tables {
		for _, c := range table.Changes {
			line := fmt.Sprintf("%s %s %s by %s in %d:", table.Table, c.What, c.Key, c.Cause.Client, c.Seq)
			for _, field := range c.Fields {
				line += fmt.Sprintf(" %s %s->%s", field.Name, field.Old, field.New)
			}
			got = append(got, line)
		}
	}
	want := []string{
		"topics deleted payments by mallory in 12: id CQAAAAAAAAAAAAAAAAAAAg->  partitions 2-> ",
		"configs changed 2:orders retention.ms by bob in 11: value 1000->2000",
		"configs deleted 2:payments retention.ms by mallory in 12: value 1000-> ",
		"offsets changed g1 orders 0 by app in 9: offset 0->4",
		"offsets created g2 orders 0 by app in 10: offset ->5 leader-epoch ->-1",
	}
	for _, line := range want {
		fields := strings.Fields(line)
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, strings.Join(fields[:7], " ")) }) {
			t.Errorf("there is no %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("changes are\n%s", strings.Join(got, "\n"))
	}
}

// TestTablesThatAreComparedAreThere: a new table needs its key, else each change of a row is one that goes and one that comes.
func TestTablesThatAreComparedAreThere(t *testing.T) {
	tables := projections.Tables()
	for _, table := range tables {
		if _, listed := keyColumns[table]; !listed && table != "acls" && !slices.Contains(leftOut, table) { // an ACL is its key
			t.Errorf("keyColumns does not say how many columns of table %s name a row", table)
		}
	}
	named := slices.Concat(slices.Collect(maps.Keys(keyColumns)), leftOut)
	for _, list := range onlyIn {
		named = append(named, list...)
	}
	for _, table := range named {
		if !slices.Contains(tables, table) {
			t.Errorf("there is no table %s", table)
		}
	}
}

func TestStripsCountEveryEvent(t *testing.T) {
	f := start(t, 4<<10)
	f.history(500)
	_, last := f.store.View()
	s, err := f.Strips(context.Background(), 0, last, 50)
	if err != nil || len(s.Columns) != 50 {
		t.Fatal(len(s.Columns), err)
	}
	counts := make([]int, areaCount)
	next := uint64(1)
	for _, c := range s.Columns {
		if c.First != next {
			t.Errorf("a column begins at %d, not %d", c.First, next)
		}
		next = c.Last + 1
		for area, n := range c.Counts {
			counts[area] += n
		}
	}
	// A broker's events are hashes at rolls; deleting a topic takes no event of its own for anything else.
	if next != last+1 || counts[areaOffsets] != 500 || counts[areaTopics] != 3 || counts[areaConfigs] != 1 || counts[areaGroups] != 2 {
		t.Errorf("up to %d: %v", next, counts)
	}
}

func TestLagOverTime(t *testing.T) {
	f := start(t, 0)
	f.history(20)
	h, err := f.Lag(context.Background(), "g1")
	if err != nil || len(h.Series) != 1 || len(h.Series[0].Points) != 10 {
		t.Fatalf("%+v, %v", h, err)
	}
	if p := h.Series[0].Points[1]; p.Seq != 7 || p.Committed != 2 || p.End != 70 || !p.Known {
		t.Errorf("%+v", p)
	}
}

func TestIndexThinsOutAndStillFindsAll(t *testing.T) {
	f := start(t, 0)
	f.history(1000)
	f.entries(inside.EntryFilter{})
	before := len(f.index.marks)
	f.index.mu.Lock()
	for range 3 {
		f.index.thin()
	}
	f.index.mu.Unlock()
	for i := range 200 {
		f.emit("late", committed("g1", "orders", 1, int64(i)))
	}
	all := f.entries(inside.EntryFilter{Client: "late", Limit: 500})
	if len(all) != 200 || len(f.index.marks) >= before {
		t.Errorf("%d entries are found, %d marks of %d", len(all), len(f.index.marks), before)
	}
	if got := f.entries(inside.EntryFilter{Before: 3}); !slices.Equal(seqs(got), []uint64{2, 1}) {
		t.Errorf("the first ones are %v", seqs(got))
	}
}

func TestJournalIsReadWhileItIsWritten(t *testing.T) {
	f := start(t, 8<<10)
	f.history(10)
	var writing sync.WaitGroup
	done := make(chan struct{})
	writing.Go(func() {
		for i := range 2000 {
			f.emit("app", committed("g1", "orders", 1, int64(i)))
		}
		close(done)
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		head := f.Head()
		page, err := f.Entries(context.Background(), inside.EntryFilter{Limit: 20})
		if err != nil || len(page.Entries) != 20 && head.Last >= 20 || page.Entries[0].Seq < head.Last {
			t.Fatalf("%d entries up to %d: %v", len(page.Entries), head.Last, err)
		}
		state, err := f.State(context.Background(), head.Last-2)
		if err != nil || state.Seq() != head.Last-2 {
			t.Fatal(state, err)
		}
		if _, err := f.Changes(context.Background(), head.Last-5, head.Last); err != nil {
			t.Fatal(err)
		}
	}
	writing.Wait()
}

func TestEntriesThatRetentionTook(t *testing.T) {
	f := start(t, 2<<10)
	f.history(200)
	f.entries(inside.EntryFilter{})
	files, err := f.fs.ReadDir("journal")
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".journal") && removed < 3 {
			if err := f.fs.Remove("journal/" + file.Name()); err != nil {
				t.Fatal(err)
			}
			removed++
		}
	}
	f.emit("app", committed("g1", "orders", 1, 1))
	all := f.entries(inside.EntryFilter{Limit: 500})
	head := f.Head()
	if head.First < 10 || all[len(all)-1].Seq != head.First || uint64(len(all)) != all[0].Seq-head.First+1 {
		t.Errorf("%d entries from %d to %d", len(all), head.First, all[0].Seq)
	}
	if _, err := f.State(context.Background(), 3); err == nil {
		t.Error("a state is told of entries that are gone")
	}
	for seq := head.First; seq <= head.Last; seq += 40 {
		if _, err := f.State(context.Background(), seq); err != nil {
			var unknown *UnknownStateError
			if !errors.As(err, &unknown) {
				t.Errorf("as of %d: %v", seq, err)
			}
		}
	}
}

func TestFoldsEndWithTheirAsker(t *testing.T) {
	f := start(t, 0)
	f.history(2000)
	f.entries(inside.EntryFilter{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.State(ctx, 1500); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for range maxFolds {
		f.states.folds <- struct{}{}
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := f.State(ctx, 1400); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one fold more: %v", err)
	}
}

// Whatever an assignment's bytes are, what is shown of them is bounded.
func FuzzAssignment(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range readAssignment(b) {
			if len(s) > 20*len(b)+40 {
				t.Errorf("%d bytes of %d", len(s), len(b))
			}
		}
	})
}

func TestConfigsThatLetPeopleInAreHidden(t *testing.T) {
	const planted = "hunter2-planted"
	f := start(t, 0)
	f.history(2)
	f.emit("admin", &journal.ConfigsAltered{ResourceType: 4, Resource: "1", Set: []journal.ConfigPair{{Name: "listener.name.x.sasl.jaas.config", Value: planted}, {Name: "log.retention.ms", Value: "777"}}})
	head := f.Head()
	all := fmt.Sprintf("%+v", f.entries(inside.EntryFilter{}))
	state, err := f.State(context.Background(), head.Last)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := state.Rows(context.Background(), inside.RowQuery{Table: "configs"})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := f.Changes(context.Background(), 1, head.Last)
	if err != nil {
		t.Fatal(err)
	}
	all += fmt.Sprintf("%+v %+v", rows, changes)
	if strings.Contains(all, planted) || !strings.Contains(all, "777") || !strings.Contains(all, inside.Hidden) {
		t.Errorf("%s", all)
	}
	if found := f.entries(inside.EntryFilter{Text: planted}); len(found) > 0 {
		t.Error("a search tells what is hidden")
	}
	found, err := state.Rows(context.Background(), inside.RowQuery{Table: "configs", Contains: planted})
	if err != nil || len(found.Rows) > 0 {
		t.Error("a search in a table tells what is hidden")
	}
}

func TestWhatHappenedLately(t *testing.T) {
	f := start(t, 0)
	f.history(300)
	var said []string
	for _, e := range f.Recent(context.Background(), 3) {
		said = append(said, e.Events[0].Words)
	}
	want := []string{"topic payments was deleted", "configs of topic orders set retention.ms=2000", "classic group g2 was created"}
	if !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}
