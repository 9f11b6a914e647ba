package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// migrant is a client of the classic protocol in a group that clients of both protocols share: what it believes. An eager one
// gives up all before it joins; a cooperative one says what it has, and gives up what its next assignment has not.
type migrant struct {
	sim         *migrationSim
	id          string
	instance    *string
	version     int16
	cooperative bool
	names       []string // of topics that it reads
	in          bool     // it knows its generation
	generation  int32
	peers       []kmsg.JoinGroupResponseMember // of a leader that is to assign
	joins       *waiter
	syncs       *waiter
	synced      bool
	owns        []takenPartition
	lost        bool // it was out of the group since it was given what it has, whether it knows or not
	away        bool // another process has its place, and it does not come back
}

// act does what a client would do next.
func (m *migrant) act() {
	switch {
	case m.away || m.joins != nil || m.syncs != nil:
	case !m.in:
		m.join()
	case !m.synced:
		m.sync()
	default:
		m.beat()
	}
}

// forget is a process that ends without a word, or a new one that knows nothing but its instance id.
func (m *migrant) forget() {
	m.lose()
	m.id = ""
}

// lose is a client that is no longer in its generation: what it had may be with others.
func (m *migrant) lose() {
	m.hangUp()
	m.in, m.synced, m.generation, m.owns = false, false, -1, nil
}

// again is a client that joins once more, and keeps what it has until then.
func (m *migrant) again() { m.in, m.synced, m.peers = false, false, nil }

// hangUp is a connection that is lost: nobody waits for the answer any more.
func (m *migrant) hangUp() {
	for _, w := range [...]*waiter{m.joins, m.syncs} {
		if w != nil && m.sim.b.c.waiters[w.key] == w {
			delete(m.sim.b.c.waiters, w.key)
		}
	}
	m.joins, m.syncs = nil, nil
}

func (m *migrant) join() {
	m.hangUp()
	if !m.cooperative {
		m.owns = nil
	}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID = m.version, simGroup, m.id, m.instance
	req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = consumerProtocolType, 10_000, 20_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: m.metadata()}}
	m.again()
	cmd := &joinCommand{req: req, clientID: "c", clientHost: "/127.0.0.1", wait: newWaiter()}
	var resp *kmsg.JoinGroupResponse
	m.sim.decide(11, func(d *groupDecision) { resp = d.join(cmd) })
	if resp != nil {
		m.joined(resp)
		return
	}
	m.joins = cmd.wait
}

// metadata is what the client reads and has, as ConsumerProtocolSubscription.
func (m *migrant) metadata() []byte {
	sub := kmsg.NewConsumerMemberMetadata()
	sub.Version, sub.Topics, sub.Generation = 2, m.names, m.generation
	for _, p := range m.owns {
		if t := m.sim.b.state.Topics.WithID(p.topic); t != nil {
			sub.OwnedPartitions = append(sub.OwnedPartitions, kmsg.ConsumerMemberMetadataOwnedPartition{Topic: t.Name, Partitions: []int32{p.partition}})
		}
	}
	return sub.AppendTo(nil)
}

func (m *migrant) joined(resp *kmsg.JoinGroupResponse) {
	m.joins = nil
	switch resp.ErrorCode {
	case none:
		m.in, m.id, m.generation, m.peers = true, resp.MemberID, resp.Generation, resp.Members
	case memberIDRequired:
		m.id = resp.MemberID
	default:
		m.refused("join", resp.ErrorCode)
	}
}

// refused is what a client makes of an error.
func (m *migrant) refused(what string, code int16) {
	switch code {
	case none:
	case rebalanceInProgress:
		m.again()
	case illegalGeneration:
		m.lose()
	case unknownMemberID, inconsistentGroupProtocol:
		m.forget()
	case fencedInstanceID:
		m.forget()
		m.away = true
	default:
		m.sim.fatalf("%s of %q in generation %d: %s", what, m.id, m.generation, codeName(code))
	}
}

func (m *migrant) sync() {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.Generation = 5, simGroup, m.id, m.instance, m.generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr(consumerProtocolType), kmsg.StringPtr("range")
	for id, given := range m.assignments() {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: given})
	}
	slices.SortFunc(req.GroupAssignment, func(a, b kmsg.SyncGroupRequestGroupAssignment) int { return strings.Compare(a.MemberID, b.MemberID) })
	cmd := &syncCommand{req: req, wait: newWaiter()}
	var resp *kmsg.SyncGroupResponse
	m.sim.decide(14, func(d *groupDecision) { resp = d.sync(cmd) })
	if resp != nil {
		m.given(resp)
		return
	}
	m.syncs = cmd.wait
}

// given takes what the client is to have. One that has to give up something joins again when it has.
func (m *migrant) given(resp *kmsg.SyncGroupResponse) {
	m.syncs = nil
	if resp.ErrorCode != none {
		m.refused("sync", resp.ErrorCode)
		return
	}
	named, _, ok := parseAssignment(resp.MemberAssignment)
	if !ok && len(resp.MemberAssignment) > 0 { // an empty one is of a member that the leader did not know
		m.sim.fatalf("%q is given %x", m.id, resp.MemberAssignment)
	}
	had := m.owns
	m.owns, m.lost = m.sim.byID(named), false
	m.synced = !slices.ContainsFunc(had, func(p takenPartition) bool { return !slices.Contains(m.owns, p) })
	m.in = m.synced
}

func (m *migrant) beat() {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = simGroup, m.id, m.instance, m.generation
	m.refused("heartbeat", m.sim.b.c.heartbeat(req).ErrorCode)
}

