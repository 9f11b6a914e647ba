package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// DeleteGroups (key 42), v0-v2: deletes groups without members, with their offsets (KIP-229). A group that the request
// names twice is answered once.
func (b *Broker) deleteGroups(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	resp := b.groups.deleteGroups(ctx, b.callerOf(r), r.Body.(*kmsg.DeleteGroupsRequest))
	b.shares.dropGroups(resp)
	return resp, nil
}

func (c *coordinator) deleteGroups(ctx context.Context, from caller, req *kmsg.DeleteGroupsRequest) *kmsg.DeleteGroupsResponse {
	resp := kmsg.NewPtrDeleteGroupsResponse()
	ids := distinct(req.Groups)
	ids, hidden := permitted(from.access, acls.Delete, acls.Group, ids, itself)
	resp.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(ids))
	for done := 0; done < len(ids); {
		some := resp.Groups[done:min(done+maxDeletedGroups, len(ids))]
		err := c.update(ctx, from.cause, func(d *groupDecision) {
			for i, id := range ids[done : done+len(some)] {
				some[i] = kmsg.DeleteGroupsResponseGroup{Group: id, ErrorCode: d.deleteGroup(id)}
			}
		})
		for i := range some {
			if err != nil {
				some[i] = kmsg.DeleteGroupsResponseGroup{Group: ids[done+i], ErrorCode: removalCode(err)}
			}
		}
		done += len(some)
	}
	for _, id := range hidden {
		resp.Groups = append(resp.Groups, kmsg.DeleteGroupsResponseGroup{Group: id, ErrorCode: groupAuthorizationFailed})
	}
	return resp
}

// maxDeletedGroups is how many groups one entry of the journal deletes, whatever their names.
const maxDeletedGroups = 1_000

func (d *groupDecision) deleteGroup(id string) int16 {
	g := d.group(id)
	switch {
	case len(id) > maxName:
		return invalidGroupID
	case g == nil:
		return groupIDNotFound
	case g.State != projections.Empty:
		return nonEmptyGroup
	}
	d.emit(&journal.GroupDeleted{Group: id})
	d.disarmGroup(g)
	return none
}

func distinct(names []string) []string {
	seen := make(map[string]bool, len(names))
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
