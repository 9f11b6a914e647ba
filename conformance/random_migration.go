package conformance

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RandomMigration is a scenario of a group that members of the classic and of the consumer protocol share: it goes from one type to
// the other as they come and go. Members of the classic protocol have instance ids: the range assignor goes by those, where
// the ids of classic members are random. Two of the consumer protocol have the same instance ids: they take the places of the others.
func RandomMigration(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "A group whose members speak the classic and the consumer protocol answers as Kafka's, whatever they do.", Set: randomSet()}
	return s.atRandom("random-migration", seed, 13, func(r random) { (&randomMigration{random: r}).play(steps) })
}

type randomMigration struct {
	random
	id        [16]byte // of the topic
	classic   []*randomMember
	consumers []*consumer
	leader    string
	ids       []string
}

const migrationPartitions = 4

func (r *randomMigration) play(steps int) {
	admin := r.c.Conn("admin")
	admin.AwaitGroupCoordinator(r.group)
	r.id = admin.MakeTopic(r.group, migrationPartitions)
	for _, name := range []string{"a", "b"} {
		m := &groupMember{Conn: r.c.Conn(name), group: r.group, protocols: []string{owning("range", r.group)}, instance: kmsg.StringPtr("instance-" + name)}
		r.classic = append(r.classic, &randomMember{groupMember: m})
	}
	for _, name := range []string{"c", "d", "e"} {
		m := r.c.consumer(name, r.group, r.group)
		m.made = [][16]byte{r.id}
		if name == "e" {
			m.instance = kmsg.StringPtr("instance-a")
		}
		r.consumers = append(r.consumers, m)
	}
	for range steps {
		if r.rng.IntN(2) == 0 {
			r.old(r.classic[r.rng.IntN(len(r.classic))])
		} else {
			r.new(r.consumers[r.rng.IntN(len(r.consumers))])
		}
		r.settle()
	}
}

// old has a member of the classic protocol do something, unless it waits.
func (r *randomMigration) old(m *randomMember) {
	switch choice := r.rng.IntN(16); {
	case m.joining != nil || m.syncing != nil:
	case choice < 6:
		req := m.joinRequest()
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 1_800_000, 1_800_000
		m.joining = m.Send("join of "+m.name, 9, req)
	case choice < 10:
		m.syncing = m.sync("sync of "+m.name, r.assignments(m)...)
	case choice < 13:
		m.heartbeat("heartbeat of " + m.name)
	case choice < 14:
		m.Do("commit of "+m.name, 9, m.commit(r.group, int64(choice)))
	case choice < 15:
		m.generation += int32(r.rng.IntN(3) - 1)
		m.heartbeat("heartbeat of " + m.name + " in another generation")
	case m.id != r.leader:
		m.Do("leave of "+m.name, 5, leaveRequest(r.group, "/"+*m.instance))
		m.id = ""
	}
}

// assignments are those of a leader: to each member that it was told of its part.
func (r *randomMigration) assignments(m *randomMember) []string {
	if m.id != r.leader || m.id == "" {
		return nil
	}
	var all []string
	for i, id := range r.ids {
		var parts []int32
		for p := range int32(migrationPartitions) {
			if int(p)%len(r.ids) == i {
				parts = append(parts, p)
			}
		}
		all = append(all, id+":"+leaderGives(r.group, parts...))
	}
	return all
}

// new has a member of the consumer protocol do something.
func (r *randomMigration) new(m *consumer) {
	switch choice := r.rng.IntN(12); {
	case choice < 3:
		m.join("join of " + m.name)
	case choice < 7:
		m.has("heartbeat of " + m.name + " with what it has")
	case choice < 9:
		m.beat("heartbeat of " + m.name)
	case choice < 10:
		m.commit("commit of "+m.name, 9, m.epoch, r.group, r.id, 0)
	default:
		m.leaves("leave of "+m.name, -1)
	}
}

// settle reads the answers that have come, and looks at the group.
func (r *randomMigration) settle() {
	for _, m := range r.classic {
		if p := m.joining; p != nil && p.conn.socket.readable(settled) {
			m.joining = nil
			r.joined(m, p)
		}
		if p := m.syncing; p != nil && p.conn.socket.readable(settled) {
			m.syncing = nil
			p.Await()
			p.step.Took = fmt.Sprint("until step ", len(r.c.steps))
		}
	}
	r.c.Conn("admin").Do("commit of another group", 9, commitRequest(r.group+"-other", r.group, 1))
	r.c.Conn("admin").Do("describe", 1, describeConsumers(r.group))
	r.c.Conn("admin").Do("describe", 6, describeGroupsRequest(r.group))
}

func (r *randomMigration) joined(m *randomMember, p *Pending) {
	resp := m.joined(p)
	p.step.Took = fmt.Sprint("until step ", len(r.c.steps))
	switch {
	case resp.ErrorCode == codeMemberIDRequired:
		m.id = resp.MemberID
	case resp.ErrorCode != 0:
		m.id = ""
	case resp.LeaderID == resp.MemberID && len(resp.Members) > 0:
		r.leader, r.ids = resp.LeaderID, nil
		for _, other := range r.classic {
			if slices.ContainsFunc(resp.Members, func(told kmsg.JoinGroupResponseMember) bool { return told.MemberID == other.id }) {
				r.ids = append(r.ids, other.id)
			}
		}
	}
}
