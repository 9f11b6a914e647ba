package projections

import (
	"fmt"
	"runtime"
	"testing"

	"doze/journal"
)

// committedOffsets folds n commits of one offset each: as many groups as given, in turn over topics and partitions.
func committedOffsets(tb testing.TB, n, groups, topics int) *State {
	tb.Helper()
	s := New()
	for g := range groups {
		apply(tb, s, &journal.GroupCreated{Group: fmt.Sprintf("group-%d", g), Type: journal.GroupClassic})
	}
	e := &journal.OffsetsCommitted{Offsets: make([]journal.CommittedOffset, 1)}
	for i := range n {
		g, rest := i%groups, i/groups
		t, p := rest%topics, rest/topics
		e.Group = fmt.Sprintf("group-%d", g)
		e.Offsets[0] = journal.CommittedOffset{
			Topic: fmt.Sprintf("topic-%d", t), TopicID: [16]byte{byte(t), byte(t >> 8), 1}, Partition: int32(p), Offset: int64(i),
			LeaderEpoch: -1, CommitAt: int64(i), ExpireAt: -1,
		}
		apply(tb, s, e)
	}
	return s
}

func apply(tb testing.TB, s *State, events ...journal.Event) {
	tb.Helper()
	for _, e := range events {
		if err := s.Apply(1, 1, e); err != nil {
			tb.Fatal(err)
		}
	}
}

// A million committed offsets take at most 200 MB, however they are spread: 200 bytes each.
func TestOffsetsAreSmall(t *testing.T) {
	const n, bound = 100_000, 200
	for _, spread := range []struct{ groups, topics int }{{10, 100}, {1_000, 10}, {10_000, 1}} {
		before := heap()
		s := committedOffsets(t, n, spread.groups, spread.topics)
		if s.Offsets.Len() != n {
			t.Fatalf("%d offsets, want %d", s.Offsets.Len(), n)
		}
		if each := (heap() - before) / n; each > bound {
			t.Errorf("%d groups, %d topics: %d bytes an offset", spread.groups, spread.topics, each)
		}
		runtime.KeepAlive(s)
	}
}

// What is kept beside an offset goes with it, and with the next commit of the partition.
func TestMetadataGoesWithItsOffset(t *testing.T) {
	s := New()
	commit := func(partition int32, metadata string) journal.Event {
		return &journal.OffsetsCommitted{Group: "g", Offsets: []journal.CommittedOffset{
			{Topic: "t", Partition: partition, Metadata: metadata, LeaderEpoch: -1, ExpireAt: -1},
		}}
	}
	steps := []struct {
		event                   journal.Event
		offsets, extras, blocks int
	}{
		{&journal.GroupCreated{Group: "g", Type: journal.GroupClassic}, 0, 0, 0},
		{commit(15, "a"), 1, 1, 1},
		{commit(16, "b"), 2, 2, 2},
		{commit(3, "c"), 3, 3, 2},
		{commit(3, "d"), 3, 3, 2},
		{commit(3, ""), 3, 2, 2},
		{&journal.OffsetsDeleted{Group: "g", Partitions: []journal.TopicPartition{{Topic: "t", Partition: 15}}}, 2, 1, 2},
		{&journal.OffsetsExpired{Group: "g", Partitions: []journal.TopicPartition{{Topic: "t", Partition: 3}}}, 1, 1, 1},
		{&journal.GroupDeleted{Group: "g"}, 0, 0, 0},
	}
	for i, step := range steps {
		apply(t, s, step.event)
		o := s.Offsets
		if o.Len() != step.offsets || o.extras.Len() != step.extras || o.blocks.Len() != step.blocks {
			t.Errorf("step %d: %d offsets, %d of them with more, in %d blocks; want %d, %d, %d",
				i, o.Len(), o.extras.Len(), o.blocks.Len(), step.offsets, step.extras, step.blocks)
		}
		if err := s.Check(); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkFoldCommit(b *testing.B) {
	b.ReportAllocs()
	committedOffsets(b, max(b.N, 1000), 1000, 10)
}

func BenchmarkLoadOffset(b *testing.B) {
	s := committedOffsets(b, 1_000_000, 1000, 10)
	rows := make([][]byte, 0, 1_100_000)
	_ = s.Rows(func(row []byte) error { rows = append(rows, append([]byte(nil), row...)); return nil })
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		loaded := New()
		for _, row := range rows {
			if err := loaded.LoadRow(row); err != nil {
				b.Fatal(err)
			}
		}
	}
}
