package projections

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"doze/journal"
)

// ConsumerGroup is what a consumer group (KIP-848) holds beside what all groups have: an immutable value, replaced as a
// whole by the events of the group.
type ConsumerGroup struct {
	Epoch       int32  // rises whenever the assignment is to be worked out anew
	Hash        uint64 // of the topics that it reads, as they were at Epoch
	TargetEpoch int32  // the epoch of the target assignment: at most Epoch
	TargetAt    int64  // ms: when the target assignment was worked out; 0: that is not known

	Members []*ConsumerMember       // sorted by id
	Regexes []journal.ResolvedRegex // sorted; those that have been resolved

	// What follows is counted from members and regexes.
	readers    tree[TopicReaders]   // by name
	owned      tree[ownedPartition] // who has what
	classic    int                  // members of the classic protocol
	reconciled int                  // members that are at the target
	held       int64                // bytes of members and regexes
}

// ConsumerMember is a member of a consumer group: an immutable value.
type ConsumerMember struct {
	ID                 string
	Static             bool
	InstanceID         string
	Rack               string
	ClientID           string
	ClientHost         string
	RebalanceTimeoutMs int32
	Topics             []string // sorted, without doubles
	Regex              string   // empty: none
	Assignor           string   // empty: none
	// Of a member of the classic protocol.
	Classic          bool
	SessionTimeoutMs int32
	Protocols        []journal.MemberProtocol

	Epoch    int32
	Previous int32 // the epoch before
	State    journal.ReconcileState
	Assigned []journal.OwnedPartitions // in the order of topic ids
	Revoking []journal.OwnedPartitions // likewise: to be given up
	Target   []journal.TopicPartitions // likewise: to be had
}

// TopicReaders says how many members, and how many regular expressions, bring the group to read a topic.
type TopicReaders struct {
	Topic            string
	Members, Regexes int32
}

// ownedPartition is a partition that a member has, or has not given up yet.
type ownedPartition struct {
	topic     ID
	partition int32
}

func newConsumerGroup() *ConsumerGroup {
	return &ConsumerGroup{
		Epoch:   1,
		readers: newTree(func(a, b TopicReaders) bool { return a.Topic < b.Topic }),
		owned: newTree(func(a, b ownedPartition) bool {
			return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), cmp.Compare(a.partition, b.partition)) < 0
		}),
	}
}

// Member returns the member of that id, or nil.
func (c *ConsumerGroup) Member(id string) *ConsumerMember {
	if i, ok := c.index(id); ok {
		return c.Members[i]
	}
	return nil
}

func (c *ConsumerGroup) index(id string) (int, bool) {
	return slices.BinarySearchFunc(c.Members, id, func(m *ConsumerMember, id string) int { return strings.Compare(m.ID, id) })
}

// StaticMember returns the member with that group instance id, or nil.
func (c *ConsumerGroup) StaticMember(instance string) *ConsumerMember {
	for _, m := range c.Members {
		if m.Static && m.InstanceID == instance {
			return m
		}
	}
	return nil
}

// Owned says whether a member has the partition, or has not given it up yet.
func (c *ConsumerGroup) Owned(topic ID, partition int32) bool {
	return c.owned.Has(ownedPartition{topic, partition})
}

// Subscribed says whether a member is subscribed to the topic, by name or by a regular expression.
func (c *ConsumerGroup) Subscribed(topic string) bool {
	return c.readers.Has(TopicReaders{Topic: topic})
}

// Readers yields the topics that the group reads, in order.
func (c *ConsumerGroup) Readers(yield func(TopicReaders) bool) { c.readers.Ascend(yield) }

// ClassicMembers counts members that speak the classic protocol.
func (c *ConsumerGroup) ClassicMembers() int { return c.classic }

// Resolved is what topics the regular expression stands for; false: that has not been worked out.
func (c *ConsumerGroup) Resolved(regex string) ([]string, bool) {
	i, ok := c.regexIndex(regex)
	if !ok {
		return nil, false
	}
	return c.Regexes[i].Topics, true
}

func (c *ConsumerGroup) regexIndex(regex string) (int, bool) {
	return slices.BinarySearchFunc(c.Regexes, regex, func(r journal.ResolvedRegex, regex string) int { return strings.Compare(r.Regex, regex) })
}

// SubscribedTo counts members that are subscribed to the regular expression.
func (c *ConsumerGroup) SubscribedTo(regex string) (n int) {
	for _, m := range c.Members {
		if m.Regex == regex {
			n++
		}
	}
	return n
}

// Reconciled says whether the member has all of the target assignment of that epoch.
func (m *ConsumerMember) Reconciled(target int32) bool {
	return m.State == journal.MemberStable && m.Epoch == target
}

// Instance is the member's group instance id; nil when it is not static.
func (m *ConsumerMember) Instance() *string {
	if !m.Static {
		return nil
	}
	return &m.InstanceID
}

// AssignedAt is the epoch at which the partition was assigned to the member; false: it does not have it.
func (m *ConsumerMember) AssignedAt(topic ID, partition int32) (epoch int32, has bool) {
	for _, list := range [][]journal.OwnedPartitions{m.Assigned, m.Revoking} {
		for i := range list {
			if list[i].TopicID != topic {
				continue
			}
			if n, found := slices.BinarySearch(list[i].Partitions, partition); found {
				return list[i].Epochs[n], true
			}
		}
	}
	return 0, false
}
