package projections

import (
	"fmt"

	"doze/journal"
)

// What a row is reckoned to take in memory: its names and values, and something for what holds them. The sums are kept as
// events are folded, so that a decision can look at them, and come out the same when the state is loaded or replayed.
const (
	groupBytes    = 256
	memberBytes   = 256
	protocolBytes = 64
	pendingBytes  = 96
	nameBytes     = 16
	topicBytes    = 128 // of a topic that a group has offsets for
	offsetBytes   = 64
	extraBytes    = 48
	configBytes   = 96

	txnBytes          = 256 // of a transactional id, in two trees
	txnPartitionBytes = 20
	stagedBytes       = 192 // of a staged offset, in two trees
)

// Bytes is what the group is reckoned to take, with its members and without what it was before a rebalance.
func (g *Group) Bytes() int64 {
	n := groupBytes + int64(len(g.ID)+len(g.ProtocolType)+len(g.Protocol)+len(g.Leader)) + g.held
	if t := g.typed(); t != nil {
		n += t.bytes()
	}
	return n
}

// Bytes is what the member is reckoned to take, with its protocols and its assignment.
func (m *Member) Bytes() int64 {
	names := len(m.ID) + len(m.InstanceID) + len(m.ClientID) + len(m.ClientHost)
	return memberBytes + int64(names+len(m.Assignment)) + ProtocolsBytes(m.Protocols)
}

// ProtocolsBytes is what protocols of a member are reckoned to take.
func ProtocolsBytes(protocols []journal.MemberProtocol) (n int64) {
	for _, p := range protocols {
		n += protocolBytes + int64(len(p.Name)+len(p.Metadata))
	}
	return n
}

func (p PendingMember) bytes() int64 { return pendingBytes + int64(len(p.ID)) }

func bytesOfNames(names []string) (n int64) {
	for _, name := range names {
		n += nameBytes + int64(len(name))
	}
	return n
}

// heldAnew adds up what the group keeps track of.
func (g *Group) heldAnew() int64 {
	n := bytesOfNames(g.Subscribed)
	for _, m := range g.Members {
		n += m.Bytes()
	}
	for _, p := range g.Pending {
		n += p.bytes()
	}
	return n
}

// Bytes is what all groups are reckoned to take; what some were before a rebalance may take as much again.
func (g Groups) Bytes() int64 { return g.bytes }

// put replaces the group of that id.
func (g *Groups) put(group *Group) {
	if old, had := g.tree.ReplaceOrInsert(group); had {
		g.bytes -= old.Bytes()
	}
	g.bytes += group.Bytes()
}

// Bytes is what all committed offsets are reckoned to take.
func (o Offsets) Bytes() int64 { return o.bytes }

// Bytes is what the offset is reckoned to take.
func (c *CommittedOffset) Bytes() int64 {
	if c.Metadata == "" && c.ExpireAt == -1 {
		return offsetBytes
	}
	return offsetBytes + extraBytes + int64(len(c.Metadata))
}

func (e offsetExtra) bytes() int64 { return extraBytes + int64(len(e.metadata)) }

// OffsetsOfTopicBytes is what a topic of a group is reckoned to take, without its offsets.
func OffsetsOfTopicBytes(group, topic string) int64 { return topicBytes + int64(len(group)+len(topic)) }

func (t *OffsetsOfTopic) bytes() int64 { return OffsetsOfTopicBytes(t.Group, t.Topic) }

// Bytes is what all configs are reckoned to take.
func (c Configs) Bytes() int64 { return c.bytes }

// Bytes is what the value is reckoned to take.
func (c Config) Bytes() int64 { return configBytes + int64(len(c.Resource)+len(c.Name)+len(c.Value)) }

// checkSizes adds up anew what the tables count as they change.
func (s *State) checkSizes() error {
	groups, offsets, configs := int64(0), int64(0), int64(0)
	s.Groups.Each("", func(g *Group) bool { groups += g.Bytes(); return true })
	s.Offsets.topics.Ascend(func(t *OffsetsOfTopic) bool { offsets += t.bytes(); return true })
	s.Offsets.extras.Ascend(func(e offsetExtra) bool { offsets += e.bytes(); return true })
	offsets += offsetBytes * int64(s.Offsets.Len())
	s.Configs.tree.Ascend(func(c Config) bool { configs += c.Bytes(); return true })
	txns, staged := int64(0), int64(0)
	s.Transactions.Each(func(t *Transaction) bool { txns += t.Bytes(); return true })
	s.Staged.byTxn.Ascend(func(o *StagedOffset) bool { staged += o.Bytes(); return true })
	if txns != s.Transactions.bytes || staged != s.Staged.bytes {
		return fmt.Errorf("bytes counted: transactions %d, staged offsets %d; there are %d, %d", s.Transactions.bytes, s.Staged.bytes, txns, staged)
	}
	if groups != s.Groups.bytes || offsets != s.Offsets.bytes || configs != s.Configs.bytes {
		return fmt.Errorf("bytes counted: groups %d, offsets %d, configs %d; there are %d, %d, %d",
			s.Groups.bytes, s.Offsets.bytes, s.Configs.bytes, groups, offsets, configs)
	}
	return nil
}
