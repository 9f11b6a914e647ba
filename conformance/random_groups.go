package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RandomGroups is a scenario of requests that the members of a classic group send at random: what each does next depends on
// who still waits for an answer, so that two brokers must answer at the same step too.
//
// No time ends anything in it. The first rebalance waits for 1 ms, since Kafka's does not go through its timer at 0. A leader
// does not leave others behind: Kafka takes the next one from a hash map of random ids.
func RandomGroups(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Members of a classic group are answered as by Kafka, whatever they do.", Set: groupSetWith("group.initial.rebalance.delay.ms", "1")}
	return s.atRandom("random-groups", seed, 7, func(r random) { (&randomGroup{random: r}).play(steps) })
}

type randomGroup struct {
	random
	members []*randomMember
	leader  string // as the last answer to a join told
	ids     []string
}

type randomMember struct {
	*groupMember
	joining, syncing *Pending
}

// settled is how long a broker may take for an answer that does not wait for other members.
const settled = 500 * time.Millisecond

func (r *randomGroup) play(steps int) {
	r.c.Conn("admin").AwaitGroupCoordinator(r.group)
	r.c.Conn("admin").offsetsTopic(r.group, 1)
	for i := range 4 {
		m := &groupMember{Conn: r.c.Conn(string(rune('a' + i))), group: r.group, protocols: []string{"range:0"}}
		if i == 3 {
			m.instance = kmsg.StringPtr("instance")
		}
		r.members = append(r.members, &randomMember{groupMember: m})
	}
	for range steps {
		r.act(r.members[r.rng.IntN(len(r.members))])
		r.settle()
	}
}

// act has one member do something, unless it waits.
func (r *randomGroup) act(m *randomMember) {
	choice := r.rng.IntN(20)
	switch {
	case m.joining != nil || m.syncing != nil:
	case choice < 7:
		r.join(m)
	case choice < 12:
		m.syncing = m.sync("sync of "+m.name, r.assignments(m)...)
	case choice < 15:
		m.heartbeat("heartbeat of " + m.name)
	case choice < 16:
		r.elsewhere(m)
	case choice < 18:
		m.Do("commit of "+m.name, 9, m.commit(r.group, int64(choice)))
	default:
		r.leave(m)
	}
}

// join joins, now and then with other protocols, as a new member or as one that nobody knows.
func (r *randomGroup) join(m *randomMember) {
	switch r.rng.IntN(8) {
	case 0:
		m.protocols = [][]string{{"range:1"}, {"range:2", "roundrobin:2"}, {"roundrobin:3", "range:3"}}[r.rng.IntN(3)]
	case 1:
		if m.id != r.leader {
			m.id = ""
		}
	}
	req := m.joinRequest()
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 1_800_000, 1_800_000
	version := []int16{3, 5, 9}[r.rng.IntN(3)]
	if version < 5 {
		req.InstanceID = nil // this version has none
	}
	m.joining = m.Send("join of "+m.name, version, req)
}

// assignments are those of a leader for all members it was told of, or none.
func (r *randomGroup) assignments(m *randomMember) []string {
	if m.id != r.leader || m.id == "" {
		return nil
	}
	var all []string
	for i, id := range r.ids {
		all = append(all, fmt.Sprint(id, ":part ", i))
	}
	return all
}

// elsewhere sends something of another generation, or of a member that is none.
func (r *randomGroup) elsewhere(m *randomMember) {
	was := m.generation
	m.generation += int32(r.rng.IntN(3) - 1)
	m.heartbeat("heartbeat of " + m.name + " in another generation")
	m.Do("commit of "+m.name+" in another generation", 9, m.commit(r.group, 1))
	m.generation = was
	m.Do("heartbeat of nobody", 4, heartbeatRequest(r.group, "nobody", was))
}

func (r *randomGroup) leave(m *randomMember) {
	if m.id == "" || m.id == r.leader {
		return
	}
	m.Do("leave of "+m.name, 5, leaveRequest(r.group, m.id))
	m.id = ""
}

// settle reads the answers that have come, and looks at the group.
func (r *randomGroup) settle() {
	for _, m := range r.members {
		if p := m.joining; p != nil && p.conn.socket.readable(settled) {
			m.joining = nil
			r.joined(m, p)
		}
		if p := m.syncing; p != nil && p.conn.socket.readable(settled) {
			m.syncing = nil
			p.Await()
			p.step.Took = r.moment()
		}
	}
	// Kafka shows a group as of the coordinator's last write, and an id that is given out writes nothing: something else does.
	r.c.Conn("admin").Do("commit of another group", 9, commitRequest(r.group+"-other", r.group, 1))
	r.c.Conn("admin").Do("describe", 5, describeGroupsRequest(r.group))
}

func (r *randomGroup) joined(m *randomMember, p *Pending) {
	resp := m.joined(p)
	p.step.Took = r.moment()
	switch {
	case resp.ErrorCode == codeMemberIDRequired:
		m.id = resp.MemberID
	case resp.ErrorCode != 0:
		m.id = ""
	case resp.LeaderID == resp.MemberID && len(resp.Members) > 0:
		r.leader, r.ids = resp.LeaderID, nil
		for _, other := range r.members { // the answer's order is that of ids, which are random
			if slices.ContainsFunc(resp.Members, func(told kmsg.JoinGroupResponseMember) bool { return told.MemberID == other.id }) {
				r.ids = append(r.ids, other.id)
			}
		}
	}
}

// moment tells after which step an answer came.
func (r *randomGroup) moment() string { return fmt.Sprint("until step ", len(r.c.steps)) }
