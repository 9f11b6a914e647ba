package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// soon makes a broker look after its logs all the time.
var soon = map[string]string{
	"log.cleaner.backoff.ms": "50", "log.initial.task.delay.ms": "50", "log.retention.check.interval.ms": "50",
}

func storageScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "compact-records",
			Claim: "Compaction keeps the last record of each key in closed segments, whole, at its offset; batches keep their ends, and the first timestamp becomes that of the first record left.",
			Set:   soon,
			Run:   runCompactRecords,
		},
		{
			Name:  "compact-tombstones",
			Claim: "The first compaction that meets a tombstone keeps it and gives its batch a delete horizon; one after the horizon takes it.",
			Set:   soon,
			Run:   runCompactTombstones,
		},
		{
			Name:  "compact-producers",
			Claim: "The last batch of a producer, and the last of what was compacted, keep their heads when all records go: duplicates are still known, and reading goes on behind them.",
			Set:   soon,
			Run:   runCompactProducers,
		},
		{
			Name:  "compact-codecs",
			Claim: "Compressed batches are compacted record by record and stay compressed with their codec.",
			Set:   soon,
			Run:   runCompactCodecs,
		},
		{
			Name:  "compact-policies",
			Claim: "cleanup.policy changes between compact and delete with records in the log; all that was not compacted stays readable, and DescribeConfigs says what was set.",
			Set:   soon,
			Run:   runCompactPolicies,
		},
		{
			Name:  "retention-time",
			Claim: "When all records are older than retention.ms the log is empty, the segment that was written too; offsets go on, also after a restart.",
			Set:   soon,
			Fresh: true,
			Run:   runRetentionTime,
		},
		{
			Name:  "retention-segments",
			Claim: "A segment goes by the largest timestamp in it.",
			Set:   soon,
			Run:   runRetentionSegments,
		},
		{
			Name:  "retention-size",
			Claim: "retention.bytes takes whole segments from the front, as long as what is left is not smaller.",
			Set:   soon,
			Run:   runRetentionSize,
		},
		{
			Name:  "retention-compacted",
			Claim: "With both policies records go by compaction and by age.",
			Set:   soon,
			Run:   runRetentionCompacted,
		},
	}
}

const hour = 3_600_000

// pairs is a batch of records: key, value, key, value; a value of "-" is a tombstone.
func pairs(at int64, kv ...string) Batch {
	b := Batch{Start: DayOne + at}
	for i := 0; i+1 < len(kv); i += 2 {
		r := Record{Key: kv[i], Value: kv[i+1], Time: int64(i / 2), NullValue: kv[i+1] == "-"}
		r.Headers = []kmsg.Header{{Key: "of", Value: []byte(kv[i])}}
		b.Records = append(b.Records, r)
	}
	return b
}

// compacted makes a topic that is compacted as soon as a segment is closed, which a record of an hour later does.
func (n *Conn) compacted(name string, configs ...string) topicRef {
	return n.NewTopic(name, 1, append([]string{"cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.01", "segment.ms", "1800000"}, configs...)...)
}

// recordsIn counts the batches and the records of an answer's first partition.
func recordsIn(r *kmsg.FetchResponse) (batches, records int) {
	if len(r.Topics) == 0 {
		return 0, 0
	}
	b := r.Topics[0].Partitions[0].RecordBatches
	for len(b) > 61 {
		var raw kmsg.RecordBatch
		size := 12 + int(uint32(b[8])<<24|uint32(b[9])<<16|uint32(b[10])<<8|uint32(b[11]))
		if size > len(b) || raw.ReadFrom(b[:size]) != nil {
			break
		}
		batches, records, b = batches+1, records+int(raw.NumRecords), b[size:]
	}
	if len(b) == 61 { // a head without records
		batches++
	}
	return batches, records
}

// awaitRecords fetches from an offset until so many records are left.
func (n *Conn) awaitRecords(step string, t topicRef, offset int64, want int) {
	AskUntil(n, step, 12, fetchFrom(t, offset), func(r *kmsg.FetchResponse) bool {
		_, records := recordsIn(r)
		return records == want
	})
}

// showUntil fetches until so many records are left, where not all of the answer is shown.
func (n *Conn) showUntil(fetch func() *Pending, want int) {
	before, mark := len(n.c.steps), n.c.scrub.mark()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		r := AwaitAs[*kmsg.FetchResponse](fetch())
		if _, records := recordsIn(r); records == want {
			return
		}
		if time.Now().After(deadline) {
			n.c.Fatalf("not %d records within %s", want, patience)
		}
		n.c.steps = n.c.steps[:before]
		n.c.scrub.reset(mark)
	}
}

func (n *Conn) awaitStart(step string, t topicRef, want int64) {
	AskUntil(n, step, 5, listOffsets(t, earliest), func(r *kmsg.ListOffsetsResponse) bool {
		return r.Topics[0].Partitions[0].Offset == want
	})
}

