package conformance

import (
	"fmt"
	"math"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func produceEdgeScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "produce-time-edges",
			Claim: "Times at the ends of what 64 bits hold, and sums that run over them, are stored or refused as they are.",
			Run:   runProduceTimeEdges,
		},
		{
			Name:  "produce-size-edges",
			Claim: "A batch of exactly max.message.bytes is taken, one byte more is not, whatever the bytes are part of: key, value, one header or hundreds.",
			Run:   runProduceSizeEdges,
		},
	}
}

// timeEdges are the first time of a batch and how far its records are from it.
var timeEdges = []struct {
	first  int64
	deltas []int64
}{
	{math.MinInt64, []int64{0}},
	{math.MinInt64 + 1, []int64{0, 1}},
	{math.MinInt64, []int64{-1}},
	{math.MaxInt64, []int64{0}},
	{math.MaxInt64, []int64{1}},
	{math.MaxInt64 - 1, []int64{0, 1, 0}},
	{0, []int64{math.MinInt64}},
	{1, []int64{math.MaxInt64}},
	{-1, []int64{0, 1, 2}},
	{-2, []int64{0}},
	{-2, []int64{1}},
	{0, []int64{0, -1, -2}},
}

func runProduceTimeEdges(c *C) {
	a := c.Conn("a")
	for _, kind := range []struct {
		name    string
		version int16 // 7 has no texts: those of a topic without bounds tell numbers that no recording can name
		configs []string
	}{
		{"plain", 7, nil},
		{"stamped", 9, []string{"message.timestamp.type", "LogAppendTime"}},
		{"bounded", 9, []string{"message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000"}},
		{"packed", 7, []string{"compression.type", "uncompressed"}},
	} {
		for i, edge := range timeEdges {
			t := a.NewTopic(fmt.Sprintf("produce-time-edges-%s-%d", kind.name, i), 1, kind.configs...)
			for _, codec := range []int{-1, 0} {
				step := fmt.Sprintf("%s, %s, %d and %v", kind.name, codecName(codec), edge.first, edge.deltas)
				a.Do(step, kind.version, produceTo(t, -1, packedWith(edgeBatch(edge.first, edge.deltas), codec).Bytes()))
				a.Do(step+", stored", 12, fetchFrom(t, 0))
				a.Do(step+", largest", 7, listOffsets(t, largest))
				a.Do(step+", by the last time of all", 7, listOffsets(t, math.MaxInt64))
			}
		}
	}
}

func edgeBatch(first int64, deltas []int64) Batch {
	var b Batch
	most := int64(math.MinInt64)
	for _, d := range deltas {
		b.Records = append(b.Records, Record{Key: "k", Value: "v", Time: d})
		most = max(most, first+d)
	}
	b.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = first, most }
	return b
}

func runProduceSizeEdges(c *C) {
	a := c.Conn("a")
	const most = 2000
	t := a.NewTopic("produce-size-edges", 1, "max.message.bytes", fmt.Sprint(most))
	parts := []struct {
		name string
		with func(n int) Record
	}{
		{"a key", func(n int) Record { return Record{Key: strings.Repeat("k", n), NullValue: true} }},
		{"a value", func(n int) Record { return Record{NullKey: true, Value: strings.Repeat("v", n)} }},
		{"a header's value", func(n int) Record {
			return Record{Key: "k", Headers: []kmsg.Header{{Key: "h", Value: []byte(strings.Repeat("v", n))}}}
		}},
		{"a header's key", func(n int) Record {
			return Record{Key: "k", Headers: []kmsg.Header{{Key: strings.Repeat("h", n)}}}
		}},
	}
	for _, part := range parts {
		for _, over := range []int{0, 1} {
			b := Batch{Records: []Record{part.with(most - 200)}}
			b.Records[0] = part.with(most - 200 + most + over - len(b.Bytes()))
			if size := len(b.Bytes()); size != most+over {
				c.Fatalf("%s: a batch of %d bytes", part.name, size)
			}
			a.Do(fmt.Sprintf("%s, %d too many", part.name, over), 9, produceTo(t, -1, b.Bytes()))
		}
	}
	many := Record{Key: "k", Value: "v"}
	for i := range 450 {
		many.Headers = append(many.Headers, kmsg.Header{Key: fmt.Sprint("h", i%3), Value: []byte{byte(i)}})
	}
	a.Do("450 headers", 9, produceTo(t, -1, Batch{Records: []Record{many}}.Bytes()))
	a.Do("450 headers, packed", 9, produceTo(t, -1, packedWith(Batch{Records: []Record{many}}, 0).Bytes()))
	a.End("end", t)
}
