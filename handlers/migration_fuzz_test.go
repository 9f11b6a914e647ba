package handlers

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

var migrationSchedules = flag.Int("migrations", 30, "schedules of TestMigrationSimulation")

// migrationSim is a group that clients of the classic and of the consumer protocol share, so that it goes from one type to the
// other and back. Some of them have the same instance ids, in both protocols.
type migrationSim struct {
	simulation
	classic   []*migrant
	number    int32 // the generation, or the group's epoch, whichever the group has
	settled   int32 // the last one that a restart comes back to
	committed map[takenPartition]int64
	settling  bool
	was       journal.GroupType         // of the group with members in it
	crossed   map[journal.GroupType]int // how often it became that with members in it
}

func newMigrationSim(t *testing.T) *migrationSim {
	s := &migrationSim{simulation: simulation{t: t, b: newGroupBench(t), r: rand.New(rand.NewPCG(1, 848)), names: 4}, committed: map[takenPartition]int64{},
		crossed: map[journal.GroupType]int{}}
	s.b.quiet = true
	for range 4 {
		s.createTopic()
	}
	for i := range 6 {
		m := &migrant{sim: s, version: []int16{9, 5, 3, 9, 9, 9}[i], cooperative: i%2 == 0, generation: -1}
		if i >= 3 {
			m.instance = kmsg.StringPtr(sharedInstance(i - 3))
		}
		m.subscribe()
		s.classic = append(s.classic, m)
	}
	for i := range 5 {
		m := &simMember{sim: &s.simulation}
		if i >= 3 { // each for the place of a classic one
			m.instance = kmsg.StringPtr(sharedInstance(i - 3))
		}
		s.members = append(s.members, m)
	}
	return s
}

func (m *migrant) subscribe() {
	m.names = nil
	for range 1 + m.sim.r.IntN(3) {
		if name := m.sim.topicName(); !slices.Contains(m.names, name) {
			m.names = append(m.names, name)
		}
	}
}

// fatalf tells the state too.
func (s *migrationSim) fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("step %d: %s\n%s", s.step, fmt.Sprintf(format, args...), dumpGroups(s.b.state))
}

// play takes one step: what happens, to whom, and how is what its numbers are drawn from.
func (s *migrationSim) play(what, who, how byte) {
	s.r = rand.New(rand.NewPCG(uint64(how), 848))
	switch n := int(who) % (len(s.classic) + len(s.members)); {
	case what >= 200:
		s.disturb(what)
	case n < len(s.classic):
		s.classic[n].step(what)
	default:
		s.stepOf(s.members[n-len(s.classic)], what)
	}
	s.deliver()
	s.check()
}

// step has a classic client do something.
func (m *migrant) step(what byte) {
	switch {
	case what < 140:
		m.act()
	case what < 150:
		m.leave()
	case what < 160: // it is gone, or comes back
		m.forget()
		m.away = false
	case what < 170:
		m.subscribe()
		m.again()
	case what < 175:
		m.lose()
	case what < 195:
		m.commit()
	default:
		m.lie()
	}
}

// stepOf has a client of the consumer protocol do something. It leaves often, so that the group goes back.
func (s *migrationSim) stepOf(m *simMember, what byte) {
	switch {
	case what < 100:
		m.act()
	case what < 140:
		m.leave()
	case what < 150:
		m.forget()
	case what < 165:
		m.subscribe()
		m.beat(false)
	case what < 190:
		s.commitOf(m)
	default:
		s.lie(m)
		m.forget()
	}
}

func (s *migrationSim) disturb(what byte) {
	switch {
	case what < 220:
		s.advance([...]int64{100, 1_000, 3_000, 11_000}[what%4])
	case what < 225:
		s.advance([...]int64{31_000, 46_000, 301_000}[what%3])
	case what < 232:
		s.growTopic()
	case what < 238:
		s.createTopic()
	case what < 242:
		s.deleteTopic()
	case what < 251:
		s.restart(what%3 == 0)
	default: // group.consumer.migration.policy is another
		s.policy(s.r.IntN(4) > 0, s.r.IntN(4) > 0)
	}
}

// commitOf has a client of the consumer protocol commit what it has.
func (s *migrationSim) commitOf(m *simMember) {
	if m.in {
		s.commit(m.id, m.instance, m.epoch, m.owns)
	}
}

func (s *migrationSim) policy(upgrade, downgrade bool) {
	s.b.set.consumer.upgrade, s.b.set.consumer.downgrade = upgrade, downgrade
	s.restart(false)
}

// restart kills the broker, or ends it with a snapshot: who waited was cut off, and a rebalance of the classic protocol that was
// under way never was.
func (s *migrationSim) restart(clean bool) {
	for _, m := range s.classic {
		m.hangUp()
		if !m.synced {
			m.again()
		}
	}
	if clean {
		if err := s.b.store.Close(); err != nil {
			s.fatalf("%v", err)
		}
	}
	s.b.fs = s.b.fs.Crash(disk.KillProcess())
	killed := s.b.opened
	s.b.opened = nil
	s.b.start()
	for _, store := range killed {
		_ = store.Close()
	}
	s.number = s.settled
}

