package conformance

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func listOffsetsScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "list-offsets-special",
			Claim: "Each special timestamp of ListOffsets is known from its version on and UNSUPPORTED_VERSION below; on an empty log and on one with records.",
			Run:   runListOffsetsSpecial,
		},
		{
			Name:  "list-offsets-times",
			Claim: "By time ListOffsets finds the first record, in a batch too and compressed or not, whose timestamp is not below it.",
			Run:   runListOffsetsTimes,
		},
		{
			Name:  "list-offsets-falling-times",
			Claim: "Where timestamps fall, the first record by offset that is not below the time is found.",
			Run:   runListOffsetsFallingTimes,
		},
		{
			Name:  "list-offsets-after-delete-records",
			Claim: "After DeleteRecords inside a batch no time finds a record below the log's start, though the largest timestamp does, and an emptied log has its start as end.",
			Run:   runListOffsetsAfterDelete,
		},
		{
			Name:  "list-offsets-max-timestamp",
			Claim: "-3 finds the first of the records with the largest timestamp, wherever its batch lies.",
			Run:   runListOffsetsMaxTimestamp,
		},
		{
			Name:  "list-offsets-unknown",
			Claim: "ListOffsets answers UNKNOWN_TOPIC_OR_PARTITION for what is not there, and once INVALID_REQUEST for a partition that is named twice.",
			Run:   runListOffsetsUnknown,
		},
		{
			Name:  "list-offsets-isolation",
			Claim: "An isolation level other than 0 and 1 is UNKNOWN_SERVER_ERROR for every partition of ListOffsets as it stands; otherwise a topic without partitions is not answered.",
			Run:   runListOffsetsIsolation,
		},
		{
			Name:  "list-offsets-epochs",
			Claim: "ListOffsets gives the epoch of the record it found, that of the start and the newest for the end, and checks the current leader epoch.",
			Fresh: true,
			Run:   runListOffsetsEpochs,
		},
		{
			Name:  "offset-for-leader-epoch",
			Claim: "OffsetForLeaderEpoch gives the largest known epoch up to the asked one and where it ends, -1 and -1 for -1 and for one that is not there yet.",
			Fresh: true,
			Run:   runOffsetForLeaderEpoch,
		},
		{
			Name:  "delete-records",
			Claim: "DeleteRecords takes offsets up to the high watermark and -1 for it, again without effect; others are OFFSET_OUT_OF_RANGE.",
			Run:   runDeleteRecords,
		},
		{
			Name:  "delete-records-policy",
			Claim: "DeleteRecords is POLICY_VIOLATION for a topic whose cleanup.policy does not have delete.",
			Run:   runDeleteRecordsPolicy,
		},
		{
			Name:  "delete-records-unknown",
			Claim: "DeleteRecords is UNKNOWN_TOPIC_OR_PARTITION for what is not there; of a partition that is named twice the last mention counts.",
			Run:   runDeleteRecordsUnknown,
		},
		{
			Name:  "delete-records-restart",
			Claim: "The log's start is where DeleteRecords put it after a restart; after a kill it is where it was at the last clean stop.",
			Fresh: true,
			Run:   runDeleteRecordsRestart,
		},
	}
}

func runListOffsetsSpecial(c *C) {
	a := c.Conn("a")
	empty, t := a.NewTopic("list-offsets-special-empty", 1), a.NewTopic("list-offsets-special", 1)
	a.Store("store", t, timed(5, 3))
	for v := int16(1); v <= 11; v++ {
		for _, stamp := range []int64{latest, earliest, largest, earliestLocal, latestTiered, earliestPending, -7, DayOne + 4, DayOne + 6, math.MinInt64, math.MaxInt64} {
			a.Do(vn(v)+" "+number(stamp), v, listOffsets(t, stamp))
			a.Do(vn(v)+" "+number(stamp)+" of nothing", v, listOffsets(empty, stamp))
		}
	}
	for _, v := range []int16{2, 7, 11} {
		for _, stamp := range []int64{latest, earliest, largest, DayOne} {
			req := listOffsets(t, stamp)
			req.IsolationLevel = 1
			a.Do(vn(v)+" "+number(stamp)+" read_committed", v, req)
		}
	}
}

