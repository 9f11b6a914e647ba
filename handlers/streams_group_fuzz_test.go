package handlers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// streamsSim is a streams group with members that behave: they run what they are given and give back what they are told to. The
// schedule decides who is heard of when.
type streamsSim struct {
	t       *testing.T
	b       *groupBench
	members map[string]*streamsSimMember
	epoch   int32 // of the group
	topics  int
}

// streamsSimMember is one of them.
type streamsSimMember struct {
	id, process string
	epoch       int32
	owns        *kmsg.StreamsGroupHeartbeatResponse // the last answer with tasks
}

const streamsSimGroup = "g"

func newStreamsSim(t *testing.T) *streamsSim {
	s := &streamsSim{t: t, b: newGroupBench(t), members: map[string]*streamsSimMember{}}
	s.makeTopic("in", 3)
	s.makeTopic("g-changelog", 3)
	return s
}

func (s *streamsSim) emit(e journal.Event) {
	err := s.b.update(context.Background(), journal.Timed("schedule"), func(d *groupDecision) { d.emit(e) })
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *streamsSim) makeTopic(name string, partitions int32) {
	s.topics++
	s.emit(&journal.TopicCreated{ID: [16]byte{byte(s.topics >> 8), byte(s.topics), 1}, Name: name, Partitions: partitions})
}

func streamsSimTopology() *kmsg.StreamsGroupHeartbeatRequestTopology {
	stateful := kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{
		SubtopologyID: "0", SourceTopics: []string{"in"}, StateChangelogTopics: []kmsg.TopicInfo{{Topic: "g-changelog"}},
	}
	stateless := kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{SubtopologyID: "1", SourceTopics: []string{"in"}}
	return &kmsg.StreamsGroupHeartbeatRequestTopology{Subtopologies: []kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{stateful, stateless}}
}

func (s *streamsSim) beat(m *streamsSimMember, epoch int32) {
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = streamsSimGroup, m.id, epoch
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	switch {
	case epoch == joiningEpoch:
		req.RebalanceTimeoutMillis, req.ProcessID, req.Topology = 20_000, &m.process, streamsSimTopology()
		m.owns = nil
	case epoch == leavingEpoch:
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = nil, nil, nil
	case m.owns != nil:
		req.ActiveTasks, req.StandbyTasks = m.owns.ActiveTasks, m.owns.StandbyTasks
	}
	resp, _ := s.b.c.streamsHeartbeat(context.Background(), caller{clientID: "c"}, req)
	switch {
	case epoch == leavingEpoch, resp.ErrorCode == unknownMemberID, resp.ErrorCode == fencedMemberEpoch, resp.ErrorCode == groupIDNotFound:
		delete(s.members, m.id)
		return
	case resp.ErrorCode == invalidRequest: // it has tasks that there are no more: it gives up and joins again
		m.owns = nil
		return
	case resp.ErrorCode != none:
		s.t.Fatalf("heartbeat of %s at %d: %s %v", m.id, epoch, codeName(resp.ErrorCode), resp.ErrorMessage)
	}
	if resp.MemberEpoch < m.epoch {
		s.t.Fatalf("%s went from epoch %d back to %d", m.id, m.epoch, resp.MemberEpoch)
	}
	if m.epoch = resp.MemberEpoch; resp.ActiveTasks != nil {
		m.owns = resp
	}
}

// step takes one action of a schedule.
func (s *streamsSim) step(what, who byte) {
	id := fmt.Sprint("m", who%7)
	m := s.members[id]
	switch what % 16 {
	case 0, 1, 2:
		if m == nil {
			m = &streamsSimMember{id: id, process: fmt.Sprint("p", who%4)}
			s.members[id] = m
		}
		s.beat(m, joiningEpoch)
	case 3:
		if m != nil {
			s.beat(m, leavingEpoch)
		}
	case 4:
		s.b.advance("60s") // whoever is not heard of is out
	case 5:
		s.b.advance("5s")
	case 6:
		s.b.restart()
	case 7:
		s.resize()
	case 8:
		s.emit(&journal.ConfigsAltered{ResourceType: projections.GroupResource, Resource: streamsSimGroup, Set: []journal.ConfigPair{
			{Name: "streams.num.standby.replicas", Value: fmt.Sprint(who % 3)},
		}})
	default:
		if m != nil {
			s.beat(m, m.epoch)
		}
	}
	s.check()
}

