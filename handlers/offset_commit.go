package handlers

import (
	"context"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// OffsetCommit (key 8), v2-v10: a group stores how far it has read.
//
//	v2-v4  may say how long the offsets are to be kept (retention_time_ms, -1: as the broker does)
//	v6     leader epochs (KIP-320)      v7  group instance ids (KIP-345)
//	v9     an unknown group is GROUP_ID_NOT_FOUND, before ILLEGAL_GENERATION (KIP-848)
//	v10    topics by id (KIP-848)
//
// A commit without generation makes a group that is only a name for offsets; it is taken as long as the group has no
// members. Topics and partitions must exist. What cannot be committed is answered first, as in Kafka.
func (b *Broker) offsetCommit(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.offsetCommit(ctx, b.callerOf(r), r.Body.(*kmsg.OffsetCommitRequest)), nil
}

func (c *coordinator) offsetCommit(ctx context.Context, from caller, req *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	if len(req.Group) > maxName {
		resp.Topics = commitRefused(req.Topics, invalidGroupID)
		return resp
	}
	if isLong(req.InstanceID) {
		resp.Topics = commitRefused(req.Topics, invalidRequest)
		return resp
	}
	var member *projections.Member
	state := c.view()
	barred := barred(from.access, acls.Read, acls.Topic, req.Topics, func(t *kmsg.OffsetCommitRequestTopic) string {
		return nameOfTopic(state, t.Topic, t.TopicID, req.Version >= 10)
	})
	err := c.update(ctx, from.cause, func(d *groupDecision) {
		d.barred = barred
		resp.Topics, member = d.commit(req)
	})
	if err != nil {
		resp.Topics = commitRefused(req.Topics, notCoordinator)
	} else if member != nil {
		c.touch(req.Group, member.ID, member.SessionTimeoutMs)
	}
	return resp
}

// maxCommitBytes bounds what one commit adds to the journal. Kafka has such a bound too: a batch of its offsets topic.
const maxCommitBytes = 8 << 20

// commit decides an OffsetCommit. The member is the one whose session the commit keeps.
func (d *groupDecision) commit(req *kmsg.OffsetCommitRequest) ([]kmsg.OffsetCommitResponseTopic, *projections.Member) {
	answers := commitAnswers{byID: req.Version >= 10}
	e := &journal.OffsetsCommitted{Group: req.Group}
	expireAt := int64(-1)
	if req.RetentionTimeMillis != -1 {
		expireAt = d.at + req.RetentionTimeMillis
	}
	var good []kmsg.OffsetCommitRequestTopic
	for i := range req.Topics {
		if t := d.commitTopic(&req.Topics[i], &answers, e, expireAt); len(t.Partitions) > 0 {
			good = append(good, t)
		}
	}
	if len(good) == 0 {
		return answers.topics, nil
	}
	g, code := d.committer(req)
	if g != nil && g.Consumer != nil {
		code = consumerCommitter(g.Consumer, req.MemberID, req.Generation, e.Offsets, req.Version)
	}
	if g != nil && g.Streams != nil {
		code = streamsCommitter(g.Streams, req.MemberID, req.Generation, e.Offsets, req.Version)
	}
	if code == none {
		code = d.roomToCommit(g, e)
	}
	if code != none {
		answers.merge(commitRefused(good, code))
		return answers.topics, nil
	}
	if g == nil {
		d.emit(&journal.GroupCreated{Group: req.Group, Type: journal.GroupClassic})
	}
	if len(e.Offsets) > 0 {
		d.emit(e)
	}
	answers.merge(d.commitAccepted(good))
	if g != nil && g.Type == journal.GroupClassic && (g.State == projections.Stable || g.State == projections.PreparingRebalance) {
		return answers.topics, g.Member(req.MemberID)
	}
	return answers.topics, nil
}

// commitTopic refuses what does not exist and returns the rest; offsets whose metadata is not too long go into the event.
func (d *groupDecision) commitTopic(t *kmsg.OffsetCommitRequestTopic, answers *commitAnswers, e *journal.OffsetsCommitted, expireAt int64) kmsg.OffsetCommitRequestTopic {
	good := kmsg.OffsetCommitRequestTopic{Topic: t.Topic, TopicID: t.TopicID}
	topic, missing := d.state.Topics.Named(t.Topic), unknownTopicOrPartition
	if answers.byID {
		topic, missing = d.state.Topics.WithID(t.TopicID), unknownTopicID
	}
	if hidden := len(d.barred) > 0 && (!answers.byID && d.barred[t.Topic] || topic != nil && d.barred[topic.Name]); hidden || topic == nil {
		if hidden {
			missing = topicAuthorizationFailed
		}
		to := answers.topic(t.Topic, t.TopicID)
		for _, p := range t.Partitions {
			to.Partitions = append(to.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: missing})
		}
		return good
	}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if p.Partition < 0 || p.Partition >= topic.Partitions {
			to := answers.topic(t.Topic, t.TopicID)
			to.Partitions = append(to.Partitions, kmsg.OffsetCommitResponseTopicPartition{
				Partition: p.Partition, ErrorCode: unknownTopicOrPartition,
			})
			continue
		}
		good.Partitions = append(good.Partitions, *p)
		if !d.metadataTooLong(p.Metadata) {
			e.Offsets = append(e.Offsets, committed(topic, p, d.at, expireAt))
		}
	}
	return good
}

