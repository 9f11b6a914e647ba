package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
)

// permittedOffsets answers for a group what the caller may describe of it: topics that it asks for and may not see are refused
// at the end, when it asks for all topics those are left out.
func permittedOffsets(state *projections.State, g *kmsg.OffsetFetchRequestGroup, req *kmsg.OffsetFetchRequest, may access) kmsg.OffsetFetchResponseGroup {
	if !may.guarded() {
		return fetchOffsets(state, g, req.Version, req.RequireStable)
	}
	if !may.may(acls.Describe, acls.Group, g.Group) {
		return offsetsRefused(g, req.Version)
	}
	only, hidden := *g, []kmsg.OffsetFetchRequestGroupTopic(nil)
	if g.Topics != nil {
		only.Topics = []kmsg.OffsetFetchRequestGroupTopic{} // which is not the same as none asked for
	}
	for _, t := range g.Topics {
		name := nameOfTopic(state, t.Topic, t.TopicID, req.Version >= 10)
		unknown := req.Version >= 10 && name == ""
		if unknown || may.may(acls.Describe, acls.Topic, name) {
			only.Topics = append(only.Topics, t)
		} else {
			hidden = append(hidden, t)
		}
	}
	resp := fetchOffsets(state, &only, req.Version, req.RequireStable)
	if resp.ErrorCode != none {
		return resp
	}
	if g.Topics == nil {
		resp.Topics, _ = permitted(may, acls.Describe, acls.Topic, resp.Topics, func(t kmsg.OffsetFetchResponseGroupTopic) string { return t.Topic })
	}
	for _, t := range hidden {
		resp.Topics = append(resp.Topics, allUncommitted(t, topicAuthorizationFailed))
	}
	return resp
}

// offsetsRefused answers for a group that the caller may not describe: before v2 there is no place but its partitions.
func offsetsRefused(g *kmsg.OffsetFetchRequestGroup, version int16) kmsg.OffsetFetchResponseGroup {
	resp := kmsg.NewOffsetFetchResponseGroup()
	resp.Group = g.Group
	if version >= 2 {
		resp.ErrorCode = groupAuthorizationFailed
		return resp
	}
	for _, t := range g.Topics {
		resp.Topics = append(resp.Topics, allUncommitted(t, groupAuthorizationFailed))
	}
	return resp
}
