package conformance

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func topicLimitScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "topic-config-bounds",
			Claim: "The smallest and the largest value of each topic config, and one beyond.",
			Part:  2, Run: runTopicConfigBounds,
		},
		{
			Name:  "topic-config-pairs",
			Claim: "Topic configs that depend on each other: lags of compaction, local and whole retention, remote storage with policies; against what the topic has and what the broker says.",
			Part:  2, Slow: true, Fresh: true, Run: runTopicConfigPairs,
		},
		{
			Name:  "produce-extreme-times",
			Claim: "Times at the ends of 64 bits, and bounds of 0 and of all: what is stored, and what look-ups say of it.",
			Part:  2, Run: runProduceExtremeTimes,
		},
		{
			Name:  "list-offsets-odd-times",
			Claim: "Times below -6 and at the ends of 64 bits, of logs with and without times.",
			Part:  2, Run: runListOffsetsOddTimes,
		},
	}
}

// topicBounds are numbers that each key takes and, before and behind them, does not.
var topicBounds = [][]string{
	{"compression.gzip.level", "-2", "-1", "0", "1", "9", "10"}, {"compression.lz4.level", "0", "1", "17", "18"},
	{"compression.zstd.level", "-131073", "-131072", "0", "22", "23"},
	{"delete.retention.ms", "-1", "0", anyTime, "9223372036854775808"}, {"file.delete.delay.ms", "-1", "0", anyTime, "9223372036854775808"},
	{"flush.messages", "0", "1", anyTime, "9223372036854775808"}, {"flush.ms", "-1", "0", anyTime, "9223372036854775808"},
	{"index.interval.bytes", "-1", "0", "2147483647", "2147483648"},
	{"local.retention.bytes", "-3", "-2", "-1", "0", anyTime}, {"local.retention.ms", "-3", "-2", "-1", "0", anyTime},
	{"max.compaction.lag.ms", "0", "1", anyTime, "9223372036854775808"}, {"max.message.bytes", "-1", "0", "2147483647", "2147483648"},
	{"message.timestamp.after.max.ms", "-1", "0", anyTime, "9223372036854775808"},
	{"message.timestamp.before.max.ms", "-1", "0", anyTime, "9223372036854775808"},
	{"min.cleanable.dirty.ratio", "-0.0000001", "-0", "0", "1", "1.0000001", "1e-3", ".5", "5.", "NaN", "Infinity", "0x1p-1", "0.5f", " 0.5 "},
	{"min.compaction.lag.ms", "-1", "0", anyTime, "9223372036854775808"}, {"min.insync.replicas", "0", "1", "2147483647", "2147483648"},
	{"retention.bytes", "-9223372036854775808", "-1", "0", anyTime, "9223372036854775808"},
	{"retention.ms", "-2", "-1", "0", anyTime, "9223372036854775808"},
	{"segment.index.bytes", "3", "4", "2147483647", "2147483648"}, {"segment.jitter.ms", "-1", "0", anyTime, "9223372036854775808"},
	{"segment.ms", "0", "1", anyTime, "9223372036854775808"}, {"segment.bytes", "1048576", "2147483647", "2147483648"},
	{"cleanup.policy", "compact,delete", "delete,compact", "delete,delete", "DELETE", ",", "delete,", " delete", "none", ""},
	{"compression.type", "producer", "uncompressed", "none", "", " gzip", "zstd ", "Producer"},
	{"message.timestamp.type", "LogAppendTime", "NoTimestampType", "logappendtime", ""},
	{"preallocate", "true", "True", " false ", "1", "", "null"}, {"unclean.leader.election.enable", "TRUE", "no"},
	{"remote.storage.enable", "false", "x"}, {"remote.log.copy.disable", "true", "1"}, {"remote.log.delete.on.disable", "true", "1"},
	{"leader.replication.throttled.replicas", "", "*", "*,*", "0:1,1:1", "0:1,", "0:", ":1", "a:b", "0:1:2", "none", " 0:1"},
	{"follower.replication.throttled.replicas", "", "*", "0:1,0:1", "-1:1", "1:-1", "0:1 , 1:1"},
	{"internal.segment.bytes", "0", "-1", "2147483648"}, {"retention.ms", "+5", "05", "0x5", "5L", "1_000", "1e3"},
}

