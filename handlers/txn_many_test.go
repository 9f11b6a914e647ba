package handlers

import (
	"slices"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestOneIDFromManyConnections: producers of one transactional id fence each other, and of each another connection asks for the
// other verdict, stages offsets and writes again at the moment at which the transaction ends. Whatever comes first: what was
// told to be committed is seen as a whole, what was told to be aborted or was refused is not, and nobody is told both.
func TestOneIDFromManyConnections(t *testing.T) {
	for name, v1 := range map[string]bool{"v1": true, "v2": false} {
		t.Run(name, func(t *testing.T) {
			b, c := newTxnBroker(t)
			const producers, each = 4, 12
			told := make([]*verdicts, 1+producers*each)
			var all sync.WaitGroup
			var turn sync.Mutex
			for i := range producers {
				a, ghost := b.connect(), b.connect()
				all.Go(func() {
					for n := range each {
						number := 1 + i*each + n
						told[number] = a.contend(ghost, &turn, number, v1)
					}
				})
			}
			all.Wait()
			c.txnProducer(v1) // whoever was last is fenced, and what he left is aborted
			var seen [2]map[int32]bool
			for partition := range seen {
				var err error
				if seen[partition], err = committedIn(c, int32(partition)); err != nil {
					t.Fatal(err)
				}
			}
			ended := 0
			for n, v := range told[1:] {
				v.hold(t, n+1, seen[0][int32(n+1)], seen[1][int32(n+1)])
				if v.committed() {
					ended++
				}
			}
			t.Logf("%d of %d were told that they are committed", ended, producers*each)
			b.stop()
		})
	}
}

// verdicts is what was told of one transaction.
type verdicts struct {
	written         bool // in both partitions
	commits, aborts []int16
	other           []int16 // of what came beside the end, for the report
}

func (v *verdicts) committed() bool { return slices.Contains(v.commits, none) }

func (v *verdicts) hold(t *testing.T, n int, first, second bool) {
	t.Helper()
	aborted := slices.Contains(v.aborts, none)
	switch {
	case first != second:
		t.Errorf("transaction %d is there in part: %+v", n, v)
	case v.committed() && aborted:
		t.Errorf("transaction %d is told to be committed and aborted: %+v", n, v)
	case v.committed() && !first:
		t.Errorf("transaction %d is told to be committed and is not there: %+v", n, v)
	case first && (aborted || !v.written):
		t.Errorf("transaction %d is there: %+v", n, v)
	}
}

// contend writes transaction number n, of n records in each partition, and ends it while a ghost says other things. Most are
// written in turn, so that who fences comes to the end.
func (c *testConn) contend(ghost *testConn, turn *sync.Mutex, n int, v1 bool) *verdicts {
	v := &verdicts{}
	if n%5 != 0 {
		turn.Lock()
	}
	a := c.written(n, v1)
	if n%5 != 0 {
		turn.Unlock()
	}
	if a == nil {
		return v
	}
	p := a.p
	g := &txnClient{testConn: ghost, v1: v1, p: p, sequences: map[int32]int32{}}
	v.written = true
	commit := n%3 != 0
	var both sync.WaitGroup
	both.Go(func() {
		v.say(commit, a.end(commit))
		v.say(commit, (&txnClient{testConn: c, v1: v1, p: p}).end(commit))
	})
	both.Go(func() {
		if n%2 == 0 {
			v.other = append(v.other, g.stageOld(int64(n)), g.produceTxn(n, 0, 1))
		}
		if n%4 != 1 {
			v.say(!commit, g.end(!commit))
		}
		v.other = append(v.other, g.stageOld(int64(n)))
	})
	both.Wait()
	return v
}

// say keeps a verdict's answer: each list has one writer.
func (v *verdicts) say(commit bool, code int16) {
	if commit {
		v.commits = append(v.commits, code)
	} else {
		v.aborts = append(v.aborts, code)
	}
}

// written is a producer who has written his transaction; nil when another was faster.
func (c *testConn) written(n int, v1 bool) *txnClient {
	p, code := c.takeOver()
	if code != none {
		return nil
	}
	a := &txnClient{testConn: c, v1: v1, p: p, sequences: map[int32]int32{}}
	for partition := range int32(2) {
		if v1 && a.add(partition) != none || a.produceTxn(n, partition, -1) != none {
			return nil
		}
	}
	return a
}

// takeOver fences who has the id.
func (c *testConn) takeOver() (p producerIdentity, code int16) {
	for range 1000 {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionalID, req.TransactionTimeoutMillis, req.ProducerID, req.ProducerEpoch = text("txn"), 60_000, -1, -1
		resp := request[*kmsg.InitProducerIDResponse](c, req, 4)
		if p, code = (producerIdentity{resp.ProducerID, resp.ProducerEpoch}), resp.ErrorCode; code != concurrentTransactions {
			break
		}
	}
	return p, code
}

func (p *txnClient) add(partition int32) int16 {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = "txn", p.p.id, p.p.epoch
	req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: []int32{partition}}}
	return request[*kmsg.AddPartitionsToTxnResponse](p.testConn, req, 3).Topics[0].Partitions[0].ErrorCode
}

// stageOld stages an offset as who may be fenced by now.
func (p *txnClient) stageOld(offset int64) int16 {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = "txn", p.p.id, p.p.epoch, "g", -1
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: offset}}}}
	version := int16(5)
	if p.v1 {
		version = 3
	}
	return request[*kmsg.TxnOffsetCommitResponse](p.testConn, req, version).Topics[0].Partitions[0].ErrorCode
}
