package conformance

import (
	"encoding/binary"
	"maps"
	"slices"

	"doze/conformance/recording"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// anyTime lets records have times of the far future, which roll segments.
const anyTime = "9223372036854775807"

// afterAll is a time behind the broker's, so that a batch rolls also behind a marker, which has the broker's time.
const afterAll int64 = 10 * 365 * 24 * hour

// each gives a broker all that a scenario of storage asks for beside the quick looks.
func each(more ...string) map[string]string {
	set := maps.Clone(soon)
	for i := 0; i+1 < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// withoutDelta are the fields of a Fetch answer but for those that count from the broker's time or measure what does.
var withoutDelta = []string{
	"Topics.Partitions.ErrorCode", "Topics.Partitions.HighWatermark", "Topics.Partitions.LastStableOffset", "Topics.Partitions.LogStartOffset",
	"Topics.Partitions.AbortedTransactions",
	"Topics.Partitions.RecordBatches.FirstOffset", "Topics.Partitions.RecordBatches.PartitionLeaderEpoch",
	"Topics.Partitions.RecordBatches.LastOffsetDelta", "Topics.Partitions.RecordBatches.Attributes",
	"Topics.Partitions.RecordBatches.FirstTimestamp", "Topics.Partitions.RecordBatches.MaxTimestamp",
	"Topics.Partitions.RecordBatches.ProducerID", "Topics.Partitions.RecordBatches.ProducerEpoch", "Topics.Partitions.RecordBatches.FirstSequence",
	"Topics.Partitions.RecordBatches.NumRecords", "Topics.Partitions.RecordBatches.Records.Attributes",
	"Topics.Partitions.RecordBatches.Records.OffsetDelta", "Topics.Partitions.RecordBatches.Records.Key",
	"Topics.Partitions.RecordBatches.Records.Value", "Topics.Partitions.RecordBatches.Records.Headers",
}

// shapeFrom fetches, without what the broker's time makes another each time.
func (n *Conn) shapeFrom(step string, t topicRef, offset int64) *Pending {
	return n.Send(step, 12, fetchFrom(t, offset)).Only(withoutDelta...)
}

// shape shows the batches of the whole log as one answer, whatever segments they are in: a broker answers with those of one.
// Batches without records are left out when no producer needs them: where these stay is another matter.
func (n *Conn) shape(step string, t topicRef) {
	n.eachShape(t, func(offset int64) *Pending { return n.shapeFrom(step, t, offset) })
}

// eachShape fetches from the log's start until nothing comes, and puts all batches into the first answer.
func (n *Conn) eachShape(t topicRef, fetch func(offset int64) *Pending) {
	var offset int64
	n.aside(func() {
		offset = Ask[*kmsg.ListOffsetsResponse](n, "start", 5, listOffsets(t, earliest)).Topics[0].Partitions[0].Offset
	})
	before := len(n.c.steps)
	var all []recording.Value
	for offset >= 0 {
		p := fetch(offset)
		offset = endOf(AwaitAs[*kmsg.FetchResponse](p))
		all = append(all, withRecords(*batchesIn(p.step.Answer))...)
	}
	n.c.steps = n.c.steps[:before+1]
	*batchesIn(n.c.steps[before].Answer) = all
}

// batchesIn is where an answer has the batches of its first partition.
func batchesIn(answer recording.Object) *recording.Value {
	first := func(name string, in recording.Object) recording.Object {
		return in.Get(name).([]recording.Value)[0].(recording.Object)
	}
	partition := first("Partitions", first("Topics", answer))
	i := slices.IndexFunc(partition, func(f recording.Field) bool { return f.Name == "RecordBatches" })
	return &partition[i].Value
}

func withRecords(batches recording.Value) (kept []recording.Value) {
	list, _ := batches.([]recording.Value)
	for _, b := range list {
		o, ok := b.(recording.Object)
		if !ok || o.Get("NumRecords") != int64(0) || o.Get("ProducerID") != int64(-1) {
			kept = append(kept, b)
		}
	}
	return kept
}

// endOf is the offset behind the batches of an answer's first partition; -1 when there are none.
func endOf(r *kmsg.FetchResponse) int64 {
	end, b := int64(-1), r.Topics[0].Partitions[0].RecordBatches
	for len(b) >= 61 {
		end = int64(binary.BigEndian.Uint64(b)) + int64(binary.BigEndian.Uint32(b[23:])) + 1
		b = b[min(len(b), 12+int(binary.BigEndian.Uint32(b[8:]))):]
	}
	return end
}

// committedShape is what read_committed gets.
func (n *Conn) committedShape(step string, t topicRef, offset int64) {
	n.Send(step, 12, onlyCommitted(fetchFrom(t, offset))).Only(withoutDelta...).Await()
}

// committed is what read_committed gets of the whole log.
func (n *Conn) committed(step string, t topicRef) {
	n.eachShape(t, func(offset int64) *Pending {
		return n.Send(step, 12, onlyCommitted(fetchFrom(t, offset))).Only(withoutDelta...)
	})
}

// lookUps asks for all special timestamps.
func (n *Conn) lookUps(step string, t topicRef) {
	for at := int64(latest); at >= earliestPending; at-- {
		n.Do(step+", "+number(at), 11, listOffsets(t, at))
	}
}

// byTimes asks for the first record of each time, in milliseconds after DayOne.
func (n *Conn) byTimes(step string, t topicRef, times ...int64) {
	for _, at := range times {
		n.Do(step+", by time "+number(at), 11, listOffsets(t, DayOne+at))
	}
}

// sizeOf shows how many bytes the log has.
func (n *Conn) sizeOf(step string, t topicRef) {
	n.Send(step, 1, logDirsOf(t.name, 0)).Only("Dirs.Topics.Partitions").Await()
}

// setTopic changes a topic's config and waits until it is the topic's.
func (n *Conn) setTopic(t topicRef, key, value string) {
	n.Do(key+"="+value, 1, alterConfigs(ofTopic, t.name, set(key, value)))
	n.aside(func() {
		AskUntil(n, "is "+value, 4, describeConfigs(ofTopic, t.name, key), func(r *kmsg.DescribeConfigsResponse) bool {
			return *r.Resources[0].Configs[0].Value == value
		})
	})
}

// aside does what the recording does not show.
func (n *Conn) aside(do func()) {
	before, mark := len(n.c.steps), n.c.scrub.mark()
	do()
	n.c.steps = n.c.steps[:before]
	n.c.scrub.reset(mark)
}

// swept waits until retention has looked at all logs: until it was seen twice to delete a record that is due.
func (n *Conn) swept(name string) {
	n.aside(func() {
		for _, round := range []string{"-1", "-2"} {
			due := n.NewTopic(name+"-swept"+round, 1, "retention.ms", "1000")
			n.Store("due", due, timed(0))
			n.awaitStart("swept", due, 1)
		}
	})
}

// cleaned waits until compaction has looked at all logs: until it was seen three times to compact one that is due.
func (n *Conn) cleaned(name string) {
	n.aside(func() {
		for _, round := range []string{"-1", "-2", "-3"} {
			due := n.compacted(name + "-cleaned" + round)
			n.Store("a key twice", due, pairs(0, "a", "1", "a", "2"))
			n.Store("an hour later", due, pairs(hour, "b", "1"))
			n.awaitRecords("compacted", due, 0, 1)
		}
	})
}

// untimed is a batch whose records have no times.
func untimed(kv ...string) Batch {
	b := pairs(0, kv...)
	for i := range b.Records {
		b.Records[i].Time = 0
	}
	b.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = -1, -1 }
	return b
}

// later makes pairs of a time behind all others, an hour after the other for each number.
func later(hours int64, kv ...string) Batch { return pairs(afterAll+hours*hour, kv...) }