// leave leaves as itself or, if it is static, as an administrator has it.
func (m *migrant) leave() {
	if m.id == "" && m.instance == nil {
		return
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.Members = simGroup, []kmsg.LeaveGroupRequestMember{{MemberID: m.id, InstanceID: m.instance}}
	m.sim.decide(13, func(d *groupDecision) { d.leave(req) })
	m.forget()
}

// commit commits the step for what the client has.
func (m *migrant) commit() {
	if code := m.sim.commit(m.id, m.instance, m.generation, m.owns); code != none && m.in {
		m.refused("commit", code)
	}
}

// lie sends what no client would, in the name of a member of one protocol or the other.
func (m *migrant) lie() {
	s := m.sim
	was, instance := m.id, m.instance
	m.forget()
	m.id = was
	switch s.r.IntN(4) {
	case 0:
		m.id = s.members[s.r.IntN(len(s.members))].id
	case 1:
		m.instance = kmsg.StringPtr(sharedInstance(s.r.IntN(3)))
	case 2:
		m.generation = s.number + int32(s.r.IntN(3)) - 1
	}
	switch s.r.IntN(4) {
	case 0:
		m.join()
	case 1:
		m.peers = []kmsg.JoinGroupResponseMember{{MemberID: m.id, ProtocolMetadata: m.metadata()}, {MemberID: "nobody", ProtocolMetadata: m.metadata()}}
		m.sync()
	case 2:
		m.beat()
	case 3:
		m.leave()
	}
	m.instance, m.away = instance, false
	m.forget()
}

// assignments are a leader's, which is sticky: a partition stays with the one who has it. Now and then it takes one away, to
// give it to another in the next generation.
func (m *migrant) assignments() map[string][]byte {
	given := map[string][]namedPartitions{}
	for _, name := range m.sim.topicNames() {
		readers := readersOf(m.peers, name)
		for p := range m.sim.b.state.Topics.Named(name).Partitions {
			if who := m.sim.choose(readers, name, p); who != "" {
				given[who] = append(given[who], namedPartitions{name, []int32{p}})
			}
		}
	}
	bytes := map[string][]byte{}
	for _, peer := range m.peers {
		bytes[peer.MemberID] = encodeAssignment(peer.ProtocolMetadata, merged(given[peer.MemberID]))
	}
	return bytes
}

// reader is a member as the leader knows it.
type reader struct {
	id         string
	owned      []namedPartitions
	generation int32
}

func readersOf(peers []kmsg.JoinGroupResponseMember, topic string) (all []reader) {
	for _, peer := range peers {
		var sub kmsg.ConsumerMemberMetadata
		if err := sub.ReadFrom(peer.ProtocolMetadata); err != nil || !slices.Contains(sub.Topics, topic) {
			continue
		}
		r := reader{id: peer.MemberID, generation: sub.Generation}
		for _, o := range sub.OwnedPartitions {
			r.owned = append(r.owned, namedPartitions{o.Topic, o.Partitions})
		}
		all = append(all, r)
	}
	return all
}

// choose says whose a partition is to be: of several that say they have it the one of the latest generation.
func (s *migrationSim) choose(readers []reader, topic string, partition int32) string {
	var owner *reader
	for i, r := range readers {
		has := slices.ContainsFunc(r.owned, func(o namedPartitions) bool { return o.topic == topic && slices.Contains(o.partitions, partition) })
		if has && (owner == nil || r.generation > owner.generation) {
			owner = &readers[i]
		}
	}
	switch {
	case len(readers) == 0:
		return ""
	case owner == nil:
		return readers[int(partition)%len(readers)].id
	case !s.settling && s.r.IntN(8) == 0:
		return "" // taken away
	}
	return owner.id
}

// merged has the partitions of each topic together, in order of topics as they come.
func merged(list []namedPartitions) (out []namedPartitions) {
	for _, n := range list {
		if last := len(out) - 1; last >= 0 && out[last].topic == n.topic {
			out[last].partitions = append(out[last].partitions, n.partitions...)
			continue
		}
		out = append(out, n)
	}
	return out
}

func (s *migrationSim) topicNames() (names []string) {
	s.b.state.Topics.Each("", func(t *projections.Topic) bool {
		names = append(names, t.Name)
		return true
	})
	return names
}

func (s *migrationSim) byID(named []namedPartitions) (parts []takenPartition) {
	for _, n := range named {
		if t := s.b.state.Topics.Named(n.topic); t != nil {
			for _, p := range n.partitions {
				parts = append(parts, takenPartition{t.ID, p})
			}
		}
	}
	return parts
}

// decide takes a decision as a request of that API does.
func (s *migrationSim) decide(api int16, decision func(*groupDecision)) {
	if err := s.b.c.update(context.Background(), journal.Cause{API: api}, decision); err != nil {
		s.fatalf("%v", err)
	}
}

// commit commits the number of the step for partitions, and remembers what was taken.
func (s *migrationSim) commit(member string, instance *string, epoch int32, parts []takenPartition) (code int16) {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.Generation = 9, simGroup, member, instance, epoch
	for _, p := range parts {
		if t := s.b.state.Topics.WithID(p.topic); t != nil && p.partition < t.Partitions {
			at := kmsg.OffsetCommitRequestTopicPartition{Partition: p.partition, Offset: int64(s.step), LeaderEpoch: -1}
			req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: t.Name, Partitions: []kmsg.OffsetCommitRequestTopicPartition{at}})
		}
	}
	resp := s.b.c.offsetCommit(context.Background(), caller{}, req)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if code = p.ErrorCode; code == none {
				s.committed[takenPartition{s.b.state.Topics.Named(t.Topic).ID, p.Partition}] = int64(s.step)
			}
		}
	}
	return code
}

func sharedInstance(n int) string { return fmt.Sprint("i", n) }
