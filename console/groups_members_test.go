package console_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaClient is a client of the walk's broker, with the client id of a person's application.
func (w *walk) kafkaClient(opts ...kgo.Opt) *kgo.Client {
	w.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(w.broker.Addr()), kgo.ClientID("billing-app"), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.DisableClientMetrics(),
	}, opts...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(cl.Close)
	return cl
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// topic makes a topic with records in each partition.
func (w *walk) topicOf(name string, partitions int32, records int) {
	w.t.Helper()
	cl := w.kafkaClient()
	ctx := testContext(w.t)
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, partitions, 1, nil, name); err != nil {
		w.t.Fatal(err)
	}
	for p := range partitions {
		for range records {
			if err := cl.ProduceSync(ctx, &kgo.Record{Topic: name, Partition: p, Value: []byte("value")}).FirstErr(); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// commit sets offsets of a group without members: partition 0, 1, ... of a topic.
func (w *walk) commit(group, topic string, offsets ...int64) {
	w.t.Helper()
	var all kadm.Offsets
	for p, at := range offsets {
		all.AddOffset(topic, int32(p), at, -1)
	}
	if err := kadm.NewClient(w.kafkaClient()).CommitAllOffsets(testContext(w.t), group, all); err != nil {
		w.t.Fatal(err)
	}
}

// committed is where a group is.
func (w *walk) committed(group, topic string, partition int32) int64 {
	w.t.Helper()
	all, err := kadm.NewClient(w.kafkaClient()).FetchOffsets(testContext(w.t), group)
	if err != nil {
		w.t.Fatal(err)
	}
	o, ok := all.Lookup(topic, partition)
	if !ok {
		return -1
	}
	return o.At
}

// ask sends a request to the broker that has no faults.
func ask[Answer kmsg.Response](w *walk, req kmsg.Request) Answer {
	w.t.Helper()
	resp, err := w.kafkaClient().SeedBrokers()[0].Request(testContext(w.t), req)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.(Answer)
}

// joinConsumer makes a member of a consumer group.
func (w *walk) joinConsumer(group, topic string) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = group, "consumer-member", 30000, []string{topic}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	w.fine(ask[*kmsg.ConsumerGroupHeartbeatResponse](w, req).ErrorCode)
}

// joinShare makes a member of a share group.
func (w *walk) joinShare(group, topic string) {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.SubscribedTopicNames = group, "share-member", []string{topic}
	w.fine(ask[*kmsg.ShareGroupHeartbeatResponse](w, req).ErrorCode)
}

// joinStreams makes a member of a streams group, and the group forget it again.
func (w *walk) joinStreams(group, topic string) {
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	process := "process-1"
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.ProcessID = group, "streams-member", 30000, &process
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks, req.ClientTags = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.StreamsGroupHeartbeatRequestClientTag{{Key: "zone", Value: "a"}}
	req.Topology = &kmsg.StreamsGroupHeartbeatRequestTopology{Epoch: 1, Subtopologies: []kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{{SubtopologyID: "0", SourceTopics: []string{topic}}}}
	w.fine(ask[*kmsg.StreamsGroupHeartbeatResponse](w, req).ErrorCode)
}

func (w *walk) fine(code int16) {
	w.t.Helper()
	if err := kerr.ErrorForCode(code); err != nil {
		w.t.Fatal(err)
	}
}

// joinClassic makes a member of a classic group with all partitions of a topic, and returns its id.
func (w *walk) joinClassic(group, topic string, partitions ...int32) string {
	w.t.Helper()
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{topic}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = group, "consumer", 30000, 30000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: meta.AppendTo(nil)}}
	join.MemberID = ask[*kmsg.JoinGroupResponse](w, join).MemberID
	joined := ask[*kmsg.JoinGroupResponse](w, join)
	w.fine(joined.ErrorCode)
	assigned := kmsg.NewConsumerMemberAssignment()
	assigned.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: partitions}}
	request := kmsg.NewPtrSyncGroupRequest()
	request.Group, request.MemberID, request.Generation, request.ProtocolType, request.Protocol = group, joined.MemberID, joined.Generation, joined.ProtocolType, joined.Protocol
	request.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: assigned.AppendTo(nil)}}
	w.fine(ask[*kmsg.SyncGroupResponse](w, request).ErrorCode)
	return joined.MemberID
}

// leaveShare takes the member of joinShare away.
func (w *walk) leaveShare(group string) {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.MemberEpoch = group, "share-member", -1
	w.fine(ask[*kmsg.ShareGroupHeartbeatResponse](w, req).ErrorCode)
}

// manyGroups makes groups with one committed offset each.
func (w *walk) manyGroups(n int, topic string) {
	w.t.Helper()
	adm := kadm.NewClient(w.kafkaClient())
	ctx := testContext(w.t)
	var at kadm.Offsets
	at.AddOffset(topic, 0, 0, -1)
	var running sync.WaitGroup
	room := make(chan struct{}, 20)
	for i := range n {
		running.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := adm.CommitAllOffsets(ctx, fmt.Sprintf("group-%04d", i), at); err != nil {
				w.t.Error(err)
			}
		})
	}
	running.Wait()
}
