package console_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"doze/console"
)

// Records of a large topic: batches of so many, a second apart, in turns over the partitions.
const (
	largePartitions = 4
	largeBatch      = 10_000
)

var largeBegin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// large makes a topic of n records: one batch is written by a client, and sent again and again with other times.
func (w *walk) large(name string, n int) {
	w.t.Helper()
	w.topic(name, largePartitions)
	w.topic("one-batch", 1)
	cl := w.client(kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(time.Second), kgo.MaxBufferedRecords(largeBatch+1), kgo.DefaultProduceTopic("one-batch"), kgo.MaxVersions(kversion.V3_7_0()), kgo.DisableIdempotentWrite())
	for i := range largeBatch {
		cl.Produce(context.Background(), &kgo.Record{Value: fmt.Appendf(nil, `{"id":%d,"text":"what messages are like"}`, i), Timestamp: largeBegin}, nil)
	}
	if err := cl.Flush(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	batch := w.rawBatch(cl, "one-batch")
	if records := binary.BigEndian.Uint32(batch[57:]); records != largeBatch {
		w.t.Fatalf("the first batch has %d records", records)
	}
	for i := range n / largeBatch {
		at := largeBegin.Add(time.Duration(i) * time.Second).UnixMilli()
		binary.BigEndian.PutUint64(batch[27:], uint64(at))
		binary.BigEndian.PutUint64(batch[35:], uint64(at))
		binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
		w.sendRaw(cl, name, int32(i%largePartitions), batch)
	}
}

// rawBatch is the first batch of a topic as it is stored.
func (w *walk) rawBatch(cl *kgo.Client, topic string) []byte {
	w.t.Helper()
	details, err := kadm.NewClient(cl).ListTopics(context.Background(), topic)
	if err != nil {
		w.t.Fatal(err)
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.SessionEpoch = 4<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, details[topic].ID
	p := kmsg.NewFetchRequestTopicPartition()
	p.PartitionMaxBytes = 4 << 20
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	answered, err := cl.Broker(int(details[topic].Partitions[0].Leader)).Request(context.Background(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	batches := answered.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
	return batches[:12+binary.BigEndian.Uint32(batches[8:])]
}

func (w *walk) sendRaw(cl *kgo.Client, topic string, partition int32, batch []byte) {
	w.t.Helper()
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = 1, 30_000
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.ProduceRequestTopicPartition{p}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(context.Background(), cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// largePages are what people open of a large topic of n records, with a text that the page has.
func largePagesOf(n int) [][2]string {
	middle := largeBegin.Add(time.Duration(n/largeBatch/2) * time.Second).Format(time.RFC3339)
	last := fmt.Sprint(n/largePartitions - 1)
	return [][2]string{
		{"/topics", "large"}, {"/topics/large", "/message/3/" + last}, {"/topics/large?from=oldest", "/message/0/0"}, {"/topics/large?limit=500", "/message/3/" + last},
		{"/topics/large?from=offset&offset=" + fmt.Sprint(n/largePartitions/2), "/message/0/" + fmt.Sprint(n/largePartitions/2)},
		{"/topics/large?from=time&time=" + middle, strings.TrimSuffix(strings.ReplaceAll(middle, "T", " "), "Z")}, {"/topics/large?committed=yes", "/message/3/" + last},
		{"/topics/large/partitions", "large"}, {"/topics/large/messages-live?live=yes", "/message/3/" + last}, {"/topics/large/messages-new?ends=0-5.1-5", "new"},
		{"/topics/large/message/2/" + fmt.Sprint(n/largePartitions/3), "what messages are like"}, {"/topics/large?q=messages", "/message/3/"}, {"/topics/large?q=nothing-has-this", "Continue"},
		{"/topics/large?cel=" + queryEscape(`value.id > 9990`), "/message/3/"}, {"/topics/large?from=oldest&cel=" + queryEscape(`value.id < 0`), "Continue"},
		{"/topics/large/export?kind=json&count=10000", "what messages are like"},
	}
}

// A topic of many records opens without reading it: a page asks for its windows only, however many records there are.
func TestLargeTopic(t *testing.T) {
	defer console.SetBudget(20_000)()
	const n = 400_000
	w := start(t)
	w.large("large", n)
	for _, page := range largePagesOf(n) {
		asked := console.Asked.Load()
		got := w.get(page[0])
		if !strings.Contains(got.Body, page[1]) {
			t.Errorf("%s lacks %q:\n%s", page[0], page[1], clipped(got.Body))
		}
		if asked = console.Asked.Load() - asked; asked > 40 {
			t.Errorf("%s takes %d requests", page[0], asked)
		}
	}
}

// A broker gives a batch that is larger than was asked for to the first partition of an answer only, and has room for so many
// partitions: each page has the records of all of them all the same.
func TestLargeBatchesOfManyPartitions(t *testing.T) {
	w := start(t)
	const partitions = 12
	w.topic("wide", partitions, "max.message.bytes", "4000000")
	cl := w.client(kgo.ProducerBatchMaxBytes(3<<20), kgo.MaxBufferedBytes(64<<20))
	value := []byte(strings.Repeat("large ", 1<<18))
	for p := range int32(partitions) {
		w.produce(cl, &kgo.Record{Topic: "wide", Partition: p, Value: value})
	}
	for _, path := range []string{"/topics/wide", "/topics/wide?from=oldest", "/topics/wide?from=offset&offset=0", "/topics/wide?committed=yes"} {
		got := w.get(path)
		for p := range partitions {
			if !strings.Contains(got.Body, fmt.Sprintf(`"/topics/wide/message/%d/0"`, p)) {
				t.Errorf("%s lacks the record of partition %d", path, p)
			}
		}
	}
}

func clipped(s string) string { return s[:min(len(s), 4000)] }

// BenchmarkLargeTopic opens a topic of ten million records.
func BenchmarkLargeTopic(b *testing.B) {
	const n = 10_000_000
	w := ownConsole(b)
	w.large("large", n)
	for _, page := range largePagesOf(n) {
		b.Run(page[0], func(b *testing.B) {
			w.t = b
			if got := w.get(page[0]); !strings.Contains(got.Body, page[1]) {
				b.Errorf("the page lacks %q", page[1])
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			asked, began := console.Asked.Load(), cpu()
			for b.Loop() {
				w.get(page[0])
			}
			b.ReportMetric(float64((cpu()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(console.Asked.Load()-asked)/float64(b.N), "requests/op")
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/(1<<20), "MiB/op")
			b.ReportMetric(float64(after.HeapSys)/(1<<20), "heap-MiB")
		})
	}
}
