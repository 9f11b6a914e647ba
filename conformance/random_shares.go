package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RandomShares is a scenario of fetches and acknowledgements of two members that read one partition as a share group: right
// ones, and ones of another session epoch, of records that nobody or another has, of ranges that cannot be. A third hand
// produces. No lock ends in it; a fetch without records waits for a moment.
func RandomShares(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Records are delivered to a share group and acknowledged as in Kafka, whatever its members do.", Set: randomSet()}
	return s.atRandom("random-shares", seed, 11, func(r random) { (&randomShares{random: r}).play(steps) })
}

type randomShares struct {
	random
	topic   topicRef
	members []*randomSharer
	stored  int64
}

// randomSharer is a member and what it was given and has said nothing of.
type randomSharer struct {
	*shareMember
	holds []acks
}

func (r *randomShares) play(steps int) {
	a, topic := r.c.shareTopic(r.group, "share.record.lock.duration.ms", "60000")
	r.topic = topic
	r.members = []*randomSharer{{shareMember: a}, {shareMember: r.c.shareMember("b", r.group)}}
	n := r.c.Conn("n")
	r.store(n)
	r.members[0].take(r.members[0].fetches("first fetch", a.fetching(topic)))
	for range steps {
		if r.rng.IntN(5) == 0 {
			r.store(n)
		} else {
			r.act(r.members[r.rng.IntN(2)])
		}
		n.ShareOffsets("offsets", r.group)
	}
}

// store produces a batch of one to four records.
func (r *randomShares) store(n *Conn) {
	var values []string
	for range 1 + r.rng.IntN(4) {
		values = append(values, fmt.Sprint(r.stored))
		r.stored++
	}
	n.Store("store", r.topic, Values(values...))
}

// take notes what an answer gave the member.
func (m *randomSharer) take(resp *kmsg.ShareFetchResponse) {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			for _, got := range p.AcquiredRecords {
				m.holds = append(m.holds, ack(got.FirstOffset, got.LastOffset))
			}
		}
	}
}

func (r *randomShares) act(m *randomSharer) {
	switch choice := r.rng.IntN(20); {
	case choice < 6:
		r.fetch(m)
	case choice < 12:
		m.acknowledges("acknowledgement of "+m.name, r.topic, r.some(m)...)
	case choice < 14:
		req := briefly(r.fetchOf(m))
		m.take(m.fetches("fetch of "+m.name+" with an acknowledgement", with(req, r.topic, r.some(m)...)))
	case choice < 15:
		m.acknowledges("acknowledgement of anything by "+m.name, r.topic, r.any())
	case choice < 16:
		r.renew(m)
	case choice < 18:
		r.odd(m)
	case choice < 19:
		req := m.acknowledging(r.topic, r.some(m)...)
		req.ShareSessionEpoch = -1
		m.ends("last acknowledgement of "+m.name, req)
	default:
		req := briefly(m.fetching(r.topic))
		req.ShareSessionEpoch = 0
		m.session, m.holds = 0, nil
		m.take(m.fetches("a new session of "+m.name, req))
	}
}

// ends closes the session: what the member holds is released.
func (m *randomSharer) ends(step string, req *kmsg.ShareAcknowledgeRequest) {
	m.asks(step, req)
	if m.session == 0 {
		m.holds = nil
	}
}

// fetchOf is the session's next fetch; the first names the partition.
func (r *randomShares) fetchOf(m *randomSharer) *kmsg.ShareFetchRequest {
	if m.session == 0 {
		return m.fetching(r.topic)
	}
	return m.fetching()
}

// fetch asks for records, in either mode of acquisition.
func (r *randomShares) fetch(m *randomSharer) {
	req := briefly(r.fetchOf(m))
	req.MaxRecords = []int32{1, 2, 5, 500}[r.rng.IntN(4)]
	req.BatchSize = []int32{1, 3, 500}[r.rng.IntN(3)]
	req.ShareAcquireMode = int8(r.rng.IntN(2))
	m.take(m.fetches("fetch of "+m.name, req))
}

func (r *randomShares) kind() int8 {
	return []int8{ackAccept, ackAccept, ackRelease, ackRelease, ackReject, ackGap}[r.rng.IntN(6)]
}

// any is one record, whoever has it. A range that reaches over the group's start while nothing is in flight would be
// UNKNOWN_SERVER_ERROR in Kafka (docs/share-groups.md).
func (r *randomShares) any() acks {
	offset := r.rng.Int64N(r.stored + 2)
	return ack(offset, offset, r.kind())
}

// some are acknowledgements of something that the member holds: all of it, a part, or each offset by itself.
func (r *randomShares) some(m *randomSharer) []acks {
	if len(m.holds) == 0 {
		return []acks{r.any()}
	}
	i := r.rng.IntN(len(m.holds))
	whole := m.holds[i]
	m.holds = append(m.holds[:i:i], m.holds[i+1:]...)
	switch n := whole.last - whole.first + 1; {
	case n > 1 && r.rng.IntN(3) == 0: // the first ones; the others are kept
		cut := whole.first + r.rng.Int64N(n-1)
		m.holds = append(m.holds, ack(cut+1, whole.last))
		return []acks{ack(whole.first, cut, r.kind())}
	case r.rng.IntN(2) == 0:
		types := make([]int8, n)
		for i := range types {
			types[i] = r.kind()
		}
		return []acks{ack(whole.first, whole.last, types...)}
	}
	return []acks{ack(whole.first, whole.last, r.kind())}
}

// renew keeps what the member holds for longer, alone or beside an acknowledgement of the rest.
func (r *randomShares) renew(m *randomSharer) {
	if len(m.holds) == 0 {
		return
	}
	h := m.holds[r.rng.IntN(len(m.holds))]
	req := m.acknowledging(r.topic, ack(h.first, h.last, ackRenew))
	req.IsRenewAck = r.rng.IntN(3) > 0
	m.asks("renewal of "+m.name, req)
}

// odd is a request that no client sends.
func (r *randomShares) odd(m *randomSharer) {
	fetch, acknowledge := briefly(m.fetching(r.topic)), m.acknowledging(r.topic, ack(0, 0, ackAccept))
	switch r.rng.IntN(9) {
	case 0:
		fetch.ShareSessionEpoch = m.session + 1 + r.rng.Int32N(3)
	case 1:
		fetch.MemberID = kmsg.StringPtr("nobody")
		fetch.ShareSessionEpoch = 1 + r.rng.Int32N(2)
	case 2:
		acknowledge.ShareSessionEpoch = r.rng.Int32N(2) * 100
		m.Do("acknowledgement of another epoch by "+m.name, 2, acknowledge)
		return
	case 3:
		acknowledge.Topics[0].Partitions[0].Partition = 9
		m.asks("acknowledgement in no partition by "+m.name, acknowledge)
		return
	case 4:
		m.acknowledges("ranges of "+m.name+" that go back", r.topic, ack(2, 3, ackAccept), ack(0, 1, ackAccept))
		return
	case 5:
		m.acknowledges("unknown type of "+m.name, r.topic, ack(0, 0, 9))
		return
	case 6:
		m.acknowledges("a range of "+m.name+" inside out", r.topic, ack(3, 1, ackAccept))
		return
	case 7:
		fetch.ShareSessionEpoch = -1
		m.Do("last fetch of "+m.name+" with partitions", 2, fetch)
		m.session, m.holds = 0, nil
		return
	case 8:
		fetch.GroupID = kmsg.StringPtr("")
	}
	m.Do("odd fetch of "+m.name, 2, fetch)
}
