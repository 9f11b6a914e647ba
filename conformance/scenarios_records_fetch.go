package conformance

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func fetchScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "fetch-versions",
			Claim: "Fetch gives the stored batches at every version from 4 to 18, by topic id from 13 on, and an empty partition is empty and not null.",
			Run:   runFetchVersions,
		},
		{
			Name:  "fetch-unknown",
			Claim: "An unknown topic or partition is UNKNOWN_TOPIC_OR_PARTITION, an unknown id UNKNOWN_TOPIC_ID, beside partitions that are read.",
			Run:   runFetchUnknown,
		},
		{
			Name:  "fetch-ranges",
			Claim: "Outside of log start to log end Fetch is OFFSET_OUT_OF_RANGE with all offsets -1; at the end it is empty; inside a batch the whole batch comes.",
			Run:   runFetchRanges,
		},
		{
			Name:  "fetch-limits",
			Claim: "The first batch of the first partition that has one comes whole whatever the limits are; behind it a partition is cut at its limit and at what is left of the request's.",
			Run:   runFetchLimits,
		},
		{
			Name:  "fetch-waits",
			Claim: "Fetch waits for min_bytes over all partitions up to max_wait; an error, no partition and enough bytes end the wait at once.",
			Run:   runFetchWaits,
		},
		{
			Name:  "fetch-woken",
			Claim: "A waiting Fetch is answered as soon as what was appended is enough.",
			Run:   runFetchWoken,
		},
		{
			Name:  "fetch-leader-epochs",
			Claim: "A current leader epoch that is lower is FENCED_LEADER_EPOCH, from v16 on with the leader and its address; a higher one UNKNOWN_LEADER_EPOCH; -1 is not looked at.",
			Fresh: true,
			Run:   runFetchLeaderEpochs,
		},
		{
			Name:  "fetch-diverging",
			Claim: "From v12 on a last fetched epoch that ended before the offset asked for is answered with the epoch and its end, without records.",
			Fresh: true,
			Run:   runFetchDiverging,
		},
		{
			Name:  "fetch-isolation",
			Claim: "read_committed has an empty list of aborted transactions, read_uncommitted null; without transactions both read to the high watermark.",
			Run:   runFetchIsolation,
		},
		{
			Name:  "fetch-replica",
			Claim: "A replica id of 0 or more, which no follower has, is NOT_LEADER_OR_FOLLOWER, and UNKNOWN_LEADER_EPOCH where a right leader epoch is told.",
			Run:   runFetchReplica,
		},
		{
			Name:  "fetch-zstd-topic",
			Claim: "zstd batches are sent at every version, whatever the topic's compression.type.",
			Run:   runFetchZstdTopic,
		},
		{
			Name:  "fetch-order",
			Claim: "Topics come in the order of the request; a partition that is named twice is answered once, and the last mention counts.",
			Run:   runFetchOrder,
		},
	}
}

func runFetchVersions(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-versions", 2)
	a.Store("store", t, Values("x", "y"))
	for v := int16(4); v <= 18; v++ {
		a.Do(vn(v), v, fetchFrom(t, 0, 0))
		a.Do(vn(v)+" again", v, fetchFrom(t, 1))
	}
}

func runFetchUnknown(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-unknown", 1)
	a.Store("store", t, Values("x"))
	for _, v := range []int16{4, 7, 11, 12, 13, 18} {
		req := fetchFrom(t, 0, 0)
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, fetched(-1, 0))
		req.Topics = append(req.Topics, fetchFrom(topicRef{"fetch-unknown-nowhere", [16]byte{15: 1}}, 0, 0).Topics...)
		a.Do(vn(v), v, req)
		a.Do(vn(v)+" again", v, req)
	}
	a.Do("zero id", 13, fetchFrom(topicRef{}, 0))
	a.Do("empty name", 12, fetchFrom(topicRef{}, 0))
	a.Do("bad name", 12, fetchFrom(topicRef{name: "a b"}, 0))
}

func runFetchRanges(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-ranges", 1)
	for range 4 {
		a.Store("store", t, Values("x", "y"))
	}
	ask := func(offsets ...int64) {
		for _, offset := range offsets {
			for _, v := range []int16{4, 12, 18} {
				a.Do("from "+number(offset)+", "+vn(v), v, fetchFrom(t, offset))
			}
		}
	}
	ask(-2, -1, 0, 7, 8, 9, math.MaxInt64)
	a.Do("delete before 3", 2, deleteBefore(t, 3))
	ask(0, 2, 3)
	a.Do("delete all", 2, deleteBefore(t, -1))
	ask(7, 8, 9)
}

