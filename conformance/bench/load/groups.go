package load

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetCommitRequest commits one offset for each partition as a group without members.
func OffsetCommitRequest(group string, topics []Topic, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.SetVersion(9)
	req.Group, req.Generation = group, -1
	for _, topic := range topics {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = topic.Name
		for p := range topic.Partitions {
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch = p, offset, -1
			t.Partitions = append(t.Partitions, rp)
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

// CheckOffsetCommit tells whether every offset of the answer was committed.
func CheckOffsetCommit(req *kmsg.OffsetCommitRequest, frame []byte) error {
	resp, err := Decode(req, frame)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.OffsetCommitResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("commit offset of %s-%d: %w", t.Topic, p.Partition, code(p.ErrorCode))
			}
		}
	}
	return nil
}

// CommittedOffset reads what a group committed for one partition.
func CommittedOffset(c *Conn, group string, topic Topic, partition int32) (int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.SetVersion(8)
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.Partitions = topic.Name, []int32{partition}
	g.Topics = append(g.Topics, t)
	req.Groups = append(req.Groups, g)
	resp, err := c.Request(req)
	if err != nil {
		return 0, err
	}
	groups := resp.(*kmsg.OffsetFetchResponse).Groups
	if len(groups) != 1 {
		return 0, fmt.Errorf("fetch offset of group %s: %d groups answered", group, len(groups))
	}
	if groups[0].ErrorCode != 0 {
		return 0, fmt.Errorf("fetch offset of group %s: %w", group, code(groups[0].ErrorCode))
	}
	if len(groups[0].Topics) != 1 || len(groups[0].Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("fetch offset of group %s: no such partition in the answer", group)
	}
	p := groups[0].Topics[0].Partitions[0]
	return p.Offset, code(p.ErrorCode)
}

// FindCoordinator waits until the group has a coordinator; the first one a Kafka is asked for makes its offsets topic.
func FindCoordinator(c *Conn, group string) error {
	for deadline := time.Now().Add(answerTimeout); ; time.Sleep(20 * time.Millisecond) {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.SetVersion(4)
		req.CoordinatorKeys = []string{group}
		resp, err := c.Request(req)
		if err != nil {
			return err
		}
		err = code(resp.(*kmsg.FindCoordinatorResponse).Coordinators[0].ErrorCode)
		if err == nil || !Retriable(err) || time.Now().After(deadline) {
			return err
		}
	}
}

// Member is one member of a classic group.
type Member struct {
	Group, ID  string
	Generation int32
}

// JoinAlone makes a group of one member stable: join, join again with the member id, sync as the leader.
func JoinAlone(c *Conn, group string) (Member, error) {
	m := Member{Group: group}
	joined, err := join(c, m)
	if err == nil && joined.ErrorCode == memberIDRequired {
		m.ID = joined.MemberID
		joined, err = join(c, m)
	}
	if err == nil {
		err = code(joined.ErrorCode)
	}
	if err != nil {
		return m, fmt.Errorf("join group %s: %w", group, err)
	}
	m.ID, m.Generation = joined.MemberID, joined.Generation
	return m, syncAlone(c, m)
}

// memberIDRequired is the code that hands a new member its id and asks it to join with it.
const memberIDRequired = 79

func join(c *Conn, m Member) (*kmsg.JoinGroupResponse, error) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.SetVersion(9)
	req.Group, req.MemberID, req.ProtocolType = m.Group, m.ID, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 300_000, 300_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription()}}
	resp, err := c.Request(req)
	if err != nil {
		return nil, err
	}
	return resp.(*kmsg.JoinGroupResponse), nil
}

// subscription is what a consumer of one topic sends. It must be well formed: Kafka reads it when the join completes, and
// at a malformed one never answers the join.
func subscription() []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{"bench-group"}
	return m.AppendTo(nil)
}

func syncAlone(c *Conn, m Member) error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.SetVersion(5)
	req.Group, req.MemberID, req.Generation = m.Group, m.ID, m.Generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	req.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: m.ID, MemberAssignment: []byte("assignment")}}
	resp, err := c.Request(req)
	if err != nil {
		return err
	}
	if e := resp.(*kmsg.SyncGroupResponse).ErrorCode; e != 0 {
		return fmt.Errorf("sync group %s: %w", m.Group, code(e))
	}
	return nil
}

// Leave takes the member out of its group.
func Leave(c *Conn, m Member) error {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.SetVersion(4)
	req.Group = m.Group
	req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: m.ID}}
	resp, err := c.Request(req)
	if err != nil {
		return err
	}
	if e := resp.(*kmsg.LeaveGroupResponse).ErrorCode; e != 0 {
		return fmt.Errorf("leave group %s: %w", m.Group, code(e))
	}
	return nil
}
