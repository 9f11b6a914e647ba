package handlers

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// TxnOffsetCommit (key 28), v0-v5: offsets that a group has committed if the producer's transaction is (KIP-98).
//
//	v2  leader epochs (KIP-320)     v3  who commits: member, generation, instance (KIP-447)
//	v4  TRANSACTION_ABORTABLE (KIP-890)     v5  the group becomes part of the transaction without AddOffsetsToTxn (KIP-890)
//
// Until the transaction ends the offsets are not stable: OffsetFetch with require_stable answers UNSTABLE_OFFSET_COMMIT.
// The order of Kafka: what does not exist, the group's name, the transaction, the group, the metadata's length. A commit
// that comes from outside the group (generation -1, no member) is not held to the group's members. Offsets are on disk when
// they are answered, as batches of acks=all are: the commit of the transaction takes either all or none.
func (b *Broker) txnOffsetCommit(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.TxnOffsetCommitRequest)
	resp := respond[*kmsg.TxnOffsetCommitResponse](r)
	c := &txnCommit{req: req, producer: producerIdentity{req.ProducerID, req.ProducerEpoch}}
	c.barred = barred(b.access(r), acls.Read, acls.Topic, req.Topics, func(t *kmsg.TxnOffsetCommitRequestTopic) string { return t.Topic })
	deadline := time.NewTimer(b.txns.retryLimit())
	defer deadline.Stop()
	for {
		err := b.txns.take(ctx, causeOf(r), func(d *txnDecision) { c.decide(d, &b.groups.settings) })
		if err != nil {
			c.refuse(notCoordinator)
		}
		if req.Version < 5 || !c.concurrent || !b.txns.pauseForEnd(deadline) {
			break
		}
	}
	resp.Topics = c.answers.topics()
	return resp, nil
}

// txnCommit is a TxnOffsetCommit at work.
type txnCommit struct {
	req        *kmsg.TxnOffsetCommitRequest
	producer   producerIdentity
	barred     map[string]bool // topics that the caller may not read
	answers    txnCommitAnswers
	concurrent bool // the transaction before is not over yet
}

// decide takes the whole decision; it may be taken again.
func (c *txnCommit) decide(d *txnDecision, groups *groupSettings) {
	c.answers, c.concurrent = txnCommitAnswers{}, false
	g := &groupDecision{state: d.state, at: d.at, emit: d.emit, settings: groups}
	e := &journal.TxnOffsetsStaged{ID: c.req.TransactionalID, Group: c.req.Group}
	var good []kmsg.TxnOffsetCommitRequestTopic
	for i := range c.req.Topics {
		if t := c.existing(d.state, &c.req.Topics[i]); len(t.Partitions) > 0 {
			good = append(good, t)
		}
	}
	if len(good) == 0 {
		return
	}
	for i := range good {
		c.stage(g, &good[i], e)
	}
	code := c.check(d, g, e)
	for i := range good {
		for j := range good[i].Partitions {
			p := &good[i].Partitions[j]
			answer := code
			if code == none && g.metadataTooLong(p.Metadata) {
				answer = offsetMetadataTooLarge
			}
			c.answers.add(good[i].Topic, p.Partition, answer)
		}
	}
	if code == none && len(e.Offsets) > 0 {
		d.durable() // whoever commits after a power failure must not commit without them
		d.emit(e)
	}
}

// existing refuses what does not exist and returns the rest.
func (c *txnCommit) existing(state *projections.State, t *kmsg.TxnOffsetCommitRequestTopic) kmsg.TxnOffsetCommitRequestTopic {
	good := kmsg.TxnOffsetCommitRequestTopic{Topic: t.Topic}
	topic, missing := state.Topics.Named(t.Topic), unknownTopicOrPartition
	if c.barred[t.Topic] {
		topic, missing = nil, topicAuthorizationFailed
	}
	if topic == nil {
		c.answers.topic(t.Topic)
	}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if topic == nil || p.Partition < 0 || p.Partition >= topic.Partitions {
			c.answers.add(t.Topic, p.Partition, missing)
			continue
		}
		good.Partitions = append(good.Partitions, *p)
	}
	return good
}

// stage puts a topic's offsets into the event, those aside whose metadata is too long.
func (c *txnCommit) stage(g *groupDecision, t *kmsg.TxnOffsetCommitRequestTopic, e *journal.TxnOffsetsStaged) {
	topic := g.state.Topics.Named(t.Topic)
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if g.metadataTooLong(p.Metadata) {
			continue
		}
		o := journal.CommittedOffset{
			Topic: topic.Name, TopicID: topic.ID, Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch,
			CommitAt: g.at, ExpireAt: -1,
		}
		if p.Metadata != nil {
			o.Metadata = *p.Metadata
		}
		e.Offsets = append(e.Offsets, o)
	}
}

// check says what stands against the commit, and emits what comes before its offsets.
func (c *txnCommit) check(d *txnDecision, g *groupDecision, e *journal.TxnOffsetsStaged) int16 {
	switch {
	case c.req.Group == "" || len(c.req.Group) > maxName:
		return invalidGroupID
	case isLong(c.req.InstanceID):
		return invalidRequest
	}
	// What the producer may do is Kafka's first question, but what v5 adds for it stays even when the group refuses.
	if code := c.checkTransaction(d, e); code != none {
		c.concurrent = code == concurrentTransactions
		return code
	}
	group, code := g.transactionalCommitter(c.req)
	if group != nil && group.Consumer != nil {
		code = transactionalConsumerCommitter(group.Consumer, c.req, e.Offsets)
	}
	if group != nil && group.Streams != nil {
		code = transactionalStreamsCommitter(group.Streams, c.req, e.Offsets)
	}
	if code == none {
		code = d.roomToStage(g, group, e)
	}
	if code == none && group == nil {
		d.emit(&journal.GroupCreated{Group: c.req.Group, Type: journal.GroupClassic})
	}
	return code
}