// deliver hands out the answers that have come.
func (s *migrationSim) deliver() {
	for _, m := range s.classic {
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

func (m *migrant) take(answer any) {
	switch resp := answer.(type) {
	case *kmsg.JoinGroupResponse:
		m.joined(resp)
	case *kmsg.SyncGroupResponse:
		m.given(resp)
	}
}

// check holds after every step: numbers rise through every change of type, a partition has one owner, who is in the group's
// generation works on nothing that another has, and offsets that were committed are there.
func (s *migrationSim) check() {
	s.checkOffsets()
	g := s.b.state.Groups.Get(simGroup)
	if g == nil {
		return
	}
	number := g.Generation
	if g.Consumer != nil {
		number = g.Consumer.Epoch
	}
	if number < s.number {
		s.fatalf("%s: generation or epoch %d after %d", g.State, number, s.number)
	}
	if s.number = number; s.was != 0 && s.was != g.Type {
		s.crossed[g.Type]++
	}
	s.was = g.Type
	switch {
	case g.State == projections.Empty: // another type begins again
		s.number, s.settled, s.was = 0, 0, 0
	case g.Consumer != nil:
		s.settled = number
		s.oneOwner()
	case g.State == projections.Stable:
		s.settled = number
	}
	s.checkBeliefs(g)
}

func (s *migrationSim) checkOffsets() {
	for p, offset := range s.committed {
		t := s.b.state.Topics.WithID(p.topic)
		if t == nil {
			delete(s.committed, p)
			continue
		}
		of := s.b.state.Offsets.Topic(simGroup, t.Name)
		if of == nil {
			s.fatalf("the offset %d of %s/%d is gone", offset, t.Name, p.partition)
		}
		if has, there := s.b.state.Offsets.Get(of, p.partition); !there || has.Offset != offset {
			s.fatalf("the offset of %s/%d is %d, and was %d", t.Name, p.partition, has.Offset, offset)
		}
	}
}

// checkBeliefs holds what clients work on to what the group has given to others.
func (s *migrationSim) checkBeliefs(g *projections.Group) {
	given := s.givenBy(g)
	for _, m := range s.members {
		if known := consumerMember(g, m.id); m.in && known != nil && !known.Classic && known.Epoch == m.epoch {
			s.checkHands(m.id, m.owns, given)
		}
	}
	for _, m := range s.classic {
		if m.lost = m.lost || s.forgot(g, m); m.in && !m.lost && s.generationOf(g, m.id) == m.generation {
			s.checkHands(m.id, m.owns, given)
		}
	}
}

// forgot says whether the group knows nothing of what the client has: it was out; or a sync phase was interrupted, which takes all
// assignments away, in Kafka too, and a cooperative client keeps what it has until the next one.
func (s *migrationSim) forgot(g *projections.Group, m *migrant) bool {
	if consumerMember(g, m.id) != nil {
		return false
	}
	known := g.Member(m.id)
	return known == nil || !m.synced && len(m.owns) > 0 && len(known.Assignment) == 0
}

func consumerMember(g *projections.Group, id string) *projections.ConsumerMember {
	if g.Consumer == nil {
		return nil
	}
	return g.Consumer.Member(id)
}

// generationOf is the one that a client of the classic protocol is to know; -1: it is none of the group, or joins.
func (s *migrationSim) generationOf(g *projections.Group, id string) int32 {
	if m := consumerMember(g, id); m != nil && m.Classic {
		return m.Epoch
	}
	if g.Consumer == nil && g.State == projections.Stable && g.Member(id) != nil {
		return g.Generation
	}
	return -1
}

func (s *migrationSim) checkHands(id string, owns []takenPartition, given map[takenPartition]string) {
	for _, p := range owns {
		if other := given[p]; other != "" && other != id {
			s.fatalf("%s works on %v, which %s was given", id, p, other)
		}
	}
}

// givenBy is what members may work on, as the group has it.
func (s *migrationSim) givenBy(g *projections.Group) map[takenPartition]string {
	given := map[takenPartition]string{}
	if g.Consumer != nil {
		for _, m := range g.Consumer.Members {
			for _, t := range m.Assigned {
				for _, p := range t.Partitions {
					given[takenPartition{t.TopicID, p}] = m.ID
				}
			}
		}
		return given
	}
	if g.State == projections.Stable {
		for _, m := range g.Members {
			named, _, _ := parseAssignment(m.Assignment)
			for _, p := range s.byID(named) {
				given[p] = m.ID
			}
		}
	}
	return given
}

// FuzzMigration takes three bytes a step (what, who, how); the last ones say who is there at the end.
func FuzzMigration(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 0, 2, 210, 0, 0, 0, 0, 1, 0, 6, 1, 0, 7, 2, 0, 0, 3, 201, 0, 0, 0, 0, 4, 175, 6, 1, 175, 7, 2, 0, 0, 3, 0, 0, 0})
	f.Add([]byte{0, 3, 1, 201, 3, 2, 0, 3, 2, 0, 9, 1, 0, 9, 4, 0, 3, 1, 0, 3, 2, 242, 0, 0, 0, 9, 9, 0, 4, 1, 0, 4, 2, 0, 1, 0, 222, 0, 1, 1})
	f.Add([]byte("070070\xd200070")) // a sync phase is interrupted while a cooperative client has partitions
	f.Fuzz(func(t *testing.T, schedule []byte) {
		if len(schedule) <= 600 {
			playMigration(t, schedule)
		}
	})
}

