package handlers

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/wire"
)

// DeleteAcls (key 31), v1-v3 (KIP-140, KIP-290): deletes the ACLs that filters let pass, and answers for each filter which those
// are. One that several filters let pass is answered under each.
//
//	v2  flexible      v3  resources of type USER (KIP-373)
//
// A request that would delete more than 10,000 deletes none.
func (b *Broker) deleteACLs(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.DeleteACLsRequest), respond[*kmsg.DeleteACLsResponse](r)
	filters := make([]acls.Filter, len(req.Filters))
	for i := range req.Filters {
		f := &req.Filters[i]
		if unreadableACL(int8(f.ResourceType), int8(f.ResourcePatternType), int8(f.Operation), int8(f.PermissionType)) {
			return nil, errUnknownACL
		}
		filters[i] = filterOfDeletion(f)
	}
	if b.authorizer == nil {
		resp.Results = noneDeletedBy(filters, refuse(securityDisabled, "No Authorizer is configured."))
		return resp, nil
	}
	d := aclDeletion{filters: filters, room: answerRoom(maxAnswerBytes)}
	err := b.update(ctx, r, func(tx *tx) {
		if d.decide(tx); d.refused != nil || d.room < 0 {
			tx.Drop()
		}
	})
	switch {
	case d.room < 0:
		return nil, errAnswerTooLarge
	case err != nil && !errors.Is(err, journal.ErrDropped):
		d.refused = storageRefusal(err)
	}
	if d.refused != nil {
		resp.Results = noneDeletedBy(filters, d.refused)
		return resp, nil
	}
	resp.Results = d.results
	return resp, nil
}

func noneDeletedBy(filters []acls.Filter, why *refusal) (results []kmsg.DeleteACLsResponseResult) {
	for range filters {
		result := kmsg.NewDeleteACLsResponseResult()
		result.ErrorCode, result.ErrorMessage = why.code, why.message
		results = append(results, result)
	}
	return results
}

// aclDeletion is the decision over one request.
type aclDeletion struct {
	filters []acls.Filter
	results []kmsg.DeleteACLsResponseResult
	refused *refusal // the request as a whole
	room    answerRoom
	work    int
}

// maxACLWork bounds how many ACLs all filters of a request are held against.
const maxACLWork = 10_000_000

// decide finds the ACLs first and deletes them then, so that every filter sees all.
func (d *aclDeletion) decide(tx *tx) {
	if d.work = len(d.filters) * tx.State.ACLs.Len(); d.work > maxACLWork {
		d.refused = refuse(invalidRequest, fmt.Sprintf("The filters would be held against ACLs %d times; at most %d are allowed. Send fewer filters.", d.work, maxACLWork))
		return
	}
	var doomed []acls.Binding
	seen := map[acls.Binding]bool{}
	for _, filter := range d.filters {
		result := kmsg.NewDeleteACLsResponseResult()
		if wrong := filter.Refusal(); wrong != "" {
			result.ErrorCode, result.ErrorMessage = invalidRequest, text(wrong)
			d.results = append(d.results, result)
			continue
		}
		tx.State.ACLs.Each(func(b acls.Binding) bool {
			if !filter.Matches(b) {
				return true
			}
			if !seen[b] {
				seen[b] = true
				doomed = append(doomed, b)
			}
			result.MatchingACLs = append(result.MatchingACLs, matchingACL(b))
			return len(doomed) <= maxACLChanges && d.room.take(aclAnswerBytes+int64(len(b.Name)+len(b.Principal)+len(b.Host)))
		})
		if d.room < 0 {
			return
		}
		d.results = append(d.results, result)
	}
	if len(doomed) > maxACLChanges {
		d.refused = refuse(invalidRequest, fmt.Sprintf("Cannot remove more than %d acls in a single delete operation.", maxACLChanges))
		return
	}
	for _, b := range doomed {
		tx.Emit(&journal.AclDeleted{
			Type: int8(b.Type), Name: b.Name, Pattern: int8(b.Pattern.Kind), Principal: b.Principal,
			Host: b.Host, Operation: int8(b.Operation), Permission: int8(b.Permission),
		})
	}
}

func matchingACL(b acls.Binding) kmsg.DeleteACLsResponseResultMatchingACL {
	out := kmsg.NewDeleteACLsResponseResultMatchingACL()
	out.ResourceType, out.ResourceName, out.ResourcePatternType = kmsg.ACLResourceType(b.Type), b.Name, kmsg.ACLResourcePatternType(b.Pattern.Kind)
	out.Principal, out.Host = b.Principal, b.Host
	out.Operation, out.PermissionType = kmsg.ACLOperation(b.Operation), kmsg.ACLPermissionType(b.Permission)
	return out
}
