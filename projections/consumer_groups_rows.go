package projections

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"doze/journal"
)

// A consumer group's row holds what its group's row does not; members and resolved regular expressions have rows of their
// own. What can be counted from those is not in a row.

type consumerGroupRow struct {
	group string
	*ConsumerGroup
}

func eachConsumerGroup(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool { return g.Consumer == nil || yield(consumerGroupRow{g.ID, g.Consumer}) })
}

func (c consumerGroupRow) encode(w *rowWriter) {
	w.string(c.group)
	w.int(int64(c.Epoch))
	w.uint(c.Hash)
	w.int(int64(c.TargetEpoch))
	w.int(c.TargetAt)
}

// Fields shows the group's epochs.
func (c consumerGroupRow) Fields() []Field {
	var topics []string
	c.Readers(func(r TopicReaders) bool { topics = append(topics, r.Topic); return true })
	return []Field{
		{"group", c.group}, {"epoch", int64(c.Epoch)}, {"target-epoch", int64(c.TargetEpoch)}, {"target-at", c.TargetAt},
		{"classic-members", int64(c.classic)}, {"reads", topics},
	}
}

// consumersOf is the consumer group that a row belongs to, in a fresh state, where nobody else sees it.
func consumersOf(s *State, group string, r *rowReader) *ConsumerGroup {
	g := s.Groups.Get(group)
	if g == nil || g.Consumer == nil {
		r.fail(fmt.Errorf("group %q: no such consumer group", group))
		return nil
	}
	return g.Consumer
}

func loadConsumerGroup(s *State, r *rowReader) {
	c := consumersOf(s, r.string(), r)
	epoch, hash, target, at := r.int32(), r.uint(), r.int32(), r.int()
	if c != nil && r.err == nil {
		c.Epoch, c.Hash, c.TargetEpoch, c.TargetAt = epoch, hash, target, at
	}
}

type consumerRegexRow struct {
	group string
	*journal.ResolvedRegex
}

func eachConsumerRegex(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool {
		for i := 0; g.Consumer != nil && i < len(g.Consumer.Regexes); i++ {
			if !yield(consumerRegexRow{g.ID, &g.Consumer.Regexes[i]}) {
				return false
			}
		}
		return true
	})
}

func (x consumerRegexRow) encode(w *rowWriter) {
	w.string(x.group)
	w.string(x.Regex)
	w.strings(x.Topics)
}

// Fields shows what the regular expression stands for.
func (x consumerRegexRow) Fields() []Field {
	return []Field{{"group", x.group}, {"regex", x.Regex}, {"topics", x.Topics}}
}

func loadConsumerRegex(s *State, r *rowReader) {
	group := r.string()
	c := consumersOf(s, group, r)
	x := journal.ResolvedRegex{Regex: r.string(), Topics: r.strings()}
	if c == nil || r.err != nil {
		return
	}
	if n := len(c.Regexes); n > 0 && c.Regexes[n-1].Regex >= x.Regex {
		r.fail(fmt.Errorf("regular expression %q: out of order", x.Regex))
		return
	}
	c.Regexes = append(c.Regexes, x)
	c.countRegex(&x, 1)
	s.Groups.bytes += regexBytesOf(&x)
}

type consumerMemberRow struct {
	group string
	*ConsumerMember
}

func eachConsumerMember(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool {
		for i := 0; g.Consumer != nil && i < len(g.Consumer.Members); i++ {
			if !yield(consumerMemberRow{g.ID, g.Consumer.Members[i]}) {
				return false
			}
		}
		return true
	})
}

func (m consumerMemberRow) encode(w *rowWriter) {
	w.string(m.group)
	w.string(m.ID)
	w.bool(m.Static)
	for _, s := range []string{m.InstanceID, m.Rack, m.ClientID, m.ClientHost, m.Regex, m.Assignor} {
		w.string(s)
	}
	w.int(int64(m.RebalanceTimeoutMs))
	w.strings(m.Topics)
	w.bool(m.Classic)
	w.int(int64(m.SessionTimeoutMs))
	w.uint(uint64(len(m.Protocols)))
	for _, p := range m.Protocols {
		w.string(p.Name)
		w.bytes(p.Metadata)
	}
	w.int(int64(m.Epoch))
	w.int(int64(m.Previous))
	w.uint(uint64(m.State))
	w.owned(m.Assigned)
	w.owned(m.Revoking)
	w.partitions(m.Target)
}