func runListOffsetsTimes(c *C) {
	a := c.Conn("a")
	apart := a.NewTopic("list-offsets-times-apart", 1)
	for _, at := range []int64{2, 4, 6, 8} {
		a.Store("store apart", apart, timed(at))
	}
	together := a.NewTopic("list-offsets-times-together", 1)
	a.Store("store together", together, timed(2, 4, 6, 8))
	packed := a.NewTopic("list-offsets-times-packed", 1)
	for _, codec := range codecs {
		b := timed(2, 4, 6, 8)
		b.Attributes, b.Compress = codec.number, codec.compress
		a.Store("store "+codec.name, packed, b)
	}
	for _, t := range []topicRef{apart, together, packed} {
		for at := int64(0); at <= 9; at++ {
			a.Do(t.name+" at "+number(at), 7, listOffsets(t, DayOne+at))
		}
		a.Do(t.name+" at 4 again", 1, listOffsets(t, DayOne+4))
		a.Do(t.name+" at 0", 7, listOffsets(t, 0))
	}
}

func runListOffsetsFallingTimes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-falling", 1)
	a.Store("store", t, timed(9, 7, 8, 1))
	a.Store("store", t, timed(3, 12, 5))
	a.Store("store", t, timed(2, 2))
	none := timed(0, 0)
	none.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = -1, -1 }
	a.Store("without times", t, none)
	for _, at := range []int64{0, 1, 2, 7, 8, 9, 10, 12, 13} {
		a.Do("at "+number(at), 7, listOffsets(t, DayOne+at))
	}
	a.Do("at 0 of all", 7, listOffsets(t, 0))
	a.Do("largest", 7, listOffsets(t, largest))
	timeless := a.NewTopic("list-offsets-timeless", 1)
	a.Store("only without times", timeless, none)
	a.Do("largest of none", 7, listOffsets(timeless, largest))
	a.Do("at 0 of none", 7, listOffsets(timeless, 0))
}

func runListOffsetsAfterDelete(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-deleted", 1)
	a.Store("store", t, timed(9, 2, 4, 6))
	a.Store("store", t, timed(7, 8))
	ask := func(step string) {
		for _, stamp := range []int64{earliest, latest, largest, DayOne, DayOne + 4, DayOne + 5, DayOne + 8, DayOne + 9} {
			a.Do(step+" "+number(stamp), 7, listOffsets(t, stamp))
		}
	}
	for _, before := range []int64{1, 3, 5} {
		a.Do("delete before "+number(before), 2, deleteBefore(t, before))
		ask("from " + number(before))
	}
	a.Do("delete all", 2, deleteBefore(t, -1))
	ask("of nothing")
	a.Store("store", t, timed(1))
	ask("of one")
}

func runListOffsetsMaxTimestamp(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-max", 1)
	for _, times := range [][]int64{{1, 2}, {3, 9, 9}, {9, 4}, {8}, {5, 9}, {10}, {10, 10}} {
		a.Store("store", t, timed(times...))
		a.Do("largest", 7, listOffsets(t, largest))
		a.Do("largest again", 11, listOffsets(t, largest))
	}
}

func runListOffsetsUnknown(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-unknown", 1)
	a.Store("store", t, Values("x"))
	with := func(numbers ...int32) *kmsg.ListOffsetsRequest {
		req := listOffsets(t, latest)
		req.Topics[0].Partitions = nil
		for _, number := range numbers {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp, p.CurrentLeaderEpoch = number, latest, -1
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, p)
		}
		return req
	}
	for _, v := range []int16{1, 5, 11} {
		a.Do("no such partition "+vn(v), v, with(1, 0, -1))
		a.Do("twice "+vn(v), v, with(0, 0))
		a.Do("twice, and another "+vn(v), v, with(0, 1, 0))
		a.Do("three times "+vn(v), v, with(0, 0, 0))
		a.Do("no such topic "+vn(v), v, listOffsets(topicRef{name: "list-offsets-nowhere"}, earliest))
		a.Do("bad name "+vn(v), v, listOffsets(topicRef{name: "a b"}, earliest))
		a.Do("no such topic, unknown time "+vn(v), v, listOffsets(topicRef{name: "list-offsets-nowhere"}, -9))
		apart := with(0)
		apart.Topics = append(apart.Topics, with(0).Topics...)
		a.Do("a topic twice "+vn(v), v, apart)
		for _, replica := range []int32{-2, -3, 0, 1} {
			req := listOffsets(t, latest)
			req.ReplicaID = replica
			a.Do("replica "+number(int64(replica))+" "+vn(v), v, req)
		}
	}
}