// resize grows the source, or deletes it and makes it anew.
func (s *streamsSim) resize() {
	in := s.b.state.Topics.Named("in")
	if in.Partitions < 6 {
		s.emit(&journal.PartitionsAdded{ID: in.ID, Total: in.Partitions + 1})
	} else {
		s.emit(&journal.TopicDeleted{ID: in.ID})
		s.makeTopic("in", 3)
	}
	s.emit(&journal.TopicDeleted{ID: s.b.state.Topics.Named("g-changelog").ID})
	s.makeTopic("g-changelog", s.b.state.Topics.Named("in").Partitions)
}

// check holds after every step: a task is active on one member, a process has a task once, epochs rise.
func (s *streamsSim) check() {
	g := s.b.state.Groups.Get(streamsSimGroup)
	if g == nil {
		return
	}
	if err := g.Check(); err != nil {
		s.t.Fatal(err)
	}
	if g.Streams.Epoch < s.epoch {
		s.t.Fatalf("the group went from epoch %d back to %d", s.epoch, g.Streams.Epoch)
	}
	s.epoch = g.Streams.Epoch
	active, inProcess := map[string]string{}, map[string]string{}
	g.Streams.Each(func(m *projections.StreamsMember) bool {
		for _, task := range slices.Concat(projections.TaskNames(m.Has.Active), projections.TaskNames(m.Revoked.Active)) {
			if other, taken := active[task]; taken {
				s.t.Fatalf("task %s is active on %s and %s", task, other, m.ID)
			}
			active[task] = m.ID
		}
		for _, list := range [...][]journal.StreamsTasks{m.Has.Active, m.Has.Standby, m.Revoked.Active, m.Revoked.Standby} {
			for _, task := range projections.TaskNames(list) {
				if other, taken := inProcess[m.Process+" "+task]; taken {
					s.t.Fatalf("task %s is in process %s twice: %s, %s", task, m.Process, other, m.ID)
				}
				inProcess[m.Process+" "+task] = m.ID
			}
		}
		return true
	})
}

// settle lets everybody be heard of until the group is Stable, with every task on one member.
func (s *streamsSim) settle() {
	for range 20 {
		for _, id := range slices.Sorted(maps.Keys(s.members)) {
			if m := s.members[id]; m.epoch == 0 || m.owns == nil {
				s.beat(m, joiningEpoch)
			} else {
				s.beat(m, m.epoch)
			}
			s.check()
		}
		s.b.advance((2 * time.Second).String())
	}
	if len(s.members) == 0 {
		return
	}
	g := s.b.state.Groups.Get(streamsSimGroup)
	if g.State != projections.Stable {
		s.t.Fatalf("the group is %s after everybody was heard of twenty times", g.State)
	}
	tasks := 0
	g.Streams.Each(func(m *projections.StreamsMember) bool {
		tasks += len(projections.TaskNames(m.Has.Active))
		return true
	})
	if want := 2 * int(s.b.state.Topics.Named("in").Partitions); tasks != want {
		s.t.Fatalf("%d of %d tasks are active", tasks, want)
	}
}

// FuzzStreamsGroup takes two bytes a step: what, and who.
func FuzzStreamsGroup(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 9, 0, 9, 0, 9, 1, 8, 1, 9, 0, 9, 1, 6, 0, 9, 0, 7, 0, 9, 1, 3, 0, 4, 0, 0, 2})
	f.Add([]byte{0, 0, 9, 0, 7, 0, 9, 0, 5, 0, 0, 3, 5, 0, 9, 3, 9, 0, 9, 3, 3, 3})
	f.Fuzz(func(t *testing.T, schedule []byte) {
		if len(schedule) > 400 {
			return
		}
		s := newStreamsSim(t)
		for ; len(schedule) >= 2; schedule = schedule[2:] {
			s.step(schedule[0], schedule[1])
		}
		s.settle()
		s.b.replay()
	})
}
