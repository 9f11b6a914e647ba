package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
)

// A topic grows inside a transaction, which goes on in the new partition; a kill, and the transaction is committed in all of them.
func TestTopicGrowsInsideATransaction(t *testing.T) {
	for name, v1 := range map[string]bool{"v1": true, "v2": false} {
		t.Run(name, func(t *testing.T) {
			b, c := newTxnBroker(t)
			p := c.txnProducer(v1)
			p.must(p.write(1, 0, -1))
			if code := p.write(1, 2, -1); code != unknownTopicOrPartition {
				t.Fatalf("to a partition that is not there yet: code %d", code)
			}
			req := kmsg.NewPtrCreatePartitionsRequest()
			req.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "orders", Count: 3}}
			p.must(request[*kmsg.CreatePartitionsResponse](c, req, 2).Topics[0].ErrorCode, p.write(1, 2, -1))
			again := b.crashed(disk.KillProcess())
			again.start()
			p.testConn = again.connect()
			p.must(p.end(true))
			wantSeen(t, p.testConn, 0, map[int32]bool{1: true})
			wantSeen(t, p.testConn, 2, map[int32]bool{1: true})
			again.stop()
		})
	}
}