func committed(topic *projections.Topic, p *kmsg.OffsetCommitRequestTopicPartition, at, expireAt int64) journal.CommittedOffset {
	o := journal.CommittedOffset{
		Topic: topic.Name, TopicID: topic.ID, Partition: p.Partition, Offset: p.Offset,
		LeaderEpoch: p.LeaderEpoch, CommitAt: at, ExpireAt: expireAt,
	}
	if p.Metadata != nil {
		o.Metadata = *p.Metadata
	}
	return o
}

// committer returns the group that may commit: nil is one that comes into being, since the commit has no generation.
// A group without members takes any commit without a generation, whatever it says of a member.
func (d *groupDecision) committer(req *kmsg.OffsetCommitRequest) (*projections.Group, int16) {
	g := d.group(req.Group)
	switch {
	case g == nil && req.Generation < 0:
		return nil, none
	case g == nil && req.Version >= 9:
		return nil, groupIDNotFound
	case g == nil:
		return nil, illegalGeneration
	case g.Share != nil: // it has offsets of its own kind
		return nil, groupIDNotFound
	case g.Consumer != nil || g.Streams != nil: // consumerCommitter says, or streamsCommitter
		return g, none
	case req.Generation < 0 && g.State == projections.Empty:
		return g, none
	case req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil:
		return g, unknownMemberID
	}
	if code := checkMember(g, req.MemberID, req.InstanceID); code != none {
		return g, code
	}
	switch {
	case req.Generation != g.Generation:
		return g, illegalGeneration
	case g.State == projections.CompletingRebalance:
		return g, rebalanceInProgress
	}
	return g, none
}

// metadataTooLong counts as Kafka does: in UTF-16 units.
func (d *groupDecision) metadataTooLong(metadata *string) bool {
	limit := d.settings.offsetMetadataMax
	if metadata == nil || len(*metadata) <= limit {
		return false
	}
	units := 0
	for _, r := range *metadata {
		units++
		if r > 0xffff && r <= utf8.MaxRune {
			units++
		}
	}
	return units > limit
}

func commitBytes(e *journal.OffsetsCommitted) int {
	n := len(e.Group)
	for i := range e.Offsets {
		n += len(e.Offsets[i].Topic) + len(e.Offsets[i].Metadata) + 64
	}
	return n
}

func (d *groupDecision) commitAccepted(topics []kmsg.OffsetCommitRequestTopic) []kmsg.OffsetCommitResponseTopic {
	return answerCommit(topics, func(p *kmsg.OffsetCommitRequestTopicPartition) int16 {
		if d.metadataTooLong(p.Metadata) {
			return offsetMetadataTooLarge
		}
		return none
	})
}

func commitRefused(topics []kmsg.OffsetCommitRequestTopic, code int16) []kmsg.OffsetCommitResponseTopic {
	return answerCommit(topics, func(*kmsg.OffsetCommitRequestTopicPartition) int16 { return code })
}

func answerCommit(topics []kmsg.OffsetCommitRequestTopic, codeOf func(*kmsg.OffsetCommitRequestTopicPartition) int16) []kmsg.OffsetCommitResponseTopic {
	out := make([]kmsg.OffsetCommitResponseTopic, len(topics))
	for i := range topics {
		out[i].Topic, out[i].TopicID = topics[i].Topic, topics[i].TopicID
		out[i].Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(topics[i].Partitions))
		for j := range topics[i].Partitions {
			p := &topics[i].Partitions[j]
			out[i].Partitions[j].Partition, out[i].Partitions[j].ErrorCode = p.Partition, codeOf(p)
		}
	}
	return out
}

// commitAnswers builds an answer in Kafka's order: refusals that need no group, then the rest, by topic.
type commitAnswers struct {
	byID   bool
	topics []kmsg.OffsetCommitResponseTopic
	index  map[topicKey]int // where the topics are
}

// topicKey is a topic as the request's version names it.
type topicKey struct {
	name string
	id   [16]byte
}

func (a *commitAnswers) key(name string, id [16]byte) topicKey {
	if a.byID {
		return topicKey{id: id}
	}
	return topicKey{name: name}
}

// topic returns the answer's entry for a topic, a new one if need be.
func (a *commitAnswers) topic(name string, id [16]byte) *kmsg.OffsetCommitResponseTopic {
	key := a.key(name, id)
	i, ok := a.index[key]
	if !ok {
		if a.index == nil {
			a.index = map[topicKey]int{}
		}
		i = len(a.topics)
		a.index[key] = i
		a.topics = append(a.topics, kmsg.OffsetCommitResponseTopic{Topic: name, TopicID: id})
	}
	return &a.topics[i]
}

func (a *commitAnswers) merge(more []kmsg.OffsetCommitResponseTopic) {
	if len(a.topics) == 0 {
		a.topics = more
		return
	}
	for _, t := range more {
		to := a.topic(t.Topic, t.TopicID)
		to.Partitions = append(to.Partitions, t.Partitions...)
	}
}
