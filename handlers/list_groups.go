package handlers

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// ListGroups (key 16), v0-v5: all groups, by name. v4 takes states to filter by (KIP-518), v5 types (KIP-848); case does
// not matter, and a name that means nothing matches nothing.
func (b *Broker) listGroups(_ context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.listGroups(r.Body.(*kmsg.ListGroupsRequest), b.access(r)), nil
}

func (c *coordinator) listGroups(req *kmsg.ListGroupsRequest, may access) *kmsg.ListGroupsResponse {
	resp := kmsg.NewPtrListGroupsResponse()
	states, types := lowered(req.StatesFilter), lowered(req.TypesFilter)
	all := may.mayCluster(acls.Describe)
	c.view().Groups.Each("", func(g *projections.Group) bool {
		if !all && !may.may(acls.Describe, acls.Group, g.ID) {
			return true
		}
		state, kind := g.State.String(), projections.TypeName(g.Type)
		if (len(states) == 0 || states[filterName(g.State)]) && (len(types) == 0 || types[kind]) {
			out := kmsg.NewListGroupsResponseGroup()
			out.Group, out.ProtocolType, out.GroupState, out.GroupType = g.ID, g.ProtocolType, state, kind
			resp.Groups = append(resp.Groups, out)
		}
		return true
	})
	return resp
}

// filterName is what a filter calls a state: Kafka's name in lower case, but for one.
func filterName(s projections.GroupState) string {
	if s == projections.NotReady {
		return "not_ready"
	}
	return strings.ToLower(s.String())
}

func lowered(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[strings.ToLower(n)] = true
	}
	return out
}
