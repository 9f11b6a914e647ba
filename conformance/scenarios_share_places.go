package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// sharePlaceScenarios show where in a log a share group begins, and where it goes on.
func sharePlaceScenarios() []Scenario {
	return inSharePart([]Scenario{
		{
			Name:  "share-reset",
			Claim: "share.auto.offset.reset says where a group begins: latest (the default), earliest, by_duration; it counts at the first fetch after the partition became the group's.",
			Run:   runShareReset,
		},
		{
			Name:  "share-isolation",
			Claim: "share.isolation.level read_uncommitted (the default) delivers records of open and aborted transactions and their markers' offsets; read_committed waits for the last stable offset and leaves aborted batches out.",
			Set:   shareSet("transaction.state.log.num.partitions", "1"),
			Run:   runShareIsolation,
		},
		{
			Name:  "share-log-start",
			Claim: "When records are deleted below a group's place it goes on at the log's start; what is acquired of them can be acknowledged and is forgotten.",
			Run:   runShareLogStart,
		},
		{
			Name:  "share-restart",
			Claim: "Start offset, delivery counts and acknowledgements survive a stop and a kill; acquisitions do not.",
			Fresh: true,
			Run:   runShareRestart,
		},
	})
}

func runShareReset(c *C) {
	n := c.Conn("n")
	n.AwaitGroupCoordinator("share-reset")
	t := n.NewTopic("share-reset", 1)
	n.Store("store an old one", t, Values("old"))
	recent := Values("recent")
	recent.Start = time.Now().UnixMilli()
	n.Store("store a recent one", t, recent)
	reading := func(reset string) *shareMember {
		group := "share-reset-" + reset
		if reset != "default" {
			n.GroupConfig(group, "share.auto.offset.reset", reset)
		}
		return c.shareMember(reset, group).joins(t.name)
	}
	show := func(step string, m *shareMember, req *kmsg.ShareFetchRequest) {
		m.Send(step, 2, req).Only("ErrorCode", "Topics.Partitions.ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
		m.session++
	}
	d := reading("default")
	show("by default: nothing", d, briefly(d.fetching(t)))
	for _, reset := range []string{"earliest", "latest", "by_duration:PT1H", "by_duration:P20000D"} {
		m := reading(reset)
		show(reset, m, briefly(m.fetching(t)))
	}
	n.Store("store a new one", t, Values("new"))
	show("by default: the new one", d, d.fetching())
	n.ShareOffsets("offsets of the default group", d.group)
}

func runShareIsolation(c *C) {
	const name = "share-isolation"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	n.GroupConfig(name+"-committed", "share.auto.offset.reset", "earliest", "share.isolation.level", "read_committed")
	b := c.shareMember("b", name+"-committed").joins(name)
	show := func(step string, m *shareMember, req *kmsg.ShareFetchRequest) {
		m.Send(step, 2, req).Only("ErrorCode", "Topics.Partitions.ErrorCode", "Topics.Partitions.AcquiredRecords").Await()
		m.session++
	}
	n.Store("store", t, Values("1"))
	p := c.txnProducer("p", name)
	p.WriteV1("write in a transaction", t, "2", "3")
	show("uncommitted: all", a, a.fetching(t))
	show("committed: up to the transaction", b, b.fetching(t))
	p.End("abort", endTxnV1, false)
	n.Store("store after it", t, Values("4"))
	show("uncommitted: the marker and the next", a, a.fetching())
	show("committed: without what was aborted", b, b.fetching())
	a.acknowledges("uncommitted: accept all", t, ack(0, 4, ackAccept))
	b.acknowledges("committed: accept what was aborted", t, ack(1, 2, ackAccept))
	b.acknowledges("committed: accept the rest", t, ack(0, 0, ackAccept), ack(3, 4, ackGap, ackAccept))
	n.ShareOffsets("offsets", name)
	n.ShareOffsets("offsets, committed", name+"-committed")
}

func runShareLogStart(c *C) {
	const name = "share-log-start"
	a, t := c.shareTopic(name)
	n := c.Conn("n")
	for _, v := range []string{"a", "b", "c", "d"} {
		n.Store("store two", t, Values(v, v))
	}
	first := a.fetching(t)
	first.MaxRecords = 4
	a.fetches("fetch two batches", first)
	a.acknowledges("release the first", t, ack(0, 1, ackRelease))
	n.Do("delete below 3", 2, deleteBefore(t, 3))
	a.fetches("fetch", briefly(a.fetching()))
	a.fetches("fetch again", briefly(a.fetching()))
	a.acknowledges("accept what was deleted", t, ack(2, 2, ackAccept))
	a.acknowledges("accept what was not", t, ack(3, 3, ackAccept))
	n.ShareOffsets("offsets", name)
	n.Do("delete all", 2, deleteBefore(t, 8))
	n.Store("store", t, Values("e"))
	a.fetches("fetch", briefly(a.fetching()))
	a.fetches("fetch again", briefly(a.fetching()))
	n.ShareOffsets("offsets at the end", name)
}

func runShareRestart(c *C) {
	const name = "share-restart"
	a, t := c.shareTopic(name)
	a.Store("store four", t, Values("1", "2", "3", "4"))
	a.Store("store two", t, Values("5", "6"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("release one, accept one, release one", t, ack(0, 2, ackRelease, ackAccept, ackRelease))
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		n := c.Conn("n")
		n.AwaitGroupCoordinator(name)
		AskUntil(n, "offsets", 1, shareOffsets(name), func(r *kmsg.DescribeShareGroupOffsetsResponse) bool {
			return r.Groups[0].ErrorCode == 0 && len(r.Groups[0].Topics) > 0 && r.Groups[0].Topics[0].Partitions[0].ErrorCode == 0
		})
		a = &shareMember{Conn: c.Conn("a"), group: name, id: "member-a"}
		a.fetches("fetch", a.fetching(t))
		a.acknowledges("accept the third, release the first", t, ack(0, 0, ackRelease), ack(2, 2, ackAccept))
		end := briefly(a.fetching())
		end.ShareSessionEpoch = -1
		a.fetches("end the session: a kill would come before or after the end of the connection", end)
	}
	c.Conn("n").ShareOffsets("offsets at the end", name)
}
