package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// groups commits offsets of groups that have no members now.
func (f *filler) groups(ctx context.Context) error {
	for _, g := range []struct {
		group, topic string
		offsets      []int64
	}{
		{"reports", "orders", []int64{1, 2, 3, 0, 1, 2}}, {"search-index", "payments", []int64{5, 5, 5}}, {"shipping-mails", "shipments", []int64{1}},
	} {
		var at kadm.Offsets
		for p, o := range g.offsets {
			at.AddOffset(g.topic, int32(p), o, -1)
		}
		if err := f.admin.CommitAllOffsets(ctx, g.group, at); err != nil {
			return fmt.Errorf("commit of group %s: %w", g.group, err)
		}
	}
	return nil
}

// members joins the groups that are to have some, and keeps them alive until the context ends.
func (f *filler) members(ctx context.Context) error {
	billing, err := f.newClient("billing-app", kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders", "payments"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	workers, err := f.newClient("worker-app", kgo.ShareGroup("workers"), kgo.ConsumeTopics("clicks"))
	if err != nil {
		return err
	}
	for _, cl := range []*kgo.Client{billing, workers} {
		go func() {
			for cl.PollFetches(ctx).Err0() == nil {
			}
		}()
	}
	for _, join := range []func() (beat func() error, err error){f.consumer, f.streams} {
		beat, err := join()
		if err != nil {
			return fmt.Errorf("join a group: %w", err)
		}
		go repeat(ctx, beat)
	}
	return f.settled(ctx, "billing", "workers", "audit", "word-count")
}

// settled waits until the groups are there with members.
func (f *filler) settled(ctx context.Context, names ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, name := range names {
		for {
			listed, err := f.admin.ListGroups(ctx)
			if err != nil {
				return err
			}
			if g, ok := listed[name]; ok && g.State == "Stable" {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("group %s is not stable: %w", name, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// repeat calls a heartbeat every few seconds.
func repeat(ctx context.Context, beat func() error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(3 * time.Second):
			if beat() != nil {
				return
			}
		}
	}
}

// consumer is a member of a group of the new protocol, which the client library does not join by itself.
func (f *filler) consumer() (func() error, error) {
	cl, err := f.newClient(f.named("audit-app", 1))
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = "audit", "audit-member-1", 60000, []string{"payments", "clicks"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	beat := func() error {
		resp, err := cl.SeedBrokers()[0].Request(context.Background(), req)
		if err != nil {
			return err
		}
		answer := resp.(*kmsg.ConsumerGroupHeartbeatResponse)
		next := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		next.Group, next.MemberID, next.MemberEpoch = req.Group, req.MemberID, answer.MemberEpoch
		req = next
		return kerr.ErrorForCode(answer.ErrorCode)
	}
	return beat, twice(beat)
}

// streams is a member of a streams group.
func (f *filler) streams() (func() error, error) {
	cl, err := f.newClient("word-count-app")
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.ProcessID = "word-count", "word-count-member-1", 60000, text("process-1")
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	req.ClientTags = []kmsg.StreamsGroupHeartbeatRequestClientTag{{Key: "zone", Value: f.named("a", 2)}}
	req.Topology = &kmsg.StreamsGroupHeartbeatRequestTopology{Epoch: 1, Subtopologies: []kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{{SubtopologyID: "0", SourceTopics: []string{"clicks"}}}}
	beat := func() error {
		resp, err := cl.SeedBrokers()[0].Request(context.Background(), req)
		if err != nil {
			return err
		}
		answer := resp.(*kmsg.StreamsGroupHeartbeatResponse)
		next := kmsg.NewPtrStreamsGroupHeartbeatRequest()
		next.Group, next.MemberID, next.MemberEpoch = req.Group, req.MemberID, answer.MemberEpoch
		if answer.ActiveTasks != nil { // the three come together or not at all
			next.ActiveTasks, next.StandbyTasks, next.WarmupTasks = answer.ActiveTasks, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
		}
		req = next
		return kerr.ErrorForCode(answer.ErrorCode)
	}
	return beat, twice(beat)
}

// twice joins and takes the first step.
func twice(beat func() error) error {
	if err := beat(); err != nil {
		return err
	}
	return beat()
}

// named is a hostile text, or a decent one when there are to be none.
func (f *filler) named(decent string, n int) string {
	if f.withHostile {
		return hostileText(n)
	}
	return decent
}
