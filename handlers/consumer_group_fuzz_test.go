package handlers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// consumerFuzzMembers is small, so that a short schedule has members meet.
const consumerFuzzMembers = 7

// FuzzConsumerGroup plays a schedule, three bytes a step (what, who, how), with the members and the invariants of the simulation,
// and with clients that keep to no rule beside.
func FuzzConsumerGroup(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 2, 210, 0, 3, 0, 0, 4, 0, 1, 5, 235, 0, 1, 210, 0, 9, 0, 1, 7, 254, 0, 1, 0, 0, 3, 0, 1, 1, 250, 0, 1, 160, 1, 1})
	f.Add([]byte{0, 0, 1, 0, 1, 2, 0, 2, 3, 255, 0, 0, 255, 1, 1, 255, 2, 17, 0, 0, 9, 0, 1, 9, 190, 2, 0, 230, 0, 200, 255, 2, 99, 0, 2, 5})
	f.Fuzz(func(t *testing.T, schedule []byte) {
		if len(schedule) > 600 {
			return
		}
		s := &simulation{t: t, b: newGroupBench(t), r: rand.New(rand.NewPCG(1, 848)), names: 12}
		s.b.quiet = true
		s.createTopic()
		s.createTopic()
		for range consumerFuzzMembers {
			s.members = append(s.members, &simMember{sim: s})
		}
		for ; len(schedule) >= 3; schedule = schedule[3:] {
			s.step++
			s.fuzz(schedule[0], schedule[1], schedule[2])
			s.check()
			s.oneOwner()
		}
		s.settle()
		s.oneOwner()
		s.kill(false)
		s.kill(true)
	})
}

// fuzz takes one step: what is the action, or a lie; how is what the action draws its numbers from.
func (s *simulation) fuzz(what, who, how byte) {
	s.r = rand.New(rand.NewPCG(uint64(how), 848))
	m := s.members[int(who)%len(s.members)]
	if what < 250 {
		s.do(m, int(what)*4)
		return
	}
	s.lie(m)
	m.forget()
}

// lie sends any epoch and partitions in the name of a member, of one that is no more, or of nobody. Any answer will do.
func (s *simulation) lie(m *simMember) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.RebalanceTimeoutMillis = int16(s.r.IntN(2)), simGroup, m.id, -1
	if s.r.IntN(4) == 0 {
		req.MemberID = fmt.Sprintf("member-%d", s.r.IntN(s.ids+2))
	}
	req.MemberEpoch = m.epoch + int32(s.r.IntN(5)) - 3
	if s.r.IntN(3) == 0 {
		req.MemberEpoch = int32(s.r.IntN(4)) - 3
	}
	if s.r.IntN(3) > 0 {
		req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = 30_000, []string{s.topicName()}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	if s.r.IntN(4) == 0 {
		req.InstanceID = kmsg.StringPtr(fmt.Sprintf("instance-%d", s.r.IntN(s.ids+2)))
	}
	for range s.r.IntN(3) {
		topic := kmsg.ConsumerGroupHeartbeatRequestTopic{Partitions: []int32{int32(s.r.IntN(50)) - 1, int32(s.r.IntN(50))}}
		if t := s.someTopic(); t != nil && s.r.IntN(4) > 0 {
			topic.TopicID = t.ID
		}
		req.Topics = append(req.Topics, topic)
	}
	s.b.c.consumerHeartbeat(context.Background(), caller{cause: journal.Cause{API: 68}, clientID: "lies"}, req)
}

// oneOwner holds the group as it is written to its rule: a partition is with one member until that has given it up, whatever was
// said; and a target gives it to one.
func (s *simulation) oneOwner() {
	g := s.b.state.Groups.Get(simGroup)
	if g == nil {
		return
	}
	owners, heirs := map[takenPartition]string{}, map[takenPartition]string{}
	take := func(of map[takenPartition]string, m *projections.ConsumerMember, topic [16]byte, partitions []int32) {
		for _, p := range partitions {
			part := takenPartition{topic, p}
			if other, taken := of[part]; taken {
				s.fatalf("partition %v is with %s and %s", part, other, m.ID)
			}
			of[part] = m.ID
		}
	}
	for _, m := range g.Consumer.Members {
		for _, t := range slices.Concat(m.Assigned, m.Revoking) {
			take(owners, m, t.TopicID, t.Partitions)
		}
		for _, t := range m.Target {
			take(heirs, m, t.TopicID, t.Partitions)
		}
	}
}
