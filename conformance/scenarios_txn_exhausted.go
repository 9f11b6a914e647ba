package conformance

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnExhaustedScenarios() []Scenario {
	return inTxnPart([]Scenario{{
		Name:  "txn-epochs-exhausted",
		Claim: "Epoch 32766 is the last that a producer is given: the next InitProducerId, EndTxn v5 and abort give a new producer id of epoch 0, and a repeat with the old pair the same; the old id is fenced then.",
		Fresh: true,
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
	var list []*txnProducer
	for _, name := range []string{"init", "pair", "commit", "abort", "open", "v1"} {
		list = append(list, c.txnProducer("a", "txn-exhausted-"+name))
	}
	var all sync.WaitGroup
	errs := make([]error, len(list))
	for i, p := range list {
		all.Go(func() { errs[i] = p.exhaust(lastEpoch) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			c.Fatalf("exhaust the epochs: %w", err)
		}
	}
	for _, p := range list {
		p.State("the last epoch")
	}
	exhaustedInit(list[0], list[1])
	exhaustedEnd(list[2], t, true)
	exhaustedEnd(list[3], t, false)
	exhaustedOpen(list[4], t)
	exhaustedV1(list[5], t)
	a.Read("read", t, 0)
}

func exhaustedInit(p, q *txnProducer) {
	p.Do("init", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Do("init again", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Do("init with the old pair", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	q.Do("an older epoch", 4, initRequest(q.txn, 60_000, q.id, q.epoch-1))
	q.Do("the pair", 4, initRequest(q.txn, 60_000, q.id, q.epoch))
	q.Do("the pair again", 4, initRequest(q.txn, 60_000, q.id, q.epoch))
	q.Do("the id with an older epoch", 4, initRequest(q.txn, 60_000, q.id, q.epoch-1))
	q.State("described")
}

func exhaustedEnd(p *txnProducer, t topicRef, commit bool) {
	p.WriteV2("write", t, "a")
	old := *p
	p.End(verdict(commit), endTxnV2, commit)
	p.Do(verdict(commit)+" again", endTxnV2, endTxn(&old, commit))
	p.Do(verdict(!commit)+" after it", endTxnV2, endTxn(&old, !commit))
	p.Write("the new id goes on", produceV2, t, "next")
	stale := old
	p.Do("a late batch of the old id", produceV2, stale.produceIn(t, -1, (&stale).transactional(place{t, 0}, "late").Bytes()))
	p.Do("init with the old pair", 4, initRequest(p.txn, 60_000, old.id, old.epoch))
	p.State("described")
	p.init("init", 60_000)
}

func exhaustedOpen(p *txnProducer, t topicRef) {
	p.WriteV2("write and stay open", t, "b")
	p.Do("init over it", 4, initRequest(p.txn, 60_000, -1, -1))
	p.Settled("aborted")
	p.Do("init again over it", 4, initRequest(p.txn, 60_000, -1, -1))
	p.State("described")
}

func exhaustedV1(p *txnProducer, t topicRef) {
	p.WriteV1("write of v1", t, "c")
	p.End("commit of v1", endTxnV1, true)
	p.WriteV1("write of v1 again", t, "d")
	p.End("abort of v1", endTxnV1, false)
	p.Do("abort of nothing, v5", endTxnV2, endTxn(p, false))
	p.Settled("settled")
	p.State("described")
}