// checkTransaction says whether the group is part of the transaction; from v5 on it becomes one. As in Kafka nobody asks
// again, not even for the transactional id, while the transaction holds offsets of the same partition of Kafka's topic.
func (c *txnCommit) checkTransaction(d *txnDecision, e *journal.TxnOffsetsStaged) int16 {
	id := c.req.TransactionalID
	if t := d.state.Transactions.OfProducer(c.producer.id); t != nil && c.producer.epoch <= t.Epoch && d.holdsOffsets(t, c) {
		if c.producer.epoch < t.Epoch {
			return invalidProducerEpoch
		}
		e.ID = t.ID
		return none
	}
	if c.req.Version >= 5 {
		return asProducerSees(d.addGroup(id, c.producer, c.req.Group, 2), c.req.Version >= 4)
	}
	t := d.state.Transactions.Get(id)
	code := checkIdentity(t, id, c.producer)
	if code == none && !t.HasGroup(d.settings.offsetsPartition(c.req.Group)) {
		code = transactionAbortable
	}
	return asProducerSees(code, c.req.Version >= 4)
}

// holdsOffsets says whether the producer's open transaction has staged offsets where the commit's group belongs.
func (d *txnDecision) holdsOffsets(t *projections.Transaction, c *txnCommit) (found bool) {
	partition := d.settings.offsetsPartition(c.req.Group)
	if t.State != projections.TxnOngoing || !t.HasGroup(partition) {
		return false
	}
	last := ""
	d.state.Staged.OfTxn(t.ID, func(o *projections.StagedOffset) bool {
		found = (o.Group == c.req.Group) || o.Group != last && d.settings.offsetsPartition(o.Group) == partition
		last = o.Group
		return !found
	})
	return found
}

// asProducerSees is a code of the coordinator as whoever writes records or offsets into a transaction is told it.
func asProducerSees(code int16, knowsAbortable bool) int16 {
	switch {
	case code == producerFenced:
		return invalidProducerEpoch
	case code == transactionAbortable && !knowsAbortable:
		return invalidTxnState
	}
	return code
}

// transactionalCommitter is committer for a transaction: the group's state does not matter, and a commit that says nothing
// of a member is taken.
func (d *groupDecision) transactionalCommitter(req *kmsg.TxnOffsetCommitRequest) (*projections.Group, int16) {
	g := d.group(req.Group)
	switch {
	case g == nil && req.Generation < 0:
		return nil, none
	case g == nil:
		return nil, illegalGeneration
	case g.Share != nil: // it has offsets of its own kind
		return nil, groupIDNotFound
	case g.Consumer != nil || g.Streams != nil: // transactionalConsumerCommitter says, or that of streams groups
		return g, none
	case req.Generation < 0 && g.State == projections.Empty:
		return g, none
	case req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil:
		return g, none
	}
	if code := checkMember(g, req.MemberID, req.InstanceID); code != none {
		return g, code
	}
	if req.Generation != g.Generation {
		return g, illegalGeneration
	}
	return g, none
}

// roomToStage says what stands against staging: nothing, or its size. What is staged counts as if it were committed.
func (d *txnDecision) roomToStage(g *groupDecision, group *projections.Group, e *journal.TxnOffsetsStaged) int16 {
	if code := g.roomToCommit(group, &journal.OffsetsCommitted{Group: e.Group, Offsets: e.Offsets}); code != none {
		return code
	}
	bytes := int64(0)
	d.state.Staged.OfTxn(e.ID, func(o *projections.StagedOffset) bool { bytes += o.Bytes(); return true })
	for i := range e.Offsets {
		o := &e.Offsets[i]
		bytes += (&projections.StagedOffset{ID: e.ID, Group: e.Group, Topic: o.Topic, Metadata: o.Metadata}).Bytes()
		if old := d.state.Staged.Get(e.ID, e.Group, o.Topic, o.Partition); old != nil {
			bytes -= old.Bytes()
		}
	}
	limits := &g.settings.limits
	if bytes > d.settings.limits.stagedBytes || d.state.Staged.Bytes()+bytes > limits.offsetsBytes {
		return invalidCommitOffsetSize
	}
	return none
}

// refuse answers everything with a code.
func (c *txnCommit) refuse(code int16) {
	c.answers, c.concurrent = txnCommitAnswers{}, false
	for i := range c.req.Topics {
		for j := range c.req.Topics[i].Partitions {
			c.answers.add(c.req.Topics[i].Topic, c.req.Topics[i].Partitions[j].Partition, code)
		}
	}
}

// txnCommitAnswers builds an answer by topic, in the order in which the topics come.
type txnCommitAnswers struct {
	list  []kmsg.TxnOffsetCommitResponseTopic
	index map[string]int
}

func (a *txnCommitAnswers) add(topic string, partition int32, code int16) {
	i := a.topic(topic)
	a.list[i].Partitions = append(a.list[i].Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: partition, ErrorCode: code})
}

// topic finds or makes a topic's place.
func (a *txnCommitAnswers) topic(topic string) int {
	i, ok := a.index[topic]
	if !ok {
		if a.index == nil {
			a.index = map[string]int{}
		}
		i = len(a.list)
		a.index[topic] = i
		a.list = append(a.list, kmsg.TxnOffsetCommitResponseTopic{Topic: topic})
	}
	return i
}

func (a *txnCommitAnswers) topics() []kmsg.TxnOffsetCommitResponseTopic { return a.list }
