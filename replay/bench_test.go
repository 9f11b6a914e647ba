package replay

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// committing is a journal on a real disk with a thousand groups.
func committing(b *testing.B) (*journal.Store[*projections.State], disk.FS, journal.Options) {
	b.Helper()
	fsys, err := disk.OpenOS(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	clock := &testClock{}
	clock.ms.Store(1_764_444_798_000)
	opt := journal.Options{Clock: clock, IDs: &testIDs{}}
	store, _, err := journal.Open(fsys, opt, projections.New)
	if err != nil {
		b.Fatal(err)
	}
	err = store.Update(context.Background(), journal.Timed("start"), func(tx *journal.Tx[*projections.State]) {
		tx.Emit(&journal.ClusterCreated{ClusterID: store.ClusterID()})
		tx.Emit(&journal.BrokerStarted{Version: "bench"})
		for g := range groups {
			tx.Emit(&journal.GroupCreated{Group: fmt.Sprint("group-", g), Type: journal.GroupClassic})
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return store, fsys, opt
}

const (
	groups     = 1000
	partitions = 1000
	committers = 512
)

// commitN commits n offsets, one an update, from as many goroutines as connections may be.
func commitN(b *testing.B, store *journal.Store[*projections.State], n int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range committers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				err := store.Update(context.Background(), journal.Cause{API: 8, ClientID: "bench"}, func(tx *journal.Tx[*projections.State]) {
					tx.Emit(&journal.OffsetsCommitted{Group: fmt.Sprint("group-", i%groups), Offsets: []journal.CommittedOffset{
						{Topic: "orders", Partition: int32(i / groups % partitions), Offset: i, LeaderEpoch: -1, CommitAt: tx.At, ExpireAt: -1},
					}})
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkStoreCommits is how many commits a second a broker takes: at least 100,000.
func BenchmarkStoreCommits(b *testing.B) {
	store, _, _ := committing(b)
	b.ReportAllocs()
	b.ResetTimer()
	commitN(b, store, b.N)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStartOfAMillion is a start after a kill with a million commits to fold (under 2 s), then one after a clean stop
// with a snapshot of a million offsets (under 1 s).
func BenchmarkStartOfAMillion(b *testing.B) {
	store, fsys, opt := committing(b)
	commitN(b, store, 1_000_000)
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("snapshot", func(b *testing.B) {
		for range b.N {
			runtime.GC()
			began := time.Now()
			store, rec, err := journal.Open(fsys, opt, projections.New)
			if err != nil || rec.SnapshotSeq == 0 || rec.Applied > 10 {
				b.Fatalf("%+v, %v", rec, err)
			}
			b.ReportMetric(time.Since(began).Seconds(), "s/start")
			if err := store.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("replay", func(b *testing.B) {
		for range b.N {
			runtime.GC()
			began := time.Now()
			res, err := Run(fsys, "journal", Options{})
			if err != nil || res.Status != Replayed || res.State.Offsets.Len() != 1_000_000 {
				b.Fatalf("%v, %v", res, err)
			}
			b.ReportMetric(time.Since(began).Seconds(), "s/replay")
		}
	})
}
