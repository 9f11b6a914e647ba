package projections

import (
	"cmp"
	"fmt"
	"slices"

	"doze/journal"
)

// StreamsGroup is what a streams group has beside what all groups have: an immutable value, replaced as a whole by the events of
// the group.
type StreamsGroup struct {
	Epoch     int32  // rises with every change that asks for another assignment
	Topics    uint64 // hash of the topics that the topology needs, at that epoch
	Validated int32  // the epoch of the topology whose topics are all as they must be; -1: they are not
	Standbys  int32  // copies of stateful tasks that are asked for; -1: nobody has said
	Assigned  int32  // the epoch that the targets of members are of
	Made      int64  // ms: when they came to be; 0: there were none yet

	Topology *StreamsTopology // nil: no member has brought one

	members tree[*StreamsMember]
	holders tree[taskHolder] // made of members
	behind  int              // members that are not at their target
	held    int64            // bytes of members and topology
}

// StreamsTopology is what the members of a group do together.
type StreamsTopology struct {
	Epoch         int32
	Subtopologies []journal.StreamsSubtopology // in the order of ids
}

// StreamsMember is a member of a streams group: an immutable value.
type StreamsMember struct {
	ID                 string
	ClientID           string
	ClientHost         string
	RebalanceTimeoutMs int32
	TopologyEpoch      int32
	Process            string
	Rack               *string
	Endpoint           *StreamsEndpoint // for queries of the application's state
	Tags               []journal.StreamsTag

	Epoch    int32
	Previous int32
	State    journal.StreamsMemberState
	Has      StreamsTasks // what it is to work on
	Revoked  StreamsTasks // what it has to give back; Epochs as in Has

	Target StreamsTasks // what the last assignment gives it
}

// StreamsEndpoint is an address of an instance.
type StreamsEndpoint struct {
	Host string
	Port uint16
}

// StreamsTasks are tasks of a member, by subtopology in the order of ids.
type StreamsTasks struct {
	Active  []journal.StreamsTasks
	Standby []journal.StreamsTasks
}

// Empty says whether there are none.
func (t *StreamsTasks) Empty() bool { return len(t.Active) == 0 && len(t.Standby) == 0 }

// taskHolder says that a member has a task, or is to give it back.
type taskHolder struct {
	subtopology string
	partition   int32
	standby     bool
	process     string
	member      string
}

func (a taskHolder) compare(b taskHolder) int {
	standby := 0
	switch {
	case a.standby && !b.standby:
		standby = 1
	case b.standby && !a.standby:
		standby = -1
	}
	return cmp.Or(cmp.Compare(a.subtopology, b.subtopology), cmp.Compare(a.partition, b.partition), standby,
		cmp.Compare(a.process, b.process), cmp.Compare(a.member, b.member))
}

func newStreamsGroup() *StreamsGroup {
	g := &StreamsGroup{
		Epoch: 1, Assigned: 1, Standbys: -1,
		members: newTree(func(a, b *StreamsMember) bool { return a.ID < b.ID }),
		holders: newTree(func(a, b taskHolder) bool { return a.compare(b) < 0 }),
	}
	g.share()
	return g
}

// Len counts members.
func (g *StreamsGroup) Len() int { return g.members.Len() }

func (g *StreamsGroup) size() int { return g.members.Len() }

func (g *StreamsGroup) bytes() int64 { return g.held }

// check says what is inconsistent in the group, if anything is.
func (g *StreamsGroup) check(of *Group) error {
	anew := newStreamsGroup()
	anew.Assigned, anew.held = g.Assigned, g.Topology.Bytes()
	g.Each(func(m *StreamsMember) bool {
		anew.put(m)
		return true
	})
	switch {
	case g.held != anew.held:
		return fmt.Errorf("group %q: %d bytes, %d counted", of.ID, anew.held, g.held)
	case g.behind != anew.behind:
		return fmt.Errorf("group %q: %d members on their way, %d counted", of.ID, anew.behind, g.behind)
	case g.holders.Len() != anew.holders.Len():
		return fmt.Errorf("group %q: members have %d tasks, %d counted", of.ID, anew.holders.Len(), g.holders.Len())
	case of.State != g.state():
		return fmt.Errorf("group %q: %s, it should be %s", of.ID, of.State, g.state())
	case g.Assigned > g.Epoch:
		return fmt.Errorf("group %q: assigned in epoch %d, it is in %d", of.ID, g.Assigned, g.Epoch)
	}
	return nil
}

// Member returns the member of that id, or nil.
func (g *StreamsGroup) Member(id string) *StreamsMember {
	m, _ := g.members.Get(&StreamsMember{ID: id})
	return m
}

// Each yields members in the order of ids.
func (g *StreamsGroup) Each(yield func(*StreamsMember) bool) { g.members.Ascend(yield) }

