package handlers

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

var (
	simSteps   = flag.Int("sim-steps", 800, "steps of a simulation of consumer groups; 100000 is the long form")
	simMembers = flag.Int("sim-members", 100, "members in a simulation of consumer groups")
	simSeed    = flag.Uint64("sim-seed", 0, "the one seed to run; 0: those of the test")
)

// TestConsumerGroupSimulation drives one consumer group by a seeded schedule: members join, heartbeat, give up what they are
// told to sooner or later, read other topics, leave, fall silent, come back under their instance id; topics are created, grown
// and deleted; the broker is killed and starts again. After every step the state's invariants hold, no partition is in the
// hands of two members, and epochs have not gone back. Every now and then all members heartbeat until nothing moves: then each
// partition that somebody reads is in the hands of a member that reads it.
func TestConsumerGroupSimulation(t *testing.T) {
	seeds := []uint64{1, 2}
	if *simSeed != 0 {
		seeds = []uint64{*simSeed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { simulate(t, seed) })
	}
}

const simGroup = "sim"

type simulation struct {
	t       *testing.T
	b       *groupBench
	r       *rand.Rand
	step    int
	members []*simMember
	topics  int
	names   int // that topics have
	epoch   int32
	target  int32
	ids     int
}

// simMember is a client: what it believes.
type simMember struct {
	sim      *simulation
	id       string
	instance *string
	in       bool
	epoch    int32
	owns     []takenPartition // what it works on
	told     []takenPartition // what it is to have
	names    []string
	regex    *string
}

func simulate(t *testing.T, seed uint64) {
	s := &simulation{t: t, b: newGroupBench(t), r: rand.New(rand.NewPCG(seed, 848)), names: 12}
	s.b.quiet = true
	for range 4 {
		s.createTopic()
	}
	for range *simMembers {
		s.members = append(s.members, &simMember{sim: s})
	}
	for s.step = range *simSteps {
		s.act()
		s.check()
		if s.step%400 == 399 {
			s.settle()
		}
	}
	s.settle()
}

func (s *simulation) fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("step %d: %s", s.step, fmt.Sprintf(format, args...))
}

func (s *simulation) act() {
	s.do(s.members[s.r.IntN(len(s.members))], s.r.IntN(1000))
}

// do takes the action of a number below 1000.
func (s *simulation) do(m *simMember, n int) {
	switch {
	case n < 620:
		m.act()
	case n < 700:
		m.leave()
	case n < 760:
		m.subscribe()
		m.beat(false)
	case n < 790:
		m.forget() // its process is gone without a word
	case n < 900:
		s.advance(int64(s.r.IntN(2_000)))
	case n < 905:
		s.advance(int64(s.r.IntN(60_000)))
	case n < 940:
		s.growTopic()
	case n < 960:
		s.createTopic()
	case n < 980:
		s.deleteTopic()
	default:
		s.restart()
	}
}

func (m *simMember) act() {
	switch {
	case !m.in:
		m.join()
	case m.sim.r.IntN(3) == 0: // does as it is told
		m.owns = slices.Clone(m.told)
		m.beat(true)
	default:
		m.beat(m.sim.r.IntN(2) == 0)
	}
}

func (m *simMember) subscribe() {
	m.names, m.regex = []string{}, new(string)
	if m.sim.r.IntN(4) == 0 {
		m.regex = kmsg.StringPtr([]string{"topic-.*", "topic-[0-4]", ".*1.?", "nothing"}[m.sim.r.IntN(4)])
		return
	}
	for range 1 + m.sim.r.IntN(3) {
		m.names = append(m.names, m.sim.topicName())
	}
}

// forget is a process that ends, or a new one that knows nothing.
func (m *simMember) forget() { m.in, m.epoch, m.owns, m.told = false, 0, nil, nil }

func (m *simMember) join() {
	s := m.sim
	m.subscribe()
	if m.instance == nil && m.id == "" && s.r.IntN(4) == 0 {
		m.instance = kmsg.StringPtr(fmt.Sprintf("instance-%d", s.ids))
	}
	s.ids++
	m.id = fmt.Sprintf("member-%d", s.ids)
	m.forget()
	m.send(0, []kmsg.ConsumerGroupHeartbeatRequestTopic{}, true)
}

