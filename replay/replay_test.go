package replay

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

type testClock struct{ ms atomic.Int64 }

func (c *testClock) NowMillis() int64 { return c.ms.Load() }

type testIDs struct{ n atomic.Uint64 }

func (i *testIDs) NewUUID() (id [16]byte) {
	binary.BigEndian.PutUint64(id[8:], i.n.Add(1))
	return id
}

// session makes a journal: a cluster, some topics, configs; two starts.
type session struct {
	t     testing.TB
	fs    *disk.Mem
	opt   journal.Options
	clock *testClock
	store *journal.Store[*projections.State]
}

func newSession(t testing.TB, rollBytes int64) *session {
	s := &session{t: t, fs: disk.NewMem(), clock: &testClock{}}
	s.clock.ms.Store(1_764_444_798_000)
	s.opt = journal.Options{Clock: s.clock, IDs: &testIDs{}, RollBytes: rollBytes}
	s.start()
	return s
}

func (s *session) start() {
	s.t.Helper()
	var err error
	if s.store, _, err = journal.Open(s.fs, s.opt, projections.New); err != nil {
		s.t.Fatal(err)
	}
	s.update(journal.Timed("start"), func(tx *journal.Tx[*projections.State]) {
		if tx.State.ClusterID == "" {
			tx.Emit(&journal.ClusterCreated{ClusterID: s.store.ClusterID()})
		}
		tx.Emit(&journal.BrokerStarted{Version: "test"})
	})
}

func (s *session) stop() {
	s.t.Helper()
	if err := s.store.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) update(cause journal.Cause, decide func(tx *journal.Tx[*projections.State])) {
	s.t.Helper()
	s.clock.ms.Add(1000)
	if err := s.store.Update(context.Background(), cause, decide); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) create(names ...string) {
	s.t.Helper()
	s.update(journal.Cause{API: 19, ClientID: "admin", Conn: 7, Correlation: 3, Principal: "User:ANONYMOUS"}, func(tx *journal.Tx[*projections.State]) {
		for _, name := range names {
			tx.Emit(&journal.TopicCreated{ID: tx.NewUUID(), Name: name, Partitions: 1, Configs: []journal.ConfigPair{{Name: "retention.ms", Value: "5"}}})
		}
	})
}

func (s *session) drop(name string) {
	s.t.Helper()
	s.update(journal.Cause{API: 20, ClientID: "admin", Conn: 7, Correlation: 4}, func(tx *journal.Tx[*projections.State]) {
		tx.Emit(&journal.TopicDeleted{ID: tx.State.Topics.Named(name).ID})
	})
}

// usual is a session of two runs that ended cleanly.
func usual(t testing.TB) *session { return usualRolling(t, 1<<10) }

func usualRolling(t testing.TB, rollBytes int64) *session {
	s := newSession(t, rollBytes)
	s.create("a", "b")
	for i := range 20 {
		s.create(fmt.Sprint("t", i))
	}
	s.stop()
	s.start()
	s.drop("a")
	s.stop()
	return s
}

func replayed(t testing.TB, s *session, opt Options) (*Result, string) {
	t.Helper()
	var out bytes.Buffer
	opt.Out = &out
	res, err := Run(s.fs, "journal", opt)
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

func TestReplayGivesTheLiveState(t *testing.T) {
	s := usual(t)
	live, _ := s.store.View()
	want, err := journal.HashOf(live.Rows)
	if err != nil {
		t.Fatal(err)
	}
	res, out := replayed(t, s, Options{Check: true})
	if res.Status != Replayed || res.Hash != want || res.Compared < 3 || out != "" || !res.Clean || len(res.Notes) > 0 {
		t.Errorf("%+v\n%s", res, out)
	}
	one, _ := replayed(t, s, Options{Nearest: true})
	if one.Status != Replayed || one.Hash != want || one.Base == 0 {
		t.Errorf("from the nearest snapshot: %+v", one)
	}
}

func TestLinesForPeople(t *testing.T) {
	s := usual(t)
	_, out := replayed(t, s, Options{Print: Text, Grep: []Match{{"topic", "a"}}})
	want := `2 2025-11-29T19:33:20.000Z [CreateTopics client=admin conn=7 request=3 principal=User:ANONYMOUS] TopicCreated topicId=AAAAAAAAAAAAAAAAAAAAAw topic=a partitions=1 configs=[{name=retention.ms value=5}]
`
	first, rest, _ := strings.Cut(out, "\n")
	if first+"\n" != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	if !strings.Contains(rest, "[DeleteTopics client=admin conn=7 request=4] TopicDeleted topicId=AAAAAAAAAAAAAAAAAAAAAw # topic a\n") || strings.Count(rest, "\n") != 1 {
		t.Errorf("rest %s", rest)
	}
}

func TestJSONLinesAreJSON(t *testing.T) {
	s := usual(t)
	res, out := replayed(t, s, Options{Print: JSON, Stats: true, Dump: []string{"all"}, AsJSON: true})
	entries := 0
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var v struct{ Cause *struct{} }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if v.Cause != nil {
			entries++
		}
	}
	if entries != int(res.Entries) {
		t.Errorf("%d lines of %d entries", entries, res.Entries)
	}
}

