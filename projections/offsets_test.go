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
