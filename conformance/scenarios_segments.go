package conformance

import (
	"time"
)

func segmentScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "segment-rolls",
			Claim: "Where segments end: by the size with the next batch, by segment.ms in the time of the records, for a batch without time not, with LogAppendTime in the broker's.",
			Part:  2, Slow: true, Set: soon,
			Run: runSegmentRolls,
		},
		{
			Name:  "segment-too-small",
			Claim: "A batch that is larger than a segment may be is RECORD_LIST_TOO_LARGE.",
			Part:  2,
			Run:   runSegmentTooSmall,
		},
		{
			Name:  "log-defaults",
			Claim: "A broker's log configs that are changed while it runs act on the logs of topics that do not say otherwise.",
			Part:  2, Slow: true, Set: soon, Fresh: true,
			Run: runLogDefaults,
		},
		{
			Name:  "flush-messages",
			Claim: "flush.messages and flush.ms of 0 or 1 change no answer.",
			Part:  2,
			Run:   runFlushMessages,
		},
	}
}

// bounds shows where segments begin: by the starts that retention.bytes leaves as it shrinks.
func (n *Conn) bounds(name string, t topicRef, sizes ...string) {
	for _, size := range sizes {
		n.setTopic(t, "retention.bytes", size)
		n.swept(name + "-" + size)
		n.Do("start", 11, listOffsets(t, earliest))
		n.sizeOf("size", t)
	}
}

func runSegmentRolls(c *C) {
	a := c.Conn("a")
	one := func(name string, configs ...string) topicRef {
		return a.NewTopic("segment-rolls-"+name, 1, append([]string{"retention.ms", "-1", "segment.ms", "1000"}, configs...)...)
	}
	t := one("times")
	for i, at := range []int64{0, 1000, 1001, 1500, 900, 2001, 2002, 5000} {
		a.Store("at "+number(at), t, pairs(at, "k", number(int64(i))))
	}
	a.Store("no time", t, untimed("k", "9"))
	a.Store("at 9000", t, pairs(9000, "k", "9"))
	a.sizeOf("all", t)
	a.bounds("segment-rolls-times", t, "675", "600", "525", "450", "375", "300", "225", "150", "75", "0")

	t = one("size", "internal.segment.bytes", "166")
	for i := range int64(6) {
		a.Store("one", t, pairs(i, "k", number(i)))
	}
	a.sizeOf("all", t)
	a.bounds("segment-rolls-size", t, "375", "300", "225", "150", "75", "0")

	t = one("untimed", "segment.ms", "3600000")
	a.Store("no time", t, untimed("k", "0"))
	a.Store("old", t, pairs(0, "k", "1"))
	a.Store("an hour later", t, pairs(hour+1, "k", "2"))
	a.Store("no time again", t, untimed("k", "3"))
	a.bounds("segment-rolls-untimed", t, "225", "150", "75", "0")

	t = one("append", "segment.ms", "3600000", "message.timestamp.type", "LogAppendTime")
	a.Store("old", t, pairs(0, "k", "1"))
	a.Store("an hour later", t, pairs(hour+1, "k", "2"))
	a.bounds("segment-rolls-append", t, "75", "0")

	t = one("jitter", "segment.jitter.ms", "9223372036854775807", "segment.ms", "1")
	a.Store("old", t, pairs(0, "k", "1"))
	a.Store("the same time", t, pairs(0, "k", "2"))
	a.Store("a millisecond later", t, pairs(1, "k", "2"))
	a.Store("two later", t, pairs(2, "k", "2"))
	a.bounds("segment-rolls-jitter", t, "225", "150", "75", "0")

	t = one("duplicate", "internal.segment.bytes", "100")
	b := pairs(0, "k", "1")
	b.Idempotent, b.ProducerID = true, 671
	a.Store("of a producer", t, b)
	a.Store("the same", t, b)
	a.Store("and again", t, b)
	a.bounds("segment-rolls-duplicate", t, "0")
	a.lookUps("after duplicates", t)

	t = one("changed")
	a.Store("first", t, pairs(0, "k", "1"))
	a.setTopic(t, "segment.ms", "10000")
	a.Store("five seconds later", t, pairs(5000, "k", "2"))
	a.setTopic(t, "segment.ms", "5000")
	a.Store("at once", t, pairs(5001, "k", "3"))
	a.setTopic(t, "internal.segment.bytes", "100")
	a.Store("and", t, pairs(5002, "k", "4"))
	a.bounds("segment-rolls-changed", t, "225", "150", "75", "0")
}

