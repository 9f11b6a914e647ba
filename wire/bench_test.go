package wire

import (
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BenchmarkRequest is a tiny request and its answer over loopback, client included.
func BenchmarkRequest(b *testing.B) {
	_, l := start(b, Options{}, table{})
	p := dial(b, l)
	request := frameOf(NewRequest(12, 4), 1)
	answer := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		p.Write(request)
		if _, err := io.ReadAtLeast(p, answer, 4); err != nil {
			b.Fatal(err)
		}
	}
}

// usual are requests as clients send them all the time.
func usual() map[string]kmsg.Request {
	produce := NewRequest(0, 12).(*kmsg.ProduceRequest)
	produce.Topics = []kmsg.ProduceRequestTopic{{
		Topic:      "orders",
		Partitions: []kmsg.ProduceRequestTopicPartition{{Records: make([]byte, 1<<20)}},
	}}
	fetch := NewRequest(1, 17).(*kmsg.FetchRequest)
	fetch.Topics = []kmsg.FetchRequestTopic{{}}
	for range 3 {
		fetch.Topics[0].Partitions = append(fetch.Topics[0].Partitions, kmsg.NewFetchRequestTopicPartition())
	}
	commit := NewRequest(8, 9).(*kmsg.OffsetCommitRequest)
	commit.Group, commit.MemberID = "group", "member-1-00000000-0000-0000-0000-000000000000"
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{
		Topic:      "orders",
		Partitions: make([]kmsg.OffsetCommitRequestTopicPartition, 6),
	}}
	heartbeat := NewRequest(12, 4).(*kmsg.HeartbeatRequest)
	heartbeat.Group, heartbeat.MemberID = commit.Group, commit.MemberID
	return map[string]kmsg.Request{"Produce": produce, "Fetch": fetch, "OffsetCommit": commit, "Heartbeat": heartbeat}
}

func BenchmarkCheck(b *testing.B) {
	for name, r := range usual() {
		body, s := r.AppendTo(nil), shapeOf(r.Key(), r.GetVersion())
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.check(body, 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode is kmsg's part, to compare the check with.
func BenchmarkDecode(b *testing.B) {
	for name, r := range usual() {
		body := r.AppendTo(nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				to := kmsg.RequestForKey(r.Key())
				to.SetVersion(r.GetVersion())
				if err := to.ReadFrom(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
