package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

const (
	classicSimGroup      = "g"
	classicSimPartitions = 6
)

// classicSim is a classic group with members that keep to the protocol. The schedule decides who acts when, whose connection or
// process is lost, and who says what is not so.
type classicSim struct {
	t          *testing.T
	b          *groupBench
	step       int
	members    []*classicSimMember
	generation int32            // since the start: a rebalance that a restart cuts off never was
	stable     int32            // the last generation that had its assignments
	protocols  map[int32]string // of generations, as members were told since the start
}

// classicSimMember is a client: what it believes.
type classicSimMember struct {
	sim        *classicSim
	id         string
	instance   *string
	version    int16
	protocols  []string
	in         bool // it knows its generation
	generation int32
	protocol   string
	peers      []kmsg.JoinGroupResponseMember // of a leader that is to assign
	joins      *waiter
	syncs      *waiter
	assigned   bool
	has        string
	away       bool // another process has its place, and it does not come back
}

func newClassicSim(t *testing.T) *classicSim {
	s := &classicSim{t: t, b: newGroupBench(t), protocols: map[int32]string{}}
	topic := &journal.TopicCreated{ID: [16]byte{1}, Name: "in", Partitions: classicSimPartitions}
	if err := s.b.update(context.Background(), journal.Timed("schedule"), func(d *groupDecision) { d.emit(topic) }); err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		m := &classicSimMember{sim: s, version: []int16{9, 5, 3, 0}[i%4], protocols: []string{"range", "sticky"}}
		if i >= 4 { // the last two are processes for one place
			m.version, m.instance = []int16{9, 5, 9}[i-4], kmsg.StringPtr(fmt.Sprint("i", min(i, 5)))
		}
		s.members = append(s.members, m)
	}
	return s
}

func (s *classicSim) fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("step %d: %s\n%s\n%s", s.step, fmt.Sprintf(format, args...), dumpGroups(s.b.state), s.b.out.String())
}

func (s *classicSim) group() *projections.Group { return s.b.state.Groups.Get(classicSimGroup) }

// decide takes a decision as a request of that API does.
func (s *classicSim) decide(api int16, decision func(*groupDecision)) {
	if err := s.b.c.update(context.Background(), journal.Cause{API: api}, decision); err != nil {
		s.fatalf("%v", err)
	}
}

// forget is a process that ends without a word, or a new one that knows nothing but its instance id.
func (m *classicSimMember) forget() {
	m.hangUp()
	m.id = ""
	m.reset()
}

func (m *classicSimMember) reset() {
	m.in, m.generation, m.protocol, m.peers, m.assigned, m.has = false, 0, "", nil, false, ""
}

// hangUp is a connection that is lost: nobody waits for the answer any more.
func (m *classicSimMember) hangUp() {
	for _, w := range [...]*waiter{m.joins, m.syncs} {
		if w != nil && m.sim.b.c.waiters[w.key] == w {
			delete(m.sim.b.c.waiters, w.key)
		}
	}
	m.joins, m.syncs = nil, nil
}

// act does what a client would do next.
func (m *classicSimMember) act() {
	switch {
	case m.away || m.joins != nil || m.syncs != nil:
	case !m.in:
		m.join()
	case !m.assigned:
		m.sync()
	default:
		m.beat()
	}
}

func (m *classicSimMember) join() {
	m.hangUp()
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID = m.version, classicSimGroup, m.id, m.instance
	req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = consumerProtocolType, 10_000, 20_000
	for _, p := range m.protocols {
		req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: p, Metadata: consumerMetadata("@in")})
	}
	m.reset()
	cmd := &joinCommand{req: req, clientID: "c", clientHost: "/127.0.0.1", wait: newWaiter()}
	var resp *kmsg.JoinGroupResponse
	m.sim.decide(11, func(d *groupDecision) { resp = d.join(cmd) })
	if resp != nil {
		m.joined(resp)
		return
	}
	m.joins = cmd.wait
}

func (m *classicSimMember) joined(resp *kmsg.JoinGroupResponse) {
	m.joins = nil
	switch resp.ErrorCode {
	case none:
	case memberIDRequired:
		m.id = resp.MemberID
		return
	case fencedInstanceID:
		m.away = true
		m.forget()
		return
	case unknownMemberID, groupMaxSizeReached, inconsistentGroupProtocol, unknownServerError: // the last: an instance id with an id that was handed out
		m.forget()
		return
	default:
		m.sim.fatalf("join of %q: %s", m.id, codeName(resp.ErrorCode))
	}
	m.in, m.id, m.generation, m.protocol, m.peers = true, resp.MemberID, resp.Generation, *resp.Protocol, resp.Members
	s := m.sim
	if told, known := s.protocols[m.generation]; known && told != m.protocol {
		s.fatalf("generation %d speaks %s and %s", m.generation, told, m.protocol)
	}
	s.protocols[m.generation] = m.protocol
	if len(m.peers) > 0 && !slices.ContainsFunc(m.peers, func(p kmsg.JoinGroupResponseMember) bool { return p.MemberID == m.id }) {
		s.fatalf("%s leads a generation that it is not in", m.id)
	}
}

