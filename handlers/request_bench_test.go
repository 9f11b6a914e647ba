package handlers

import (
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BenchmarkRequest shows what a request costs between two sockets in memory. The client's part allocates nothing.
func BenchmarkRequest(b *testing.B) {
	c := startTestBroker(b, nil).connect()
	c.createTopic("t", 1)
	c.produce("t", 1, batch(1, 0, -1, -1, -1))
	list := kmsg.NewPtrListOffsetsRequest()
	list.Version = 7
	list.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: 0, CurrentLeaderEpoch: -1}}}}
	fetch := fetchRequest("t", 0, 1, 0)
	fetch.Topics[0].Partitions[0].PartitionMaxBytes = 1 // the first batch
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version = 2
	for _, one := range []struct {
		name string
		req  kmsg.Request
	}{
		{"api-versions", versions},
		{"produce", produceRequest("t", 1, batch(1, 0, -1, -1, -1))},
		{"fetch", fetch},
		{"list-offsets", list},
	} {
		frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, one.req, 1)
		b.Run(one.name, func(b *testing.B) {
			b.ReportAllocs()
			answer := make([]byte, 64<<10)
			for range b.N {
				if _, err := c.conn.Write(frame); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAtLeast(c.conn, answer, 8); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
