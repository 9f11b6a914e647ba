package handlers

import (
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BenchmarkSmallTransactions ends transactions of one record on a disk in memory: what a transaction costs beside its fsyncs.
func BenchmarkSmallTransactions(b *testing.B) {
	for _, producers := range []int{1, 8} {
		b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) {
			broker := startTestBroker(b, nil)
			broker.connect().createTopic("orders", 8)
			var wg sync.WaitGroup
			for n := range producers {
				c, id := broker.connect(), fmt.Sprint("txn-", n)
				if code := initTxn(c, id); code != none {
					b.Fatal(code)
				}
				wg.Go(func() { smallTransactions(c, id, int32(n%8), b.N/producers+1) })
			}
			b.ReportAllocs()
			b.ResetTimer()
			wg.Wait()
		})
	}
}

// smallTransactions writes one record in each of n transactions.
func smallTransactions(c *testConn, id string, partition int32, n int) {
	p := identityOf(c, id)
	for range n {
		req := produceRequest("orders", -1, txnBatch(1, p, 0))
		req.Version, req.TransactionID = 12, &id
		req.Topics[0].Partitions[0].Partition = partition
		if answer := ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions[0]; answer.ErrorCode != none {
			panic(answer.ErrorCode)
		}
		end := kmsg.NewPtrEndTxnRequest()
		end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = id, p.id, p.epoch, true
		resp := request[*kmsg.EndTxnResponse](c, end, 5)
		if resp.ErrorCode != none {
			panic(resp.ErrorCode)
		}
		p = producerIdentity{resp.ProducerID, resp.ProducerEpoch}
	}
}
