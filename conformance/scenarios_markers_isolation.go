package conformance

import (
	"fmt"
	"math"
	"time"
)

func abortedScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "marker-isolation",
			Claim: "read_uncommitted reads open, committed and aborted transactions and their markers; its list of aborted transactions is null.",
			Run:   runMarkerIsolation,
		},
		{
			Name:  "marker-aborted-order",
			Claim: "The aborted transactions come in the order of their markers, with their first offsets; also after a restart and a kill.",
			Fresh: true,
			Run:   runMarkerAbortedOrder,
		},
		{
			Name:  "marker-aborted-overlap",
			Claim: "An aborted transaction that began before the offset of a Fetch is listed with its first offset, as long as its marker is not before the offset.",
			Run:   runMarkerAbortedOverlap,
		},
		{
			Name:  "marker-aborted-bounds",
			Claim: "A small log's list has the aborted transactions up to its end, also those behind what is returned and behind the last stable offset.",
			Run:   runMarkerAbortedBounds,
		},
		{
			Name:  "marker-segments",
			Claim: "Transactions that span segments are listed in each; an aborted one whose marker is in a later segment too.",
			Set:   map[string]string{"transaction.partition.verification.enable": "false"},
			Run:   runMarkerSegments,
		},
		{
			Name:  "marker-stable-offset",
			Claim: "The last stable offset is the first of the oldest open transaction, and never goes back.",
			Fresh: true,
			Run:   runMarkerStableOffset,
		},
		{
			Name:  "marker-deleted",
			Claim: "DeleteRecords inside an open transaction moves the last stable offset to the log's start; the transaction stays open, and its marker ends it.",
			Run:   runMarkerDeleted,
		},
		{
			Name:  "marker-deleted-inside",
			Claim: "DeleteRecords inside a batch of an open transaction leaves the last stable offset at the batch's first, below the log's start.",
			Run:   runMarkerDeletedInside,
		},
		{
			Name:  "marker-orphan",
			Claim: "A transaction that no coordinator knows stays open over a restart.",
			Fresh: true,
			Run:   runMarkerOrphan,
		},
		{
			Name:  "marker-waits",
			Claim: "A waiting read_committed Fetch is answered when a marker makes enough stable, and not by what is appended to an open transaction.",
			Run:   runMarkerWaits,
		},
		{
			Name:  "marker-sessions",
			Claim: "A session lists a partition whose records became stable; one whose last stable offset alone moved is not listed.",
			Run:   runMarkerSessions,
		},
	}
}

func runMarkerIsolation(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-isolation", 1, "segment.ms", oneSegment)
	a.StoreIn("a transaction", t, transactional(3100, 0, 0, 1))
	for _, at := range []string{"open", "aborted"} {
		for _, v := range []int16{4, 11, 12, 18} {
			a.Do(at+", uncommitted, "+vn(v), v, fetchFrom(t, 0))
			a.Do(at+", committed, "+vn(v), v, onlyCommitted(fetchFrom(t, 0)))
		}
		if at == "open" {
			a.Abort("abort", t, 3100)
		}
	}
	a.Do("committed, from the marker", 12, onlyCommitted(fetchFrom(t, 1)))
	a.Do("committed, from the end", 12, onlyCommitted(fetchFrom(t, 2)))
	a.Do("committed, behind the end", 12, onlyCommitted(fetchFrom(t, 3)))
}

func runMarkerAbortedOrder(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-aborted-order", 1, "segment.ms", oneSegment)
	a.StoreIn("first", t, transactional(3110, 0, 0, 1))
	a.Abort("abort it", t, 3110)
	a.Store("between", t, Values("x"))
	a.StoreIn("second", t, transactional(3110, 0, 1, 1))
	a.Commit("commit it", t, 3110)
	a.Store("between them", t, Values("y"))
	a.StoreIn("third", t, transactional(3110, 0, 2, 1))
	a.Abort("abort that", t, 3110)
	a.StoreIn("an older one", t, transactional(3111, 0, 0, 1))
	a.StoreIn("a younger one", t, transactional(3112, 0, 0, 1))
	a.Abort("abort the younger", t, 3112)
	a.Abort("abort the older", t, 3111)
	ask := func(when string) {
		for _, from := range []int64{0, 1, 2, 4, 6, 8, 9, 10, 11, 12} {
			a.Do(fmt.Sprint("from ", from, when), 12, onlyCommitted(fetchFrom(t, from)))
		}
	}
	ask("")
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask(", restarted")
	c.Kill()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	ask(", killed")
}