func (m *classicSimMember) sync() {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.Generation = 5, classicSimGroup, m.id, m.instance, m.generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr(consumerProtocolType), &m.protocol
	for i, peer := range m.peers {
		var parts []string
		for p := i; p < classicSimPartitions; p += len(m.peers) {
			parts = append(parts, fmt.Sprint(p))
		}
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{
			MemberID: peer.MemberID, MemberAssignment: []byte(strings.Join(parts, " ")),
		})
	}
	cmd := &syncCommand{req: req, wait: newWaiter()}
	var resp *kmsg.SyncGroupResponse
	m.sim.decide(14, func(d *groupDecision) { resp = d.sync(cmd) })
	if resp != nil {
		m.synced(resp)
		return
	}
	m.syncs = cmd.wait
}

func (m *classicSimMember) synced(resp *kmsg.SyncGroupResponse) {
	m.syncs = nil
	if resp.ErrorCode != none {
		m.refused("sync", resp.ErrorCode)
		return
	}
	m.assigned, m.has = true, string(resp.MemberAssignment)
}

func (m *classicSimMember) beat() {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = classicSimGroup, m.id, m.instance, m.generation
	m.refused("heartbeat", m.sim.b.c.heartbeat(req).ErrorCode)
}

// refused is what a client makes of an error.
func (m *classicSimMember) refused(what string, code int16) {
	switch code {
	case none:
	case rebalanceInProgress, illegalGeneration, inconsistentGroupProtocol:
		m.reset() // it keeps its id and joins again
	case unknownMemberID:
		m.forget()
	case fencedInstanceID:
		m.away = true
		m.forget()
	default:
		m.sim.fatalf("%s of %q in generation %d: %s", what, m.id, m.generation, codeName(code))
	}
}

func (m *classicSimMember) leave() {
	if m.id == "" && m.instance == nil {
		return
	}
	m.sim.leave(m.id, m.instance)
	m.forget()
}

func (s *classicSim) leave(id string, instance *string) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.Members = classicSimGroup, []kmsg.LeaveGroupRequestMember{{MemberID: id, InstanceID: instance}}
	s.decide(13, func(d *groupDecision) { d.leave(req) })
}

// commit commits what the member has; a group that rebalances takes it, as long as the generation is the same.
func (m *classicSimMember) commit() {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.Generation = 8, classicSimGroup, m.id, m.instance, m.generation
	if !m.in {
		req.Generation = -1
	}
	topic := kmsg.OffsetCommitRequestTopic{Topic: "in"}
	for _, p := range strings.Fields(m.has) {
		topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: int32(p[0] - '0'), Offset: int64(m.sim.step), LeaderEpoch: -1})
	}
	req.Topics = append(req.Topics, topic)
	resp := m.sim.b.c.offsetCommit(context.Background(), caller{}, req)
	if len(topic.Partitions) > 0 && resp.Topics[0].Partitions[0].ErrorCode != none {
		m.refused("commit", resp.Topics[0].Partitions[0].ErrorCode)
	}
}

// lie sends what no client would, in the name of a member.
func (m *classicSimMember) lie(how byte) {
	s, was := m.sim, *m
	m.forget()
	switch how % 6 {
	case 0: // a leader that is none, in a generation that may not be
		m.id, m.generation, m.protocol = was.id, was.generation+int32(how/6%3)-1, was.protocol
		m.peers = []kmsg.JoinGroupResponseMember{{MemberID: was.id}, {MemberID: "nobody"}}
		m.sync()
	case 1:
		m.id, m.protocols = was.id, []string{"odd"}
		m.join()
	case 2:
		m.id = "nobody"
		m.join()
	case 3:
		m.id, m.instance = was.id, kmsg.StringPtr("i5")
		m.join()
	case 4:
		s.leave("", kmsg.StringPtr("i5"))
	case 5:
		m.id, m.generation = was.id, was.generation+1
		m.beat()
	}
	m.protocols, m.instance = was.protocols, was.instance
	m.forget()
}

