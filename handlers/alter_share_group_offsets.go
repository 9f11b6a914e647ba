package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// AlterShareGroupOffsets (key 91), v0 (KIP-932): sets where a share group without members goes on, and makes the group when
// there is none. What is known of single records is forgotten.
func (b *Broker) alterShareGroupOffsets(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.AlterShareGroupOffsetsRequest), respond[*kmsg.AlterShareGroupOffsetsResponse](r)
	var refused *refusal
	switch {
	case !b.shareGroupsOn():
		refused = &refusal{code: unsupportedVersion}
	case req.GroupID == "":
		refused = &refusal{code: invalidGroupID}
	case len(req.GroupID) > maxName:
		refused = &refusal{code: invalidGroupID}
	default:
		err := b.groups.update(ctx, causeOf(r), func(d *groupDecision) {
			if resp.Topics, refused = d.alterShareOffsets(req); refused != nil {
				d.drop()
			}
		})
		if err != nil && refused == nil {
			refused = storageRefusal(err)
		}
	}
	if refused != nil {
		resp.ErrorCode, resp.ErrorMessage, resp.Topics = refused.code, refused.message, nil
	}
	return resp, nil
}

func (d *groupDecision) alterShareOffsets(req *kmsg.AlterShareGroupOffsetsRequest) ([]kmsg.AlterShareGroupOffsetsResponseTopic, *refusal) {
	g, refused := d.shareGroup(req.GroupID, true)
	switch {
	case refused != nil:
		return nil, refused
	case g.State != projections.Empty:
		return nil, refuse(nonEmptyGroup, nonEmptyGroupText)
	}
	var topics []kmsg.AlterShareGroupOffsetsResponseTopic
	for _, asked := range req.Topics {
		out, e := d.alterShareTopic(g, &asked)
		if e != nil && !roomForShareStates(d.state, len(e.Partitions), g.ID) {
			return nil, refuse(policyViolation, fmt.Sprintf("This broker keeps the places of share groups in at most %d partitions.", maxShareStates))
		}
		if e != nil {
			d.emit(e)
		}
		topics = append(topics, out)
	}
	return topics, nil
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
		if topic == nil || p.Partition < 0 || p.Partition >= topic.Partitions {
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