func runListOffsetsEpochs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-epochs", 1)
	a.Do("nothing, earliest", 4, listOffsets(t, earliest))
	a.Do("nothing, latest", 4, listOffsets(t, latest))
	a.Store("epoch 0", t, timed(1, 9))
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask := func(step string) {
		for _, stamp := range []int64{earliest, latest, largest, earliestLocal, latestTiered, DayOne, DayOne + 2, DayOne + 99} {
			a.Do(step+" "+number(stamp), 9, listOffsets(t, stamp))
		}
	}
	ask("before anything is stored")
	a.Store("epoch 2", t, timed(3, 12))
	ask("epoch 2")
	for _, v := range []int16{3, 4, 11} {
		for _, epoch := range []int32{-1, 0, 1, 2, 3} {
			req := listOffsets(t, latest)
			req.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
			a.Do(vn(v)+" current epoch "+number(int64(epoch)), v, req)
		}
	}
	a.Do("delete epoch 0", 2, deleteBefore(t, 2))
	ask("without epoch 0")
	a.Do("delete all", 2, deleteBefore(t, -1))
	ask("of nothing")
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask("of nothing after a restart")
}

func runOffsetForLeaderEpoch(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("offset-for-leader-epoch", 1)
	ask := func(step string) {
		for _, epoch := range []int32{-2, -1, 0, 1, 2, 3, 4, 5} {
			a.Do(step+" epoch "+number(int64(epoch)), 4, epochEnd(t, epoch))
		}
	}
	ask("nothing")
	a.Store("epoch 0", t, Values("x", "y"))
	ask("stored")
	for _, name := range []string{"epoch 2", "epoch 4"} {
		c.Restart()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		ask("before " + name)
		a.Store(name, t, Values("x", "y"))
		ask(name)
	}
	for _, v := range []int16{2, 3, 4} {
		a.Do("older "+vn(v), v, epochEnd(t, 1))
		for _, current := range []int32{-2, 0, 3, 4, 5} {
			req := epochEnd(t, 2)
			req.Topics[0].Partitions[0].CurrentLeaderEpoch = current
			a.Do("current "+number(int64(current))+" "+vn(v), v, req)
		}
		for _, replica := range []int32{-1, -3, 1} {
			req := epochEnd(t, 2)
			req.ReplicaID = replica
			a.Do("replica "+number(int64(replica))+" "+vn(v), v, req)
		}
		a.Do("no such topic "+vn(v), v, epochEnd(topicRef{name: "nowhere"}, 0))
		elsewhere := epochEnd(t, 0)
		elsewhere.Topics[0].Partitions[0].Partition = 3
		a.Do("no such partition "+vn(v), v, elsewhere)
	}
	for _, before := range []int64{1, 3, 6} {
		a.Do("delete before "+number(before), 2, deleteBefore(t, before))
		ask("deleted before " + number(before))
	}
}

func runDeleteRecords(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("delete-records", 1)
	a.Do("of nothing", 2, deleteBefore(t, -1))
	a.Do("of nothing, 0", 2, deleteBefore(t, 0))
	a.Do("of nothing, 1", 2, deleteBefore(t, 1))
	for range 5 {
		a.Store("store", t, Values("x", "y"))
	}
	for v := int16(0); v <= 2; v++ {
		for _, before := range []int64{0, int64(v) + 1, int64(v) + 1, 0, 11, -2, math.MinInt64, math.MaxInt64} {
			a.Do(vn(v)+" before "+number(before), v, deleteBefore(t, before))
		}
		a.Do("earliest", 5, listOffsets(t, earliest))
		a.Do("fetch from "+number(int64(v)+1), 12, fetchFrom(t, int64(v)+1))
		a.Do("fetch from "+number(int64(v)), 12, fetchFrom(t, int64(v)))
	}
	a.Do("to the end", 2, deleteBefore(t, 10))
	a.Do("to the end again", 2, deleteBefore(t, 10))
	a.Do("-1", 2, deleteBefore(t, -1))
	a.Store("store", t, Values("z"))
	a.Do("-1 again", 2, deleteBefore(t, -1))
	a.Do("earliest", 5, listOffsets(t, earliest))
	a.End("latest", t)
}

