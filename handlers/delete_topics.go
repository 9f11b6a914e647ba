package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// DeleteTopics (key 20), v1-v6.
//
//	v5  error messages      v6  topics by name or by id (KIP-516)
//
// The topic is gone for everybody when the answer is sent; its files are removed behind it. Committed offsets of the topic
// go with it. A timeout that leaves no time times out before any topic is looked for.
func (b *Broker) deleteTopics(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DeleteTopicsRequest)
	resp := respond[*kmsg.DeleteTopicsResponse](r)
	if !b.static.Bool("delete.topic.enable") {
		resp.Topics = deletionDisabled(req)
		return resp, nil
	}
	may := b.access(r)
	if may.mayCluster(acls.Delete) {
		may = access{} // what goes for the cluster goes for every topic
	}
	charge, wait := b.mutations(r, req.Version >= 5)
	var gone []projections.ID
	decide := func(tx *tx) {
		d := deletion{tx: tx, may: may, charge: charge}
		d.run(req)
		resp.Topics, gone = d.answers, d.gone
	}
	if err := b.update(ctx, r, decide); err != nil {
		resp.Topics = noneDeleted(req, storageRefusal(err))
		return resp, nil
	}
	resp.ThrottleMillis = wait()
	b.topicsGone(gone)
	return resp, nil
}

func deletionDisabled(req *kmsg.DeleteTopicsRequest) []kmsg.DeleteTopicsResponseTopic {
	code := topicDeletionDisabled
	if req.Version < 3 {
		code = invalidRequest
	}
	return noneDeleted(req, &refusal{code: code})
}

// noneDeleted answers every entry of a request with one refusal.
func noneDeleted(req *kmsg.DeleteTopicsRequest, why *refusal) (answers []kmsg.DeleteTopicsResponseTopic) {
	for _, name := range req.TopicNames {
		answers = append(answers, topicNotDeleted(&name, projections.ID{}, why))
	}
	for _, t := range req.Topics {
		answers = append(answers, topicNotDeleted(t.Topic, t.TopicID, why))
	}
	return answers
}

func topicNotDeleted(name *string, id projections.ID, why *refusal) kmsg.DeleteTopicsResponseTopic {
	topic := kmsg.NewDeleteTopicsResponseTopic()
	topic.Topic, topic.TopicID, topic.ErrorCode, topic.ErrorMessage = name, id, why.code, why.message
	return topic
}

// deletion is the decision over one request: which topics go, and what each entry is answered.
type deletion struct {
	tx      *tx
	charge  mutationCharge
	answers []kmsg.DeleteTopicsResponseTopic
	gone    []projections.ID
	may     access
}

func (d *deletion) refuse(name *string, id projections.ID, code int16, message string) {
	d.answers = append(d.answers, topicNotDeleted(name, id, refuse(code, message)))
}

// run looks at the request as Kafka does: entries that make no sense, names and ids that stand twice, then ids, then names.
func (d *deletion) run(req *kmsg.DeleteTopicsRequest) {
	var names []string
	var ids []projections.ID
	names = append(names, req.TopicNames...)
	for _, t := range req.Topics {
		switch id := projections.ID(t.TopicID); {
		case t.Topic == nil && id == projections.ID{}:
			d.refuse(nil, id, invalidRequest, "Neither topic name nor id were specified.")
		case t.Topic == nil:
			ids = append(ids, id)
		case id == projections.ID{}:
			names = append(names, *t.Topic)
		default:
			d.refuse(t.Topic, id, invalidRequest, "You may not specify both topic name and topic id.")
		}
	}
	names, twiceNames := namedOnce(names, func(s string) string { return s })
	ids, twiceIDs := namedOnce(ids, func(id projections.ID) string { return string(id[:]) })
	if len(names)+len(ids) > 0 && req.TimeoutMillis <= 0 {
		d.answers = noneDeleted(req, &refusal{code: requestTimedOut})
		return
	}
	for _, name := range twiceNames {
		d.refuse(text(name), projections.ID{}, invalidRequest, "Duplicate topic name.")
	}
	for _, raw := range twiceIDs {
		d.refuse(nil, projections.ID([]byte(raw)), invalidRequest, "Duplicate topic id.")
	}
	d.byID(ids, names, twiceIDs)
}

func (d *deletion) byID(ids []projections.ID, names, twiceIDs []string) {
	topics := d.tx.State.Topics
	doomed, twice := map[projections.ID]bool{}, setOf(twiceIDs)
	for _, id := range ids {
		if topics.WithID(id) == nil {
			d.refuse(nil, id, unknownTopicID, "This server does not host this topic ID.")
			continue
		}
		if name := topics.WithID(id).Name; !d.may.may(acls.Delete, acls.Topic, name) {
			d.hide(name, id)
			continue
		}
		doomed[id] = true
	}
	for _, name := range names {
		topic := topics.Named(name)
		switch {
		case !d.may.may(acls.Describe, acls.Topic, name):
			d.hidden(text(name), projections.ID{})
		case topic == nil:
			d.refuse(text(name), projections.ID{}, unknownTopicOrPartition, "This server does not host this topic-partition.")
		case !d.may.may(acls.Delete, acls.Topic, name):
			d.hidden(text(name), projections.ID{})
		case doomed[topic.ID] || twice[string(topic.ID[:])]:
			d.refuse(text(name), topic.ID, invalidRequest, "The provided topic name maps to an ID that was already supplied.")
			delete(doomed, topic.ID)
		default:
			d.delete(topic)
		}
	}
	for _, id := range ids {
		if doomed[id] {
			d.delete(topics.WithID(id))
		}
	}
}

// hide refuses a topic that was named by its id, and says its name only to who may describe it.
func (d *deletion) hide(name string, id projections.ID) {
	if d.may.may(acls.Describe, acls.Topic, name) {
		d.hidden(&name, id)
	} else {
		d.hidden(nil, id)
	}
}

func (d *deletion) hidden(name *string, id projections.ID) {
	d.answers = append(d.answers, topicNotDeleted(name, id, refuse(topicAuthorizationFailed, topicRefusedText)))
}

func (d *deletion) delete(topic *projections.Topic) {
	if no := d.charge(topic.Partitions); no != nil {
		d.answers = append(d.answers, topicNotDeleted(&topic.Name, topic.ID, no))
		return
	}
	d.tx.Emit(&journal.TopicDeleted{ID: topic.ID})
	d.gone = append(d.gone, topic.ID)
	answer := kmsg.NewDeleteTopicsResponseTopic()
	answer.Topic, answer.TopicID = text(topic.Name), topic.ID
	d.answers = append(d.answers, answer)
}

// topicsGone removes the files of topics that the journal has just dropped. What cannot be removed now is found at the
// next start as a directory without topic and set aside.
func (b *Broker) topicsGone(ids []projections.ID) {
	for _, id := range ids {
		if err := b.logs.Remove(id); err != nil {
			b.log.Warn("remove the files of a deleted topic", "topic-id", id.String(), "error", err)
		}
	}
}
