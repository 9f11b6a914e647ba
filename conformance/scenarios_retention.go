package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func retentionScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "retention-odd-times",
			Claim: "A segment without times goes by its last write, one of the future stays, and what is behind one that stays; a changed retention.ms counts at the next look.",
			Part:  2, Slow: true, Set: soon,
			Run: runRetentionOddTimes,
		},
		{
			Name:  "retention-mixed",
			Claim: "Size is looked at before age; what one leaves the other takes; changed while there are records.",
			Part:  2, Slow: true, Set: soon,
			Run: runRetentionMixed,
		},
		{
			Name:  "retention-lookups",
			Claim: "What is asked of offsets after retention: special timestamps, times, ends of epochs, fetches below the start, also after a restart and a kill.",
			Part:  2, Slow: true, Set: soon, Fresh: true,
			Run: runRetentionLookups,
		},
		{
			Name:  "retention-producers",
			Claim: "Retention forgets no producer: the last batch is still a duplicate. After a restart or a kill those that wrote long ago are forgotten.",
			Part:  2, Slow: true, Set: soon, Fresh: true,
			Run: runRetentionProducers,
		},
		{
			Name:  "retention-transactions",
			Claim: "Retention takes the segments of an open transaction, whose end leaves a marker alone; aborted transactions that are gone are on no list.",
			Part:  2, Slow: true, Set: each("transaction.partition.verification.enable", "false"),
			Run: runRetentionTransactions,
		},
		{
			Name:  "retention-policies",
			Claim: "Retention acts while cleanup.policy has delete; taken away and given back with records in the log.",
			Part:  2, Slow: true, Set: soon,
			Run: runRetentionPolicies,
		},
		{
			Name:  "list-offsets-below-start",
			Claim: "A look-up by time stops at a segment that has the time, also when DeleteRecords has put all of it below the log's start and it is not removed yet: then there is none.",
			Part:  2, Set: map[string]string{"log.initial.task.delay.ms": "600000"},
			Run: runListOffsetsBelowStart,
		},
	}
}

func runListOffsetsBelowStart(c *C) {
	a := c.Conn("a")
	t := a.alone("list-offsets-below-start")
	for i := range int64(4) {
		a.Store("batch "+number(i), t, pairs(i, "a", number(i)))
	}
	a.Do("delete before the third", 2, deleteBefore(t, 2))
	a.byTimes("deleted", t, -1, 0, 1, 2, 3, 4)
}

// alone is a topic each batch of which is a segment.
func (n *Conn) alone(name string, configs ...string) topicRef {
	return n.NewTopic(name, 1, append([]string{"internal.segment.bytes", "100", "segment.ms", oneSegment, "retention.ms", "-1",
		"message.timestamp.after.max.ms", anyTime}, configs...)...)
}

func runRetentionOddTimes(c *C) {
	a := c.Conn("a")
	t := a.alone("retention-odd-times")
	a.Store("old", t, pairs(0, "a", "1"))
	a.Store("old too", t, pairs(1, "a", "2"))
	a.Store("no time", t, untimed("a", "3"))
	a.Store("old behind it", t, pairs(2, "a", "4"))
	a.Store("of the future", t, later(0, "a", "5"))
	a.Store("old behind that", t, pairs(3, "a", "6"))
	look := func(step string) {
		a.swept("retention-odd-times-" + step)
		a.lookUps(step, t)
		a.sizeOf(step, t)
	}
	look("none")
	a.setTopic(t, "retention.ms", "3600000")
	look("an-hour")
	a.byTimes("an-hour", t, 0, 2, 3, 4, afterAll, afterAll+1)
	a.setTopic(t, "retention.ms", "1")
	look("a-millisecond")
	a.Do("delete before the last", 2, deleteBefore(t, 5))
	look("without-the-future")
	a.Store("old again", t, pairs(3, "a", "7"))
	look("all")
	a.Do("fetch", 12, fetchFrom(t, 7))
}

func runRetentionMixed(c *C) {
	a := c.Conn("a")
	t := a.alone("retention-mixed")
	for i := range int64(6) {
		b := pairs(i, "a", number(i))
		if i > 3 {
			b.Start = time.Now().UnixMilli()
		}
		a.Store("segment "+number(i), t, b)
	}
	a.sizeOf("all", t)
	for i, kv := range [][2]string{{"retention.bytes", "500"}, {"retention.bytes", "330"}, {"retention.ms", "3600000"}, {"retention.bytes", "84"}, {"retention.bytes", "1"}, {"retention.bytes", "0"}} {
		a.setTopic(t, kv[0], kv[1])
		a.swept("retention-mixed-" + number(int64(i)))
		a.Do("start", 11, listOffsets(t, earliest))
		a.sizeOf("size", t)
	}
	a.lookUps("at the end", t)
}

