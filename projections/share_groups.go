package projections

import (
	"fmt"
	"slices"
	"strings"

	"doze/journal"
)

// ShareGroup is what a share group (KIP-932) holds beside what all groups have: an immutable value, replaced as a whole by
// the events of the group. What it has read of its partitions is in [ShareStates].
type ShareGroup struct {
	Epoch       int32  // rises whenever the assignment is to be worked out anew
	Hash        uint64 // of the topics that it reads, as they were at Epoch
	TargetEpoch int32  // the epoch of the target assignment: at most Epoch
	TargetAt    int64  // ms: when the target assignment was worked out; 0: never
	// Unassigned: partitions became the group's since the target assignment was worked out.
	Unassigned bool

	Members []*ShareMember // sorted by id

	readers tree[TopicReaders] // by name: how many members read a topic
	held    int64              // bytes of members
}

// ShareMember is a member of a share group: an immutable value.
type ShareMember struct {
	ID         string
	Rack       string // empty: none
	ClientID   string
	ClientHost string
	Topics     []string // sorted, without doubles

	Epoch    int32
	Previous int32                     // the epoch before
	Assigned []journal.TopicPartitions // in the order of topic ids
	Target   []journal.TopicPartitions // likewise: to be had
}

func newShareGroup() *ShareGroup {
	return &ShareGroup{Epoch: 1, TargetEpoch: 1, readers: newTree(func(a, b TopicReaders) bool { return a.Topic < b.Topic })}
}

// Member returns the member of that id, or nil.
func (s *ShareGroup) Member(id string) *ShareMember {
	if i, ok := s.index(id); ok {
		return s.Members[i]
	}
	return nil
}

func (s *ShareGroup) index(id string) (int, bool) {
	return slices.BinarySearchFunc(s.Members, id, func(m *ShareMember, id string) int { return strings.Compare(m.ID, id) })
}

// Reads yields the topics that members read, in order.
//
//fuzz:not-a-parser it looks at the state
func (s *ShareGroup) Reads(yield func(topic string) bool) {
	s.readers.Ascend(func(r TopicReaders) bool { return yield(r.Topic) })
}

func (s *ShareGroup) bytes() int64 { return s.held }
func (s *ShareGroup) size() int    { return len(s.Members) }

// Bytes is what the member is reckoned to take, with what it has and is to have.
func (m *ShareMember) Bytes() int64 {
	n := memberBytes + int64(len(m.ID)+len(m.Rack)+len(m.ClientID)+len(m.ClientHost)) + bytesOfNames(m.Topics)
	for _, list := range [][]journal.TopicPartitions{m.Assigned, m.Target} {
		for i := range list {
			n += 48 + 4*int64(len(list[i].Partitions))
		}
	}
	return n
}

func (s *ShareGroup) check(g *Group) error {
	again := newShareGroup()
	for _, m := range s.Members {
		again.count(m, 1)
	}
	var want, got []TopicReaders
	again.readers.Ascend(func(r TopicReaders) bool { want = append(want, r); return true })
	s.readers.Ascend(func(r TopicReaders) bool { got = append(got, r); return true })
	switch {
	case again.held != s.held:
		return fmt.Errorf("group %q: members take %d bytes, %d counted", g.ID, again.held, s.held)
	case !slices.Equal(want, got):
		return fmt.Errorf("group %q: reads %v, counted %v", g.ID, want, got)
	case s.TargetEpoch > s.Epoch || s.TargetEpoch < 0:
		return fmt.Errorf("group %q: target of epoch %d in epoch %d", g.ID, s.TargetEpoch, s.Epoch)
	case !slices.IsSortedFunc(s.Members, func(a, b *ShareMember) int { return strings.Compare(a.ID, b.ID) }):
		return fmt.Errorf("group %q: members out of order", g.ID)
	}
	for _, m := range s.Members {
		if m.Epoch > s.Epoch || !slices.IsSorted(m.Topics) {
			return fmt.Errorf("group %q: member %q in epoch %d reads %v", g.ID, m.ID, m.Epoch, m.Topics)
		}
	}
	return nil
}

// count adds what is counted of a member, or takes it away.
func (s *ShareGroup) count(m *ShareMember, by int32) {
	s.held += int64(by) * m.Bytes()
	for _, topic := range m.Topics {
		r, had := s.readers.Get(TopicReaders{Topic: topic})
		r.Topic, r.Members = topic, r.Members+by
		if r.Members > 0 {
			s.readers.ReplaceOrInsert(r)
		} else if had {
			s.readers.Delete(r)
		}
	}
}