// ActiveIn says in which process the task is active, or not yet given back; "" and false: nowhere.
func (g *StreamsGroup) ActiveIn(subtopology string, partition int32) (process string, found bool) {
	g.eachHolder(subtopology, partition, func(h taskHolder) bool {
		if !h.standby {
			process, found = h.process, true
		}
		return false
	})
	return process, found
}

// StandbyIn says whether the process has the task as a standby, or has not given it back yet.
func (g *StreamsGroup) StandbyIn(subtopology string, partition int32, process string) (found bool) {
	g.eachHolder(subtopology, partition, func(h taskHolder) bool {
		found = h.standby && h.process == process
		return !found
	})
	return found
}

// eachHolder yields active holders first.
func (g *StreamsGroup) eachHolder(subtopology string, partition int32, yield func(taskHolder) bool) {
	g.holders.AscendGreaterOrEqual(taskHolder{subtopology: subtopology, partition: partition}, func(h taskHolder) bool {
		return h.subtopology == subtopology && h.partition == partition && yield(h)
	})
}

// state is the group's state by Kafka's rules.
func (g *StreamsGroup) state() GroupState {
	switch {
	case g.members.Len() == 0:
		return Empty
	case g.Topology == nil || g.Topology.Epoch != g.Validated:
		return NotReady
	case g.Epoch > g.Assigned:
		return Assigning
	case g.behind > 0:
		return Reconciling
	}
	return Stable
}

// IsSource says whether the topology reads a topic, from outside or between its parts.
func (g *StreamsGroup) IsSource(topic string) bool {
	return g.Topology != nil && g.Topology.SubtopologyOf(topic) != nil
}

// SubtopologyOf is the subtopology that reads a topic, or nil. Of several it is the last.
func (t *StreamsTopology) SubtopologyOf(topic string) (reader *journal.StreamsSubtopology) {
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		if slices.Contains(s.Sources, topic) || slices.ContainsFunc(s.Repartitions, func(r journal.StreamsTopic) bool { return r.Name == topic }) {
			reader = s
		}
	}
	return reader
}

// AtTarget says whether the member has what the assignment of that epoch gives it.
func (m *StreamsMember) AtTarget(epoch int32) bool {
	return m.State == journal.StreamsStable && m.Epoch == epoch
}

const (
	streamsMemberBytes = 512
	streamsTasksBytes  = 64
	streamsTopicBytes  = 96
)

// Bytes is what the member is reckoned to take.
func (m *StreamsMember) Bytes() int64 {
	n := streamsMemberBytes + int64(len(m.ID)+len(m.ClientID)+len(m.ClientHost)+len(m.Process))
	if m.Rack != nil {
		n += int64(len(*m.Rack))
	}
	if m.Endpoint != nil {
		n += nameBytes + int64(len(m.Endpoint.Host))
	}
	for _, tag := range m.Tags {
		n += 2*nameBytes + int64(len(tag.Key)+len(tag.Value))
	}
	return n + m.Has.bytes() + m.Revoked.bytes() + m.Target.bytes()
}

// bytes counts tasks as they stand in three lists and an index.
func (t *StreamsTasks) bytes() (n int64) {
	for _, tasks := range [...][]journal.StreamsTasks{t.Active, t.Standby} {
		for i := range tasks {
			n += streamsTasksBytes + int64(len(tasks[i].Subtopology)) + 32*int64(len(tasks[i].Partitions))
		}
	}
	return n
}

// Bytes is what the topology is reckoned to take.
func (t *StreamsTopology) Bytes() (n int64) {
	if t == nil {
		return 0
	}
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		n += streamsTopicBytes + int64(len(s.ID)) + bytesOfNames(s.Sources) + bytesOfNames(s.Sinks)
		for _, topics := range [...][]journal.StreamsTopic{s.Changelogs, s.Repartitions} {
			for j := range topics {
				n += streamsTopicBytes + int64(len(topics[j].Name))
				for _, c := range topics[j].Configs {
					n += 2*nameBytes + int64(len(c.Name)+len(c.Value))
				}
			}
		}
		for _, c := range s.Copartitions {
			n += streamsTasksBytes + 2*int64(len(c.Sources)+len(c.Repartitions))
		}
	}
	return n
}

// HasSince says since which epoch the member has an active task, or had it before it was told to give it back.
func (m *StreamsMember) HasSince(subtopology string, partition int32) (epoch int32, has bool) {
	for _, list := range [...][]journal.StreamsTasks{m.Has.Active, m.Revoked.Active} {
		for _, t := range list {
			if t.Subtopology != subtopology {
				continue
			}
			if i, found := slices.BinarySearch(t.Partitions, partition); found && i < len(t.Epochs) {
				return t.Epochs[i], true
			}
		}
	}
	return 0, false
}
