package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func compactionScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "compact-lags",
			Claim: "Records younger than min.compaction.lag.ms are not compacted, nor what is behind them; without times that of the last write counts; max.compaction.lag.ms ends segments and has them compacted whatever the ratio is.",
			Part:  2, Set: soon,
			Run: runCompactLags,
		},
		{
			Name:  "compact-dirty-ratio",
			Claim: "A log is compacted when its dirty part is more than min.cleanable.dirty.ratio, which can be changed.",
			Part:  2, Set: soon,
			Run: runCompactDirtyRatio,
		},
		{
			Name:  "compact-all-codecs",
			Claim: "Batches keep their own codec in compaction, whatever the topic's compression.type.",
			Part:  2, Slow: true, Set: soon,
			Run: runCompactAllCodecs,
		},
		{
			Name:  "compact-times",
			Claim: "After compaction the largest time of a batch is that of the records left, and look-ups find these.",
			Part:  2, Set: soon,
			Run: runCompactTimes,
		},
		{
			Name:  "compact-emptied-times",
			Claim: "A batch that keeps its head alone keeps its largest time, and Kafka's look-ups take it for one that has a record.",
			Part:  2, Slow: true, Set: soon,
			Run: runCompactEmptiedTimes,
		},
		{
			Name:  "compact-log-append-time",
			Claim: "Batches of LogAppendTime keep their type and time in compaction, also those with a tombstone.",
			Part:  2, Set: soon,
			Run: runCompactLogAppendTime,
		},
		{
			Name:  "compact-odd-batches",
			Claim: "A client's attribute bit of a delete horizon counts as one; records that are written anew lose their attributes.",
			Part:  2, Set: soon,
			Run: runCompactOddBatches,
		},
		{
			Name:  "compact-tombstone-stays",
			Claim: "A tombstone stays through compactions until delete.retention.ms is over, and goes at once when a later record of its key is met.",
			Part:  2, Slow: true, Set: soon,
			Run: runCompactTombstoneStays,
		},
		{
			Name:  "compact-expired-producers",
			Claim: "The head of a producer's last batch goes once the producer is forgotten.",
			Part:  2, Set: each("producer.id.expiration.ms", "1000", "producer.id.expiration.check.interval.ms", "100"), Fresh: true,
			Run: runCompactExpiredProducers,
		},
		{
			Name:  "compact-deleted-records",
			Claim: "DeleteRecords of a topic with both policies may end where compaction left nothing; a Fetch from there gets what is next, and compaction goes on behind it.",
			Part:  2, Slow: true, Set: soon, Fresh: true,
			Run: runCompactDeletedRecords,
		},
		{
			Name:  "compact-sizes",
			Claim: "DescribeLogDirs counts what compaction and deletion left.",
			Part:  2, Set: soon,
			Run: runCompactSizes,
		},
		{
			Name:  "compact-to-the-end",
			Claim: "A log of which compaction leaves nothing but the end of what it looked at: every offset can be fetched from, and lists its end, also after a restart and a kill.",
			Part:  2, Slow: true, Set: soon, Fresh: true,
			Run: runCompactToTheEnd,
		},
	}
}

