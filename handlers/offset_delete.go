package handlers

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// OffsetDelete (key 47), v0: an administrator takes committed offsets away (KIP-496). Not from under consumers that read
// the topic: GROUP_SUBSCRIBED_TO_TOPIC. An offset that is not there is deleted without more ado; one that an open transaction
// has staged is not committed with it any more.
func (b *Broker) offsetDelete(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.offsetDelete(ctx, b.callerOf(r), r.Body.(*kmsg.OffsetDeleteRequest)), nil
}

func (c *coordinator) offsetDelete(ctx context.Context, from caller, req *kmsg.OffsetDeleteRequest) *kmsg.OffsetDeleteResponse {
	resp := kmsg.NewPtrOffsetDeleteResponse()
	if req.Group == "" || len(req.Group) > maxName {
		resp.ErrorCode = invalidGroupID
		return resp
	}
	barred := barred(from.access, acls.Read, acls.Topic, req.Topics, func(t *kmsg.OffsetDeleteRequestTopic) string { return t.Topic })
	err := c.update(ctx, from.cause, func(d *groupDecision) {
		d.barred = barred
		resp.Topics, resp.ErrorCode = d.deleteOffsets(req)
	})
	if err != nil {
		resp.Topics, resp.ErrorCode = nil, removalCode(err)
	}
	return resp
}

func (d *groupDecision) deleteOffsets(req *kmsg.OffsetDeleteRequest) ([]kmsg.OffsetDeleteResponseTopic, int16) {
	g := d.group(req.Group)
	switch {
	case g == nil, g.Share != nil:
		return nil, groupIDNotFound
	case g.State != projections.Empty && g.ProtocolType != consumerProtocolType && g.Streams == nil:
		return nil, nonEmptyGroup
	}
	a := deleteAnswers{index: map[string]int{}}
	e := &journal.OffsetsDeleted{Group: g.ID}
	for _, existing := range []bool{false, true} { // what does not exist is answered first, as in Kafka
		for i := range req.Topics {
			d.deleteFromTopic(g, &req.Topics[i], existing, &a, e)
		}
	}
	if len(e.Partitions) > 0 {
		d.emit(e)
	}
	return a.topics, none
}

// deleteFromTopic answers for those partitions of a topic that exist, or for those that do not.
func (d *groupDecision) deleteFromTopic(g *projections.Group, t *kmsg.OffsetDeleteRequestTopic, existing bool, a *deleteAnswers, e *journal.OffsetsDeleted) {
	topic := d.state.Topics.Named(t.Topic)
	of := d.state.Offsets.Topic(g.ID, t.Topic)
	for _, p := range t.Partitions {
		exists := topic != nil && p.Partition >= 0 && p.Partition < topic.Partitions && !d.barred[t.Topic]
		if exists != existing {
			continue
		}
		code := unknownTopicOrPartition
		if d.barred[t.Topic] {
			code = topicAuthorizationFailed
		}
		if exists {
			code = none
			if subscribes(g, t.Topic) {
				code = groupSubscribedToTopic
			}
		}
		gone := journal.TopicPartition{Topic: t.Topic, Partition: p.Partition}
		_, ok := d.state.Offsets.Get(of, p.Partition)
		ok = ok || d.state.Staged.Has(g.ID, t.Topic, p.Partition)
		if ok && code == none && a.first(gone) {
			e.Partitions = append(e.Partitions, gone)
		}
		to := a.topic(t.Topic)
		to.Partitions = append(to.Partitions, kmsg.OffsetDeleteResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
	}
}

// subscribes says whether the group's members read the topic, as far as the coordinator can tell.
func subscribes(g *projections.Group, topic string) bool {
	if g.Consumer != nil {
		return g.Consumer.Subscribed(topic)
	}
	if g.Streams != nil {
		return g.State != projections.Empty && g.Streams.IsSource(topic)
	}
	if !g.SubscriptionsKnown {
		return g.ProtocolType == consumerProtocolType
	}
	_, found := slices.BinarySearch(g.Subscribed, topic)
	return found
}

// deleteAnswers builds an answer by topic.
type deleteAnswers struct {
	topics []kmsg.OffsetDeleteResponseTopic
	index  map[string]int // where the topics are
	gone   map[journal.TopicPartition]bool
}

func (a *deleteAnswers) topic(name string) *kmsg.OffsetDeleteResponseTopic {
	i, ok := a.index[name]
	if !ok {
		i = len(a.topics)
		a.index[name] = i
		a.topics = append(a.topics, kmsg.OffsetDeleteResponseTopic{Topic: name})
	}
	return &a.topics[i]
}

// first says whether the partition is named for the first time.
func (a *deleteAnswers) first(p journal.TopicPartition) bool {
	if a.gone == nil {
		a.gone = map[journal.TopicPartition]bool{}
	}
	seen := a.gone[p]
	a.gone[p] = true
	return !seen
}
