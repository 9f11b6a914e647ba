package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
)

// joinAs is a member's first heartbeat to a bench.
func joinAs(b *groupBench, member string, change func(*kmsg.ConsumerGroupHeartbeatRequest)) *kmsg.ConsumerGroupHeartbeatResponse {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.RebalanceTimeoutMillis = 1, "g", member, 60_000
	req.SubscribedTopicNames, req.Topics = []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	change(req)
	return b.c.consumerHeartbeat(context.Background(), caller{cause: journal.Cause{API: 68}}, req)
}

// TestBoundsOfConsumerGroups: what is beyond a bound is refused and leaves nothing behind.
func TestBoundsOfConsumerGroups(t *testing.T) {
	b := newGroupBench(t)
	b.quiet = true
	b.set.limits.members = 2
	b.c.settings = b.set
	refused := func(what string, code int16, change func(*kmsg.ConsumerGroupHeartbeatRequest)) {
		t.Helper()
		if resp := joinAs(b, "refused", change); resp.ErrorCode != code {
			t.Errorf("%s: code %d", what, resp.ErrorCode)
		}
	}
	refused("a long pattern", invalidRegularExpression, func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		r.SubscribedTopicRegex = kmsg.StringPtr(strings.Repeat("a", maxPattern+1))
	})
	refused("a pattern of many instructions", invalidRegularExpression, func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		r.SubscribedTopicRegex = kmsg.StringPtr("(a{500}){9}")
	})
	refused("many names", invalidRequest, func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		for i := range 300 {
			r.SubscribedTopicNames = append(r.SubscribedTopicNames, fmt.Sprint(i)+strings.Repeat("n", 4000))
		}
	})
	if b.state.Groups.Get("g") != nil {
		t.Error("a refused member left a group")
	}
	same := func(*kmsg.ConsumerGroupHeartbeatRequest) {}
	joinAs(b, "one", same)
	joinAs(b, "two", same)
	refused("a third member", groupMaxSizeReached, same)
	if n := b.state.Groups.Get("g").Size(); n != 2 {
		t.Errorf("%d members", n)
	}
	b.set.limits.members = 1_000
	b.c.settings = b.set
	for i := range maxGroupRegexes + 10 {
		joinAs(b, fmt.Sprintf("regex-%03d", i), func(r *kmsg.ConsumerGroupHeartbeatRequest) {
			r.SubscribedTopicRegex = kmsg.StringPtr(fmt.Sprintf("t%03d", i))
		})
	}
	b.advance("2s")
	if n := len(b.state.Groups.Get("g").Consumer.Regexes); n != maxGroupRegexes {
		t.Errorf("%d regular expressions are resolved", n)
	}
}

// TestLargeConsumerGroupRebalances: a thousand members join one after the other, then all do as they are told until the
// group is stable.
func TestLargeConsumerGroupRebalances(t *testing.T) {
	b := newGroupBench(t)
	b.quiet, b.unchecked = true, true
	b.topic(parseArgs([]string{"t", "2000"}))
	const members = 1_000
	epochs, owns := make([]int32, members), make([][]kmsg.ConsumerGroupHeartbeatRequestTopic, members)
	took := func(i int, r *kmsg.ConsumerGroupHeartbeatResponse) {
		if r.ErrorCode != none {
			t.Fatalf("member %d: %d %s", i, r.ErrorCode, *r.ErrorMessage)
		}
		if epochs[i] = r.MemberEpoch; r.Assignment != nil {
			owns[i] = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
			for _, a := range r.Assignment.Topics {
				owns[i] = append(owns[i], kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: a.TopicID, Partitions: a.Partitions})
			}
		}
	}
	for i := range members {
		took(i, joinAs(b, fmt.Sprintf("member-%04d", i), func(*kmsg.ConsumerGroupHeartbeatRequest) {}))
	}
	rounds := 0
	for ; b.state.Groups.Get("g").State.String() != "Stable"; rounds++ {
		if rounds == 10 {
			t.Fatalf("not stable after %d rounds", rounds)
		}
		b.advance("1s")
		for i := range members {
			took(i, joinAs(b, fmt.Sprintf("member-%04d", i), func(r *kmsg.ConsumerGroupHeartbeatRequest) {
				r.MemberEpoch, r.RebalanceTimeoutMillis, r.SubscribedTopicNames, r.Topics = epochs[i], -1, nil, owns[i]
			}))
		}
	}
	b.check()
	t.Logf("%d members are stable after %d rounds", members, rounds)
}
