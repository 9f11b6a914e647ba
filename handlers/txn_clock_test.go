package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The clock is set ahead by a day and back. A transaction that begins then times out in time all the same (in twice the time
// at most), and so does the next.
func TestTransactionsTimeOutWhenTheClockWasSetBack(t *testing.T) {
	b, c := newTxnBroker(t)
	p := c.txnProducer(false) // 60 s
	const dayMs = 24 * 3_600_000
	b.clock.now.Add(dayMs)
	p.must(p.write(1, 0, -1), p.end(true))
	b.clock.now.Add(-dayMs)
	for n := int32(2); n < 4; n++ {
		p.must(p.write(int(n), 0, -1))
		for range 3 {
			b.clock.now.Add(10_000)
			b.broker.txns.abortTimedOut()
		}
		if code := p.write(10, 1, -1); code != none {
			t.Fatalf("half a minute later: code %d", code)
		}
		for range 10 {
			b.clock.now.Add(10_000)
			c.heard() // decisions that write nothing
			b.broker.txns.abortTimedOut()
		}
		if code := p.write(10, 1, -1); code != invalidProducerEpoch {
			t.Fatalf("two minutes later: code %d", code)
		}
		p = c.txnProducer(false)
	}
	wantSeen(t, c, 0, map[int32]bool{1: true, 2: false, 3: false})
	b.stop()
}

// heard asks for something that is refused by a decision of the journal.
func (c *testConn) heard() {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID = "of nobody"
	if code := request[*kmsg.EndTxnResponse](c, req, 4).ErrorCode; code != invalidProducerIDMapping {
		c.t.Errorf("end of nobody's transaction: code %d", code)
	}
}
