package console_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// BenchmarkPages times pages with 1,000 topics and 1,000 groups; the aim is 50 ms each.
func BenchmarkPages(b *testing.B) {
	w := start(b)
	c := w.client()
	admin := kadm.NewClient(c)
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("topic-%04d", i))
	}
	for len(names) > 0 {
		if _, err := admin.CreateTopics(context.Background(), 1, 1, nil, names[:100]...); err != nil {
			b.Fatal(err)
		}
		names = names[100:]
	}
	for i := range 1000 {
		offsets := kadm.Offsets{}
		offsets.AddOffset(fmt.Sprintf("topic-%04d", i), 0, 0, -1)
		if err := admin.CommitAllOffsets(context.Background(), fmt.Sprintf("group-%04d", i), offsets); err != nil {
			b.Fatal(err)
		}
	}
	for _, path := range []string{"/", "/topics", "/topics?topics.q=99", "/topics/topic-0500", "/topics/topic-0500/partitions", "/topics/topic-0500/config", "/topics/topic-0500/consumers"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				w.get(path)
			}
		})
	}
}

// BenchmarkLargeTopic opens a topic of a million messages: only the windows at its ends are read.
func BenchmarkLargeTopic(b *testing.B) {
	w := start(b)
	w.topic("large", 3)
	c := w.client(kgo.MaxBufferedRecords(200_000))
	value := []byte(`{"id":1,"text":"some text that is as long as messages are, about a hundred bytes"}`)
	for i := range 1_000_000 {
		c.Produce(context.Background(), &kgo.Record{Topic: "large", Partition: int32(i % 3), Value: value}, nil)
	}
	if err := c.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{"/topics/large", "/topics/large?from=oldest", "/topics/large?q=nothing"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				w.get(path)
			}
		})
	}
}