func runDeleteRecordsPolicy(c *C) {
	a := c.Conn("a")
	for _, policy := range []string{"compact", "delete", "compact,delete", "delete,compact", ""} {
		t := a.NewTopic("delete-records-policy-"+policyName(policy), 1, "cleanup.policy", policy)
		b := Values("x")
		b.Records[0].Key, b.Records[0].NullKey = "k", false
		a.Store("store", t, b)
		a.Do("policy "+policy, 2, deleteBefore(t, 1))
		a.Do("policy "+policy+" again", 2, deleteBefore(t, 1))
		a.Do("policy "+policy+", out of range", 2, deleteBefore(t, 7))
	}
}

func policyName(policy string) string {
	switch policy {
	case "":
		return "none"
	case "compact,delete":
		return "both"
	case "delete,compact":
		return "both-too"
	}
	return policy
}

func runDeleteRecordsUnknown(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("delete-records-unknown", 1)
	for range 3 {
		a.Store("store", t, Values("x"))
	}
	more := func(req *kmsg.DeleteRecordsRequest, number int32, offset int64) {
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Partition, p.Offset = number, offset
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, p)
	}
	for v := int16(0); v <= 2; v++ {
		req := deleteBefore(t, 0)
		more(req, 1, 0)
		more(req, -1, 0)
		req.Topics = append(req.Topics, deleteBefore(topicRef{name: "delete-records-nowhere"}, 0).Topics...)
		a.Do("unknown "+vn(v), v, req)
		a.Do("bad name "+vn(v), v, deleteBefore(topicRef{name: "a b"}, 0))
		none := deleteBefore(t, 0)
		none.Topics[0].Partitions = nil
		a.Do("no partitions "+vn(v), v, none)
	}
	twice := deleteBefore(t, 2)
	more(twice, 0, 1)
	a.Do("twice", 2, twice)
	a.Do("twice again", 2, twice)
	a.Do("earliest", 5, listOffsets(t, earliest))
}

func runDeleteRecordsRestart(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("delete-records-restart", 1)
	for range 4 {
		a.Store("store", t, Values("x", "y"))
	}
	again := func(how func(), before int64) {
		a.Do("delete before "+number(before), 2, deleteBefore(t, before))
		how()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		a.Do("earliest", 3, listOffsets(t, earliest)) // without the epoch, which Kafka knows again a moment after a kill
		a.Do("fetch from "+number(before), 12, fetchFrom(t, before))
		a.Do("fetch from "+number(before-1), 12, fetchFrom(t, before-1))
		a.Do("delete before "+number(before)+" again", 2, deleteBefore(t, before))
	}
	again(c.Restart, 3)
	again(c.Kill, 5)
	again(c.Restart, 8)
	a.Store("store", t, Values("z"))
	a.Do("fetch", 12, fetchFrom(t, 8))
}

func runListOffsetsIsolation(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("list-offsets-isolation", 1)
	a.Store("store", t, Values("x"))
	for _, v := range []int16{2, 6, 11} {
		for _, level := range []int8{0, 1, 2, 3, -1} {
			req := listOffsets(t, latest)
			none := listOffsets(topicRef{name: "list-offsets-isolation-none"}, latest)
			none.Topics[0].Partitions = nil
			req.Topics = append(req.Topics, none.Topics[0], listOffsets(topicRef{name: "list-offsets-nowhere"}, -9).Topics[0], listOffsets(t, largest).Topics[0])
			req.IsolationLevel = level
			a.Do(vn(v)+", level "+number(int64(level)), v, req)
		}
	}
}
