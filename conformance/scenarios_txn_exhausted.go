package conformance

import (
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnExhaustedScenarios() []Scenario {
	return inTxnPart([]Scenario{{
		Name:  "txn-epochs-exhausted",
		Claim: "Epoch 32766 is the last that a producer is given: the next InitProducerId and EndTxn v5 give a new producer id of epoch 0, and a repeat with the old pair the same; EndTxn v4 goes on with the old one.",
		Fresh: true,
		Slow:  true,
		Run:   runTxnEpochsExhausted,
	}})
}

// lastEpoch is the highest epoch that a producer is given.
const lastEpoch = 32766

// exhaust brings a producer to an epoch, without a trace in the recording.
func (p *txnProducer) exhaust(to int16) error {
	s, err := dial(p.c.broker.Addr())
	if err != nil {
		return err
	}
	defer s.conn.Close()
	req := initRequest(p.txn, 60_000, -1, -1)
	req.SetVersion(4)
	for p.epoch < to {
		if err := s.send(frameOf(req, 1)); err != nil {
			return err
		}
		frame, err := s.receive(patience)
		if err != nil {
			return err
		}
		_, body, err := splitAnswer(frame, req.Key(), true)
		if err != nil {
			return err
		}
		resp := kmsg.NewPtrInitProducerIDResponse()
		resp.SetVersion(4)
		if err := resp.ReadFrom(body); err != nil {
			return err
		}
		if resp.ErrorCode == 0 {
			p.epoch = resp.ProducerEpoch
		}
	}
	return nil
}

func runTxnEpochsExhausted(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-exhausted", 1)
	p, q := c.txnProducer("a", "txn-exhausted-pair"), c.txnProducer("a", "txn-exhausted-commit")
	var both sync.WaitGroup
	var errP, errQ error
	both.Go(func() { errP = p.exhaust(lastEpoch) })
	both.Go(func() { errQ = q.exhaust(lastEpoch) })
	both.Wait()
	if err := errors.Join(errP, errQ); err != nil {
		c.Fatalf("exhaust the epochs: %w", err)
	}
	exhaustedInit(p)
	exhaustedEnd(q, t)
	a.Read("read", t, 0)
}

func exhaustedInit(p *txnProducer) {
	p.State("the last epoch")
	p.Do("an older epoch", 4, initRequest(p.txn, 60_000, p.id, p.epoch-1))
	p.Do("the pair", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.Do("the pair again", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.Do("the id with an older epoch", 4, initRequest(p.txn, 60_000, p.id, p.epoch-1))
	p.State("described")
	p.Do("without a pair", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Do("the pair once more", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
}

func exhaustedEnd(p *txnProducer, t topicRef) {
	p.WriteV1("write of v1", t, "a")
	p.End("abort of v1", endTxnV1, false)
	p.State("still the last epoch")
	p.WriteV2("write", t, "b")
	old := *p
	p.End("commit", endTxnV2, true)
	p.Do("commit again", endTxnV2, endTxn(&old, true))
	p.Do("abort after it", endTxnV2, endTxn(&old, false))
	p.Write("the new id goes on", produceV2, t, "next")
	late := old
	p.Do("a late batch of the old id", produceV2, late.produceIn(t, -1, late.transactional(place{t, 0}, "late").Bytes()))
	p.Do("init with the old pair", 4, initRequest(p.txn, 60_000, old.id, old.epoch))
	p.State("described")
	p.init("init", 60_000)
}
