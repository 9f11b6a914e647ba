package conformance

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareLockScenarios show what becomes of records whose lock ends, is renewed, or lies on offsets without a record.
func shareLockScenarios() []Scenario {
	return inSharePart([]Scenario{
		{
			Name:  "share-lock",
			Claim: "When its lock ends a record is delivered again, and the acknowledgement of the first delivery is refused, or taken when the same member has it again.",
			Run:   runShareLock,
		},
		{
			Name:  "share-lock-fetch",
			Claim: "A ShareFetch is held to what is in flight before it acquires: an acknowledgement of records whose lock has ended is refused, though the same records are acquired by it again; one that is good releases nothing to the same fetch.",
			Run:   runShareLockFetch,
		},
		{
			Name:  "share-renew",
			Claim: "RENEW keeps records for longer; with IsRenewAck a fetch asks for no records and sets nothing else; disabled by share.renew.acknowledge.enable it is INVALID_RECORD_STATE.",
			Run:   runShareRenew,
		},
		{
			Name:  "share-compacted",
			Claim: "Offsets that compaction left without a record are acquired with the batch that they stood in, or that follows, and can be acknowledged as gaps or as if there were records.",
			Set:   shareSetSoon(),
			Run:   runShareCompacted,
		},
	})
}

func runShareLock(c *C) {
	const name = "share-lock"
	a, t := c.shareTopic(name, "share.record.lock.duration.ms", "1500")
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	a.acknowledges("accept one", t, ack(0, 0, ackAccept))
	b := c.shareMember("b", name)
	b.fetches("another gets the other when its lock ends", b.fetching(t))
	a.acknowledges("too late", t, ack(1, 1, ackAccept))
	n.ShareOffsets("offsets", name)
	a.fetches("it comes back in turn", a.fetching())
	a.acknowledges("in time", t, ack(1, 1, ackAccept))
	n.ShareOffsets("offsets at the end", name)
}

func runShareLockFetch(c *C) {
	const name = "share-lock-fetch"
	a, t := c.shareTopic(name, "share.record.lock.duration.ms", "1500")
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	for _, again := range []string{"", ", again"} {
		time.Sleep(3 * time.Second) // the lock ends, and nothing that a member could ask tells of it
		a.fetches("too late, in a fetch"+again, with(a.fetching(), t, ack(0, 1, ackAccept)))
		n.ShareOffsets("offsets"+again, name)
	}
	n.Store("store one", t, Values("3"))
	a.fetches("in time, in a fetch with records", with(a.fetching(), t, ack(0, 0, ackAccept), ack(1, 1, ackRelease)))
	a.acknowledges("accept the new one", t, ack(2, 2, ackAccept))
	a.fetches("what was released", a.fetching())
	a.acknowledges("accept it", t, ack(1, 1, ackAccept))
	n.ShareOffsets("offsets at the end", name)
}

// shareSetSoon is shareSet with logs that are compacted soon.
func shareSetSoon() map[string]string {
	set := shareSet()
	for name, value := range soon {
		set[name] = value
	}
	return set
}

func runShareCompacted(c *C) {
	const name = "share-compacted"
	n := c.Conn("n")
	n.AwaitGroupCoordinator(name)
	t := n.heldBack(name)
	n.Store("three keys", t, pairs(0, "a", "1", "b", "1", "c", "1"))
	n.Store("two of them again: the batch goes", t, pairs(1, "a", "2", "b", "2"))
	n.Store("one again, and another", t, pairs(2, "a", "3", "d", "1"))
	n.Store("both again", t, pairs(3, "a", "4", "b", "3"))
	n.Store("later", t, later(0, "z", "1"))
	n.setTopic(t, "cleanup.policy", "compact")
	n.cleaned(name)
	n.shape("what is left", t)
	n.GroupConfig(name, "share.auto.offset.reset", "earliest")
	a := c.shareMember("a", name).joins(name)
	all := func(r *kmsg.ShareFetchResponse, kind func(offset int64) int8) (list []acks) {
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				for _, got := range p.AcquiredRecords {
					one := ack(got.FirstOffset, got.LastOffset)
					for o := got.FirstOffset; o <= got.LastOffset; o++ {
						one.types = append(one.types, kind(o))
					}
					list = append(list, one)
				}
			}
		}
		return list
	}
	there := map[int64]bool{2: true, 6: true, 7: true, 8: true, 9: true}
	gaps := func(otherwise int8) func(int64) int8 {
		return func(o int64) int8 {
			if there[o] {
				return otherwise
			}
			return ackGap
		}
	}
	first := a.fetches("fetch", a.fetching(t))
	n.ShareOffsets("offsets while all are acquired", name)
	a.acknowledges("release all, the gaps too", t, all(first, func(int64) int8 { return ackRelease })...)
	again := a.fetches("fetch again", a.fetching())
	a.acknowledges("release the records, the others are gaps", t, all(again, gaps(ackRelease))...)
	n.ShareOffsets("offsets behind the first gaps", name)
	third := a.fetches("fetch what is left", a.fetching())
	a.acknowledges("accept it", t, all(third, func(int64) int8 { return ackAccept })...)
	fourth := a.fetches("fetch, if there is more", briefly(a.fetching()))
	if rest := all(fourth, gaps(ackAccept)); len(rest) > 0 {
		a.acknowledges("accept the rest", t, rest...)
	}
	n.ShareOffsets("offsets at the end", name)
}

func runShareRenew(c *C) {
	const name = "share-renew"
	a, t := c.shareTopic(name, "share.record.lock.duration.ms", "3000")
	n := c.Conn("n")
	n.Store("store", t, Values("1", "2"))
	a.fetches("fetch", a.fetching(t))
	renew := func() *kmsg.ShareAcknowledgeRequest {
		req := a.acknowledging(t, ack(0, 1, ackRenew))
		req.IsRenewAck = true
		return req
	}
	a.asks("renew", renew())
	mixed := a.acknowledging(t, ack(0, 1, ackRenew, ackAccept))
	mixed.IsRenewAck = true
	a.asks("renew one and accept the other", mixed)
	bad := briefly(with(a.fetching(), t, ack(0, 0, ackRenew)))
	bad.IsRenewAck = true
	a.Do("renew in a fetch that asks for records", 2, bad)
	good := with(a.fetching(), t, ack(0, 0, ackRenew))
	good.IsRenewAck, good.MaxBytes, good.MinBytes, good.MaxRecords, good.MaxWaitMillis = true, 0, 0, 0, 0
	a.fetches("renew in a fetch that asks for none", good)
	n.Store("store one", t, Values("3"))
	again := with(a.fetching(), t, ack(0, 0, ackRenew))
	again.IsRenewAck, again.MaxBytes, again.MinBytes, again.MaxRecords, again.MaxWaitMillis = true, 0, 0, 0, 0
	a.fetches("renew in a fetch while there are records", again)
	n.ShareOffsets("offsets", name)
	n.GroupConfig(name, "share.renew.acknowledge.enable", "false")
	AskUntil(a.Conn, "renew until it is disabled", 2, func() *kmsg.ShareAcknowledgeRequest {
		a.session--
		return renew()
	}(), func(*kmsg.ShareAcknowledgeResponse) bool { return true })
	a.session++
	a.asks("renew when it is disabled", renew())
}
