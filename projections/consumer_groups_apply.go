package projections

import (
	"fmt"
	"slices"

	"doze/journal"
)

// applyOfConsumerGroup folds an event of consumer groups; known is false when it is none.
func (s *State) applyOfConsumerGroup(_ uint64, at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.ConsumerMemberJoined:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.join(e) })
	case *journal.ConsumerMemberChanged:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error {
			return c.change(e.Member, func(m *ConsumerMember) { m.describe((*journal.ConsumerMemberJoined)(e)) })
		})
	case *journal.ConsumerMemberReplaced:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.replace(e) })
	case *journal.ConsumerMemberRemoved:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.remove(e.Member) })
	case *journal.ConsumerEpochRaised:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.raise(e) })
	case *journal.ConsumerTargetAssigned:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.assign(at, e) })
	case *journal.ConsumerMemberReconciled:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.reconcile(e) })
	case *journal.ConsumerRegexesResolved:
		return true, s.changeConsumers(at, e.Group, func(c *ConsumerGroup) error { return c.resolve(e) })
	}
	return false, nil
}

// changeConsumers folds one event into a copy of a consumer group and puts the copy in the group's place.
func (s *State) changeConsumers(at int64, id string, change func(*ConsumerGroup) error) error {
	return s.changeGroup(id, func(g *Group) error {
		if g.Consumer == nil {
			return fmt.Errorf("a %s group", TypeName(g.Type))
		}
		c := *g.Consumer
		c.readers.shared, c.owned.shared = true, true // with the one that others read: copied before they are changed
		if err := change(&c); err != nil {
			return err
		}
		g.Consumer = &c
		g.enter(c.state(), at)
		return nil
	})
}

// state is the group's, as Kafka has it.
func (c *ConsumerGroup) state() GroupState {
	switch {
	case len(c.Members) == 0:
		return Empty
	case c.Epoch > c.TargetEpoch:
		return Assigning
	case c.reconciled < len(c.Members):
		return Reconciling
	}
	return Stable
}

func (m *ConsumerMember) describe(e *journal.ConsumerMemberJoined) {
	m.Static, m.InstanceID, m.Rack, m.ClientID, m.ClientHost = e.Static, e.InstanceID, e.Rack, e.ClientID, e.ClientHost
	m.RebalanceTimeoutMs, m.Topics, m.Regex, m.Assignor = e.RebalanceTimeoutMs, e.Topics, e.Regex, e.Assignor
	m.Classic, m.SessionTimeoutMs, m.Protocols = e.Classic, e.SessionTimeoutMs, e.Protocols
}

func (c *ConsumerGroup) join(e *journal.ConsumerMemberJoined) error {
	m := &ConsumerMember{ID: e.Member, Previous: -1}
	m.describe(e)
	return c.insert(m)
}

func (c *ConsumerGroup) replace(e *journal.ConsumerMemberReplaced) error {
	old := c.Member(e.Old)
	if old == nil || !old.Static || old.InstanceID != e.InstanceID {
		return fmt.Errorf("instance id %q: not of member %q", e.InstanceID, e.Old)
	}
	m := *old
	m.ID, m.Epoch, m.Previous = e.Member, 0, 0
	if err := c.remove(e.Old); err != nil {
		return err
	}
	return c.insert(&m)
}

func (c *ConsumerGroup) insert(m *ConsumerMember) error {
	i, ok := c.index(m.ID)
	if ok {
		return fmt.Errorf("member %q: joined twice", m.ID)
	}
	if m.Static && c.StaticMember(m.InstanceID) != nil {
		return fmt.Errorf("instance id %q: has a member", m.InstanceID)
	}
	c.Members = slices.Insert(slices.Clone(c.Members), i, m)
	return c.count(m)
}

func (c *ConsumerGroup) remove(id string) error {
	i, ok := c.index(id)
	if !ok {
		return fmt.Errorf("member %q: no such member", id)
	}
	c.uncount(c.Members[i])
	c.Members = slices.Delete(slices.Clone(c.Members), i, i+1)
	return nil
}

// change puts a changed copy in the member's place.
func (c *ConsumerGroup) change(id string, change func(*ConsumerMember)) error {
	i, ok := c.index(id)
	if !ok {
		return fmt.Errorf("member %q: no such member", id)
	}
	m := *c.Members[i]
	change(&m)
	c.uncount(c.Members[i])
	c.Members = slices.Clone(c.Members)
	c.Members[i] = &m
	return c.count(&m)
}

func (c *ConsumerGroup) raise(e *journal.ConsumerEpochRaised) error {
	if e.Epoch <= c.Epoch {
		return fmt.Errorf("epoch %d after %d", e.Epoch, c.Epoch)
	}
	c.Epoch, c.Hash = e.Epoch, e.Hash
	return nil
}