func TestBoundsAndMatches(t *testing.T) {
	s := usual(t)
	for _, c := range []struct {
		from, until string
		grep        []string
		lines       int
		last        uint64
	}{
		{"", "2", nil, 4, 2},
		{"2", "2", nil, 2, 2},
		{"", "2025-11-29T19:33:20.000Z", nil, 4, 2},
		{"2025-11-29T19:33:20.000Z", "2025-11-29T19:33:20.999Z", nil, 2, 2},
		{"", "", []string{"kind=topiccreated"}, 22, 0},
		{"", "", []string{"kind=TopicCreated", "topic=b"}, 1, 0},
		{"", "", []string{"value=5", "api=CreateTopics", "client=admin", "conn=7"}, 22, 0},
		{"", "", []string{"timer=start"}, 3, 0},
		{"", "", []string{"name=nothing"}, 0, 0},
	} {
		opt := Options{Print: Text}
		var err error
		if c.from != "" {
			if opt.From, err = ParseBound(c.from); err != nil {
				t.Fatal(err)
			}
		}
		if c.until != "" {
			if opt.Until, err = ParseBound(c.until); err != nil {
				t.Fatal(err)
			}
		}
		for _, g := range c.grep {
			m, err := ParseMatch(g)
			if err != nil {
				t.Fatal(err)
			}
			opt.Grep = append(opt.Grep, m)
		}
		res, out := replayed(t, s, opt)
		if n := strings.Count(out, "\n"); n != c.lines || c.last > 0 && res.LastSeq != c.last || res.Status != Replayed {
			t.Errorf("%+v: %d lines, last entry %d, status %d:\n%s", c, n, res.LastSeq, res.Status, out)
		}
	}
}

// foreign is what a broken or foreign broker would have written.
func TestEntryThatDoesNotFitIsNamed(t *testing.T) {
	s := newSession(t, 1<<10)
	s.create("a")
	s.stop()
	loose, _, err := journal.Open(s.fs, s.opt, func() *looseState { return &looseState{projections.New()} })
	if err != nil {
		t.Fatal(err)
	}
	err = loose.Update(context.Background(), journal.Timed("x"), func(tx *journal.Tx[*looseState]) {
		tx.Emit(&journal.TopicDeleted{ID: [16]byte{0xee}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := loose.Close(); err != nil {
		t.Fatal(err)
	}
	res, _ := replayed(t, s, Options{})
	if res.Status != Differs || !strings.Contains(res.Verdict, "fold TopicDeleted of entry 4") {
		t.Errorf("%+v", res)
	}
}

// looseState takes what does not fit.
type looseState struct{ *projections.State }

func (l *looseState) Clone() *looseState { return &looseState{l.State.Clone()} }
func (l *looseState) Apply(seq uint64, at int64, e journal.Event) error {
	_ = l.State.Apply(seq, at, e)
	return nil
}

func TestHashThatDiffersIsNamed(t *testing.T) {
	s := newSession(t, 1<<10)
	s.create("a")
	s.update(journal.Timed("x"), func(tx *journal.Tx[*projections.State]) {
		tx.Emit(&journal.StateHashed{Seq: tx.Seq - 1, Hash: [32]byte{1}})
	})
	s.stop()
	res, _ := replayed(t, s, Options{})
	if res.Status != Differs || !strings.Contains(res.Verdict, "the state after entry 2 differs") {
		t.Errorf("%+v", res)
	}
}

func TestDamageIsNamed(t *testing.T) {
	s := usual(t)
	entries, err := s.fs.ReadDir("journal")
	if err != nil {
		t.Fatal(err)
	}
	first := "journal/" + entries[0].Name()
	f, err := s.fs.OpenFile(first, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	size, _ := f.Size()
	if _, err := f.WriteAt([]byte("damage"), size-100); err != nil {
		t.Fatal(err)
	}
	f.Close()
	res, _ := replayed(t, s, Options{Print: Text, Nearest: true})
	if res.Status != Replayed {
		t.Errorf("what a start does not read is not looked at: %+v", res)
	}
	res, out := replayed(t, s, Options{Print: Text})
	if res.Status != Damaged || res.Damage == nil || out == "" || !strings.Contains(res.Verdict, "doze repair") {
		t.Errorf("%+v\n%s", res, out)
	}
}

func TestDiff(t *testing.T) {
	a, b, c := usualRolling(t, 0), usualRolling(t, 0), usualRolling(t, 0)
	c.start()
	c.create("more")
	c.stop()
	for _, x := range []struct {
		name   string
		b      *session
		status int
		want   string
	}{
		{"equal", b, Replayed, ""},
		{"longer", c, Differs, "equal up to entry 26, then journal goes on\n+ 27 "},
	} {
		var out bytes.Buffer
		res, err := Diff(Journal{a.fs, "journal"}, Journal{x.b.fs, "journal"}, Options{Out: &out})
		if err != nil || res.Status != x.status || !strings.HasPrefix(out.String(), x.want) {
			t.Errorf("%s: error %v, status %d\n%s", x.name, err, res.Status, out.String())
		}
		if x.status == Differs && !strings.Contains(out.String(), "topics:\n+ topic=more ") {
			t.Errorf("%s: rows missing\n%s", x.name, out.String())
		}
	}
}

func TestRunRefusesWhatItCannotRead(t *testing.T) {
	if _, err := Run(disk.NewMem(), "journal", Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestLocate(t *testing.T) {
	s := usual(t)
	for name, want := range map[string]string{".": "journal", "journal": "journal"} {
		if got, err := Locate(s.fs, name); err != nil || got != want {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
}

func TestDumpForPeople(t *testing.T) {
	s := usual(t)
	_, out := replayed(t, s, Options{Dump: []string{"broker", "topics"}})
	if !strings.HasPrefix(out, "broker:\n  cluster=AAAAAAAAAAAAAAAAAAAAAQ starts=2 next-producer-id=0\ntopics:\n  topic=b id=") {
		t.Error(out)
	}
	if err := Dump(&bytes.Buffer{}, projections.New(), []string{"tpoics"}, false); err == nil {
		t.Error("an unknown table is dumped")
	}
}
