package handlers

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// named is a place of the protocol where a client puts a name that is kept or looked up.
type named struct {
	place    string
	from, to int16
	code     int16 // of a name that is too long
	ask      func(c *testConn, version int16, name string) int16
}

// request makes a request at a version and asks it.
func request[R kmsg.Response](c *testConn, req kmsg.Request, version int16) R {
	req.SetVersion(version)
	return ask[R](c, req)
}

func joinNamed(c *testConn, version int16, change func(*kmsg.JoinGroupRequest)) int16 {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType, req.SessionTimeoutMillis = "g", "unknown", "consumer", 10_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	change(req)
	return request[*kmsg.JoinGroupResponse](c, req, version).ErrorCode
}

func syncNamed(c *testConn, version int16, change func(*kmsg.SyncGroupRequest)) int16 {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.ProtocolType, req.Protocol = "g", "unknown", text("consumer"), text("range")
	change(req)
	return request[*kmsg.SyncGroupResponse](c, req, version).ErrorCode
}

// consumerNamed joins a consumer group.
func consumerNamed(c *testConn, version int16, change func(*kmsg.ConsumerGroupHeartbeatRequest)) int16 {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis = "consumers", "m", 60_000
	req.SubscribedTopicNames, req.Topics = []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	change(req)
	return request[*kmsg.ConsumerGroupHeartbeatResponse](c, req, version).ErrorCode
}

func heartbeatNamed(c *testConn, version int16, group string, instance *string) int16 {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID = group, "unknown", instance
	return request[*kmsg.HeartbeatResponse](c, req, version).ErrorCode
}

func leaveNamed(c *testConn, version int16, group string, instance *string) int16 {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = group, "unknown"
	req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "unknown", InstanceID: instance}}
	resp := request[*kmsg.LeaveGroupResponse](c, req, version)
	if resp.ErrorCode == none && len(resp.Members) > 0 {
		return resp.Members[0].ErrorCode
	}
	return resp.ErrorCode
}

func commitNamed(c *testConn, version int16, group string, instance *string) int16 {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = group, "unknown", instance, 5
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{}}}}
	return request[*kmsg.OffsetCommitResponse](c, req, version).Topics[0].Partitions[0].ErrorCode
}

func fetchOffsetsNamed(c *testConn, version int16, group string) int16 {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, MemberEpoch: -1}}
	resp := request[*kmsg.OffsetFetchResponse](c, req, version)
	switch {
	case version >= 8:
		return resp.Groups[0].ErrorCode
	case version == 1:
		return resp.Topics[0].Partitions[0].ErrorCode
	}
	return resp.ErrorCode
}

func coordinatorNamed(c *testConn, version int16, kind int8, key string) int16 {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorType, req.CoordinatorKey, req.CoordinatorKeys = kind, key, []string{key}
	resp := request[*kmsg.FindCoordinatorResponse](c, req, version)
	if version >= 4 {
		return resp.Coordinators[0].ErrorCode
	}
	return resp.ErrorCode
}

