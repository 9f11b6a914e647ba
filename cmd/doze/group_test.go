package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze"
	"doze/fixtures"
)

// startBroker is a broker with five records in the topic t.
func startBroker(t *testing.T) (at string, client *kgo.Client) {
	t.Helper()
	broker, err := doze.New(doze.Options{Ephemeral: true, Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- broker.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	client, err = kgo.NewClient(kgo.SeedBrokers(broker.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	f, err := fixtures.Parse([]byte("topics: [t]\nrecords: [{topic: t, value: a}, {topic: t, value: b}, {topic: t, value: c}]"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := fixtures.Apply(ctx, fixtures.Target{Options: []kgo.Opt{kgo.SeedBrokers(broker.Addr())}}, f); err != nil {
		t.Fatal(err)
	}
	return broker.Addr(), client
}

// command runs doze in this process and returns what it prints.
func command(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, nil, &out, &errs); got != want {
		t.Fatalf("doze %s: %d, %s%s", strings.Join(args, " "), got, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func TestShareGroup(t *testing.T) {
	at, _ := startBroker(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	member, err := kgo.NewClient(kgo.SeedBrokers(at), kgo.ShareGroup("s"), kgo.ConsumeTopics("t"))
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	for !strings.Contains(command(t, exitOK, "group", "list", "-b", at), "share  Stable") {
		polling, stop := context.WithTimeout(ctx, 100*time.Millisecond)
		member.PollFetches(polling)
		stop()
		if ctx.Err() != nil {
			t.Fatal("the group has no member")
		}
	}
	text := command(t, exitError, "group", "reset", "s", "--to", "end", "--topic", "t", "--execute", "-b", at)
	holds(t, text, "group s is stable and has members")
	member.Close()
	holds(t, command(t, exitOK, "group", "reset", "s", "--to", "1", "--topic", "t", "--execute", "-b", at), "moved  yes", "t              0")
	holds(t, command(t, exitOK, "group", "describe", "s", "-b", at), "type   share", "state  Empty", "t              0          1")
	command(t, exitOK, "group", "delete", "s", "-b", at)
}

func TestStreamsGroup(t *testing.T) {
	at, client := startBroker(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis = "w", "m", 60_000
	req.ProcessID = kmsg.StringPtr("p")
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	sub := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
	sub.SubtopologyID, sub.SourceTopics = "0", []string{"t"}
	req.Topology = &kmsg.StreamsGroupHeartbeatRequestTopology{Subtopologies: []kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{sub}}
	heartbeat := func() {
		t.Helper()
		answer, err := client.SeedBrokers()[0].RetriableRequest(ctx, req) // kgo does not know where it belongs
		if resp, ok := answer.(*kmsg.StreamsGroupHeartbeatResponse); err != nil || !ok || resp.ErrorCode != 0 {
			t.Fatal(answer, err)
		}
	}
	heartbeat()
	text := command(t, exitOK, "group", "describe", "w", "-b", at)
	holds(t, text, "type   streams", "  m ")
	holds(t, command(t, exitError, "group", "delete", "w", "-b", at), "it has members")
	req.MemberEpoch, req.Topology = -1, nil
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks, req.ProcessID = nil, nil, nil, nil
	heartbeat()
	holds(t, command(t, exitOK, "group", "reset", "w", "--to", "end", "--topic", "t", "--execute", "-b", at), "moved  yes")
	holds(t, command(t, exitOK, "group", "describe", "w", "-b", at), "state  Empty", "t              0          3    3    0")
}

func TestConsumerGroup(t *testing.T) {
	at, _ := startBroker(t)
	//lint:ignore SA1029 it is franz-go's own key
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), "opt_in_kafka_next_gen_balancer_beta", true), patience)
	defer cancel()
	member, err := kgo.NewClient(kgo.SeedBrokers(at), kgo.WithContext(ctx), kgo.ConsumerGroup("c"), kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	if got := member.PollFetches(ctx).Records(); len(got) == 0 {
		t.Fatal("nothing is read")
	}
	holds(t, command(t, exitOK, "group", "describe", "c", "-b", at), "type   consumer", "state  Stable", `"t: 0"`)
	if err := member.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	member.Close()
	holds(t, command(t, exitOK, "group", "reset", "c", "--shift=-2", "--execute", "-b", at, "--json"), `"moved": true`, `"from": 3`, `"to": 1`)
}