func runCompactLags(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-lags", "min.compaction.lag.ms", "3600000", "internal.segment.bytes", "100", "segment.ms", oneSegment)
	a.Store("old", t, pairs(0, "a", "1"))
	a.Store("old again", t, pairs(1, "a", "2"))
	b := pairs(0, "b", "1")
	b.Start = time.Now().UnixMilli() - 600_000
	young := func(value string) Batch { b.Records[0].Value = value; return b }
	a.Store("young", t, young("1"))
	a.Store("young again", t, young("2"))
	a.Store("old behind it", t, pairs(2, "c", "1"))
	a.Store("old behind it again", t, pairs(3, "c", "2"))
	a.Store("last", t, pairs(4, "z", "1"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-lags-1")
	a.shape("only the old", t)
	a.setTopic(t, "min.compaction.lag.ms", "0")
	a.cleaned("compact-lags-2")
	a.shape("all", t)

	t = a.heldBack("compact-lags-untimed", "min.compaction.lag.ms", "3600000", "internal.segment.bytes", "100", "segment.ms", oneSegment)
	a.Store("no time", t, untimed("a", "1"))
	a.Store("no time again", t, untimed("a", "2"))
	a.Store("the last without", t, untimed("z", "2"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-lags-3")
	a.shape("without times", t)
	a.setTopic(t, "min.compaction.lag.ms", "0")
	a.cleaned("compact-lags-4")
	a.shape("without times, all", t)
	a.lookUps("without times", t)
	a.byTimes("without times", t, 0)

	t = a.NewTopic("compact-lags-most", 1, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "1", "max.compaction.lag.ms", "1000")
	a.Store("a key twice", t, pairs(0, "a", "1", "a", "2"))
	a.Store("two seconds later", t, pairs(2000, "b", "1"))
	a.cleaned("compact-lags-5")
	a.shape("overdue", t)
}

func runCompactDirtyRatio(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-dirty-ratio", "min.cleanable.dirty.ratio", "0.6")
	a.Store("two keys twice", t, pairs(0, "a", "1", "b", "1", "a", "2", "b", "2"))
	a.Store("an hour later, one twice", t, pairs(hour, "c", "1", "c", "2"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-dirty-ratio-1")
	a.shape("all was dirty", t)
	a.Store("two hours later", t, pairs(2*hour, "d", "1"))
	a.cleaned("compact-dirty-ratio")
	a.shape("half is dirty", t)
	a.setTopic(t, "min.cleanable.dirty.ratio", "0.3")
	a.cleaned("compact-dirty-ratio-2")
	a.shape("more than the ratio", t)
}

func runCompactAllCodecs(c *C) {
	a := c.Conn("a")
	var names []string
	var topics []topicRef
	for _, kind := range append([]string{"producer"}, storedTypes...) {
		for codec := -1; codec < len(codecs) && (codec < 0 || kind == "producer"); codec++ {
			name := codecName(codec) + " to " + kind
			t := a.heldBack("compact-all-codecs-"+kind+number(int64(codec)), "compression.type", kind)
			a.Store("four records "+name, t, packedWith(pairs(0, "a", "1", "b", "1", "a", "2", "c", "1"), codec))
			a.Store("one that goes "+name, t, packedWith(pairs(1000, "e", "1"), codec))
			a.Store("two that stay "+name, t, packedWith(pairs(1000, "d", "1", "e", "2"), codec))
			a.Store("an hour later "+name, t, packedWith(pairs(hour, "z", "9"), codec))
			a.setTopic(t, "cleanup.policy", "compact")
			names, topics = append(names, name), append(topics, t)
		}
	}
	a.cleaned("compact-all-codecs")
	for i, t := range topics {
		a.eachShape(t, func(offset int64) *Pending {
			return a.Send("compacted "+names[i], 12, fetchFrom(t, offset)).Inflated().Only(withoutDelta...)
		})
	}
}

func runCompactTimes(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-times", "internal.segment.bytes", "400", "segment.ms", oneSegment)
	at := func(start int64, kv ...any) Batch {
		b := Batch{Start: DayOne + start}
		for i := 0; i+1 < len(kv); i += 2 {
			b.Records = append(b.Records, Record{Key: kv[i].(string), Value: "v", Time: int64(kv[i+1].(int))})
		}
		return b
	}
	a.Store("the largest goes", t, at(0, "a", 10, "b", 500, "c", 20))
	a.Store("the first goes", t, at(100, "d", 0, "e", 5, "f", 7))
	a.Store("falling, the middle goes", t, at(0, "g", 300, "h", 200, "i", 100))
	a.Store("all of them later", t, at(50, "b", 0, "d", 1, "h", 2))
	a.Store("filler", t, at(60, "y", 0, "y", 1, "y", 2, "y", 3, "y", 4))
	a.Store("the last", t, at(70, "z", 0, "z", 1, "z", 2, "z", 3, "z", 4))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-times")
	a.shape("all", t)
	a.lookUps("compacted", t)
	a.byTimes("compacted", t, 0, 10, 11, 20, 21, 50, 51, 100, 101, 105, 106, 107, 108, 200, 201, 300, 301, 500)
}

func runCompactEmptiedTimes(c *C) {
	a := c.Conn("a")
	for _, kind := range []string{"CreateTime", "LogAppendTime"} {
		t := a.heldBack("compact-emptied-times-"+kind, "internal.segment.bytes", "100", "segment.ms", oneSegment, "message.timestamp.type", kind)
		a.Store("stays", t, pairs(0, "a", "1"))
		a.Store("goes, the largest time", t, pairs(900, "b", "1"))
		a.Store("supersedes", t, pairs(30, "b", "2"))
		a.Store("behind", t, pairs(500, "c", "2"))
		a.setTopic(t, "cleanup.policy", "compact")
		a.cleaned("compact-emptied-times-" + kind + "-1")
		a.shape("not the last of what was compacted", t)
		a.Store("supersedes that too", t, pairs(31, "b", "3"))
		a.cleaned("compact-emptied-times-" + kind + "-1b")
		a.Store("behind again", t, pairs(32, "d", "2"))
		a.cleaned("compact-emptied-times-" + kind + "-2")
		a.shape("the last of what was compacted", t)
		a.lookUps(kind, t)
		a.byTimes(kind, t, 0, 1, 30, 31, 32, 33, 100, 500, 501, 900, 901)
	}
	t := a.heldBack("compact-emptied-times-last", "internal.segment.bytes", "100", "segment.ms", oneSegment)
	a.Store("stays", t, pairs(0, "a", "1"))
	a.Store("the largest time", t, pairs(900, "b", "1"))
	a.Store("supersedes, and is written", t, pairs(30, "b", "2"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-emptied-times-last-1")
	a.Store("behind", t, pairs(31, "c", "2"))
	a.cleaned("compact-emptied-times-last-2")
	a.shape("all", t)
	a.lookUps("all", t)
	a.byTimes("all", t, 0, 1, 30, 31, 32, 900)
}

func runCompactLogAppendTime(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-log-append-time", "internal.segment.bytes", "150", "segment.ms", oneSegment, "message.timestamp.type", "LogAppendTime")
	a.Store("three", t, pairs(0, "a", "1", "b", "1", "c", "1"))
	a.Store("a tombstone", t, pairs(5, "c", "-", "a", "2"))
	a.Store("the last", t, pairs(6, "z", "1", "z", "2"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-log-append-time-1")
	a.shape("compacted", t)
	a.Store("another", t, pairs(7, "z", "1", "z", "2", "z", "3"))
	a.cleaned("compact-log-append-time-2")
	a.shape("compacted again", t)
	a.lookUps("compacted again", t)
}

func runCompactOddBatches(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-odd-batches")
	bits := pairs(0, "a", "-", "b", "1", "c", "1")
	bits.Attributes = 0x40
	a.Store("a horizon that is over", t, bits)
	bits = pairs(0, "d", "-", "e", "1", "f", "1")
	bits.Attributes, bits.Start = 0x40, DayOne+afterAll
	bits.Records[0].Time, bits.Records[1].Time, bits.Records[2].Time = -afterAll, -afterAll, -afterAll
	a.Store("a horizon to come", t, bits)
	bits = pairs(2, "g", "1", "h", "1", "i", "1")
	bits.Attributes = 0x3f80
	bits.Edit = func(raw *kmsg.RecordBatch) { raw.Records[1] = 0x55 }
	a.Store("bits without meaning", t, bits)
	a.Store("an hour later", t, pairs(hour, "c", "2", "f", "2", "i", "2"))
	a.Store("later", t, later(0, "z", "1"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-odd-batches")
	a.shape("compacted", t)
	a.lookUps("compacted", t)
}

func runCompactTombstoneStays(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-tombstone-stays", "delete.retention.ms", "86400000000")
	a.Store("two keys", t, pairs(0, "a", "1", "b", "1", "c", "1"))
	a.Store("tombstones", t, pairs(1, "a", "-", "b", "-", "d", "-"))
	a.Store("an hour later", t, pairs(hour, "z", "1"))
	a.setTopic(t, "cleanup.policy", "compact")
	fields := append([]string{}, withoutDelta...)
	fields = append(fields[:9], fields[10:]...) // without the first timestamp, which is the horizon
	for i, next := range [][]string{{"z", "2"}, {"a", "2"}, {"z", "3"}, {"b", "-"}, {"z", "4"}, {"z", "5"}} {
		step := number(int64(i))
		a.cleaned("compact-tombstone-stays-" + step)
		a.eachShape(t, func(offset int64) *Pending {
			return a.Send("compacted "+step, 12, fetchFrom(t, offset)).Only(fields...)
		})
		if i == 4 {
			a.setTopic(t, "delete.retention.ms", "1") // the horizon that a batch has stays
		}
		a.Store("later "+step, t, pairs(int64(i+2)*hour, next...))
	}
}

func runCompactExpiredProducers(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-expired-producers")
	b := pairs(0, "a", "1")
	b.Idempotent, b.ProducerID = true, 641
	a.Store("641", t, b)
	a.Store("no producer", t, pairs(1, "a", "2"))
	a.Store("later", t, later(0, "z", "1"))
	AskUntil(a, "no producers", 0, describeProducers(t.name), func(r *kmsg.DescribeProducersResponse) bool {
		return len(r.Topics[0].Partitions[0].ActiveProducers) == 0
	})
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-expired-producers-1")
	a.shape("compacted", t)
	b.Sequence, b.Records[0].Value = 9, "3"
	a.Store("641 again", t, b)
	a.Store("later again", t, later(1, "a", "4"))
	a.Store("later still", t, later(2, "z", "4"))
	AskUntil(a, "no producers again", 0, describeProducers(t.name), func(r *kmsg.DescribeProducersResponse) bool {
		return len(r.Topics[0].Partitions[0].ActiveProducers) == 0
	})
	a.Store("and the last", t, later(3, "z", "5"))
	a.cleaned("compact-expired-producers-2")
	a.shape("compacted again", t)
}

func runCompactDeletedRecords(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-deleted-records")
	a.Store("three keys", t, pairs(0, "a", "1", "b", "1", "c", "1"))
	a.Store("three keys again", t, pairs(1, "a", "2", "b", "2", "c", "2"))
	a.Store("an hour later", t, pairs(hour, "b", "3", "d", "1", "e", "1"))
	a.Store("two hours later", t, pairs(2*hour, "z", "1"))
	a.Do("delete before 1", 2, deleteBefore(t, 1))
	a.setTopic(t, "cleanup.policy", "compact,delete")
	a.cleaned("compact-deleted-records-1")
	look := func(step string, from ...int64) {
		a.lookUps(step, t)
		for _, offset := range from {
			a.shapeFrom(step+" from "+number(offset), t, offset).Await()
		}
		a.byTimes(step, t, 0, 2, hour, hour+2)
		a.sizeOf(step+", size", t)
	}
	look("compacted", 0, 1, 2, 3, 4, 5)
	a.Do("delete into a hole", 2, deleteBefore(t, 4))
	look("deleted", 3, 4, 5)
	a.Do("delete there again", 2, deleteBefore(t, 4))
	a.Do("delete below", 2, deleteBefore(t, 2))
	a.Store("three hours later", t, pairs(3*hour, "e", "2"))
	a.cleaned("compact-deleted-records-1b")
	a.Store("four hours later", t, pairs(4*hour, "z", "2"))
	a.cleaned("compact-deleted-records-2")
	look("compacted again", 4, 6)
	a.Do("delete before 8", 2, deleteBefore(t, 8))
	a.swept("compact-deleted-records")
	a.cleaned("compact-deleted-records-3")
	look("deleted again", 7, 8)
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	look("after a restart", 7, 8)
	a.Do("delete all", 2, deleteBefore(t, -1))
	a.Do("delete all again", 2, deleteBefore(t, -1))
	a.End("end", t)
}

func runCompactSizes(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-sizes")
	a.sizeOf("empty", t)
	a.Store("three keys", t, pairs(0, "a", "1", "b", "1", "c", "1"))
	a.Store("three keys again", t, pairs(1, "a", "2", "b", "2", "c", "2"))
	a.Store("an hour later", t, pairs(hour, "b", "3", "d", "1", "e", "1"))
	a.Store("two hours later", t, pairs(2*hour, "z", "1"))
	a.sizeOf("as written", t)
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-sizes")
	a.sizeOf("compacted", t)
	a.setTopic(t, "cleanup.policy", "delete")
	a.setTopic(t, "retention.bytes", "180")
	a.swept("compact-sizes")
	a.Do("start", 11, listOffsets(t, earliest))
	a.sizeOf("deleted", t)
	a.Do("delete into a batch", 2, deleteBefore(t, 7))
	a.swept("compact-sizes-more")
	a.sizeOf("deleted into a batch", t)
	a.setTopic(t, "retention.bytes", "0")
	a.swept("compact-sizes-all")
	a.sizeOf("all deleted", t)
	a.lookUps("all deleted", t)
}

func runCompactToTheEnd(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-to-the-end")
	a.Store("tombstones", t, pairs(0, "a", "-", "b", "-"))
	a.Store("no keys", t, Batch{Start: DayOne + 1, Records: []Record{{NullKey: true, Value: "x"}, {NullKey: true, Value: "y"}}})
	a.Store("tombstones again", t, pairs(2, "a", "-", "b", "-"))
	a.Store("an hour later", t, pairs(hour, "c", "-"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-to-the-end-1")
	a.Store("two hours later", t, pairs(2*hour, "c", "-"))
	a.cleaned("compact-to-the-end-2")
	look := func(step string) {
		for offset := range int64(9) {
			a.shapeFrom(step+" from "+number(offset), t, offset).Await()
		}
		a.lookUps(step, t)
		a.byTimes(step, t, 0, 1, hour, hour+1, 2*hour)
		a.sizeOf(step, t)
	}
	look("compacted twice")
	a.Store("three hours later", t, pairs(3*hour, "c", "-"))
	a.cleaned("compact-to-the-end-3")
	look("compacted three times")
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		look("again")
		a.Do("epoch 0", 4, epochEnd(t, 0))
	}
}