func (m *simMember) beat(saysWhat bool) {
	if !m.in {
		return
	}
	var owned []kmsg.ConsumerGroupHeartbeatRequestTopic
	if saysWhat {
		owned = ownedForRequest(m.owns)
	}
	m.send(m.epoch, owned, m.sim.r.IntN(4) == 0)
}

func (m *simMember) leave() {
	if !m.in {
		return
	}
	epoch := int32(leavingEpoch)
	if m.instance != nil && m.sim.r.IntN(2) == 0 {
		epoch = leavingStaticEpoch
	}
	m.send(epoch, nil, false)
	m.forget()
}

func (m *simMember) send(epoch int32, owned []kmsg.ConsumerGroupHeartbeatRequestTopic, subscription bool) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch, req.InstanceID, req.Topics = 1, simGroup, m.id, epoch, m.instance, owned
	req.RebalanceTimeoutMillis = -1
	if subscription {
		req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.SubscribedTopicRegex = 30_000, m.names, m.regex
	}
	resp := m.sim.b.c.consumerHeartbeat(context.Background(), caller{cause: journal.Cause{API: 68}, clientID: "sim"}, req)
	switch {
	case resp.ErrorCode == fencedMemberEpoch, resp.ErrorCode == unknownMemberID, resp.ErrorCode == unreleasedInstanceID, resp.ErrorCode == fencedInstanceID,
		resp.ErrorCode == groupIDNotFound:
		m.forget()
		return
	case resp.ErrorCode != none:
		m.sim.fatalf("member %s at epoch %d: %d %s", m.id, epoch, resp.ErrorCode, *resp.ErrorMessage)
	case epoch < 0:
		return
	}
	if m.in && resp.MemberEpoch < m.epoch {
		m.sim.fatalf("member %s: epoch %d after %d", m.id, resp.MemberEpoch, m.epoch)
	}
	m.in, m.epoch = true, resp.MemberEpoch
	if resp.Assignment == nil {
		return
	}
	m.told = nil
	for _, t := range resp.Assignment.Topics {
		for _, p := range t.Partitions {
			m.told = append(m.told, takenPartition{t.TopicID, p})
			if part := (takenPartition{t.TopicID, p}); !slices.Contains(m.owns, part) {
				m.owns = append(m.owns, part)
			}
		}
	}
}

func ownedForRequest(owns []takenPartition) []kmsg.ConsumerGroupHeartbeatRequestTopic {
	out := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for _, p := range owns {
		out = append(out, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: p.topic, Partitions: []int32{p.partition}})
	}
	return out
}

func (s *simulation) emit(e journal.Event) {
	if err := s.b.update(context.Background(), journal.Timed("test"), func(d *groupDecision) { d.emit(e) }); err != nil {
		s.fatalf("%v", err)
	}
}

func (s *simulation) createTopic() {
	name := s.topicName()
	if s.b.state.Topics.Named(name) != nil {
		return
	}
	s.topics++
	s.emit(&journal.TopicCreated{ID: [16]byte{1, byte(s.topics >> 8), byte(s.topics)}, Name: name, Partitions: 1 + int32(s.r.IntN(40))})
}

// topicName is one of a few, so that a name comes again after its topic is gone.
func (s *simulation) topicName() string { return fmt.Sprintf("topic-%d", s.r.IntN(s.names)) }

func (s *simulation) someTopic() *projections.Topic {
	var all []*projections.Topic
	s.b.state.Topics.Each("", func(t *projections.Topic) bool { all = append(all, t); return true })
	if len(all) == 0 {
		return nil
	}
	return all[s.r.IntN(len(all))]
}

func (s *simulation) growTopic() {
	if t := s.someTopic(); t != nil && t.Partitions < 60 {
		s.emit(&journal.PartitionsAdded{ID: t.ID, Total: t.Partitions + 1 + int32(s.r.IntN(3))})
	}
}

func (s *simulation) deleteTopic() {
	if t := s.someTopic(); t != nil && s.b.state.Topics.Len() > 2 {
		s.emit(&journal.TopicDeleted{ID: t.ID})
	}
}

func (s *simulation) advance(ms int64) {
	end := s.b.now.Load() + ms
	for {
		next, ok := s.b.c.deadlines.next()
		if !ok || next > end {
			break
		}
		s.b.now.Store(max(s.b.now.Load(), next))
		s.b.c.firePassed(context.Background())
	}
	s.b.now.Store(end)
}

// restart ends the broker one way or the other.
func (s *simulation) restart() { s.kill(s.r.IntN(3) == 0) }

