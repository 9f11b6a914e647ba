package console_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/sr"

	"doze"
	"doze/console"
)

// ownConsole is a walk in the console of a broker itself, which sees its inside: traffic, journal, telemetry.
func ownConsole(t testing.TB) *walk {
	t.Helper()
	broker := runBroker(t, doze.Options{DataDir: t.TempDir(), Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}, SchemaRegistry: "127.0.0.1:0", Console: "127.0.0.1:0"})
	w := &walk{t: t, broker: broker, at: broker.Ready().Console}
	return w
}

// crowd fills a broker with so many topics and groups, and some schemas. One group has offsets in every topic, every group has one in
// topic-0000; the journal gets history more entries.
func (w *walk) crowd(n, history int) {
	w.t.Helper()
	cl := w.client()
	admin := kadm.NewClient(cl)
	ctx := context.Background()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("topic-%04d", i))
	}
	for chunk := range slices.Chunk(names, 250) {
		if _, err := admin.CreateTopics(ctx, 1, 1, nil, chunk...); err != nil {
			w.t.Fatal(err)
		}
	}
	w.commits(n+1, func(i int) (string, []string, int64) {
		if i == n {
			return "group-all", names, 0
		}
		return fmt.Sprintf("group-%04d", i), slices.Compact([]string{names[0], names[i]}), 0
	})
	w.commits(history, func(i int) (string, []string, int64) { return "group-all", names[i%n : i%n+1], int64(i) })
	w.fill(names[0], 1, 500)
	registry, err := sr.NewClient(sr.URLs(w.broker.Ready().Registry))
	for i := 0; i < 20 && err == nil; i++ {
		_, err = registry.CreateSchema(ctx, fmt.Sprintf("topic-%04d-value", i), sr.Schema{Schema: orderV1})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// commits sends n commits of offsets, some at a time.
func (w *walk) commits(n int, what func(int) (group string, topics []string, at int64)) {
	w.t.Helper()
	admin := kadm.NewClient(w.client())
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := worker; i < n; i += 8 {
				group, topics, at := what(i)
				var offsets kadm.Offsets
				for _, name := range topics {
					offsets.AddOffset(name, 0, at, -1)
				}
				if err := admin.CommitAllOffsets(context.Background(), group, offsets); err != nil {
					w.t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
}

// largePages are the pages that the figures of docs/console-speed.md are of.
func largePages(n int) []string {
	topic := "/topics/" + fmt.Sprintf("topic-%04d", n/2)
	return []string{
		"/", "/overview/now", "/topics", "/topics?topics.q=99", "/topics?topics.sort=-size", "/topics-new",
		topic, "/topics/topic-0000", topic + "/partitions", topic + "/config", topic + "/consumers", "/topics/topic-0000/consumers", topic + "/producers", topic + "/acls", topic + "/produce",
		"/topics/topic-0000/message/0/7", "/trace?id=0af7651916cd43dd8448eb211c80319c",
		"/groups", "/groups?sort=-lag", "/groups?q=99", "/groups/group-0007", "/groups/group-all", "/groups/group-all/reset",
		"/schemas", "/schemas/subjects/topic-0000-value", "/security", "/security/users", "/security/quotas", "/security/tokens", "/security/allowed",
		"/broker", "/broker/log-dirs", "/broker/features", "/broker/findings", "/traffic", "/telemetry",
		"/timeline", "/timeline?q=topic-0007", "/timeline/entries/700", "/timeline/state?at=700", "/timeline/state?at=700&table=topics", "/timeline/changes", "/timeline/changes?from=700&to=800",
		"/timeline/groups/group-all", "/timeline/groups/group-all/lag", "/timeline/groups/group-all/requests", "/topics?at=700",
	}
}

// cpu is the processor's time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPages measures every page with 1,000 topics, 1,000 groups and 11,000 entries of the journal: the processor's time, broker
// and browser's side included; bytes; requests to the broker.
func BenchmarkPages(b *testing.B) {
	w := ownConsole(b)
	w.crowd(1000, 8000)
	for _, path := range largePages(1000) {
		b.Run(path, func(b *testing.B) {
			w.t = b
			size := len(w.get(path).Body)
			asked, began := console.Asked.Load(), cpu()
			for b.Loop() {
				w.get(path)
			}
			b.ReportMetric(float64((cpu()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(console.Asked.Load()-asked)/float64(b.N), "requests/op")
			b.ReportMetric(float64(size)/1024, "KiB/op")
		})
	}
}
