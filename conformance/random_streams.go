package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// RandomStreams is a scenario of heartbeats that members of a streams group send at random, right and wrong ones. The topics
// are there, so that nothing is made while it runs. Two members have one task between them: which of equals is given one is the
// order of a hash map with Kafka.
func RandomStreams(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Members of a streams group are answered as by Kafka, whatever they do.", Set: randomSet()}
	return s.atRandom("random-streams", seed, 9, func(r random) { (&randomStreams{random: r, most: 2, partitions: 1}).play(steps) })
}

// RandomTasks is RandomStreams with up to three members that share six tasks of two subtopologies. Which of equals is given a task is
// the order of a hash map with Kafka: cmd/random compares how many a member has. So no member says that it has a task of its choice.
func RandomTasks(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Members of a streams group with several tasks are answered as by Kafka, whatever they do.", Set: randomSet()}
	return s.atRandom("random-tasks", seed, 12, func(r random) { (&randomStreams{random: r, most: 3, partitions: 3, second: 3}).play(steps) })
}

type randomStreams struct {
	random
	members []*streamsMember

	most       int   // members
	partitions int32 // of the topic of subtopology "0"
	second     int32 // of that of "1"; 0: there is none
}

func (r *randomStreams) play(steps int) {
	admin := r.c.Conn("admin")
	admin.AwaitGroupCoordinator(r.group)
	admin.streamsTopic(r.group, r.partitions)
	list := []subtopology{subtopologyOf("0", r.group)}
	if r.second > 0 {
		admin.streamsTopic(r.group+"-second", r.second)
		list = append(list, subtopologyOf("1", r.group+"-second"))
	}
	for i := range r.most {
		r.members = append(r.members, r.c.streamsMember(string(rune('a'+i)), r.group, topologyOf(1, list...)))
	}
	for range steps {
		r.act(r.members[r.rng.IntN(len(r.members))])
		// Kafka shows a group as of the coordinator's last write: something else than the group writes.
		admin.Do("commit of another group", 9, commitRequest(r.group+"-other", r.group, 1))
		admin.describeStreams("describe", r.group)
	}
}

func (r *randomStreams) act(m *streamsMember) {
	switch choice := r.rng.IntN(16); {
	case choice < 4:
		m.join("join of " + m.name)
	case choice < 8:
		m.owns("heartbeat of " + m.name + " with what it has")
	case choice < 10:
		m.beat("heartbeat of " + m.name)
	case choice < 14:
		r.odd(m)
	default:
		m.leave("leave of " + m.name)
		m.has = nil
	}
}

// odd is a request that no client sends.
func (r *randomStreams) odd(m *streamsMember) {
	req := streamsHeartbeat(m.group, m.id, m.epoch)
	what := r.rng.IntN(10)
	if chosen := what == 3 || what == 4 || what == 8; chosen && r.second > 0 {
		return
	}
	switch what {
	case 0:
		req.MemberEpoch += int32(r.rng.IntN(5) - 2)
	case 1:
		req.MemberEpoch = int32(-3 + r.rng.IntN(2))
	case 2:
		req.MemberID = "nobody"
	case 3:
		req.ActiveTasks = tasksOf(0)
	case 4:
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = tasksOf(int32(r.rng.IntN(5)-1)), tasksOf(), tasksOf()
		req.MemberEpoch -= int32(r.rng.IntN(2))
	case 5:
		req.RackID = kmsg.StringPtr([]string{"r", "", " "}[r.rng.IntN(3)])
	case 6:
		req.ProcessID = kmsg.StringPtr("another")
	case 7:
		req = streamsJoin(m.group, m.id, topologyOf(int32(r.rng.IntN(3)), subtopologyOf("0", r.group, r.group)))
	case 8:
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = tasksIn("1", 0), tasksOf(), tasksOf()
	case 9:
		m.Do("heartbeat of "+m.name+" to a consumer group", 1, r.c.consumer(m.name, r.group, r.group).joinRequest())
		m.Do("heartbeat of "+m.name+" to a classic group", 4, heartbeatRequest(r.group, m.id, m.epoch))
		m.Do("deletion of "+m.name, 2, deleteGroupsRequest(r.group+"-none"))
		return
	}
	m.Do("odd heartbeat of "+m.name, 0, req)
}