// play takes one step of a schedule.
func (s *classicSim) play(what, who byte) {
	m := s.members[int(who)%len(s.members)]
	switch what % 20 {
	case 8:
		m.forget()
		m.away = false
	case 9:
		m.leave()
	case 10:
		m.hangUp()
		m.reset()
	case 11: // its subscription, or what it can, is another
		m.protocols = [][]string{{"range", "sticky"}, {"sticky", "range"}, {"range"}}[who/7%3]
		if !m.away {
			m.join()
		}
	case 12:
		s.b.advance([...]string{"1s", "3s", "70s", "301s"}[who%4])
	case 13:
		s.restart()
	case 14:
		m.commit()
	case 15:
		m.lie(who / 7)
	case 16:
		s.resize(2 + int(who%8))
	case 17:
		s.b.advance("4s")
	default:
		m.act()
	}
	s.deliver()
	s.check()
}

func (s *classicSim) resize(most int) {
	s.b.set.maxSize = most
	s.b.c.settings = s.b.set
}

// restart kills the broker: who waited was cut off.
func (s *classicSim) restart() {
	for _, m := range s.members {
		if m.joins != nil || m.syncs != nil {
			m.hangUp()
			m.reset()
		}
	}
	s.b.restart()
	s.generation, s.protocols = 0, map[int32]string{}
}

// deliver hands out the answers that have come.
func (s *classicSim) deliver() {
	for _, m := range s.members {
		for _, w := range [...]*waiter{m.joins, m.syncs} {
			if w == nil {
				continue
			}
			select {
			case answer := <-w.answer:
				m.take(answer)
			default:
				if s.b.c.waiters[w.key] != w {
					s.fatalf("nobody will answer the request that %q waits with", w.key.member)
				}
			}
		}
	}
}

func (m *classicSimMember) take(answer any) {
	switch resp := answer.(type) {
	case *kmsg.JoinGroupResponse:
		m.joined(resp)
	case *kmsg.SyncGroupResponse:
		m.synced(resp)
	}
}

// check holds after every step: generations rise, a partition has one owner, and who is assigned one in the current generation
// has just what is written down.
func (s *classicSim) check() {
	g := s.group()
	if g == nil {
		return
	}
	if err := g.Check(); err != nil {
		s.fatalf("%v", err)
	}
	if g.Generation < max(s.generation, s.stable) {
		s.fatalf("generation %d after %d, of which %d was stable", g.Generation, s.generation, s.stable)
	}
	s.generation = g.Generation
	if g.State != projections.Stable {
		return
	}
	s.stable = g.Generation
	owner := map[string]string{}
	for _, m := range g.Members {
		for _, p := range strings.Fields(string(m.Assignment)) {
			if owner[p] != "" {
				s.fatalf("partition %s is with %s and %s", p, owner[p], m.ID)
			}
			owner[p] = m.ID
		}
	}
	for _, m := range s.members {
		if known := g.Member(m.id); known != nil && m.assigned && m.generation == g.Generation && m.has != string(known.Assignment) {
			s.fatalf("%s works on %q and has %q", m.id, m.has, known.Assignment)
		}
	}
}

// settle has everybody act until each partition is in the hands of one who is there. Who was lost while it joined for the first
// time is missed after five minutes only.
func (s *classicSim) settle() {
	s.resize(100)
	s.members[6].forget()
	s.members[6].away = true
	s.members[5].away = false
	for range 250 {
		for _, m := range s.members {
			m.act()
			s.deliver()
			s.check()
		}
		if s.settled() {
			return
		}
		s.b.advance("2s")
		s.deliver()
	}
	s.fatalf("the group does not settle")
}

func (s *classicSim) settled() bool {
	g, owned, there := s.group(), 0, 0
	for _, m := range s.members {
		if m.away {
			continue
		}
		if there++; !m.assigned || m.generation != g.Generation {
			return false
		}
		owned += len(strings.Fields(m.has))
	}
	return g.State == projections.Stable && len(g.Members) == there && owned == classicSimPartitions
}

// FuzzClassicGroup takes two bytes a step: what, and who or how.
func FuzzClassicGroup(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 4, 17, 0, 0, 0, 0, 1, 0, 4, 14, 0, 0, 2, 13, 0, 0, 0, 0, 5, 0, 6, 9, 0, 12, 1, 0, 1, 15, 7, 0, 1})
	f.Add([]byte{0, 3, 0, 2, 17, 0, 0, 3, 0, 2, 11, 9, 0, 3, 10, 2, 12, 2, 16, 0, 0, 0, 0, 0, 8, 3, 0, 3, 15, 28, 0, 2})
	f.Fuzz(func(t *testing.T, schedule []byte) {
		if len(schedule) > 400 {
			return
		}
		s := newClassicSim(t)
		for ; len(schedule) >= 2; schedule = schedule[2:] {
			s.step++
			s.play(schedule[0], schedule[1])
		}
		s.settle()
		s.restart()
		s.check()
		s.settle()
		s.b.replay()
	})
}