func runCompactRecords(c *C) {
	a := c.Conn("a")
	t := a.compacted("compact-records")
	a.Store("three keys", t, pairs(0, "a", "1", "b", "1", "c", "1"))
	a.Store("two again", t, pairs(1000, "a", "2", "b", "2"))
	a.Store("one again", t, pairs(2000, "b", "3"))
	a.Store("four keys, one twice", t, pairs(3000, "d", "1", "e", "1", "d", "2", "f", "1"))
	a.Do("before", 12, fetchFrom(t, 0))
	a.Store("an hour later", t, pairs(hour, "a", "9"))
	a.awaitRecords("compacted", t, 0, 6)
	for _, offset := range []int64{1, 2, 3, 4, 6, 8, 9} {
		a.Do("from "+number(offset), 12, fetchFrom(t, offset))
	}
	a.Do("earliest", 5, listOffsets(t, earliest))
	a.End("end", t)
	for _, at := range []int64{0, 1, 2, 3, 1000, 1001, 2000, 2001, 3000, 3001, 3002, 3003, 3004, hour} {
		a.Do("by time "+number(at), 5, listOffsets(t, DayOne+at))
	}
	a.Do("largest time", 7, listOffsets(t, largest))
}

func runCompactTombstones(c *C) {
	a := c.Conn("a")
	t := a.compacted("compact-tombstones", "delete.retention.ms", "1")
	fields := []string{
		"Topics.Partitions.HighWatermark", "Topics.Partitions.LogStartOffset", "Topics.Partitions.RecordBatches.FirstOffset",
		"Topics.Partitions.RecordBatches.LastOffsetDelta", "Topics.Partitions.RecordBatches.Attributes", "Topics.Partitions.RecordBatches.FirstTimestamp",
		"Topics.Partitions.RecordBatches.MaxTimestamp", "Topics.Partitions.RecordBatches.NumRecords", "Topics.Partitions.RecordBatches.Records.OffsetDelta",
		"Topics.Partitions.RecordBatches.Records.Key", "Topics.Partitions.RecordBatches.Records.Value",
	}
	a.Store("two keys", t, pairs(0, "a", "1", "b", "1"))
	a.Store("a tombstone and a record", t, pairs(1000, "a", "-", "c", "1"))
	a.Store("a tombstone of no record", t, pairs(2000, "x", "-"))
	a.Store("an hour later", t, pairs(hour, "d", "1"))
	until := func(step string, want int) {
		a.showUntil(func() *Pending { return a.Send(step, 12, fetchFrom(t, 0)).Only(fields...) }, want)
	}
	until("compacted once", 4)
	a.Do("the tombstone's time", 5, listOffsets(t, DayOne+1000))
	a.Store("two hours later", t, pairs(2*hour, "e", "1"))
	until("compacted again", 3)
}

func runCompactProducers(c *C) {
	a := c.Conn("a")
	t := a.compacted("compact-producers")
	of := func(id int64, sequence int32, at int64, kv ...string) Batch {
		b := pairs(at, kv...)
		b.Idempotent, b.ProducerID, b.Sequence = true, id, sequence
		return b
	}
	one, last := of(501, 1, 1000, "a", "2", "b", "2"), of(501, 3, 2000, "a", "3")
	a.Store("501: first", t, of(501, 0, 0, "a", "1"))
	a.Store("501: second", t, one)
	a.Store("501: third", t, last)
	a.Store("502", t, of(502, 0, 3000, "a", "4", "b", "4"))
	a.Store("no producer", t, pairs(4000, "c", "1"))
	a.Store("no producer, the last", t, pairs(5000, "c", "2"))
	a.Store("an hour later, all again", t, pairs(hour, "a", "9", "b", "9", "c", "9", "x", "9"))
	a.awaitRecords("compacted once", t, 0, 3)
	a.Store("two hours later", t, pairs(2*hour, "d", "1"))
	a.awaitRecords("compacted again", t, 0, 4)
	for _, offset := range []int64{1, 3, 4, 6, 7, 9} {
		a.Do("from "+number(offset), 12, fetchFrom(t, offset))
	}
	a.Do("largest time", 7, listOffsets(t, largest))
	a.Do("by time", 5, listOffsets(t, DayOne+2000))
	a.Do("501: the last again", 9, produceTo(t, -1, last.Bytes()))
	a.Do("501: goes on", 9, produceTo(t, -1, of(501, 4, 2*hour, "e", "1").Bytes()))
	a.Do("producers", 0, describeProducers(t.name))
}