func runRetentionLookups(c *C) {
	a := c.Conn("a")
	t := a.alone("retention-lookups")
	for i := range int64(3) {
		a.Store("segment "+number(i), t, pairs(hour-i, "a", number(i), "b", number(i)))
	}
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	for i := int64(3); i < 6; i++ {
		a.Store("segment "+number(i), t, pairs(i, "a", number(i), "b", number(i)))
	}
	look := func(step string, from ...int64) {
		a.lookUps(step, t)
		a.byTimes(step, t, 0, 3, 5, hour-2, hour+1)
		for epoch := range int32(5) {
			a.Do(step+", epoch "+number(int64(epoch)), 4, epochEnd(t, epoch))
		}
		for _, offset := range from {
			a.shapeFrom(step+" from "+number(offset), t, offset).Await()
		}
		a.sizeOf(step, t)
	}
	look("before", 0)
	a.setTopic(t, "retention.bytes", "400")
	a.swept("retention-lookups-1")
	look("within an epoch", 1, 3, 4)
	a.setTopic(t, "retention.bytes", "200")
	a.swept("retention-lookups-2")
	look("within the next", 5, 7, 8)
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		look("again", 7, 8)
	}
	a.setTopic(t, "retention.bytes", "0")
	a.swept("retention-lookups-3")
	look("empty", 11, 12)
	a.Do("delete all", 2, deleteBefore(t, -1))
	a.Store("goes on", t, pairs(0, "a", "1"))
	a.swept("retention-lookups-4")
	look("gone at once", 12, 13)
}

func runRetentionProducers(c *C) {
	a := c.Conn("a")
	t := a.alone("retention-producers", "retention.ms", "1000")
	of := func(sequence int32) Batch {
		b := pairs(0, "a", "1")
		b.Idempotent, b.ProducerID, b.Sequence = true, 651, sequence
		return b
	}
	sequence := int32(0)
	for _, again := range []func(){func() {}, c.Restart, c.Kill} {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		if sequence > 0 {
			a.Do("the last again", 9, produceTo(t, -1, of(sequence-1).Bytes()))
		}
		p := a.Send("store", 9, produceTo(t, -1, of(sequence).Bytes())).Only("Topics.Partitions.ErrorCode", "Topics.Partitions.BaseOffset")
		last := AwaitAs[*kmsg.ProduceResponse](p).Topics[0].Partitions[0].BaseOffset
		sequence++
		a.awaitStart("all gone", t, last+1)
		a.Do("producers", 0, describeProducers(t.name))
		a.Do("the last again, when it is gone", 9, produceTo(t, -1, of(sequence-1).Bytes()))
	}
	a.lookUps("at the end", t)
}

func runRetentionTransactions(c *C) {
	a := c.Conn("a")
	t := a.alone("retention-transactions")
	a.StoreIn("661", t, inTxn(661, 0, 0, 0, "a", "1"))
	a.StoreIn("662", t, inTxn(662, 0, 0, 1, "a", "2"))
	a.Abort("abort 662", t, 662)
	a.StoreIn("661 goes on", t, inTxn(661, 0, 1, 2, "a", "3"))
	a.StoreIn("663", t, inTxn(663, 0, 0, 3, "a", "4"))
	look := func(step string, from ...int64) {
		a.swept("retention-transactions-" + step)
		a.lookUps(step, t)
		for _, offset := range from {
			a.shapeFrom(step+" from "+number(offset), t, offset).Await()
			a.committedShape(step+" committed from "+number(offset), t, offset)
		}
		req := listOffsets(t, latest)
		req.IsolationLevel = 1
		a.Do(step+", latest committed", 11, req)
		a.Send(step+", producers", 0, describeProducers(t.name)).Await()
	}
	look("open", 0, 3)
	a.setTopic(t, "retention.bytes", "250")
	look("first-gone", 1, 2, 3)
	a.setTopic(t, "retention.bytes", "80")
	look("aborted-gone", 3, 4)
	a.setTopic(t, "retention.bytes", "0")
	look("all-gone", 5)
	a.setTopic(t, "retention.bytes", "-1")
	a.Commit("commit 661", t, 661)
	a.Abort("abort 663", t, 663)
	a.Abort("abort 663 again", t, 663)
	look("ended", 5, 6)
	a.StoreIn("661 again", t, inTxn(661, 0, 2, 3, "a", "5"))
	a.Abort("abort 661", t, 661)
	look("again", 5, 8)
}

func runRetentionPolicies(c *C) {
	a := c.Conn("a")
	t := a.alone("retention-policies", "cleanup.policy", "", "retention.ms", "1000", "min.cleanable.dirty.ratio", "0.01")
	a.Store("a key", t, pairs(0, "a", "1"))
	a.Store("again", t, pairs(1, "a", "2"))
	a.Store("another", t, pairs(2, "b", "1"))
	for i, policy := range []string{"", "compact", "compact,delete", "", "delete"} {
		if i > 0 {
			a.setTopic(t, "cleanup.policy", policy)
		}
		name := "retention-policies-" + number(int64(i))
		a.cleaned(name)
		a.swept(name)
		a.shape("with "+policy, t)
		a.Do("start", 11, listOffsets(t, earliest))
		if i == 2 {
			a.Store("a key again", t, pairs(0, "a", "1"))
			a.awaitStart("gone too", t, 4)
			a.setTopic(t, "cleanup.policy", "")
			a.Store("a key once more", t, pairs(0, "a", "1"))
			a.Store("and more", t, pairs(0, "a", "1"))
			a.Do("delete one", 2, deleteBefore(t, 5))
		}
	}
	a.lookUps("at the end", t)
}
