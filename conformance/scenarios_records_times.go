package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func produceTimeScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "produce-max-timestamp",
			Claim: "A max timestamp that is not that of the records is put right in the stored batch, and the CRC with it.",
			Run:   runProduceMaxTimestamp,
		},
		{
			Name:  "produce-log-append-time",
			Claim: "With LogAppendTime the answer has the broker's time, the stored batch has it as max timestamp and the bit of its type, and a duplicate is answered with the time of the original.",
			Run:   runProduceLogAppendTime,
		},
		{
			Name:  "produce-duplicate-time",
			Claim: "A duplicate for a topic with CreateTime is answered with the max timestamp of the original, where the original was answered with -1.",
			Run:   runProduceDuplicateTime,
		},
		{
			Name:  "produce-timestamp-bounds",
			Claim: "Records older than message.timestamp.before.max.ms or newer than message.timestamp.after.max.ms fail their batch: INVALID_TIMESTAMP, and from v8 on each such record with its index.",
			Run:   runProduceTimestampBounds,
		},
		{
			Name:  "produce-timestamp-type",
			Claim: "A batch that says LogAppendTime for a topic with CreateTime is stored as CreateTime when it has a max timestamp, and INVALID_TIMESTAMP when that is -1.",
			Run:   runProduceTimestampType,
		},
		{
			Name:  "produce-unknown-attributes",
			Claim: "An attribute bit that means nothing is stored with the batch, and dropped when the broker puts the time right.",
			Run:   runProduceUnknownAttributes,
		},
		{
			Name:  "produce-compression-type",
			Claim: "A topic whose compression.type is a codec or uncompressed stores batches so, whatever the producer sent, and max.message.bytes holds for what was sent and for what is stored.",
			Run:   runProduceCompressionType,
		},
	}
}

func runProduceMaxTimestamp(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-max-timestamp", 1)
	with := func(most int64, times ...int64) Batch {
		b := timed(times...)
		b.Edit = func(raw *kmsg.RecordBatch) { raw.MaxTimestamp = most }
		return b
	}
	a.Store("too large", t, with(DayOne+1000, 0, 5))
	a.Store("too small", t, with(DayOne, 0, 7))
	a.Store("-1", t, with(-1, 0, 9))
	a.Store("falling", t, timed(9, 4, -100))
	none := timed(0, 0)
	none.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = -1, -1 }
	a.Store("no times", t, none)
	packed := with(DayOne+1000, 0, 11)
	packed.Attributes, packed.Compress = 1, gzipped
	a.Store("compressed, too large", t, packed)
	a.Do("fetch", 12, fetchFrom(t, 0))
	a.Do("by the largest time", 7, listOffsets(t, largest))
	a.Do("by a time only the head had", 7, listOffsets(t, DayOne+500))
}

func runProduceLogAppendTime(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-log-append-time", 1, "message.timestamp.type", "LogAppendTime")
	a.Do("store", 9, produceTo(t, -1, timed(0, 5).Bytes()))
	a.Do("store, v3", 3, produceTo(t, -1, timed(0, 5).Bytes()))
	a.Do("of a producer", 9, produceTo(t, -1, sequenced(100, 0, 2).Bytes()))
	a.Do("its duplicate", 9, produceTo(t, -1, sequenced(100, 0, 2).Bytes()))
	marked := timed(0, 5)
	marked.Attributes = 8
	a.Do("said to be so", 9, produceTo(t, -1, marked.Bytes()))
	packed := timed(0, 5)
	packed.Attributes, packed.Compress = 1, gzipped
	a.Do("compressed", 9, produceTo(t, -1, packed.Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 0))
	a.Do("largest time", 7, listOffsets(t, largest))
	a.Do("by the sent time", 7, listOffsets(t, DayOne))
}

func runProduceDuplicateTime(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-duplicate-time", 1)
	b := timed(0, 5)
	b.Idempotent, b.ProducerID = true, 101
	for _, step := range []string{"store", "duplicate", "duplicate again"} {
		a.Do(step, 9, produceTo(t, -1, b.Bytes()))
	}
}

