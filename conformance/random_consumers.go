package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RandomConsumers is a scenario of heartbeats, commits and leaves that members of a consumer group send at random: right ones,
// and ones with a wrong epoch, an unknown id, an instance id that somebody has, or nothing of what is needed. Nobody waits, so
// that what is asked next hangs on the seed and the answers alone. No time ends anything in it.
func RandomConsumers(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Members of a consumer group are answered as by Kafka, whatever they do.", Set: randomSet()}
	return s.atRandom("random-consumers", seed, 8, func(r random) { (&randomConsumers{random: r}).play(steps) })
}

// randomSet has sessions that no script outlives, Kafka's heartbeat intervals, and topics with Kafka's defaults; but for their
// retention: records are of 2023, and Kafka would take them away in the middle of a script now and then.
func randomSet() map[string]string {
	set := streamsSetWith("group.streams.session.timeout.ms", "60000",
		"group.share.heartbeat.interval.ms", "5000", "group.share.assignment.interval.ms", "0",
		"log.cleaner.min.cleanable.ratio", "0.5", "log.retention.ms", "-1", "log.segment.bytes", "1073741824")
	for name, value := range consumerSet("group.consumer.session.timeout.ms", "60000", "group.initial.rebalance.delay.ms", "1") {
		set[name] = value
	}
	return set
}

type randomConsumers struct {
	random
	topics  []string
	ids     [][16]byte
	members []*consumer
}

func (r *randomConsumers) play(steps int) {
	admin := r.c.Conn("admin")
	admin.AwaitGroupCoordinator(r.group)
	for i := range 3 {
		topic := fmt.Sprint(r.group, "-", i)
		r.ids = append(r.ids, admin.MakeTopic(topic, int32(i+1)))
		r.topics = append(r.topics, topic)
	}
	for i := range 4 {
		m := r.c.consumer(string(rune('a'+i)), r.group)
		m.made = r.ids
		if i > 1 { // two processes with one instance id
			m.instance = kmsg.StringPtr("instance")
		}
		r.members = append(r.members, m)
	}
	for range steps {
		r.act(r.members[r.rng.IntN(len(r.members))])
		admin.Do("describe", 1, describeConsumers(r.group))
	}
}

func (r *randomConsumers) act(m *consumer) {
	switch choice := r.rng.IntN(20); {
	case choice < 5:
		if r.choose(m); len(m.names) == 0 { // Kafka may give partitions to who joins and reads nothing (docs/groups.md)
			m.names = r.topics[:1]
		}
		m.join("join of " + m.name)
	case choice < 9:
		m.has("heartbeat of " + m.name + " with what it has")
	case choice < 11:
		m.beat("heartbeat of " + m.name)
	case choice < 13:
		r.changes(m)
	case choice < 15:
		r.odd(m)
	case choice < 17:
		i := r.rng.IntN(len(r.topics))
		m.commit("commit of "+m.name, 9, m.epoch-int32(r.rng.IntN(3)), r.topics[i], r.ids[i], int32(r.rng.IntN(2)))
	case choice < 18:
		id := m.id
		i := r.rng.IntN(len(r.topics))
		m.fetch("fetch of "+m.name, 9, &id, m.epoch-int32(r.rng.IntN(2)), r.topics[i], r.ids[i])
	default:
		m.leaves("leave of "+m.name, int32(-1-r.rng.IntN(2)))
	}
}

// choose draws what the member reads.
func (r *randomConsumers) choose(m *consumer) {
	m.names = []string{}
	for _, topic := range r.topics {
		if r.rng.IntN(2) == 0 {
			m.names = append(m.names, topic)
		}
	}
	m.assignor = kmsg.StringPtr("range")
}

// changes is a heartbeat that says something else of the member than before.
func (r *randomConsumers) changes(m *consumer) {
	r.choose(m)
	req := m.beatRequest()
	req.SubscribedTopicNames = m.names
	switch r.rng.IntN(3) {
	case 0:
		req.Topics = m.owns
	case 1:
		req.RackID = kmsg.StringPtr([]string{"r", "", " "}[r.rng.IntN(3)])
	}
	m.ask("heartbeat of "+m.name+" with other topics", req)
}

// odd is a request that no client sends.
func (r *randomConsumers) odd(m *consumer) {
	req := m.beatRequest()
	switch r.rng.IntN(9) {
	case 0:
		req.MemberEpoch += int32(r.rng.IntN(5) - 2)
	case 1:
		req.MemberEpoch = int32(-3 + r.rng.IntN(3))
		req.InstanceID = nil
	case 2:
		req.InstanceID = kmsg.StringPtr("other")
	case 3:
		req.MemberID = "nobody"
	case 4:
		req.Topics = ownedOf(r.ids[r.rng.IntN(3)], 0, 1, 99)
	case 5:
		req.SubscribedTopicRegex = kmsg.StringPtr("(")
	case 6:
		req.ServerAssignor = kmsg.StringPtr("none")
	case 7: // another type's; of no topic that is there, since partitions become a share group's in their own time
		m.Do("heartbeat of "+m.name+" to a classic group", 4, heartbeatRequest(r.group, m.id, m.epoch))
		share := kmsg.NewPtrShareGroupHeartbeatRequest()
		share.GroupID, share.MemberID, share.SubscribedTopicNames = r.group, m.id, []string{r.group}
		m.Do("heartbeat of "+m.name+" to a share group", 1, share)
		m.Do("heartbeat of "+m.name+" to a streams group", 0, streamsJoin(r.group, m.id, topologyOf(0, subtopologyOf("0", r.topics[0]))))
		return
	case 8:
		m.Do("leave of "+m.name+" from a classic group", 5, leaveRequest(r.group, m.id))
		m.Do("deletion", 2, deleteGroupsRequest(r.group))
		return
	}
	m.Do("odd heartbeat of "+m.name, int16(r.rng.IntN(2)), req)
}