func runFetchLimits(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-limits", 3)
	one := Values("x")
	for number := range int32(3) {
		for range 2 {
			a.storeIn("store", t, number, one)
		}
	}
	size := int32(len(one.Bytes()))
	ask := func(step string, most, each int32) {
		req := fetchFrom(t, 0, 0, 0)
		req.MaxBytes = most
		for i := range req.Topics[0].Partitions {
			req.Topics[0].Partitions[i].PartitionMaxBytes = each
		}
		a.Do(step, 12, req)
		a.Do(step+", v4", 4, req)
	}
	ask("no bytes", 0, 1<<20)
	ask("a byte", 1, 1<<20)
	ask("a byte for each partition", 1<<20, 1)
	ask("no bytes for each partition", 1<<20, 0)
	ask("negative for each partition", 1<<20, -1)
	ask("negative", -1, 1<<20)
	ask("a batch for each partition", 1<<20, size)
	ask("a batch and a half for each partition", 1<<20, size+size/2)
	ask("a batch and a byte for each partition", 1<<20, size+1)
	ask("three batches", 3*size, 1<<20)
	ask("two batches and a half", 2*size+size/2, 1<<20)
	ask("three batches less a byte", 3*size-1, 1<<20)
}

// longWait is a max_wait that a script waits for; muchTooLong is one that an answer which does not wait keeps clear of on a
// busy machine, too.
const (
	longWait    = 400 * time.Millisecond
	muchTooLong = 15 * time.Second
)

func waiting(req *kmsg.FetchRequest, least int32) *kmsg.FetchRequest {
	req.MaxWaitMillis, req.MinBytes = int32(longWait/time.Millisecond), least
	return req
}

// doAtOnce sends a request whose answer does not wait, though it might.
func (n *Conn) doAtOnce(step string, version int16, req *kmsg.FetchRequest) {
	req.MaxWaitMillis = int32(muchTooLong / time.Millisecond)
	n.DoTimed(step, version, req, muchTooLong-time.Second)
}

func runFetchWaits(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-waits", 2)
	a.Store("store", t, Values("x"))
	waits := func(step string, version int16, req *kmsg.FetchRequest) { a.DoTimed(step, version, req, longWait) }
	atOnce := a.doAtOnce
	for _, v := range []int16{4, 12, 18} {
		waits("at the end, "+vn(v), v, waiting(fetchFrom(t, 1), 1))
		atOnce("at the end, nothing wanted, "+vn(v), v, waiting(fetchFrom(t, 1), 0))
		atOnce("at the end, negative wanted, "+vn(v), v, waiting(fetchFrom(t, 1), -1))
		waits("more wanted than there is, "+vn(v), v, waiting(fetchFrom(t, 0), 100_000))
		atOnce("enough, "+vn(v), v, waiting(fetchFrom(t, 0), 1))
		atOnce("an error, "+vn(v), v, waiting(fetchFrom(t, 1, 5), 1))
		waits("no such partition, "+vn(v), v, waiting(fetchFrom(t, 1, 0, 0), 1))
		atOnce("no partitions, "+vn(v), v, waiting(fetchFrom(t), 1))
		limited := waiting(fetchFrom(t, 0), 100_000)
		limited.MaxBytes = 20
		atOnce("more wanted than max_bytes, "+vn(v), v, limited)
	}
}

func runFetchWoken(c *C) {
	a, b := c.Conn("a"), c.Conn("b")
	t := a.NewTopic("fetch-woken", 2)
	size := int32(len(Values("x").Bytes()))
	for round := range int64(2) {
		req := fetchFrom(t, round, round)
		req.MaxWaitMillis, req.MinBytes = 15_000, 2*size
		p := a.Send("waits for two batches", 12, req)
		p.Parked()
		b.storeIn("one", t, 0, Values("x"))
		p.Parked()
		b.storeIn("two", t, 1, Values("y"))
		p.Await()
	}
}

func runFetchLeaderEpochs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-leader-epochs", 1)
	a.Store("store", t, Values("x"))
	ask := func(current int32) {
		for _, v := range []int16{8, 9, 11, 12, 15, 16, 18} {
			for _, epoch := range []int32{-1, current - 1, current, current + 1, -2} {
				req := fetchFrom(t, 0)
				req.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
				a.Do(vn(v)+", epoch "+number(int64(epoch)), v, req)
			}
		}
	}
	ask(0)
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask(2)
}