func runProduceTimestampBounds(c *C) {
	a := c.Conn("a")
	// Half an hour, so that the bounds that Kafka tells count as now.
	t := a.NewTopic("produce-timestamp-bounds", 1, "message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000")
	now := time.Now().UnixMilli()
	const century = 36_525 * 24 * 3_600_000
	ahead, noTime := int64(century), -1-DayOne
	for _, v := range []int16{7, 8, 13} {
		a.Do("now "+vn(v), v, produceTo(t, -1, clocked(now, 0, 1)))
		a.Do("too old "+vn(v), v, produceTo(t, -1, clocked(DayOne, 0, 0)))
		a.Do("too new "+vn(v), v, produceTo(t, -1, clocked(DayOne, ahead, ahead)))
		a.Do("none and too old "+vn(v), v, produceTo(t, -1, clocked(DayOne, noTime, 0, 1)))
	}
	a.Do("no times", 9, produceTo(t, -1, clocked(-1, 0, 0)))
	keyed := a.NewTopic("produce-timestamp-bounds-compact", 1, "message.timestamp.before.max.ms", "1800000", "cleanup.policy", "compact")
	a.Do("neither key nor time", 9, produceTo(keyed, -1, clocked(DayOne, 0, 0)))
	free := a.NewTopic("produce-timestamp-bounds-log", 1, "message.timestamp.before.max.ms", "1800000", "message.timestamp.type", "LogAppendTime")
	a.Do("LogAppendTime does not look", 9, produceTo(free, -1, clocked(DayOne, 0)))
	plain := a.NewTopic("produce-timestamp-bounds-default", 1)
	a.Do("far ahead by default", 7, produceTo(plain, -1, clocked(DayOne, ahead)))
	a.Do("any age by default", 9, produceTo(plain, -1, clocked(0, 0, 1)))
	a.End("end", t)
}

func runProduceTimestampType(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-timestamp-type", 1)
	b := timed(0, 5)
	b.Attributes = 8
	try(a, "said to be LogAppendTime", t, b.Bytes())
	none := timed(0, 0)
	none.Attributes = 8
	none.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = -1, -1 }
	try(a, "and without a time", t, none.Bytes())
	none.Attributes, none.Compress = 9, gzipped
	try(a, "compressed, and without a time", t, none.Bytes())
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceCompressionType(c *C) {
	a := c.Conn("a")
	big := timed(0)
	for len(big.Records[0].Value) < 2000 {
		big.Records[0].Value += "0123456789"
	}
	packed := big
	packed.Attributes, packed.Compress = 1, gzipped
	asSent := a.NewTopic("produce-compression-type-producer", 1, "max.message.bytes", "1000")
	a.Do("small as sent", 9, produceTo(asSent, -1, packed.Bytes()))
	a.Do("large as sent", 9, produceTo(asSent, -1, big.Bytes()))
	unpacked := a.NewTopic("produce-compression-type-uncompressed", 1, "compression.type", "uncompressed", "max.message.bytes", "1000")
	a.Do("large once unpacked", 9, produceTo(unpacked, -1, packed.Bytes()))
	small := compressed(1, gzipped, "x", "y")
	a.Do("small, and unpacked", 9, produceTo(unpacked, -1, small.Bytes()))
	a.Do("fetch unpacked", 12, fetchFrom(unpacked, 0))
	idempotent := compressed(1, gzipped, "x", "y")
	idempotent.Idempotent, idempotent.ProducerID = true, 102
	a.Do("of a producer", 9, produceTo(unpacked, -1, idempotent.Bytes()))
	a.Do("its duplicate", 9, produceTo(unpacked, -1, idempotent.Bytes()))
}

// clocked is a batch whose first timestamp is start, with records so many milliseconds from there. Its head does not say
// the largest.
func clocked(start int64, deltas ...int64) []byte {
	var b Batch
	for _, d := range deltas {
		b.Records = append(b.Records, Record{NullKey: true, Value: "v", Time: d})
	}
	b.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = start, start }
	return b.Bytes()
}

func runProduceUnknownAttributes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-unknown-attributes", 1)
	for range 2 {
		for _, bits := range []int16{0x80, 0x40, 0x4000, -0x8000} {
			b := timed(0, 5)
			b.Attributes = bits
			a.Store("bits", t, b)
			b.Edit = func(raw *kmsg.RecordBatch) { raw.MaxTimestamp = DayOne }
			a.Store("bits and a wrong time", t, b)
		}
	}
	a.Do("fetch", 12, fetchFrom(t, 0))
}
