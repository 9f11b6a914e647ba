package handlers

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// AlterShareGroupOffsets (key 91), v0 (KIP-932): sets where a share group without members goes on, and makes the group when
// there is none. What is known of single records is forgotten.
func (b *Broker) alterShareGroupOffsets(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.AlterShareGroupOffsetsRequest), respond[*kmsg.AlterShareGroupOffsetsResponse](r)
	room := answerRoom(maxAnswerBytes)
	for i := range req.Topics {
		if !room.take(sharedBytes * int64(1+len(req.Topics[i].Partitions))) {
			return nil, errAnswerTooLarge
		}
	}
	var refused *refusal
	switch {
	case !b.shareGroupsOn():
		refused = refuse(unsupportedVersion, unsupportedVersionText)
	case req.GroupID == "", len(req.GroupID) > maxName:
		refused = refuse(invalidGroupID, "The group id is invalid.")
	default:
		barred := barred(b.access(r), acls.Read, acls.Topic, req.Topics, func(t *kmsg.AlterShareGroupOffsetsRequestTopic) string { return t.Topic })
		err := b.groups.update(ctx, causeOf(r), func(d *groupDecision) {
			d.barred = barred
			var altered bool
			if resp.Topics, altered, refused = d.alterShareOffsets(req); !altered {
				d.drop() // no group is made for nothing
			}
		})
		if err != nil && !errors.Is(err, journal.ErrDropped) {
			refused = storageRefusal(err)
		}
	}
	if refused != nil {
		resp.ErrorCode, resp.ErrorMessage, resp.Topics = refused.code, refused.message, nil
	}
	return resp, nil
}

func (d *groupDecision) alterShareOffsets(req *kmsg.AlterShareGroupOffsetsRequest) (topics []kmsg.AlterShareGroupOffsetsResponseTopic, altered bool, _ *refusal) {
	g, refused := d.shareGroup(req.GroupID, true)
	switch {
	case refused != nil:
		return nil, false, refused
	case g.State != projections.Empty:
		return nil, false, refuse(nonEmptyGroup, nonEmptyGroupText)
	}
	var there []kmsg.AlterShareGroupOffsetsResponseTopic // behind those that are not there
	for _, asked := range req.Topics {
		out, e := d.alterShareTopic(g, &asked)
		switch {
		case e != nil && !roomForShareStates(d.state, len(e.Partitions), g.ID):
			return nil, false, refuse(policyViolation, fmt.Sprintf("This broker keeps the places of share groups in at most %d partitions.", maxShareStates))
		case e != nil:
			d.emit(e)
			altered = true
		}
		if out.TopicID == [16]byte{} || d.barred[out.Topic] {
			topics = append(topics, out)
		} else {
			there = append(there, out)
		}
	}
	return append(topics, there...), altered, nil
}

const nonEmptyGroupText = "The group is not empty."

func (d *groupDecision) alterShareTopic(g *projections.Group, asked *kmsg.AlterShareGroupOffsetsRequestTopic) (out kmsg.AlterShareGroupOffsetsResponseTopic, e *journal.ShareStateInitialized) {
	out.Topic = asked.Topic
	topic := d.state.Topics.Named(asked.Topic)
	if topic != nil {
		out.TopicID = topic.ID
		e = &journal.ShareStateInitialized{Group: g.ID, Topic: topic.ID, StateEpoch: g.Share.Epoch}
	}
	for _, p := range asked.Partitions {
		one := kmsg.NewAlterShareGroupOffsetsResponseTopicPartition()
		one.Partition = p.Partition
		if d.barred[asked.Topic] {
			one.ErrorCode, one.ErrorMessage = topicAuthorizationFailed, text(topicRefusedText)
		} else if topic == nil || p.Partition < 0 || p.Partition >= topic.Partitions {
			one.ErrorCode, one.ErrorMessage = unknownTopicOrPartition, text(unknownTopicText)
		} else {
			e.Partitions = append(e.Partitions, journal.ShareStateInit{Partition: p.Partition, Start: max(p.StartOffset, -1)})
		}
		out.Partitions = append(out.Partitions, one)
	}
	if e != nil && len(e.Partitions) == 0 {
		e = nil
	}
	return out, e
}