var namedPlaces = []named{
	{"JoinGroup: group", 0, 9, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return joinNamed(c, v, func(r *kmsg.JoinGroupRequest) { r.Group = name })
	}},
	{"JoinGroup: instance", 5, 9, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return joinNamed(c, v, func(r *kmsg.JoinGroupRequest) { r.InstanceID = &name })
	}},
	{"JoinGroup: protocol type", 0, 9, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return joinNamed(c, v, func(r *kmsg.JoinGroupRequest) { r.ProtocolType = name })
	}},
	{"JoinGroup: protocol", 0, 9, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return joinNamed(c, v, func(r *kmsg.JoinGroupRequest) { r.Protocols[0].Name = name })
	}},
	{"SyncGroup: group", 0, 5, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return syncNamed(c, v, func(r *kmsg.SyncGroupRequest) { r.Group = name })
	}},
	{"SyncGroup: instance", 3, 5, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return syncNamed(c, v, func(r *kmsg.SyncGroupRequest) { r.InstanceID = &name })
	}},
	{"SyncGroup: protocol type", 5, 5, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return syncNamed(c, v, func(r *kmsg.SyncGroupRequest) { r.ProtocolType = &name })
	}},
	{"SyncGroup: protocol", 5, 5, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return syncNamed(c, v, func(r *kmsg.SyncGroupRequest) { r.Protocol = &name })
	}},
	{"Heartbeat: group", 0, 4, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return heartbeatNamed(c, v, name, nil)
	}},
	{"Heartbeat: instance", 3, 4, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return heartbeatNamed(c, v, "g", &name)
	}},
	{"LeaveGroup: group", 0, 5, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return leaveNamed(c, v, name, nil)
	}},
	{"LeaveGroup: instance", 3, 5, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return leaveNamed(c, v, "g", &name)
	}},
	{"OffsetCommit: group", 2, 9, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return commitNamed(c, v, name, nil)
	}},
	{"OffsetCommit: instance", 7, 9, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return commitNamed(c, v, "g", &name)
	}},
	{"OffsetFetch: group", 1, 10, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return fetchOffsetsNamed(c, v, name)
	}},
	{"OffsetDelete: group", 0, 0, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = name
		return request[*kmsg.OffsetDeleteResponse](c, req, v).ErrorCode
	}},
	{"DescribeGroups: group", 0, 6, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{name}
		return request[*kmsg.DescribeGroupsResponse](c, req, v).Groups[0].ErrorCode
	}},
	{"DeleteGroups: group", 0, 2, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{name}
		return request[*kmsg.DeleteGroupsResponse](c, req, v).Groups[0].ErrorCode
	}},
	{"ConsumerGroupHeartbeat: group", 0, 1, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return consumerNamed(c, v, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.Group = name })
	}},
	{"ConsumerGroupHeartbeat: instance", 0, 1, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return consumerNamed(c, v, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.InstanceID = &name })
	}},
	{"ConsumerGroupHeartbeat: rack", 0, 1, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return consumerNamed(c, v, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.RackID = &name })
	}},
	{"ConsumerGroupHeartbeat: topic", 0, 1, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return consumerNamed(c, v, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.SubscribedTopicNames = []string{name} })
	}},
	{"ConsumerGroupHeartbeat: regular expression", 1, 1, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return consumerNamed(c, v, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.SubscribedTopicRegex = &name })
	}},
	{"ConsumerGroupDescribe: group", 0, 1, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{name}
		return request[*kmsg.ConsumerGroupDescribeResponse](c, req, v).Groups[0].ErrorCode
	}},
	{"FindCoordinator: group", 0, 6, invalidGroupID, func(c *testConn, v int16, name string) int16 {
		return coordinatorNamed(c, v, 0, name)
	}},
	{"FindCoordinator: transactional id", 1, 6, invalidRequest, func(c *testConn, v int16, name string) int16 {
		return coordinatorNamed(c, v, 1, name)
	}},
	{"InitProducerId: transactional id", 0, 5, invalidRequest, func(c *testConn, v int16, name string) int16 {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = &name, -1, -1
		return request[*kmsg.InitProducerIDResponse](c, req, v).ErrorCode
	}},
	{"Fetch: rack", 11, 18, invalidRequest, func(c *testConn, v int16, name string) int16 {
		req := fetchRequest("t", 0, 0, 0)
		req.Topics, req.Rack = nil, name
		return request[*kmsg.FetchResponse](c, req, v).ErrorCode
	}},
}

// Names of 4,096 bytes pass, one more is refused, at every version of every API that takes one.
func TestLongNamesAreRefused(t *testing.T) {
	c := startTestBroker(t, nil).connect()
	c.createTopic("t", 1)
	longest := strings.Repeat("n", maxName)
	for _, p := range namedPlaces {
		for v := p.from; v <= p.to; v++ {
			if code := p.ask(c, v, longest+"n"); code != p.code {
				t.Errorf("%s of %d bytes at version %d: code %d, want %d", p.place, maxName+1, v, code, p.code)
			}
			if code := p.ask(c, v, longest); code == invalidGroupID || code == invalidRequest {
				t.Errorf("%s of %d bytes at version %d: code %d", p.place, maxName, v, code)
			}
		}
	}
}

// A client id of 32,767 bytes is kept whole; the member id that is made of it is as long as a string may be, so that the
// member can come back with it.
func TestClientIDIsKeptWhole(t *testing.T) {
	b := startTestBroker(t, map[string]string{"group.initial.rebalance.delay.ms": "0"})
	c := b.connect()
	c.client = strings.Repeat("c", 32_767)
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = "g", "consumer", 10_000, 10_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	first := request[*kmsg.JoinGroupResponse](c, req, 9)
	if first.ErrorCode != memberIDRequired || !strings.HasPrefix(first.MemberID, c.client[:32_730]+"-") {
		t.Fatalf("code %d, a member id of %d bytes", first.ErrorCode, len(first.MemberID))
	}
	req.MemberID = first.MemberID
	c.send(req)
	state := func() bool {
		s, _ := b.store.View()
		g := s.Groups.Get("g")
		return g != nil && len(g.Members) == 1 && g.Members[0].ID == first.MemberID && g.Members[0].ClientID == c.client
	}
	if resp := c.receive(req).(*kmsg.JoinGroupResponse); resp.ErrorCode != none || !state() {
		t.Errorf("joined with code %d", resp.ErrorCode)
	}
}
