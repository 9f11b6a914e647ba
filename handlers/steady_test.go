package handlers

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
)

const aDayMs = 24 * 3_600_000

// TestSessionsWhenTheClockIsSet: a member that is silent goes when its session is over, and not before, whatever the machine's
// clock is set to meanwhile.
func TestSessionsWhenTheClockIsSet(t *testing.T) {
	for name, back := range map[string]int64{"back": aDayMs, "ahead": -aDayMs} {
		t.Run(name, func(t *testing.T) {
			b := startTestBroker(t, map[string]string{"group.initial.rebalance.delay.ms": "0"})
			c := b.connect()
			c.createTopic("orders", 1)
			joinClassic(c) // 60 s
			member := func() bool {
				b.broker.groups.firePassed(context.Background())
				state, _ := b.store.View()
				g := state.Groups.Get("g")
				return g != nil && g.State != projections.Empty
			}
			b.clock.back.Store(back)
			b.clock.now.Add(59_000)
			if !member() {
				t.Error("gone within its session")
			}
			b.clock.now.Add(2_000)
			if member() {
				t.Error("there after its session")
			}
		})
	}
}

// TestTransactionalIDsWhenTheClockIsSetBack: an id that was used under a clock which was ahead is forgotten in twice its time.
func TestTransactionalIDsWhenTheClockIsSetBack(t *testing.T) {
	b, c := newTxnBroker(t)
	b.clock.back.Store(-1000 * aDayMs)
	p := c.txnProducer(false)
	p.must(p.write(1, 0, -1), p.end(true))
	b.clock.back.Store(0)
	known := func() bool {
		b.broker.txns.expireIDs()
		state, _ := b.store.View()
		return state.Transactions.Get("txn") != nil
	}
	for range 2 { // nothing is written meanwhile
		if !known() {
			t.Error("forgotten before its time")
		}
		b.clock.now.Add(6 * aDayMs)
	}
	b.clock.now.Add(3 * aDayMs)
	if known() {
		t.Error("known after twice its time")
	}
	b.stop()
}

// TestTargetsWhenTheClockIsSetBack: a group goes on being assigned.
func TestTargetsWhenTheClockIsSetBack(t *testing.T) {
	b := startTestBroker(t, map[string]string{"group.consumer.assignment.interval.ms": "1000"})
	c := b.connect()
	c.createTopic("orders", 2)
	m := joinConsumer(c)
	b.clock.back.Store(aDayMs)
	second := kmsg.NewPtrConsumerGroupHeartbeatRequest() // with it the group's epoch is ahead of its target
	second.Group, second.MemberID, second.RebalanceTimeoutMillis, second.SubscribedTopicNames = "g", "second", 60_000, []string{"orders"}
	second.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	if code := request[*kmsg.ConsumerGroupHeartbeatResponse](c, second, 1).ErrorCode; code != none {
		t.Fatal(code)
	}
	b.clock.now.Add(10_000)
	state, _ := b.store.View()
	before := state.Groups.Get("g").Consumer.TargetEpoch
	beat := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	beat.Group, beat.MemberID, beat.MemberEpoch, beat.RebalanceTimeoutMillis = "g", m.id, m.epoch, -1
	request[*kmsg.ConsumerGroupHeartbeatResponse](c, beat, 1)
	state, _ = b.store.View()
	if after := state.Groups.Get("g").Consumer; after.TargetEpoch == before || after.TargetEpoch != after.Epoch {
		t.Errorf("target of epoch %d, before %d, the group's is %d", after.TargetEpoch, before, after.Epoch)
	}
}