func (c *ConsumerGroup) assign(at int64, e *journal.ConsumerTargetAssigned) error {
	if e.Epoch < c.TargetEpoch || e.Epoch > c.Epoch {
		return fmt.Errorf("target of epoch %d after %d, in epoch %d", e.Epoch, c.TargetEpoch, c.Epoch)
	}
	if c.TargetEpoch, c.TargetAt = e.Epoch, at; e.Assignor == "" {
		c.TargetAt = 0
	}
	c.Members = slices.Clone(c.Members)
	for _, t := range e.Members {
		i, ok := c.index(t.Member)
		if !ok {
			return fmt.Errorf("member %q: no such member", t.Member)
		}
		m := *c.Members[i]
		c.held -= m.Bytes()
		m.Target = t.Partitions
		c.held += m.Bytes()
		c.Members[i] = &m
	}
	c.reconciled = 0
	for _, m := range c.Members {
		if m.Reconciled(c.TargetEpoch) {
			c.reconciled++
		}
	}
	return nil
}

func (c *ConsumerGroup) reconcile(e *journal.ConsumerMemberReconciled) error {
	for _, list := range [][]journal.OwnedPartitions{e.Assigned, e.Revoking} {
		for _, p := range list {
			if len(p.Epochs) != len(p.Partitions) || !slices.IsSorted(p.Partitions) {
				return fmt.Errorf("member %q: %d partitions with %d epochs, or out of order", e.Member, len(p.Partitions), len(p.Epochs))
			}
		}
	}
	return c.change(e.Member, func(m *ConsumerMember) {
		m.Epoch, m.Previous, m.State, m.Assigned, m.Revoking = e.Epoch, e.Previous, e.State, e.Assigned, e.Revoking
	})
}

func (c *ConsumerGroup) resolve(e *journal.ConsumerRegexesResolved) error {
	c.Regexes = slices.Clone(c.Regexes)
	for _, regex := range e.Dropped {
		if i, ok := c.regexIndex(regex); ok {
			c.countRegex(&c.Regexes[i], -1)
			c.Regexes = slices.Delete(c.Regexes, i, i+1)
		}
	}
	for _, r := range e.Regexes {
		i, ok := c.regexIndex(r.Regex)
		if ok {
			c.countRegex(&c.Regexes[i], -1)
			c.Regexes[i] = r
		} else {
			c.Regexes = slices.Insert(c.Regexes, i, r)
		}
		c.countRegex(&r, 1)
	}
	return nil
}

// count adds what is counted of a member; two members cannot have the same partition.
func (c *ConsumerGroup) count(m *ConsumerMember) error {
	c.held += m.Bytes()
	if m.Classic {
		c.classic++
	}
	if m.Reconciled(c.TargetEpoch) {
		c.reconciled++
	}
	for _, topic := range m.Topics {
		c.countReaders(topic, 1, 0)
	}
	for _, list := range [][]journal.OwnedPartitions{m.Assigned, m.Revoking} {
		for _, p := range list {
			for _, n := range p.Partitions {
				if _, had := c.owned.ReplaceOrInsert(ownedPartition{p.TopicID, n}); had {
					return fmt.Errorf("member %q: partition %d of topic %s has an owner", m.ID, n, ID(p.TopicID))
				}
			}
		}
	}
	return nil
}

func (c *ConsumerGroup) uncount(m *ConsumerMember) {
	c.held -= m.Bytes()
	if m.Classic {
		c.classic--
	}
	if m.Reconciled(c.TargetEpoch) {
		c.reconciled--
	}
	for _, topic := range m.Topics {
		c.countReaders(topic, -1, 0)
	}
	for _, list := range [][]journal.OwnedPartitions{m.Assigned, m.Revoking} {
		for _, p := range list {
			for _, n := range p.Partitions {
				c.owned.Delete(ownedPartition{p.TopicID, n})
			}
		}
	}
}

func (c *ConsumerGroup) countRegex(r *journal.ResolvedRegex, by int32) {
	c.held += int64(by) * regexBytesOf(r)
	for _, topic := range r.Topics {
		c.countReaders(topic, 0, by)
	}
}

// countReaders adds to how many bring the group to read a topic.
func (c *ConsumerGroup) countReaders(topic string, members, regexes int32) {
	r, had := c.readers.Get(TopicReaders{Topic: topic})
	r.Topic = topic
	r.Members, r.Regexes = r.Members+members, r.Regexes+regexes
	switch {
	case r.Members > 0 || r.Regexes > 0:
		c.readers.ReplaceOrInsert(r)
	case had:
		c.readers.Delete(r)
	}
}