func runMarkerAbortedOverlap(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-aborted-overlap", 1, "segment.ms", oneSegment)
	for i := range int32(5) {
		a.StoreIn("a batch", t, transactional(3120, 0, 2*i, 2))
	}
	a.Abort("abort", t, 3120)
	for _, from := range []int64{0, 5, 6, 9, 10, 11} {
		a.Do(fmt.Sprint("from ", from), 12, onlyCommitted(fetchFrom(t, from)))
	}
}

func runMarkerAbortedBounds(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-aborted-bounds", 1, "segment.ms", oneSegment)
	a.Store("plain", t, Values("x"))
	a.StoreIn("aborted", t, transactional(3130, 0, 0, 1))
	a.Abort("abort", t, 3130)
	a.StoreIn("open", t, transactional(3131, 0, 0, 1))
	a.StoreIn("aborted behind it", t, transactional(3130, 0, 1, 1))
	a.Abort("abort that", t, 3130)
	a.Do("from 0", 12, onlyCommitted(fetchFrom(t, 0)))
	short := onlyCommitted(fetchFrom(t, 0))
	short.Topics[0].Partitions[0].PartitionMaxBytes = 1
	a.Do("one batch from 0", 12, short)
	a.Do("from the last stable offset", 12, onlyCommitted(fetchFrom(t, 3)))
	a.Do("from behind it", 12, onlyCommitted(fetchFrom(t, 5)))
	a.Do("from the end", 12, onlyCommitted(fetchFrom(t, 6)))
	a.Commit("commit", t, 3131)
	a.Do("from 0 then", 12, onlyCommitted(fetchFrom(t, 0)))
	a.Do("one batch from 0 then", 12, short)
}

func runMarkerSegments(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-segments", 1, "segment.ms", "1000", "message.timestamp.type", "CreateTime")
	store := func(step string, b Batch, at int64) {
		b.Start = DayOne + at
		a.StoreIn(step, t, b)
	}
	store("one in the first", transactional(3140, 0, 0, 1), 0)
	store("another in the first", transactional(3141, 0, 0, 1), 0)
	store("one in the second", transactional(3142, 0, 0, 1), 5_000)
	store("another in the second", transactional(3140, 0, 1, 1), 5_000)
	store("one in the third", transactional(3142, 0, 1, 1), 10_000)
	a.Abort("abort one", t, 3140)
	a.Commit("commit another", t, 3141)
	a.Abort("abort the last", t, 3142)
	for _, from := range []int64{0, 1, 2, 3, 4, 5, 6, 7} {
		a.Do(fmt.Sprint("from ", from), 12, onlyCommitted(fetchFrom(t, from)))
	}
}

// ends shows both ends of partition 0.
func ends(a *Conn, when string, t topicRef) { offsetsOf(a, when, t, latest, earliest) }

func offsetsOf(a *Conn, when string, t topicRef, asked ...int64) {
	for _, ask := range asked {
		req := listOffsets(t, ask)
		a.Do(fmt.Sprint(when, ", ", ask, ", uncommitted"), 7, req)
		req.IsolationLevel = 1
		a.Do(fmt.Sprint(when, ", ", ask, ", committed"), 7, req)
	}
}

// stableOffsets shows what there is of partition 0.
func stableOffsets(a *Conn, when string, t topicRef) {
	offsetsOf(a, when, t, latest, earliest, largest)
	a.Do(when+", fetch", 12, onlyCommitted(fetchFrom(t, 0)))
}

func runMarkerStableOffset(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-stable-offset", 1, "segment.ms", oneSegment)
	stableOffsets(a, "empty", t)
	a.Store("plain", t, Values("x"))
	stableOffsets(a, "plain", t)
	a.StoreIn("open", t, transactional(3150, 0, 0, 2))
	stableOffsets(a, "open", t)
	a.StoreIn("another", t, transactional(3151, 0, 0, 1))
	a.StoreIn("the first goes on", t, transactional(3150, 0, 2, 1))
	a.Commit("commit the first", t, 3150)
	stableOffsets(a, "the first is committed", t)
	time.Sleep(5 * time.Millisecond) // a marker's time is the broker's, and the largest is asked for
	a.Abort("abort the other", t, 3151)
	stableOffsets(a, "ended", t)
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	stableOffsets(a, "restarted", t)
}

func runMarkerDeleted(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-deleted", 1, "segment.ms", oneSegment)
	for i := range int32(2) {
		a.StoreIn("open", t, transactional(3160, 0, i, 1))
		a.StoreIn("another", t, transactional(3161, 0, i, 1))
	}
	a.Abort("abort the other", t, 3161)
	for _, before := range []int64{1, 2, 3} {
		when := fmt.Sprint("deleted before ", before)
		a.Do(when, 2, deleteBefore(t, before))
		ends(a, when, t)
		a.Do(when+", fetch", 12, onlyCommitted(fetchFrom(t, before)))
	}
	a.Do("producers", 0, describeProducers(t.name))
	a.Abort("abort", t, 3160)
	ends(a, "ended", t)
	a.Do("ended, fetch", 12, onlyCommitted(fetchFrom(t, 3)))
	a.StoreIn("open again", t, transactional(3160, 0, 2, 1))
	a.Do("delete all", 2, deleteBefore(t, -1))
	ends(a, "all deleted", t)
	a.Do("from the end", 12, onlyCommitted(fetchFrom(t, 7)))
	a.Do("producers then", 0, describeProducers(t.name))
	a.Commit("commit", t, 3160)
	ends(a, "ended again", t)
	a.Do("from the marker", 12, onlyCommitted(fetchFrom(t, 7)))
}

