package conformance

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnIsolationScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "isolation-levels",
			Claim: "read_uncommitted gets records of open and aborted transactions, with the markers; read_committed ends before the first record of an open transaction, and aborted ones are listed.",
			Run:   runIsolationLevels,
		},
		{
			Name:  "isolation-aborted-order",
			Claim: "Aborted transactions are listed in the order of their markers, committed ones not; the list is null for read_uncommitted and empty where there are none.",
			Fresh: true,
			Run:   runIsolationAbortedOrder,
		},
		{
			Name:  "isolation-aborted-overlap",
			Claim: "An aborted transaction that overlaps what is returned is listed with its true first offset, below the offset that was asked for too; one that ended before it is not.",
			Run:   runIsolationAbortedOverlap,
		},
		{
			Name:  "isolation-aborted-interleaved",
			Claim: "Of several producers each aborted transaction is listed with its producer id; what is cut by max_bytes lists what overlaps the part that is returned.",
			Run:   runIsolationInterleaved,
		},
		{
			Name:  "isolation-lso",
			Claim: "The last stable offset is the first offset of the earliest open transaction, whoever else ends; with none it is the high watermark. Fetch and ListOffsets say the same.",
			Run:   runIsolationLSO,
		},
		{
			Name:  "isolation-fetch-at-lso",
			Claim: "A read_committed Fetch at or behind the last stable offset and up to the log's end is empty; past the end it is OFFSET_OUT_OF_RANGE.",
			Run:   runIsolationFetchAtLSO,
		},
		{
			Name:  "isolation-waits",
			Claim: "A read_committed Fetch waits while only an open transaction writes, and is answered when the transaction ends; a read_uncommitted one is answered by the write.",
			Run:   runIsolationWaits,
		},
		{
			Name:  "isolation-session",
			Claim: "In a session a partition whose last stable offset alone moved is not told; the end of the transaction is told by the high watermark that its marker moves.",
			Run:   runIsolationSession,
		},
		{
			Name:  "isolation-list-offsets",
			Claim: "ListOffsets read_committed: the latest offset is the last stable one; a time that is found behind it is answered as not found; read_uncommitted sees all.",
			Run:   runIsolationListOffsets,
		},
		{
			Name:  "isolation-restart",
			Claim: "A restart and a kill with an open transaction do not move the last stable offset, which is told at once or not at all; aborted lists are as before.",
			Fresh: true,
			Run:   runIsolationRestart,
		},
		{
			Name:  "isolation-delete-records",
			Claim: "DeleteRecords into and past an aborted transaction: it is listed as long as part of it overlaps; DeleteRecords goes up to the high watermark, past the last stable offset, which moves with the log start to the base of the batch that it is in.",
			Run:   runIsolationDeleteRecords,
		},
		{
			Name:  "isolation-producers",
			Claim: "DescribeProducers shows where a producer's open transaction begins in the partition, the coordinator's epoch once a marker was written, and no transaction after its end.",
			Run:   runIsolationProducers,
		},
	})
}

func runIsolationLevels(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-levels", 1)
	p := c.txnProducer("a", "isolation-levels")
	a.Read("empty", t, 0)
	p.WriteV1("write", t, "a")
	a.Read("open", t, 0)
	p.End("abort", endTxnV1, false)
	for _, v := range []int16{4, 11, 12, 18} {
		a.Do("aborted "+vn(v), v, fetchFrom(t, 0))
		a.Do("aborted "+vn(v)+", committed", v, committed(fetchFrom(t, 0)))
	}
	a.Store("plain", t, now(Values("plain")))
	p.WriteV2("write again", t, "b", "c")
	a.Read("open again", t, 0)
	p.End("commit", endTxnV2, true)
	a.Read("all", t, 0)
	a.Read("from the aborted record's marker", t, 1)
}

// now dates a batch now.
func now(b Batch) Batch {
	b.Start = time.Now().UnixMilli()
	return b
}

func runIsolationAbortedOrder(c *C) {
	t := c.Conn("a").NewTopic("isolation-aborted-order", 1)
	p := c.txnProducer("a", "isolation-aborted-order")
	for i, commit := range []bool{false, true, false, true, false} {
		p.WriteV1(fmt.Sprint("write ", i), t, "a", "b")
		p.End(verdict(commit), endTxnV1, commit)
	}
	p.Read("read", t, 0)
	p.Read("read from a committed one", t, 3)
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		p.reopened()
		p.AwaitTopic(t.name, 1)
		p.Read("read after it", t, 0)
	}
}

func runIsolationAbortedOverlap(c *C) {
	t := c.Conn("a").NewTopic("isolation-overlap", 1)
	p := c.txnProducer("a", "isolation-overlap")
	p.Add("add", t)
	for i := range 5 {
		p.Write(fmt.Sprint("batch ", i), produceV1, t, "a", "b")
	}
	p.End("abort", endTxnV1, false)
	p.WriteV1("write", t, "c")
	p.End("commit", endTxnV1, true)
	for _, from := range []int64{0, 6, 9, 10, 11, 12, 13} {
		p.Do("from "+number(from), 12, committed(fetchFrom(t, from)))
	}
}

