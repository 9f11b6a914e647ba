package handlers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// TestStreamsTranscripts runs testdata/streams/*.txt, as TestClassicTranscripts its own.
func TestStreamsTranscripts(t *testing.T) {
	runTranscripts(t, "testdata/streams", func(t *testing.T) transcribed {
		b := newGroupBench(t)
		return transcribed{run: b.run, take: b.take, replay: b.replay}
	})
}

// streamsBeat GROUP MEMBER EPOCH [owns=0_0,0_1] [standbys=0_2] [topology=NAME] [process=p] [endpoint=h] [rebalance=2s] [shutdown=yes]
//
// Epoch 0 says all that a member must say; "owns=-" says that it has nothing.
func (b *groupBench) streamsBeat(name string, a benchArgs) {
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	epoch, _ := strconv.Atoi(a.words[2])
	req.Group, req.MemberID, req.MemberEpoch = a.words[0], a.words[1], int32(epoch)
	req.ProcessID, req.RackID = a.optional("process"), a.optional("rack")
	req.RebalanceTimeoutMillis = a.number("rebalance", -1)
	if host := a.optional("endpoint"); host != nil {
		req.UserEndpoint = &kmsg.StreamsGroupHeartbeatRequestUserEndpoint{Host: *host, Port: 80}
	}
	req.EndpointInformationEpoch = a.number("endpoints", 0)
	req.ShutdownApplication = a.optional("shutdown") != nil
	if owns := a.optional("owns"); owns != nil || epoch == 0 {
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = tasksNamed(a.text("owns", "-")), tasksNamed(a.text("standbys", "-")), []kmsg.TaskIDs{}
	}
	if epoch == 0 {
		req.RebalanceTimeoutMillis = a.number("rebalance", 60_000)
		req.Topology = benchTopology(a.text("topology", "one"))
		if req.ProcessID == nil {
			req.ProcessID = kmsg.StringPtr("p" + req.MemberID)
		}
	}
	resp, create := b.c.streamsHeartbeat(context.Background(), caller{clientID: "c", clientHost: "/127.0.0.1"}, req)
	b.printf("%s: %s\n", name, describeStreamsBeat(resp))
	for _, t := range create {
		b.printf("  to be made: %s with %d partitions\n", t.Topic, t.NumPartitions)
	}
	b.deliver()
}

// tasksNamed reads "0_0,0_1"; "-" is an empty list.
func tasksNamed(list string) []kmsg.TaskIDs {
	out := []kmsg.TaskIDs{}
	for _, name := range strings.Split(list, ",") {
		id, partition, ok := strings.Cut(name, "_")
		if !ok {
			continue
		}
		n, _ := strconv.Atoi(partition)
		if last := len(out) - 1; last >= 0 && out[last].SubtopologyID == id {
			out[last].Partitions = append(out[last].Partitions, int32(n))
			continue
		}
		out = append(out, kmsg.TaskIDs{SubtopologyID: id, Partitions: []int32{int32(n)}})
	}
	return out
}

// benchTopology: "one" reads in; "state" keeps state too; "two" reads in, and through r keeps state; "newer" is "one" of epoch 1.
func benchTopology(name string) *kmsg.StreamsGroupHeartbeatRequestTopology {
	reads := kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{SubtopologyID: "0", SourceTopics: []string{"in"}}
	t := &kmsg.StreamsGroupHeartbeatRequestTopology{}
	switch name {
	case "state":
		reads.StateChangelogTopics = []kmsg.TopicInfo{{Topic: "c"}}
	case "two":
		reads.RepartitionSinkTopics = []string{"r"}
		counts := kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{
			SubtopologyID: "1", RepartitionSourceTopics: []kmsg.TopicInfo{{Topic: "r"}}, StateChangelogTopics: []kmsg.TopicInfo{{Topic: "c"}},
		}
		t.Subtopologies = append(t.Subtopologies, counts)
	case "newer":
		t.Epoch = 1
	}
	t.Subtopologies = append(t.Subtopologies, reads)
	return t
}

func describeStreamsBeat(r *kmsg.StreamsGroupHeartbeatResponse) string {
	if r.ErrorCode != 0 {
		message := ""
		if r.ErrorMessage != nil {
			message = " " + *r.ErrorMessage
		}
		return codeName(r.ErrorCode) + message
	}
	s := fmt.Sprintf("epoch=%d", r.MemberEpoch)
	if r.ActiveTasks != nil {
		s += fmt.Sprintf(" active=%v standby=%v", projections.TaskNames(journalTasks(r.ActiveTasks)), projections.TaskNames(journalTasks(r.StandbyTasks)))
	}
	if r.EndpointInformationEpoch != 0 {
		s += fmt.Sprintf(" endpoints=%d", r.EndpointInformationEpoch)
	}
	for _, e := range r.PartitionsByUserEndpoint {
		s += fmt.Sprintf(" %s:%v", e.UserEndpoint.Host, e.ActivePartitions)
	}
	for _, st := range r.Status {
		s += fmt.Sprintf(" (%d: %s)", st.StatusCode, st.StatusDetail)
	}
	return s
}

// configureStreams sets keys like streams_assignment_interval_ms=0 of the broker.
func (b *groupBench) configureStreams(a benchArgs) {
	static := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(a.named)) {
		if strings.HasPrefix(key, "streams_") {
			static["group."+strings.ReplaceAll(key, "_", ".")] = a.named[key]
		}
	}
	if len(static) > 0 {
		b.broker = configs.NewBroker(static, nil, nil)
	}
}

func dumpStreams(out *strings.Builder, g *projections.Group) {
	s := g.Streams
	fmt.Fprintf(out, "group %s %s streams epoch=%d assigned=%d validated=%d standbys=%d\n", g.ID, g.State, s.Epoch, s.Assigned, s.Validated, s.Standbys)
	states := map[journal.StreamsMemberState]string{journal.StreamsStable: "stable", journal.StreamsUnrevoked: "unrevoked", journal.StreamsUnreleased: "unreleased"}
	s.Each(func(m *projections.StreamsMember) bool {
		fmt.Fprintf(out, "  member %s in %s epoch=%d before=%d %s has=%v/%v revokes=%v/%v target=%v/%v\n", m.ID, m.Process, m.Epoch, m.Previous, states[m.State],
			projections.TaskNames(m.Has.Active), projections.TaskNames(m.Has.Standby), projections.TaskNames(m.Revoked.Active), projections.TaskNames(m.Revoked.Standby),
			projections.TaskNames(m.Target.Active), projections.TaskNames(m.Target.Standby))
		return true
	})
}
