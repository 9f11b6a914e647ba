package handlers

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
)

// steady is a member of a group that is past its rebalances.
type steady struct {
	c          *testConn
	topic      [16]byte
	partitions int32
	id         string
	epoch      int32 // or generation
	session    int32 // of a share group
}

// joinClassic makes "g" a stable classic group of one member.
func joinClassic(c *testConn) *steady {
	m := &steady{c: c}
	subscription := kmsg.NewConsumerMemberMetadata()
	subscription.Topics = []string{"orders"}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = "g", "consumer", 60_000, 60_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription.AppendTo(nil)}}
	join.MemberID = request[*kmsg.JoinGroupResponse](c, join, 9).MemberID
	joined := request[*kmsg.JoinGroupResponse](c, join, 9)
	m.id, m.epoch = joined.MemberID, joined.Generation
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = "g", m.id, m.epoch
	sync.ProtocolType, sync.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: m.id, MemberAssignment: []byte("all")}}
	if code := request[*kmsg.SyncGroupResponse](c, sync, 5).ErrorCode; code != none {
		c.t.Fatalf("sync: %d", code)
	}
	return m
}

func (m *steady) beatClassic() {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = "g", m.id, m.epoch
	if code := request[*kmsg.HeartbeatResponse](m.c, req, 4).ErrorCode; code != none {
		m.c.t.Fatalf("heartbeat: %d", code)
	}
}

// joinConsumer makes "g" a stable consumer group of one member.
func joinConsumer(c *testConn) *steady {
	m := &steady{c: c, id: "member"}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames = "g", m.id, 60_000, []string{"orders"}
	req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	resp := request[*kmsg.ConsumerGroupHeartbeatResponse](c, req, 1)
	if resp.ErrorCode != none || resp.Assignment == nil || len(resp.Assignment.Topics) != 1 {
		c.t.Fatalf("join: %+v", resp)
	}
	m.epoch = resp.MemberEpoch
	own := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	own.Group, own.MemberID, own.MemberEpoch, own.RebalanceTimeoutMillis = "g", m.id, m.epoch, -1
	own.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: resp.Assignment.Topics[0].TopicID, Partitions: resp.Assignment.Topics[0].Partitions}}
	request[*kmsg.ConsumerGroupHeartbeatResponse](c, own, 1)
	return m
}

func (m *steady) beatConsumer() {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = "g", m.id, m.epoch, -1
	if resp := request[*kmsg.ConsumerGroupHeartbeatResponse](m.c, req, 1); resp.ErrorCode != none || resp.MemberEpoch != m.epoch {
		m.c.t.Fatalf("heartbeat: %+v", resp)
	}
}

// joinShare makes "g" a share group of one member that has its partitions.
func joinShare(c *testConn) *steady {
	m := &steady{c: c, id: "member"}
	for range 4 { // the first heartbeat makes the partitions the group's, a later one is told of them
		req := kmsg.NewPtrShareGroupHeartbeatRequest()
		req.GroupID, req.MemberID, req.MemberEpoch = "g", m.id, m.epoch
		if m.epoch == 0 {
			req.SubscribedTopicNames = []string{"orders"}
		}
		resp := request[*kmsg.ShareGroupHeartbeatResponse](c, req, 1)
		if resp.ErrorCode != none {
			c.t.Fatalf("join: %+v", resp)
		}
		m.epoch = resp.MemberEpoch
	}
	return m
}

func (m *steady) beatShare() {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.MemberEpoch = "g", m.id, m.epoch
	if resp := request[*kmsg.ShareGroupHeartbeatResponse](m.c, req, 1); resp.ErrorCode != none || resp.MemberEpoch != m.epoch {
		m.c.t.Fatalf("heartbeat: %+v", resp)
	}
}

// TestQuietHeartbeatsWriteNothing: a heartbeat that changes nothing costs no entry of the journal. Streams groups have a test of
// their own.
func TestQuietHeartbeatsWriteNothing(t *testing.T) {
	for name, kind := range map[string]struct {
		join func(*testConn) *steady
		beat func(*steady)
	}{
		"classic":  {joinClassic, (*steady).beatClassic},
		"consumer": {joinConsumer, (*steady).beatConsumer},
		"share":    {joinShare, (*steady).beatShare},
	} {
		t.Run(name, func(t *testing.T) {
			b := startTestBroker(t, map[string]string{"group.initial.rebalance.delay.ms": "0", "group.share.assignment.interval.ms": "0"})
			c := b.connect()
			c.createTopic("orders", 10)
			m := kind.join(c)
			_, before := b.store.View()
			for range 1000 {
				b.clock.now.Add(1)
				kind.beat(m)
			}
			if _, after := b.store.View(); after != before {
				t.Errorf("a thousand quiet heartbeats made %d entries", after-before)
			}
		})
	}
}