// TestMigrationSimulation plays schedules of chance. Groups change their type both ways in them.
func TestMigrationSimulation(t *testing.T) {
	crossed := map[journal.GroupType]int{}
	for seed := range uint64(*migrationSchedules) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 429))
			schedule := make([]byte, 3*200+1)
			for i := range schedule {
				schedule[i] = byte(r.IntN(256))
			}
			for to, n := range playMigration(t, schedule) {
				crossed[to] += n
			}
		})
	}
	if t.Logf("became classic groups %d times, consumer groups %d times", crossed[journal.GroupClassic], crossed[journal.GroupConsumer]); len(crossed) < 2 {
		t.Error("groups did not go both ways")
	}
}

func playMigration(t *testing.T, schedule []byte) map[journal.GroupType]int {
	s := newMigrationSim(t)
	for ; len(schedule) >= 3; schedule = schedule[3:] {
		s.step++
		s.play(schedule[0], schedule[1], schedule[2])
	}
	who := byte(0)
	if len(schedule) > 0 {
		who = schedule[0]
	}
	s.settle(who)
	s.kill(false)
	s.kill(true)
	return s.crossed
}

// settle has those who are to be there act until every partition that somebody reads is in the hands of just one who reads it:
// all, only those of the classic, or only those of the consumer protocol. The others are gone without a word.
func (s *migrationSim) settle(who byte) {
	s.settling = true
	s.policy(true, true)
	for i, m := range s.classic {
		m.away = who%3 == 2 || who%3 == 0 && i >= 3 && (who/3+byte(i))%2 == 0
		if m.again(); m.away {
			m.forget()
		}
	}
	for i, m := range s.members {
		if who%3 == 1 || who%3 == 0 && i >= 3 && !s.classic[i].away {
			m.forget()
			s.members[i] = nil
		}
	}
	s.members = slices.DeleteFunc(s.members, func(m *simMember) bool { return m == nil })
	for range 400 {
		s.round()
		if s.atRest() {
			return
		}
		s.advance(2_000)
		s.deliver()
	}
	s.fatalf("the group does not settle")
}

// round has everybody who is there do what is next, and as it is told.
func (s *migrationSim) round() {
	for _, m := range s.classic {
		m.act()
		s.deliver()
		s.check()
	}
	for _, m := range s.members {
		if m.owns = slices.Clone(m.told); m.in {
			m.beat(true)
		} else {
			m.join()
		}
		s.deliver()
		s.check()
	}
}

func (s *migrationSim) atRest() bool {
	g := s.b.state.Groups.Get(simGroup)
	if g == nil || g.State != projections.Stable {
		return false
	}
	there, owner := 0, map[takenPartition][]string{}
	for _, m := range s.classic {
		if m.away {
			continue
		}
		if there++; !m.synced || s.generationOf(g, m.id) != m.generation {
			return false
		}
		for _, p := range m.owns {
			owner[p] = m.names
		}
	}
	for _, m := range s.members {
		there++
		known := consumerMember(g, m.id)
		if !m.in || known == nil || known.State != journal.MemberStable {
			return false
		}
		for _, p := range m.owns {
			owner[p] = s.readBy(g, known)
		}
	}
	return there == len(g.Members)+consumersIn(g) && s.allOwned(g, owner)
}

func consumersIn(g *projections.Group) int {
	if g.Consumer == nil {
		return 0
	}
	return len(g.Consumer.Members)
}

func (s *migrationSim) readBy(g *projections.Group, m *projections.ConsumerMember) (names []string) {
	d := &groupDecision{state: s.b.state}
	for _, id := range d.subscribedIDs(g.Consumer, m) {
		names = append(names, s.b.state.Topics.WithID(id).Name)
	}
	return names
}

// allOwned says whether each partition that somebody reads is with one who reads it.
func (s *migrationSim) allOwned(g *projections.Group, owner map[takenPartition][]string) bool {
	read := map[string]bool{}
	for _, m := range s.classic {
		for _, name := range m.names {
			read[name] = read[name] || !m.away
		}
	}
	for _, m := range s.members {
		for _, name := range s.readBy(g, g.Consumer.Member(m.id)) {
			read[name] = true
		}
	}
	for _, name := range s.topicNames() {
		t := s.b.state.Topics.Named(name)
		for p := range t.Partitions {
			if read[name] && !slices.Contains(owner[takenPartition{t.ID, p}], name) {
				return false
			}
		}
	}
	return true
}