func runIsolationInterleaved(c *C) {
	t := c.Conn("a").NewTopic("isolation-interleaved", 1)
	p, q, r := c.txnProducer("a", "isolation-p"), c.txnProducer("a", "isolation-q"), c.txnProducer("a", "isolation-r")
	p.WriteV1("p", t, "p0")
	q.WriteV1("q", t, "q0")
	r.WriteV1("r", t, "r0")
	p.Write("p again", produceV1, t, "p1")
	q.End("q aborts", endTxnV1, false)
	q.WriteV1("q again", t, "q1")
	p.Conn.Read("p is open", t, 0)
	r.End("r commits", endTxnV1, true)
	p.End("p aborts", endTxnV1, false)
	p.Conn.Read("q is open", t, 0)
	q.End("q aborts again", endTxnV1, false)
	p.Conn.Read("all", t, 0)
	data, mark := int32(len(p.transactional(place{t, 0}, "p0").Bytes())), int32(78)
	for _, cut := range []struct {
		from int64
		most int32
	}{{0, 1}, {0, 2 * data}, {0, 4*data + mark}, {0, 5*data + 2*mark}, {2, 2*data + mark}, {5, 1}, {5, data + mark}, {6, mark}, {7, 2 * mark}} {
		req := committed(fetchFrom(t, cut.from))
		req.Topics[0].Partitions[0].PartitionMaxBytes = cut.most
		p.Do(fmt.Sprintf("from %d, %d bytes", cut.from, cut.most), 12, req)
	}
}

// lso shows the offsets that Fetch and ListOffsets tell of partition 0.
func (n *Conn) lso(step string, t topicRef) { n.lsoFrom(step, t, 0) }

// lsoFrom is lso of a log that begins later.
func (n *Conn) lsoFrom(step string, t topicRef, start int64) {
	n.Send(step, 12, committed(fetchFrom(t, start))).Only("Topics.Partitions.HighWatermark", "Topics.Partitions.LastStableOffset",
		"Topics.Partitions.LogStartOffset", "Topics.Partitions.AbortedTransactions").Await()
	for level := range int8(2) {
		req := listOffsets(t, latest)
		req.IsolationLevel = level
		n.Do(fmt.Sprintf("%s, latest at level %d", step, level), 5, req)
	}
}

func runIsolationLSO(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-lso", 1)
	p, q := c.txnProducer("a", "isolation-lso-p"), c.txnProducer("a", "isolation-lso-q")
	a.lso("empty", t)
	p.Add("p: add", t)
	a.lso("added and not written", t)
	p.Write("p", produceV1, t, "p")
	a.lso("p writes", t)
	q.WriteV2("q", t, "q")
	a.Store("plain", t, now(Values("plain")))
	a.lso("q writes", t)
	q.End("q commits", endTxnV2, true)
	a.lso("q has ended", t)
	q.WriteV2("q again", t, "q")
	p.End("p aborts", endTxnV1, false)
	a.lso("p has ended", t)
	q.End("q aborts", endTxnV2, false)
	a.lso("all have ended", t)
}

func runIsolationFetchAtLSO(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-at-lso", 1)
	p := c.txnProducer("a", "isolation-at-lso")
	a.Store("plain", t, now(Values("x", "y")))
	p.WriteV1("write", t, "a", "b")
	p.Write("write more", produceV1, t, "c")
	for _, v := range []int16{4, 12, 18} {
		for offset := int64(0); offset <= 6; offset++ {
			a.Do(fmt.Sprintf("from %d, %s", offset, vn(v)), v, committed(fetchFrom(t, offset)))
		}
	}
	p.End("commit", endTxnV1, true)
	a.Read("all", t, 2)
}

func runIsolationWaits(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-waits", 1)
	p := c.txnProducer("a", "isolation-waits")
	wait := func(level int8) *kmsg.FetchRequest {
		req := fetchFrom(t, 0)
		req.MaxWaitMillis, req.IsolationLevel = 15_000, level
		return req
	}
	for _, commit := range []bool{true, false} {
		com, unc := wait(1), wait(0)
		r := Ask[*kmsg.FetchResponse](a, "end", 12, fetchFrom(t, 0))
		end := r.Topics[0].Partitions[0].HighWatermark
		com.Topics[0].Partitions[0].FetchOffset, unc.Topics[0].Partitions[0].FetchOffset = end, end
		p1 := c.Conn("committed").Send("committed waits", 12, com)
		p2 := c.Conn("uncommitted").Send("uncommitted waits", 12, unc)
		p.WriteV1("write", t, "a")
		p2.Await()
		p1.Parked()
		a.Store("plain", t, now(Values("plain")))
		p1.Parked()
		p.End(verdict(commit), endTxnV1, commit)
		p1.Await()
	}
	p.WriteV1("write and stay open", t, "b")
	short := wait(1)
	short.MaxWaitMillis, short.Topics[0].Partitions[0].FetchOffset = 300, 6
	c.Conn("committed").DoTimed("nothing comes", 12, short, 250*time.Millisecond)
}

