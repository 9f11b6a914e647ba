package handlers

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BenchmarkGroupToStable brings a new group of one member to stable: JoinGroup twice, then SyncGroup.
func BenchmarkGroupToStable(b *testing.B) {
	c := startTestBroker(b, map[string]string{"group.initial.rebalance.delay.ms": "0"}).connect()
	subscription := kmsg.NewConsumerMemberMetadata()
	subscription.Topics = []string{"orders"}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 9, "consumer", 300_000, 300_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription.AppendTo(nil)}}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.ProtocolType, sync.Protocol = 5, kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		join.Group, join.MemberID = fmt.Sprint("group-", i), ""
		join.MemberID = ask[*kmsg.JoinGroupResponse](c, join).MemberID
		joined := ask[*kmsg.JoinGroupResponse](c, join)
		sync.Group, sync.MemberID, sync.Generation = join.Group, joined.MemberID, joined.Generation
		sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte("all")}}
		if synced := ask[*kmsg.SyncGroupResponse](c, sync); joined.ErrorCode != 0 || synced.ErrorCode != 0 {
			b.Fatal(joined.ErrorCode, synced.ErrorCode)
		}
	}
}
