package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// RandomSharers is a scenario of heartbeats that members of a share group send at random, right and wrong ones. Which
// partitions the group has is a matter of time with Kafka, so that it reads topics that do not exist.
func RandomSharers(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "Members of a share group are answered as by Kafka, whatever they do.", Set: randomSet()}
	return s.atRandom("random-sharers", seed, 10, func(r random) { (&randomSharers{random: r}).play(steps) })
}

type randomSharers struct {
	random
	members []*shareMember
}

func (r *randomSharers) play(steps int) {
	admin := r.c.Conn("admin")
	admin.AwaitGroupCoordinator(r.group)
	for i := range 3 {
		r.members = append(r.members, r.c.shareMember(string(rune('a'+i)), r.group))
	}
	for range steps {
		r.act(r.members[r.rng.IntN(len(r.members))])
		admin.Do("describe", 1, describeShareGroups(r.group))
	}
}

func (r *randomSharers) act(m *shareMember) {
	req := m.beat(m.epoch)
	topics := []string{r.group + "-x", r.group + "-y", "", "a b"}[r.rng.IntN(4):]
	what := "heartbeat of "
	switch choice := r.rng.IntN(16); {
	case choice < 4:
		what, req.MemberEpoch, req.SubscribedTopicNames = "join of ", 0, topics[:1]
	case choice < 7:
	case choice < 9:
		req.SubscribedTopicNames = append([]string{}, topics...)
	case choice < 10:
		req.SubscribedTopicNames = []string{}
	case choice < 11:
		req.MemberEpoch += int32(r.rng.IntN(5) - 2)
	case choice < 12:
		req.RackID = kmsg.StringPtr([]string{"r", "", " "}[r.rng.IntN(3)])
	case choice < 13:
		req.MemberID = []string{"nobody", "", " ", "more than thirty six characters, as it is"}[r.rng.IntN(4)]
		m.Do("odd heartbeat of "+m.name, 1, req)
		return
	case choice < 14:
		m.Do("heartbeat of "+m.name+" to a consumer group", 1, r.c.consumer(m.name, r.group, r.group).joinRequest())
		m.Do("heartbeat of "+m.name+" to a classic group", 4, heartbeatRequest(r.group, m.id, m.epoch))
		m.Do("commit of "+m.name, 9, commitRequest(r.group, r.group, 1))
		return
	default:
		what, req.MemberEpoch = "leave of ", -1
	}
	resp := Ask[*kmsg.ShareGroupHeartbeatResponse](m.Conn, what+m.name, 1, req)
	if resp.ErrorCode == 0 {
		m.epoch = max(resp.MemberEpoch, 0)
	}
}
