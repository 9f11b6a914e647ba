package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// DeleteShareGroupOffsets (key 92), v0 (KIP-932): forgets where a share group without members stands in topics; it begins
// anew with them.
func (b *Broker) deleteShareGroupOffsets(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.DeleteShareGroupOffsetsRequest), respond[*kmsg.DeleteShareGroupOffsetsResponse](r)
	if room := answerRoom(maxAnswerBytes); !room.take(sharedBytes * int64(len(req.Topics))) {
		return nil, errAnswerTooLarge
	}
	var refused *refusal
	switch {
	case !b.shareGroupsOn():
		refused = refuse(unsupportedVersion, unsupportedVersionText)
	case req.GroupID == "":
		refused = refuse(invalidGroupID, "The group id is invalid.")
	default:
		may, hidden := permitted(b.access(r), acls.Read, acls.Topic, req.Topics, func(t kmsg.DeleteShareGroupOffsetsRequestTopic) string { return t.Topic })
		err := b.groups.update(ctx, causeOf(r), func(d *groupDecision) { resp.Topics, refused = d.deleteShareOffsets(req.GroupID, may) })
		resp.Topics = append(shareTopicsKept(hidden), resp.Topics...)
		if err != nil {
			refused = storageRefusal(err)
		}
	}
	if refused != nil {
		resp.ErrorCode, resp.ErrorMessage, resp.Topics = refused.code, refused.message, nil
	}
	return resp, nil
}

func (d *groupDecision) deleteShareOffsets(group string, of []kmsg.DeleteShareGroupOffsetsRequestTopic) (topics []kmsg.DeleteShareGroupOffsetsResponseTopic, _ *refusal) {
	g := d.group(group)
	switch {
	case g == nil:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Group %s not found.", group))
	case g.Type != journal.GroupShare:
		return nil, refuse(groupIDNotFound, fmt.Sprintf("Group %s is not a share group.", group))
	case g.State != projections.Empty:
		return nil, refuse(nonEmptyGroup, nonEmptyGroupText)
	}
	for _, asked := range of {
		out := kmsg.NewDeleteShareGroupOffsetsResponseTopic()
		out.Topic = asked.Topic
		topic := d.state.Topics.Named(asked.Topic)
		switch {
		case topic == nil:
			out.ErrorCode, out.ErrorMessage = unknownTopicOrPartition, text(unknownTopicText)
		case !d.hasShareState(g.ID, topic.ID):
			out.ErrorCode, out.ErrorMessage = unknownTopicOrPartition, text("There is no offset information to delete.")
		default:
			out.TopicID = topic.ID
			d.emit(&journal.ShareStateDeleted{Group: g.ID, Topic: topic.ID})
		}
		topics = append(topics, out)
	}
	return topics, nil
}

// shareTopicsKept answers for topics that the caller may not read.
func shareTopicsKept(hidden []kmsg.DeleteShareGroupOffsetsRequestTopic) (topics []kmsg.DeleteShareGroupOffsetsResponseTopic) {
	for _, asked := range hidden {
		out := kmsg.NewDeleteShareGroupOffsetsResponseTopic()
		out.Topic, out.ErrorCode, out.ErrorMessage = asked.Topic, topicAuthorizationFailed, text(topicRefusedText)
		topics = append(topics, out)
	}
	return topics
}

func (d *groupDecision) hasShareState(group string, topic projections.ID) (has bool) {
	d.state.ShareStates.OfTopic(group, topic, func(*projections.ShareState) bool { has = true; return false })
	return has
}