// kill ends the broker and starts it again: the group is as it was.
func (s *simulation) kill(clean bool) {
	before := rowsOf(s.t, s.b.state)
	if clean { // it leaves a snapshot
		if err := s.b.store.Close(); err != nil {
			s.fatalf("%v", err)
		}
	}
	s.b.fs = s.b.fs.Crash(disk.KillProcess())
	killed := s.b.opened
	s.b.opened = nil
	s.b.start()
	for _, store := range killed { // a long run would keep them all
		_ = store.Close()
	}
	if after := rowsOf(s.t, s.b.state); !slices.Equal(before, after) {
		s.fatalf("the state is another one after a restart")
	}
}

// check holds what members believe to each other and to the group.
func (s *simulation) check() {
	g := s.b.state.Groups.Get(simGroup)
	if g == nil {
		return
	}
	c := g.Consumer
	if c.Epoch < s.epoch || c.TargetEpoch < s.target {
		s.fatalf("epochs %d and %d after %d and %d", c.Epoch, c.TargetEpoch, s.epoch, s.target)
	}
	s.epoch, s.target = c.Epoch, c.TargetEpoch
	owner := map[takenPartition]string{}
	for _, m := range s.members {
		known := c.Member(m.id)
		if !m.in || known == nil || known.Epoch == leavingStaticEpoch {
			continue // the group does not count on it any more
		}
		for _, p := range m.owns {
			if _, has := known.AssignedAt(p.topic, p.partition); !has {
				continue // given up, as far as the group knows
			}
			if other := owner[p]; other != "" {
				s.fatalf("partition %v is in the hands of %s and %s", p, other, m.id)
			}
			owner[p] = m.id
		}
	}
}

// settle has every member that is in the group do as it is told until nothing moves.
func (s *simulation) settle() {
	for _, m := range s.members {
		if m.in && s.b.state.Groups.Get(simGroup).Consumer.Member(m.id) == nil {
			m.forget()
		}
	}
	s.expireSilent()
	for round := 0; ; round++ {
		before := rowsOf(s.t, s.b.state)
		for _, m := range s.members {
			if m.in {
				m.owns = slices.Clone(m.told)
				m.beat(true)
			}
		}
		s.advance(1_100)
		if slices.Equal(before, rowsOf(s.t, s.b.state)) {
			break
		}
		if round > 20 {
			s.fatalf("does not settle in %d rounds", round)
		}
	}
	s.settled()
}

// expireSilent lets the sessions of those pass that are in the group and have no client any more.
func (s *simulation) expireSilent() {
	for range 60 {
		s.advance(1_000)
		for _, m := range s.members {
			m.beat(false)
		}
	}
}

// settled says that every partition which somebody reads is in the hands of one who reads it.
func (s *simulation) settled() {
	g := s.b.state.Groups.Get(simGroup)
	if g == nil || len(g.Consumer.Members) == 0 {
		return
	}
	if g.State != projections.Stable {
		s.fatalf("settled, and %s", g.State)
	}
	owner := map[takenPartition]*projections.ConsumerMember{}
	for _, m := range g.Consumer.Members {
		for _, t := range m.Assigned {
			for _, p := range t.Partitions {
				owner[takenPartition{t.TopicID, p}] = m
			}
		}
	}
	d := &groupDecision{state: s.b.state}
	for _, m := range g.Consumer.Members {
		for _, id := range d.subscribedIDs(g.Consumer, m) {
			for p := range s.b.state.Topics.WithID(id).Partitions {
				o := owner[takenPartition{id, p}]
				if o == nil || !slices.Contains(d.subscribedIDs(g.Consumer, o), id) {
					s.fatalf("partition %d of %s is not in the hands of one who reads it", p, s.b.state.Topics.WithID(id).Name)
				}
			}
		}
	}
	for _, m := range s.members {
		if known := g.Consumer.Member(m.id); m.in && known != nil {
			var has []string
			for _, t := range known.Assigned {
				for _, p := range t.Partitions {
					has = append(has, fmt.Sprint(takenPartition{t.TopicID, p}))
				}
			}
			var owns []string
			for _, p := range m.owns {
				owns = append(owns, fmt.Sprint(p))
			}
			slices.Sort(has)
			slices.Sort(owns)
			if !slices.Equal(has, owns) {
				s.fatalf("member %s works on %s and has %s", m.id, strings.Join(owns, " "), strings.Join(has, " "))
			}
		}
	}
}