// commit commits the next offset of every partition that the member reads.
func (m *steady) commit(offset int64) {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = "g", m.id, m.epoch
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.TopicID = m.topic
	for p := range m.partitions {
		one := kmsg.NewOffsetCommitRequestTopicPartition()
		one.Partition, one.Offset = p, offset
		topic.Partitions = append(topic.Partitions, one)
	}
	req.Topics = append(req.Topics, topic)
	for _, p := range request[*kmsg.OffsetCommitResponse](m.c, req, 10).Topics[0].Partitions {
		if p.ErrorCode != none {
			m.c.t.Fatalf("commit: %d", p.ErrorCode)
		}
	}
}

// share produces a record, takes it and accepts it.
func (m *steady) share(offset int64) {
	m.c.produce("orders", -1, batch(1, day, -1, -1, -1))
	got := shareFetch(m.c, "g", m.id, m.topic, m.session)
	m.session++
	if len(got.Topics) != 1 || len(got.Topics[0].Partitions[0].AcquiredRecords) != 1 {
		m.c.t.Fatalf("share fetch: %+v", got)
	}
	took := acknowledgeShared(m.c, "g", m.id, m.topic, m.session, offset, offset, 1)
	m.session++
	if code := took.Topics[0].Partitions[0].ErrorCode; code != none {
		m.c.t.Fatalf("acknowledge: %d", code)
	}
}

// journalBytes is what the entries after the first ones take in the journal.
func (b *testBroker) journalBytes(first uint64) (n int64, kinds map[string]int) {
	b.t.Helper()
	entries, err := journal.OpenReader(b.fs, "journal")
	if err != nil {
		b.t.Fatal(err)
	}
	defer entries.Close()
	kinds = map[string]int{}
	for {
		e, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return n, kinds
		}
		if err != nil {
			b.t.Fatal(err)
		}
		if e.Seq > first {
			n += entries.Position().Bytes
			for _, ev := range e.Events {
				kinds[ev.Kind().Name()]++
			}
		}
	}
}

// TestJournalOfAConsumerHour says what a consumer in steady work costs in the journal (docs/performance.md): heartbeats cost
// nothing, a commit every five seconds (auto.commit.interval.ms) or an acknowledgement every second an entry each.
func TestJournalOfAConsumerHour(t *testing.T) {
	const heartbeats, commits, acks = 3600, 720, 3600
	for _, c := range []struct {
		name  string
		most  int64
		begin func(*testConn) *steady
		hour  func(*steady)
	}{
		{"classic, 1 partition", 100_000, joinClassic, func(m *steady) { m.hour(heartbeats/3, commits, 1, m.beatClassic) }},
		{"classic, 10 partitions", 250_000, joinClassic, func(m *steady) { m.hour(heartbeats/3, commits, 10, m.beatClassic) }},
		{"consumer, 1 partition", 100_000, joinConsumer, func(m *steady) { m.hour(heartbeats, commits, 1, m.beatConsumer) }},
		{"consumer, 10 partitions", 250_000, joinConsumer, func(m *steady) { m.hour(heartbeats, commits, 10, m.beatConsumer) }},
		{"consumer that commits nothing", 0, joinConsumer, func(m *steady) { m.hour(heartbeats, 0, 0, m.beatConsumer) }},
		{"share, 1 record a second", 550_000, joinShare, func(m *steady) {
			for i := range acks {
				m.beatShare()
				m.share(int64(i))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := startTestBroker(t, map[string]string{"group.initial.rebalance.delay.ms": "0", "group.share.assignment.interval.ms": "0"})
			conn := b.connect()
			id := conn.createTopic("orders", 10)
			if strings.HasPrefix(c.name, "share") && shareFrom(conn, "g", "orders", 0) != none {
				t.Fatal("the group cannot begin at the beginning")
			}
			m := c.begin(conn)
			m.topic = id
			_, first := b.store.View()
			c.hour(m)
			bytes, kinds := b.journalBytes(first)
			t.Logf("%d bytes: %v", bytes, kinds)
			if bytes > c.most {
				t.Errorf("%d bytes an hour, %d at most", bytes, c.most)
			}
		})
	}
}

// hour heartbeats and commits as often as a client does in an hour.
func (m *steady) hour(heartbeats, commits int, partitions int32, beat func()) {
	m.partitions = partitions
	for range heartbeats {
		beat()
	}
	for i := range commits {
		m.commit(int64(1000 * i))
	}
}