func runMarkerDeletedInside(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-deleted-inside", 1, "segment.ms", oneSegment)
	a.StoreIn("open", t, transactional(3165, 0, 0, 3))
	a.Do("delete before 1", 2, deleteBefore(t, 1))
	ends(a, "deleted", t)
	a.Do("deleted, fetch", 12, onlyCommitted(fetchFrom(t, 1)))
}

func runMarkerOrphan(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-orphan", 1, "segment.ms", oneSegment)
	a.StoreIn("open", t, transactional(3166, 0, 0, 1))
	ends(a, "open", t)
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic(t.name, 1)
	a.Store("plain", t, Values("x"))
	ends(a, "restarted", t)
	a.Do("producers", 0, describeProducers(t.name))
}

func runMarkerWaits(c *C) {
	a, b := c.Conn("a"), c.Conn("b")
	t := a.NewTopic("marker-waits", 1, "segment.ms", oneSegment)
	b.StoreIn("open", t, transactional(3170, 0, 0, 1))
	req := onlyCommitted(fetchFrom(t, 0))
	req.MaxWaitMillis, req.MinBytes = 15_000, 1
	p := a.Send("waits", 12, req)
	p.Parked()
	b.StoreIn("goes on", t, transactional(3170, 0, 1, 1))
	b.Store("outside", t, Values("x"))
	p.Parked()
	b.Commit("commit", t, 3170)
	p.Await()
	b.StoreIn("another", t, transactional(3170, 0, 2, 1))
	behind := onlyCommitted(fetchFrom(t, 4))
	behind.MaxWaitMillis, behind.MinBytes = 15_000, 100
	p = a.Send("waits for more", 12, behind)
	p.Parked()
	b.Abort("abort", t, 3170)
	p.Await()
	a.DoTimed("waits in vain", 12, onlyCommitted(waiting(fetchFrom(t, 6), 1)), longWait)
}

func runMarkerSessions(c *C) {
	a, b := c.Conn("a"), c.Conn("b")
	t := b.NewTopic("marker-sessions", 2, "segment.ms", oneSegment)
	b.StoreIn("open", t, transactional(3180, 0, 0, 1))
	open := onlyCommitted(fetchFrom(t, 0, 0))
	id := a.openSession("open a session", 12, inSession(open, 0, 0))
	epoch := int32(0)
	next := func(step string) {
		epoch++
		a.Do(step, 12, inSession(onlyCommitted(fetchFrom(t)), id, epoch))
	}
	next("nothing new")
	b.StoreIn("goes on", t, transactional(3180, 0, 1, 1))
	next("the high watermark moved")
	next("nothing new again")
	b.Abort("abort", t, 3180)
	next("it became stable")
	next("it comes again")
}

func markerLookupScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "marker-times",
			Claim: "A look-up by time and that of the largest timestamp take markers for records; reading committed, what is found at or behind the last stable offset is not there.",
			Run:   runMarkerTimes,
		},
	}
}

func runMarkerTimes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("marker-times", 1, "segment.ms", oneSegment)
	ask := func(when string) {
		for _, at := range []int64{0, DayOne, DayOne + 1, DayOne + 50, DayOne + 100, DayOne + 101, math.MaxInt64, largest, latest, earliest} {
			req := listOffsets(t, at)
			a.Do(fmt.Sprint(when, ", ", at), 7, req)
			req.IsolationLevel = 1
			a.Do(fmt.Sprint(when, ", ", at, ", committed"), 7, req)
		}
	}
	at := func(b Batch, after int64) Batch {
		b.Start = DayOne + after
		return b
	}
	a.Store("plain", t, at(Values("x"), 0))
	a.StoreIn("open", t, at(transactional(3200, 0, 0, 1), 50))
	a.Store("plain behind", t, at(Values("y"), 100))
	ask("open")
	a.Commit("commit", t, 3200)
	ask("committed")
	a.StoreIn("open again", t, at(transactional(3200, 0, 1, 1), 70))
	ask("open again")
	a.Do("delete before the marker", 2, deleteBefore(t, 3))
	ask("deleted")
}
