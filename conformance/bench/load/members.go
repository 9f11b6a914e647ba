package load

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ClassicMember is one of many members of a classic group, on a connection of its own.
type ClassicMember struct {
	conn *Conn
	Member
	all []string // the ids of all members, told to the leader
}

// NewClassicMember opens the connection of a member that is to join a group.
func NewClassicMember(addr, group string) (*ClassicMember, error) {
	c, err := Dial(addr)
	return &ClassicMember{conn: c, Member: Member{Group: group}}, err
}

// Rebalance joins and syncs: at the end the member has its assignment in a generation. The leader of a group that is stable begins
// it, the others join when a heartbeat tells them to. A join that others have overtaken, or that hands out an id, is made again.
func (m *ClassicMember) Rebalance() error {
	if m.Generation > 0 && len(m.all) == 0 {
		if err := m.awaitRebalance(); err != nil {
			return err
		}
	}
	for {
		joined, err := join(m.conn, m.Member)
		if err != nil {
			return err
		}
		if m.ID = joined.MemberID; joined.ErrorCode == memberIDRequired {
			continue
		}
		if joined.ErrorCode != 0 {
			return fmt.Errorf("join group %s: %w", m.Group, code(joined.ErrorCode))
		}
		m.Generation, m.all = joined.Generation, nil
		for _, other := range joined.Members {
			m.all = append(m.all, other.MemberID)
		}
		if again, err := m.sync(); !again {
			return err
		}
	}
}

// awaitRebalance heartbeats until there is a rebalance.
func (m *ClassicMember) awaitRebalance() error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.SetVersion(4)
	req.Group, req.MemberID, req.Generation = m.Group, m.ID, m.Generation
	for {
		resp, err := m.conn.Request(req)
		if err != nil {
			return err
		}
		switch e := resp.(*kmsg.HeartbeatResponse).ErrorCode; e {
		case rebalanceInProgress:
			return nil
		case 0:
			time.Sleep(20 * time.Millisecond)
		default:
			return fmt.Errorf("heartbeat in group %s: %w", m.Group, code(e))
		}
	}
}

// rebalanceInProgress is the code of a request that came when another rebalance had begun.
const rebalanceInProgress = 27

func (m *ClassicMember) sync() (again bool, err error) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.SetVersion(5)
	req.Group, req.MemberID, req.Generation = m.Group, m.ID, m.Generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for _, id := range m.all {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: []byte("assignment")})
	}
	resp, err := m.conn.Request(req)
	if err != nil {
		return false, err
	}
	switch e := resp.(*kmsg.SyncGroupResponse).ErrorCode; e {
	case rebalanceInProgress:
		return true, nil
	case 0:
		return false, nil
	default:
		return false, fmt.Errorf("sync group %s: %w", m.Group, code(e))
	}
}

// Close closes the connection; the member stays.
func (m *ClassicMember) Close() { m.conn.Close() }

// ConsumerMember is one of many members of a consumer group (KIP-848), on a connection of its own.
type ConsumerMember struct {
	conn      *Conn
	group, id string
	topic     string
	Epoch     int32
	Has       int // partitions
	owns      []kmsg.ConsumerGroupHeartbeatRequestTopic
}

// NewConsumerMember opens the connection of a member that is to join a group and read a topic.
func NewConsumerMember(addr, group, id, topic string) (*ConsumerMember, error) {
	c, err := Dial(addr)
	return &ConsumerMember{conn: c, group: group, id: id, topic: topic}, err
}

// Beat heartbeats once, as the real clients do: at once again when the assignment is another one. It tells how long to wait before the next.
func (m *ConsumerMember) Beat() (time.Duration, error) {
	for told := false; ; {
		resp, err := m.beat(told)
		if err != nil {
			return 0, err
		}
		if m.Epoch = resp.MemberEpoch; resp.Assignment == nil {
			return time.Duration(resp.HeartbeatIntervalMillis) * time.Millisecond, nil
		}
		m.Has, m.owns, told = 0, []kmsg.ConsumerGroupHeartbeatRequestTopic{}, true
		for _, t := range resp.Assignment.Topics {
			m.Has += len(t.Partitions)
			m.owns = append(m.owns, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: t.TopicID, Partitions: t.Partitions})
		}
	}
}

// beat sends one heartbeat; owned says what the member has.
func (m *ConsumerMember) beat(owned bool) (*kmsg.ConsumerGroupHeartbeatResponse, error) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.SetVersion(1)
	req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = m.group, m.id, m.Epoch, -1
	if m.Epoch == 0 {
		req.RebalanceTimeoutMillis, req.SubscribedTopicNames = 300_000, []string{m.topic}
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	if owned {
		req.Topics = m.owns
	}
	resp, err := m.conn.Request(req)
	if err != nil {
		return nil, err
	}
	beat := resp.(*kmsg.ConsumerGroupHeartbeatResponse)
	if beat.ErrorCode != 0 {
		return nil, fmt.Errorf("heartbeat of %s in group %s: %w", m.id, m.group, code(beat.ErrorCode))
	}
	return beat, nil
}

// Close closes the connection; the member stays.
func (m *ConsumerMember) Close() { m.conn.Close() }