func runSegmentTooSmall(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("segment-too-small", 1, "internal.segment.bytes", "100", "compression.type", "producer")
	long := pairs(0, "a", "0123456789012345678901234567890123456789")
	for _, v := range []int16{3, 7, 8, 9, 13} {
		a.Do("a batch that is larger "+vn(v), v, produceTo(t, -1, long.Bytes()))
		a.Do("one that is not "+vn(v), v, produceTo(t, -1, pairs(0, "a", "1").Bytes()))
	}
	bad := long
	bad.Idempotent, bad.ProducerID, bad.Sequence = true, 681, 0
	a.Do("of a producer", 9, produceTo(t, -1, bad.Bytes()))
	a.setTopic(t, "internal.segment.bytes", "200")
	a.Do("of a producer, when there is room", 9, produceTo(t, -1, bad.Bytes()))
	a.setTopic(t, "internal.segment.bytes", "100")
	a.Do("its duplicate, when there is not", 9, produceTo(t, -1, bad.Bytes()))
	packed := a.NewTopic("segment-too-small-gzip", 1, "internal.segment.bytes", "100", "compression.type", "uncompressed")
	a.Do("large once it is inflated", 9, produceTo(packed, -1, packedWith(pairs(0, "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 0).Bytes()))
	a.End("end", t)
}

func runFlushMessages(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("flush-messages", 1, "flush.messages", "1", "flush.ms", "0", "preallocate", "true", "index.interval.bytes", "0", "segment.index.bytes", "4000",
		"file.delete.delay.ms", "0", "min.insync.replicas", "1", "unclean.leader.election.enable", "true")
	for _, acks := range []int16{1, -1} {
		a.Do("store", 9, produceTo(t, acks, pairs(0, "a", "1", "b", "1").Bytes()))
	}
	a.Do("fetch", 12, fetchFrom(t, 0))
	a.sizeOf("size", t)
}

func runLogDefaults(c *C) {
	a := c.Conn("a")
	broker := func(key, value string) {
		a.Do(key+"="+value, 1, alterConfigs(ofBroker, "", set(key, value)))
	}
	follows := func(t topicRef, key, value string) {
		a.aside(func() { describeOnce(a, "follows", describe(aTopic, t.name, key), key, value) })
	}
	t := a.NewTopic("log-defaults", 1, "internal.segment.bytes", "140", "message.timestamp.after.max.ms", anyTime)
	own := a.NewTopic("log-defaults-own", 1, "internal.segment.bytes", "140", "retention.ms", "-1", "retention.bytes", "-1", "cleanup.policy", "delete",
		"message.timestamp.type", "CreateTime", "compression.type", "producer", "max.message.bytes", "1000")
	now := time.Now().UnixMilli()
	for _, one := range []topicRef{t, own} {
		for i := range int64(4) {
			b := pairs(0, "a", number(i))
			if one == t {
				b.Start = now
			}
			a.Store("segment", one, b)
		}
	}
	starts := func(step string) {
		a.swept("log-defaults-" + step)
		a.Do(step, 11, listOffsets(t, earliest))
		a.Do(step+", own", 11, listOffsets(own, earliest))
	}
	starts("before")
	broker("log.retention.bytes", "225")
	follows(t, "retention.bytes", "225")
	starts("bytes")
	broker("log.message.timestamp.type", "LogAppendTime")
	follows(t, "message.timestamp.type", "LogAppendTime")
	a.Store("append time", t, pairs(0, "a", "5"))
	a.Store("create time", own, pairs(0, "a", "5"))
	broker("log.message.timestamp.type", "CreateTime")
	follows(t, "message.timestamp.type", "CreateTime")
	broker("compression.type", "gzip")
	follows(t, "compression.type", "gzip")
	broker("message.max.bytes", "80")
	follows(t, "max.message.bytes", "80")
	b := pairs(0, "a", "0123456789012345")
	a.Do("too large", 9, produceTo(t, -1, b.Bytes()))
	a.Do("not too large, own", 9, produceTo(own, -1, b.Bytes()))
	broker("message.max.bytes", "10000")
	follows(t, "max.message.bytes", "10000")
	stores := func(step string, t topicRef, b Batch) {
		a.Send(step, 9, produceTo(t, -1, b.Bytes())).Only("Topics.Partitions.ErrorCode", "Topics.Partitions.BaseOffset").Await()
	}
	stores("compressed", t, pairs(0, "a", "6"))
	a.swept("log-defaults-compressed")
	a.Send("fetch", 12, fetchFrom(t, 4)).Inflated().Only(withoutDelta...).Await()
	broker("log.message.timestamp.before.max.ms", "1000")
	follows(t, "message.timestamp.before.max.ms", "1000")
	stores("too old", t, pairs(0, "a", "7"))
	stores("too old too", own, pairs(0, "a", "7"))
	broker("log.message.timestamp.before.max.ms", anyTime)
	follows(t, "message.timestamp.before.max.ms", anyTime)
	broker("log.retention.ms", "1")
	follows(t, "retention.ms", "1")
	starts("time")
	broker("log.retention.ms", "-1")
	follows(t, "retention.ms", "-1")
	broker("log.retention.bytes", "-1")
	follows(t, "retention.bytes", "-1")
	broker("compression.type", "producer")
	follows(t, "compression.type", "producer")
	broker("log.cleaner.min.cleanable.ratio", "0.01")
	follows(t, "min.cleanable.dirty.ratio", "0.01")
	a.Store("a key", t, pairs(0, "k", "1"))
	a.Store("again", t, pairs(1, "k", "2"))
	a.Store("another", t, pairs(2, "l", "2"))
	broker("log.cleanup.policy", "compact")
	follows(t, "cleanup.policy", "compact")
	a.cleaned("log-defaults-compacted")
	a.shape("compacted by the broker's policy", t)
	a.Do("own", 12, fetchFrom(own, 0))
	broker("log.cleanup.policy", "delete")
	follows(t, "cleanup.policy", "delete")
	broker("log.roll.ms", "1000")
	follows(t, "segment.ms", "1000")
	broker("log.segment.bytes", "1048576")
	broker("log.cleaner.backoff.ms", "100")
	broker("log.cleaner.threads", "2")
	broker("log.cleaner.delete.retention.ms", "77")
	follows(t, "delete.retention.ms", "77")
	a.Do("described", 4, describeConfigs(ofTopic, t.name, "segment.ms", "segment.bytes", "delete.retention.ms", "retention.ms", "cleanup.policy"))
}