func runTopicConfigBounds(c *C) {
	a := c.Conn("a")
	a.MakeTopic("topic-config-bounds", 1)
	for _, bounds := range topicBounds {
		for _, value := range bounds[1:] {
			req := alterConfigs(ofTopic, "topic-config-bounds", set(bounds[0], value))
			req.ValidateOnly = true
			a.Do(bounds[0]+"="+value, 1, req)
		}
	}
	for _, kv := range [][2]string{{"min.cleanable.dirty.ratio", ".5"}, {"min.cleanable.dirty.ratio", "1e-3"}, {"retention.ms", "+5"}, {"retention.ms", "05"},
		{"preallocate", "True"}, {"cleanup.policy", "delete, compact"}, {"min.cleanable.dirty.ratio", "0.5f"}} {
		a.Do("set "+kv[0]+"="+kv[1], 1, alterConfigs(ofTopic, "topic-config-bounds", set(kv[0], kv[1])))
		a.Do("create with "+kv[0]+"="+kv[1], 7, createTopic("topic-config-bounds-"+kv[1][:1], 1, kv[0], kv[1]))
	}
}

func runTopicConfigPairs(c *C) {
	a := c.Conn("a")
	a.MakeTopic("topic-config-pairs", 1, "retention.ms", "1000", "retention.bytes", "1000", "min.compaction.lag.ms", "500")
	all := [][]string{
		{"max.compaction.lag.ms", "499"}, {"max.compaction.lag.ms", "500"}, {"min.compaction.lag.ms", "0", "max.compaction.lag.ms", "1"},
		{"local.retention.ms", "1001"}, {"local.retention.ms", "1000"}, {"local.retention.ms", "-1"}, {"local.retention.ms", "-2"},
		{"local.retention.bytes", "1001"}, {"local.retention.bytes", "1000"}, {"local.retention.bytes", "-1"},
		{"local.retention.ms", "900000000"}, {"retention.ms", "-1", "local.retention.ms", "900000000"},
		{"retention.bytes", "-1", "local.retention.bytes", "5"}, {"retention.bytes", "-7", "local.retention.bytes", "5"},
		{"remote.storage.enable", "true"}, {"remote.storage.enable", "true", "cleanup.policy", "compact"},
		{"remote.storage.enable", "true", "remote.log.copy.disable", "true"},
		{"remote.storage.enable", "false", "remote.log.delete.on.disable", "true"}, {"remote.log.copy.disable", "true"},
		{"remote.log.copy.disable", "true", "local.retention.ms", "5"},
		{"segment.ms", "5", "segment.jitter.ms", "10"}, {"max.message.bytes", "2000000", "segment.bytes", "1048576"},
		{"internal.segment.bytes", "5", "segment.bytes", "1048576"}, {"min.insync.replicas", "2"},
		{"message.timestamp.before.max.ms", "0", "message.timestamp.after.max.ms", "0"},
		{"cleanup.policy", "compact", "retention.ms", "5"}, {"segment.ms", "x", "retention.ms", "y"}, {"min.compaction.lag.ms", "9", "max.compaction.lag.ms", "x"},
	}
	try := func(when string) {
		for _, kvs := range all {
			var ops []configOp
			for i := 0; i+1 < len(kvs); i += 2 {
				ops = append(ops, set(kvs[i], kvs[i+1]))
			}
			req := alterConfigs(ofTopic, "topic-config-pairs", ops...)
			req.ValidateOnly = true
			a.Do("alter "+when, 1, req)
			legacy := replaceConfigs(ofTopic, "topic-config-pairs", ops...)
			legacy.ValidateOnly = true
			a.Do("replace "+when, 2, legacy)
			made := createTopic("topic-config-pairs-new", 1, kvs...)
			made.ValidateOnly = true
			a.Do("create "+when, noConfigs, made)
		}
	}
	try("with defaults")
	for _, kv := range [][2]string{{"log.cleaner.max.compaction.lag.ms", "400"}, {"log.retention.ms", "700"}, {"log.local.retention.ms", "600"}, {"log.cleaner.min.compaction.lag.ms", "300"},
		{"log.cleaner.min.compaction.lag.ms", "401"}, {"log.local.retention.ms", "701"}, {"log.local.retention.bytes", "5"}, {"log.retention.bytes", "4"}} {
		r := Ask[*kmsg.IncrementalAlterConfigsResponse](a, "broker's "+kv[0]+"="+kv[1], 1, alterConfigs(ofBroker, "", set(kv[0], kv[1])))
		if r.Resources[0].ErrorCode == 0 {
			a.aside(func() { describeOnce(a, "is set", describe(aBroker, "1", kv[0]), kv[0], kv[1]) })
		}
	}
	try("with the broker's")
}

