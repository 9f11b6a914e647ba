package handlers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/shares"
)

// The encoder written by hand gives the bytes that kmsg gives, for every shape of a partition.
func TestShareFetchIsEncodedAsKmsgDoes(t *testing.T) {
	id, other := projections.ID{1, 2, 3}, projections.ID{4}
	results := []*shareResult{
		{place: sharePlace{id, 0}, ranges: []shares.Range{{First: 3, Last: 9, DeliveryCount: 2}, {First: 12, Last: 12, DeliveryCount: 1}}},
		{place: sharePlace{other, 1}, code: unknownTopicOrPartition, message: text("gone")},
		{place: sharePlace{id, 7}, ackCode: invalidRecordState, ackMessage: text("not acquired")},
		{place: sharePlace{id, 8}, code: notLeaderOrFollower, leader: 4},
	}
	for version := int16(1); version <= 2; version++ {
		for _, host := range []string{"", "localhost"} {
			t.Run(fmt.Sprintf("v%d %s", version, host), func(t *testing.T) {
				a := shareFetchAnswer{code: 5, lockMs: 30_000, results: results, leader: leader{1, host, 9092}}
				want := describeShareFetch(version, a).(*kmsg.ShareFetchResponse)
				for i := range want.Topics {
					for j := range want.Topics[i].Partitions {
						p := &want.Topics[i].Partitions[j]
						if p.Records = []byte{}; p.ErrorCode == notLeaderOrFollower {
							p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = 1, 4
						}
					}
				}
				if host != "" {
					want.NodeEndpoints = []kmsg.ShareFetchResponseNodeEndpoint{{NodeID: 1, Host: host, Port: 9092}}
				}
				if got, want := body(t, encodeShareFetch(version, a)), want.AppendTo(nil); !bytes.Equal(got, want) {
					t.Errorf("encoded\n%x\nkmsg\n%x", got, want)
				}
			})
		}
	}
}
