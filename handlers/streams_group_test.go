package handlers

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

func streamsJoinOf(topology *kmsg.StreamsGroupHeartbeatRequestTopology) *kmsg.StreamsGroupHeartbeatRequest {
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.Topology = "g", "m", 1000, topology
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	return req
}

// TestBoundsOfStreamsGroups: what is too large is refused and leaves nothing.
func TestBoundsOfStreamsGroups(t *testing.T) {
	b := newGroupBench(t)
	many := &kmsg.StreamsGroupHeartbeatRequestTopology{}
	for i := range maxSubtopologies + 1 {
		many.Subtopologies = append(many.Subtopologies, kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{SubtopologyID: fmt.Sprint(i), SourceTopics: []string{"in"}})
	}
	large := streamsSimTopology()
	for i := range 20_000 {
		large.Subtopologies[0].SourceTopics = append(large.Subtopologies[0].SourceTopics, fmt.Sprintf("%050d", i))
	}
	for name, req := range map[string]*kmsg.StreamsGroupHeartbeatRequest{"many": streamsJoinOf(many), "large": streamsJoinOf(large)} {
		if resp, _ := b.c.streamsHeartbeat(context.Background(), caller{}, req); resp.ErrorCode != streamsInvalidTopology {
			t.Errorf("%s: %s", name, codeName(resp.ErrorCode))
		}
	}
	long := strings.Repeat("x", maxName+1)
	tags := make([]kmsg.StreamsGroupHeartbeatRequestClientTag, 2000)
	for name, change := range map[string]func(*kmsg.StreamsGroupHeartbeatRequest){
		"group": func(r *kmsg.StreamsGroupHeartbeatRequest) { r.Group = long }, "member": func(r *kmsg.StreamsGroupHeartbeatRequest) { r.MemberID = long },
		"process": func(r *kmsg.StreamsGroupHeartbeatRequest) { r.ProcessID = &long }, "tags": func(r *kmsg.StreamsGroupHeartbeatRequest) { r.ClientTags = tags },
	} {
		req := streamsJoinOf(streamsSimTopology())
		change(req)
		if resp, _ := b.c.streamsHeartbeat(context.Background(), caller{}, req); resp.ErrorCode != invalidRequest {
			t.Errorf("%s: %s", name, codeName(resp.ErrorCode))
		}
	}
	if n := b.state.Groups.Len(); n != 0 {
		t.Errorf("%d groups came of it", n)
	}
}

// TestTopicErrorsAreBounded: of too many reasons those that expire first go; one that expired is not told.
func TestTopicErrorsAreBounded(t *testing.T) {
	var e topicErrors
	for i := range maxTopicErrors + 10 {
		e.put(fmt.Sprint(i), "why", 0, int64(100+i))
	}
	if len(e.of) != maxTopicErrors {
		t.Errorf("%d are kept", len(e.of))
	}
	asked := []kmsg.CreateTopicsRequestTopic{{Topic: "9"}, {Topic: "10"}, {Topic: "500"}}
	if found, open := e.at(200, asked); !reflect.DeepEqual(found, []string{"500 (why)"}) || len(open) != 2 {
		t.Errorf("%v, %d open", found, len(open))
	}
}

// TestQuietStreamsHeartbeatsWriteNothing: a heartbeat that changes nothing costs no entry.
func TestQuietStreamsHeartbeatsWriteNothing(t *testing.T) {
	s := newStreamsSim(t)
	m := &streamsSimMember{id: "m", process: "p"}
	s.members["m"] = m
	s.beat(m, joiningEpoch)
	s.settle()
	before := len(s.b.entries)
	for range 100 {
		s.beat(m, m.epoch)
	}
	if n := len(s.b.entries) - before; n != 0 {
		t.Errorf("a hundred quiet heartbeats made %d entries", n)
	}
}

// TestALargeStreamsGroupSettles: a thousand members that come one after the other have their tasks after few heartbeats each, and
// a start finds them.
func TestALargeStreamsGroupSettles(t *testing.T) {
	s := newStreamsSim(t)
	s.b.quiet = true
	s.b.c.update = func(ctx context.Context, cause journal.Cause, decide func(*groupDecision)) error { // without the checks of each step
		err := s.b.store.Update(ctx, cause, func(tx *tx) {
			d := &groupDecision{
				state: tx.State, seq: tx.Seq, at: tx.At, emit: tx.Emit, settings: &s.b.set, newUUID: tx.NewUUID, configs: s.b.broker, drop: tx.Drop,
				streams: &s.b.c.streams,
			}
			decide(d)
			tx.Then(func() { s.b.c.apply(d.effects) })
		})
		s.b.state, _ = s.b.store.View()
		return err
	}
	s.emit(&journal.PartitionsAdded{ID: s.b.state.Topics.Named("in").ID, Total: 1000})
	s.emit(&journal.TopicDeleted{ID: s.b.state.Topics.Named("g-changelog").ID})
	s.makeTopic("g-changelog", 1000)
	for i := range 1000 {
		id := fmt.Sprintf("%04d", i)
		s.members[id] = &streamsSimMember{id: id, process: id[:3]}
		s.beat(s.members[id], joiningEpoch)
	}
	for range 6 {
		for _, m := range s.members {
			s.beat(m, m.epoch)
		}
		s.b.advance("2s")
	}
	g := s.b.state.Groups.Get(streamsSimGroup)
	if g.State != projections.Stable || g.Streams.Len() != 1000 {
		t.Fatalf("%s with %d members", g.State, g.Streams.Len())
	}
	if err := s.b.state.Check(); err != nil {
		t.Fatal(err)
	}
	g.Streams.Each(func(m *projections.StreamsMember) bool {
		if n := len(projections.TaskNames(m.Has.Active)); n != 2 {
			t.Fatalf("%s has %d tasks", m.ID, n)
		}
		return true
	})
}