// withoutRange are the fields of a Produce answer but for the text with the range that counts from the broker's time.
var withoutRange = []string{"Topics.Partitions.ErrorCode", "Topics.Partitions.BaseOffset", "Topics.Partitions.LogAppendTime",
	"Topics.Partitions.LogStartOffset", "Topics.Partitions.ErrorRecords.RelativeOffset"}

func runProduceExtremeTimes(c *C) {
	a := c.Conn("a")
	for i, kv := range [][]string{
		nil,
		{"message.timestamp.after.max.ms", anyTime},
		{"message.timestamp.before.max.ms", "0", "message.timestamp.after.max.ms", anyTime},
		{"message.timestamp.before.max.ms", "9223372036854775806", "message.timestamp.after.max.ms", "0"},
		{"message.timestamp.after.max.ms", anyTime, "compression.type", "gzip"},
	} {
		t := a.NewTopic("produce-extreme-times-"+number(int64(i)), 1, append([]string{"segment.ms", oneSegment}, kv...)...)
		for _, at := range []int64{0, 1, -1, -2, -1000, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 1 << 62, DayOne} {
			b := Values("v")
			b.Edit = startingAt(at)
			a.Send("at "+number(at), 9, produceTo(t, -1, b.Bytes())).Only(withoutRange...).Await()
			b = timed(5, 0)
			b.Edit = startingAt(at)
			a.Send("from "+number(at), 9, produceTo(t, -1, b.Bytes())).Only(withoutRange...).Await()
		}
		a.Send("fetch", 12, fetchFrom(t, 0)).Inflated().Await()
		a.lookUps("all", t)
		for _, at := range []int64{0, 1, DayOne, 1 << 62, math.MaxInt64, math.MaxInt64 - 1} {
			a.Do("by time", 11, listOffsets(t, at))
		}
	}
}

// startingAt gives a batch another first timestamp, which its head takes for the largest.
func startingAt(at int64) func(*kmsg.RecordBatch) {
	return func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = at, at }
}

func runListOffsetsOddTimes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-odd-times", 1, "internal.segment.bytes", "100", "segment.ms", oneSegment)
	look := func(step string) {
		for _, v := range []int16{1, 5, 11} {
			for _, at := range []int64{-7, -8, -100, math.MinInt64, math.MaxInt64, 0, DayOne, DayOne + 1} {
				a.Do(step+", "+number(at), v, listOffsets(t, at))
			}
		}
		a.lookUps(step, t)
	}
	look("empty")
	a.Store("no time", t, untimed("a", "1"))
	look("no times")
	a.Store("no time again", t, untimed("a", "2"))
	a.Store("a time", t, pairs(0, "a", "3"))
	look("a time behind")
	a.Store("no time at last", t, untimed("a", "4"))
	look("and none")
	a.Do("delete the first", 2, deleteBefore(t, 1))
	look("deleted")
	a.Do("delete all with times", 2, deleteBefore(t, 3))
	look("none left")
}