// Fields shows partitions as "topic-id/partition@epoch".
func (m consumerMemberRow) Fields() []Field {
	return []Field{
		{"group", m.group}, {"member", m.ID}, {"static", m.Static}, {"instance", m.InstanceID}, {"client", m.ClientID}, {"host", m.ClientHost},
		{"classic", m.Classic}, {"topics", m.Topics}, {"regex", m.Regex}, {"assignor", m.Assignor}, {"rack", m.Rack},
		{"rebalance-ms", int64(m.RebalanceTimeoutMs)}, {"epoch", int64(m.Epoch)}, {"previous-epoch", int64(m.Previous)}, {"state", m.State.String()},
		{"assigned", shownOwned(m.Assigned)}, {"revoking", shownOwned(m.Revoking)}, {"target", shownPartitions(m.Target)},
	}
}

func shownOwned(list []journal.OwnedPartitions) (shown []string) {
	for _, p := range list {
		for i, n := range p.Partitions {
			shown = append(shown, fmt.Sprintf("%s/%d@%d", ID(p.TopicID), n, p.Epochs[i]))
		}
	}
	return shown
}

func shownPartitions(list []journal.TopicPartitions) (shown []string) {
	for _, p := range list {
		for _, n := range p.Partitions {
			shown = append(shown, ID(p.TopicID).String()+"/"+strconv.Itoa(int(n)))
		}
	}
	return shown
}

func loadConsumerMember(s *State, r *rowReader) {
	group := r.string()
	c := consumersOf(s, group, r)
	m := readConsumerMember(r)
	if c == nil || r.err != nil {
		return
	}
	if n := len(c.Members); n > 0 && c.Members[n-1].ID >= m.ID {
		r.fail(fmt.Errorf("member %q: out of order", m.ID))
		return
	}
	c.Members = append(c.Members, m)
	if err := c.count(m); err != nil {
		r.fail(err)
		return
	}
	s.Groups.bytes += m.Bytes()
}

func readConsumerMember(r *rowReader) *ConsumerMember {
	m := &ConsumerMember{
		ID: r.string(), Static: r.bool(), InstanceID: r.string(), Rack: r.string(), ClientID: r.string(), ClientHost: r.string(),
		Regex: r.string(), Assignor: r.string(), RebalanceTimeoutMs: r.int32(), Topics: r.strings(), Classic: r.bool(), SessionTimeoutMs: r.int32(),
	}
	for range r.count() {
		m.Protocols = append(m.Protocols, journal.MemberProtocol{Name: r.string(), Metadata: r.bytes()})
	}
	m.Epoch, m.Previous, m.State = r.int32(), r.int32(), journal.ReconcileState(r.small())
	m.Assigned, m.Revoking, m.Target = r.owned(), r.owned(), r.partitions()
	if m.State > journal.MemberUnreleased {
		r.fail(fmt.Errorf("member %q: state %d", m.ID, m.State))
	}
	return m
}

func (w *rowWriter) strings(list []string) {
	w.uint(uint64(len(list)))
	for _, s := range list {
		w.string(s)
	}
}

func (r *rowReader) strings() (list []string) {
	for range r.count() {
		list = append(list, r.string())
	}
	return list
}

func (w *rowWriter) int32s(list []int32) {
	w.uint(uint64(len(list)))
	for _, n := range list {
		w.int(int64(n))
	}
}

func (r *rowReader) int32s() (list []int32) {
	for range r.count() {
		list = append(list, r.int32())
	}
	return list
}

func (w *rowWriter) partitions(list []journal.TopicPartitions) {
	w.uint(uint64(len(list)))
	for _, p := range list {
		w.id(p.TopicID)
		w.int32s(p.Partitions)
	}
}