func runIsolationSession(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-session", 1)
	p := c.txnProducer("a", "isolation-session")
	p.WriteV1("write", t, "a")
	s := c.Conn("s")
	id := s.openSession("open", 12, inSession(committed(fetchFrom(t, 0)), 0, 0))
	next := func(step string, epoch int32) {
		req := inSession(committed(fetchFrom(t)), id, epoch)
		req.Topics = nil
		s.Do(step, 12, req)
	}
	next("nothing new", 1)
	p.Write("write more", produceV1, t, "b")
	next("the high watermark moved", 2)
	p.End("commit", endTxnV1, true)
	next("the transaction ended", 3)
	req := inSession(committed(fetchFrom(t, 3)), id, 4)
	s.Do("on to the end", 12, req)
	next("nothing new again", 5)
}

func runIsolationListOffsets(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-list-offsets", 1)
	p := c.txnProducer("a", "isolation-list-offsets")
	a.Store("plain at 0", t, timed(0))
	b := p.transactional(place{t, 0}, "a", "b")
	b.Start, b.Records[1].Time = DayOne+100, 100
	p.Add("add", t)
	p.Do("write at 100 and 200", produceV1, p.produceIn(t, -1, b.Bytes()))
	ask := func(when string) {
		for level := range int8(2) {
			for _, at := range []int64{earliest, latest, largest, DayOne, DayOne + 1, DayOne + 150, DayOne + 201} {
				req := listOffsets(t, at)
				req.IsolationLevel = level
				a.Do(fmt.Sprintf("%s, level %d, %s", when, level, timeName(at)), 7, req)
			}
		}
	}
	ask("open")
	p.End("abort", endTxnV1, false)
	ask("aborted")
}

func timeName(at int64) string {
	switch at {
	case earliest:
		return "earliest"
	case latest:
		return "latest"
	case largest:
		return "largest"
	}
	return fmt.Sprint("at ", at-DayOne)
}

func runIsolationRestart(c *C) {
	t := c.Conn("a").NewTopic("isolation-restart", 1)
	p, q := c.txnProducer("a", "isolation-restart-p"), c.txnProducer("a", "isolation-restart-q")
	q.WriteV1("q", t, "q0")
	q.End("q aborts", endTxnV1, false)
	p.WriteV1("p", t, "p0")
	q.WriteV2("q again", t, "q1")
	q.End("q commits", endTxnV2, true)
	p.lso("p is open", t)
	for i, again := range []func(){c.Restart, c.Kill} {
		again()
		p.reopened()
		q.reopened()
		p.AwaitTxnCoordinator()
		p.AwaitTopic(t.name, 1)
		p.lso("p is open after it", t)
		p.Conn.Read("read", t, 0)
		p.Do("producers", 0, describeProducers(t.name))
		p.Write("p goes on", produceV1, t, fmt.Sprint("p", i))
	}
	p.End("p commits", endTxnV1, true)
	p.lso("p has ended", t)
	p.Conn.Read("read at last", t, 0)
}

func runIsolationDeleteRecords(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-delete-records", 1)
	p := c.txnProducer("a", "isolation-delete-records")
	p.WriteV1("write", t, "a", "b", "c")
	p.End("abort", endTxnV1, false)
	p.WriteV1("write again", t, "d", "e")
	a.Do("delete into the aborted one", 2, deleteBefore(t, 2))
	a.Read("from 2", t, 2)
	a.Do("delete its records", 2, deleteBefore(t, 3))
	a.Read("from 3", t, 3)
	a.Do("delete its marker", 2, deleteBefore(t, 4))
	a.Read("from 4", t, 4)
	a.Do("delete into the open one", 2, deleteBefore(t, 5))
	a.lsoFrom("into the open one", t, 5)
	a.Do("delete to the high watermark", 2, deleteBefore(t, -1))
	a.lsoFrom("to the high watermark", t, 6)
	a.Do("producers", 0, describeProducers(t.name))
	p.End("commit", endTxnV1, true)
	a.lsoFrom("ended", t, 6)
	a.Read("from 6", t, 6)
}

func runIsolationProducers(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("isolation-producers", 1)
	p, q := c.txnProducer("a", "isolation-producers-p"), c.txnProducer("a", "isolation-producers-q")
	show := func(step string) { a.Do(step, 0, describeProducers(t.name)) }
	p.Add("add", t)
	show("added")
	a.Store("plain", t, now(Values("plain")))
	p.Write("write", produceV1, t, "a")
	q.WriteV2("write of v2", t, "b", "c")
	show("open")
	p.Write("write more", produceV1, t, "d")
	show("still open")
	p.End("commit", endTxnV1, true)
	q.End("abort", endTxnV2, false)
	show("ended")
	q.WriteV2("write of v2 again", t, "e")
	show("open again")
	q.End("abort again", endTxnV2, false)
	show("ended again")
}
