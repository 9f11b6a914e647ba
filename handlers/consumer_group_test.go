package handlers

import (
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestConsumersAtOnce: members heartbeat on connections of their own while others describe the group; in
// the end every partition has one owner. The race detector looks at what published states share with the next ones.
func TestConsumersAtOnce(t *testing.T) {
	b := startTestBroker(t, map[string]string{"group.consumer.assignment.interval.ms": "0"})
	admin := b.connect()
	admin.createTopic("t", 12)
	const members = 6
	var all sync.WaitGroup
	for i := range members {
		c := b.connect()
		all.Go(func() { beatFor(t, c, fmt.Sprintf("member-%d", i), 60) })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			describeAll(admin)
		}
	}
	owners := map[int32]string{}
	for _, m := range describeAll(admin).Members {
		for _, tp := range m.Assignment.TopicPartitions {
			for _, p := range tp.Partitions {
				if other := owners[p]; other != "" {
					t.Errorf("partition %d is in the hands of %s and %s", p, other, m.MemberID)
				}
				owners[p] = m.MemberID
			}
		}
	}
}

func describeAll(c *testConn) kmsg.ConsumerGroupDescribeResponseGroup {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{"g"}
	return request[*kmsg.ConsumerGroupDescribeResponse](c, req, 1).Groups[0]
}

// beatFor joins and heartbeats a number of times, doing as it is told.
func beatFor(t *testing.T, c *testConn, id string, times int) {
	epoch, owns := int32(0), []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for range times {
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch, req.Topics, req.RebalanceTimeoutMillis = "g", id, epoch, owns, -1
		if epoch == 0 {
			req.RebalanceTimeoutMillis, req.SubscribedTopicNames = 60_000, []string{"t"}
		}
		resp := request[*kmsg.ConsumerGroupHeartbeatResponse](c, req, 1)
		if resp.ErrorCode != none {
			t.Errorf("%s: %d", id, resp.ErrorCode)
			return
		}
		if epoch = resp.MemberEpoch; resp.Assignment == nil {
			continue
		}
		owns = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, a := range resp.Assignment.Topics {
			owns = append(owns, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: a.TopicID, Partitions: a.Partitions})
		}
	}
}