func runCompactCodecs(c *C) {
	a := c.Conn("a")
	for _, codec := range []struct {
		name     string
		bits     int16
		compress func([]byte) []byte
	}{{"gzip", 1, gzipped}} {
		t := a.compacted("compact-codecs-" + codec.name)
		b := pairs(0, "a", "1", "b", "1", "a", "2", "c", "1")
		b.Attributes, b.Compress = codec.bits, codec.compress
		a.Store("four records", t, b)
		b = pairs(1000, "d", "1", "e", "1")
		b.Attributes, b.Compress = codec.bits, codec.compress
		a.Store("two that stay", t, b)
		a.Store("an hour later", t, pairs(hour, "b", "9"))
		a.showUntil(func() *Pending { return a.Send("compacted", 12, fetchFrom(t, 0)).Inflated() }, 5)
	}
}

func runCompactPolicies(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("compact-policies", 1, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.01", "segment.ms", "1800000", "retention.ms", "-1")
	policy := func(value string) {
		a.Do("policy "+value, 1, alterConfigs(ofTopic, t.name, set("cleanup.policy", value)))
		AskUntil(a, "policy is "+value, 4, describeConfigs(ofTopic, t.name, "cleanup.policy"), func(r *kmsg.DescribeConfigsResponse) bool {
			return *r.Resources[0].Configs[0].Value == value
		})
	}
	a.Store("a key twice", t, pairs(0, "a", "1", "a", "2"))
	a.Store("an hour later", t, pairs(hour, "a", "3"))
	a.awaitRecords("compacted", t, 0, 1)
	policy("delete")
	a.Store("no key", t, Batch{Start: DayOne + hour, Records: []Record{{NullKey: true, Value: "none"}, {Key: "a", Value: "4"}}})
	a.Store("two hours later", t, pairs(2*hour, "a", "5"))
	a.Do("not compacted", 12, fetchFrom(t, 0))
	policy("compact")
	a.awaitRecords("compacted again", t, 2, 1)
	policy("compact,delete")
	a.Do("with both", 12, fetchFrom(t, 0))
}

func runRetentionTime(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("retention-time", 1, "retention.ms", "1000", "message.timestamp.before.max.ms", "9223372036854775807")
	a.Store("old records", t, timed(0, 5))
	a.awaitStart("all gone", t, 2)
	a.End("end", t)
	a.Do("fetch at the start", 12, fetchFrom(t, 2))
	a.Do("fetch below", 12, fetchFrom(t, 1))
	a.Do("by time", 5, listOffsets(t, DayOne))
	a.Do("largest time", 7, listOffsets(t, largest))
	keep := Batch{Start: time.Now().Add(30 * time.Minute).UnixMilli(), Records: []Record{{Key: "k", Value: "v"}}}
	a.Store("a new one", t, keep)
	c.Restart()
	a = c.Conn("b")
	a.AwaitTopic(t.name, 1)
	a.Do("start after a restart", 5, listOffsets(t, earliest))
	a.End("end after a restart", t)
	a.Do("fetch after a restart", 12, fetchFrom(t, 2))
}

func runRetentionSegments(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("retention-segments", 1, "segment.ms", "1800000", "retention.ms", "-1")
	now := time.Now().UnixMilli()
	a.Store("first segment", t, timed(0, 5))
	a.Store("second segment, with an old record and a new one", t, Batch{Start: now - hour/6, Records: []Record{{Key: "new"}, {Key: "old", Time: -3 * hour}}})
	a.Store("third segment", t, Batch{Start: now + hour/2, Records: []Record{{Key: "k", Value: "v"}}})
	a.Do("retention", 1, alterConfigs(ofTopic, t.name, set("retention.ms", "3600000")))
	a.awaitStart("the first is gone", t, 2)
	a.Do("start again", 5, listOffsets(t, earliest))
	a.End("end", t)
	a.Do("fetch below", 12, fetchFrom(t, 1))
}

func runRetentionSize(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("retention-size", 1, "segment.ms", "1800000", "retention.ms", "-1")
	for i := range int64(5) {
		a.Store("segment "+number(i), t, timed(i*hour))
	}
	a.Do("retention of 200 bytes", 1, alterConfigs(ofTopic, t.name, set("retention.bytes", "200")))
	a.awaitStart("two or three are left", t, 2)
	a.Do("start again", 5, listOffsets(t, earliest))
	a.Store("another segment", t, timed(5*hour))
	a.awaitStart("one more is gone", t, 3)
	a.Do("retention of 0 bytes", 1, alterConfigs(ofTopic, t.name, set("retention.bytes", "0")))
	a.awaitStart("all are gone", t, 6)
	a.End("end", t)
	a.Store("goes on", t, timed(6*hour))
}

func runRetentionCompacted(c *C) {
	a := c.Conn("a")
	t := a.compacted("retention-compacted", "cleanup.policy", "compact,delete", "retention.ms", "-1")
	a.Store("a key twice", t, pairs(0, "a", "1", "a", "2"))
	a.Store("an hour later", t, pairs(hour, "b", "1"))
	a.awaitRecords("compacted", t, 0, 1)
	a.Do("retention", 1, alterConfigs(ofTopic, t.name, set("retention.ms", "1000")))
	a.awaitStart("all gone", t, 3)
	a.End("end", t)
}