func (r *rowReader) partitions() (list []journal.TopicPartitions) {
	for range r.count() {
		list = append(list, journal.TopicPartitions{TopicID: r.id(), Partitions: r.int32s()})
	}
	return list
}

func (w *rowWriter) owned(list []journal.OwnedPartitions) {
	w.uint(uint64(len(list)))
	for _, p := range list {
		w.id(p.TopicID)
		w.int32s(p.Partitions)
		w.int32s(p.Epochs)
	}
}

func (r *rowReader) owned() (list []journal.OwnedPartitions) {
	for range r.count() {
		p := journal.OwnedPartitions{TopicID: r.id(), Partitions: r.int32s(), Epochs: r.int32s()}
		if len(p.Partitions) != len(p.Epochs) || !slices.IsSorted(p.Partitions) {
			r.fail(fmt.Errorf("%d partitions with %d epochs, or out of order", len(p.Partitions), len(p.Epochs)))
		}
		list = append(list, p)
	}
	return list
}

func (c *ConsumerGroup) bytes() int64 { return c.held }
func (c *ConsumerGroup) size() int    { return len(c.Members) }

// Bytes is what the member is reckoned to take, with its partitions.
func (m *ConsumerMember) Bytes() int64 {
	names := len(m.ID) + len(m.InstanceID) + len(m.Rack) + len(m.ClientID) + len(m.ClientHost) + len(m.Regex) + len(m.Assignor)
	n := memberBytes + int64(names) + bytesOfNames(m.Topics) + ProtocolsBytes(m.Protocols)
	for _, p := range m.Target {
		n += partitionsBytes + 4*int64(len(p.Partitions))
	}
	for _, list := range [][]journal.OwnedPartitions{m.Assigned, m.Revoking} {
		for _, p := range list {
			n += partitionsBytes + ownedBytes*int64(len(p.Partitions))
		}
	}
	return n
}

const (
	partitionsBytes = 64 // of a topic of which a member has partitions
	ownedBytes      = 40 // of a partition that somebody has: its epoch, and its place among all that are owned
)

func regexBytesOf(r *journal.ResolvedRegex) int64 {
	return nameBytes + int64(len(r.Regex)) + bytesOfNames(r.Topics)
}

// check counts anew what the group keeps track of.
func (c *ConsumerGroup) check(g *Group) error {
	again := newConsumerGroup()
	again.TargetEpoch = c.TargetEpoch
	for i := range c.Regexes {
		again.countRegex(&c.Regexes[i], 1)
	}
	for _, m := range c.Members {
		if err := again.count(m); err != nil {
			return fmt.Errorf("group %q: %w", g.ID, err)
		}
		if m.Epoch > c.TargetEpoch {
			return fmt.Errorf("group %q: member %q is at epoch %d, the target at %d", g.ID, m.ID, m.Epoch, c.TargetEpoch)
		}
	}
	switch {
	case c.TargetEpoch > c.Epoch:
		return fmt.Errorf("group %q: target of epoch %d in epoch %d", g.ID, c.TargetEpoch, c.Epoch)
	case g.State != c.state():
		return fmt.Errorf("group %q: %s, it should be %s", g.ID, g.State, c.state())
	case again.held != c.held || again.classic != c.classic || again.reconciled != c.reconciled || again.owned.Len() != c.owned.Len():
		return fmt.Errorf("group %q: counted %d bytes, %d classic, %d reconciled, %d owned; there are %d, %d, %d, %d", g.ID,
			c.held, c.classic, c.reconciled, c.owned.Len(), again.held, again.classic, again.reconciled, again.owned.Len())
	case !slices.Equal(c.readersList(), again.readersList()):
		return fmt.Errorf("group %q: reads %v, counted %v", g.ID, again.readersList(), c.readersList())
	case !slices.IsSortedFunc(c.Members, func(a, b *ConsumerMember) int { return strings.Compare(a.ID, b.ID) }):
		return fmt.Errorf("group %q: members out of order", g.ID)
	}
	return nil
}

func (c *ConsumerGroup) readersList() (list []TopicReaders) {
	c.Readers(func(r TopicReaders) bool { list = append(list, r); return true })
	return list
}