func runFetchDiverging(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-diverging", 1)
	a.Store("epoch 0", t, Values("x", "y"))
	for _, name := range []string{"epoch 2", "epoch 4"} {
		c.Restart()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		a.Store(name, t, Values("x", "y"))
	}
	for _, v := range []int16{11, 12, 18} {
		for _, epoch := range []int32{-1, 0, 1, 2, 3, 4, 5, -2} {
			for _, offset := range []int64{1, 2, 3, 6, 7} {
				req := fetchFrom(t, offset)
				req.Topics[0].Partitions[0].LastFetchedEpoch = epoch
				a.Do(vn(v)+", epoch "+number(int64(epoch))+" at "+number(offset), v, req)
			}
		}
	}
	req := waiting(fetchFrom(t, 5), 1)
	req.Topics[0].Partitions[0].LastFetchedEpoch = 2
	a.doAtOnce("it does not wait", 12, req)
}

func runFetchIsolation(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-isolation", 2)
	a.Store("store", t, Values("x"))
	for _, v := range []int16{4, 11, 12, 18} {
		for _, level := range []int8{0, 1, 2, -1} {
			req := fetchFrom(t, 0, 0)
			req.IsolationLevel = level
			a.Do(vn(v)+", level "+number(int64(level)), v, req)
		}
		beyond := fetchFrom(t, 9)
		beyond.IsolationLevel = 1
		a.Do(vn(v)+", read_committed, out of range", v, beyond)
	}
}

func runFetchZstdTopic(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-zstd-topic", 2, "compression.type", "zstd")
	for _, v := range []int16{4, 9, 10, 18} {
		a.Do("empty, "+vn(v), v, fetchFrom(t, 0))
	}
	a.Store("zstd to the topic", t, compressed(4, zstded, "x"))
	plain := a.NewTopic("fetch-zstd-plain", 1)
	a.Store("zstd elsewhere", plain, compressed(4, zstded, "x"))
	for _, v := range []int16{4, 9, 10, 18} {
		a.Do(vn(v), v, fetchFrom(t, 0, 0))
		a.Do("elsewhere, "+vn(v), v, fetchFrom(plain, 0))
	}
	a.Do("out of range, v9", 9, fetchFrom(t, 9))
}

func runFetchOrder(c *C) {
	a := c.Conn("a")
	x, y := a.NewTopic("fetch-order-x", 3), a.NewTopic("fetch-order-y", 1)
	a.Store("store x", x, Values("x", "x"))
	a.Store("store x", x, Values("x2"))
	a.Store("store y", y, Values("y"))
	for _, v := range []int16{4, 12, 13} {
		req := fetchFrom(y, 0)
		req.Topics = append(req.Topics, fetchFrom(x, 0, 0, 0).Topics...)
		parts := req.Topics[1].Partitions
		parts[0], parts[2] = parts[2], parts[0]
		a.Do("two topics, "+vn(v), v, req)
		twice := fetchFrom(x, 0, 0)
		twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, fetched(0, 2))
		a.Do("a partition twice, "+vn(v), v, twice)
		apart := fetchFrom(x, 0)
		apart.Topics = append(apart.Topics, fetchFrom(y, 0).Topics...)
		apart.Topics = append(apart.Topics, fetchFrom(x, 2, 0).Topics...)
		a.Do("a topic twice, "+vn(v), v, apart)
	}
}

func runFetchReplica(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-replica", 1)
	a.Store("store", t, Values("x"))
	for _, v := range []int16{4, 8, 9, 12, 13, 14, 15, 16, 18} {
		for _, replica := range []int32{0, 1, 7, -2} {
			for _, epoch := range []int32{-1, 0, 9} {
				req := fetchFrom(t, 0, 0)
				if v >= 15 {
					req.ReplicaState.ID = replica
				} else {
					req.ReplicaID = replica
				}
				req.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
				a.Do(vn(v)+", replica "+number(int64(replica))+", epoch "+number(int64(epoch)), v, req)
			}
		}
		beyond := fetchFrom(t, 9)
		beyond.ReplicaID, beyond.ReplicaState.ID = 7, 7
		if v < 15 {
			beyond.ReplicaState.ID = -1
		}
		a.Do(vn(v)+", out of range", v, beyond)
	}
}
