package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// What a broker holds of ACLs at most (docs/limits.md).
const (
	maxACLs = 100_000
	// maxACLBytes bounds all ACLs, as the state reckons them.
	maxACLBytes = 64 << 20
	// maxACLChanges is how many ACLs one request may create or delete, as in Kafka, where each is a record of its metadata log.
	maxACLChanges = 10_000
)

// CreateAcls (key 30), v1-v3 (KIP-140, KIP-290): makes ACLs. Each is answered for itself; one that is there already, and one
// that the request names twice, is made once and is no error. They hold from the answer on, and are on disk.
//
//	v2  flexible      v3  resources of type USER (KIP-373)
func (b *Broker) createACLs(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.CreateACLsRequest), respond[*kmsg.CreateACLsResponse](r)
	bindings, refusals := make([]acls.Binding, len(req.Creations)), make([]*refusal, len(req.Creations))
	for i := range req.Creations {
		a := &req.Creations[i]
		if unreadableACL(int8(a.ResourceType), int8(a.ResourcePatternType), int8(a.Operation), int8(a.PermissionType)) {
			return nil, errUnknownACL
		}
		bindings[i] = bindingOf(a)
		refusals[i] = checkACL(bindings[i])
	}
	switch {
	case b.authorizer == nil:
		refuseAll(refusals, refuse(securityDisabled, "No Authorizer is configured."))
	case slices.ContainsFunc(bindings, onlyInFilters):
		refuseAll(refusals, &refusal{code: unknownServerError})
	default:
		b.addACLs(ctx, r, bindings, refusals)
	}
	for _, no := range refusals {
		result := kmsg.NewCreateACLsResponseResult()
		result.ErrorMessage = text("") // where others send null
		if no != nil {
			result.ErrorCode, result.ErrorMessage = no.code, no.message
		}
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

func refuseAll(refusals []*refusal, why *refusal) {
	for i := range refusals {
		refusals[i] = why
	}
}

// checkACL says what is wrong with an ACL, in Kafka's words, or that a name is longer than any may be.
func checkACL(b acls.Binding) *refusal {
	if why := b.Refusal(); why != "" {
		return refuse(invalidRequest, why)
	}
	if max(len(b.Name), len(b.Principal), len(b.Host)) > maxName {
		return refuse(invalidRequest, fmt.Sprintf("A name of an ACL is longer than %d bytes.", maxName))
	}
	return nil
}

// addACLs makes those ACLs that nothing stands against yet.
func (b *Broker) addACLs(ctx context.Context, r *wire.Request, bindings []acls.Binding, refusals []*refusal) {
	var whole *refusal
	err := b.update(ctx, r, func(tx *tx) {
		if whole = decideCreateACLs(tx, bindings, refusals); whole != nil {
			tx.Drop()
		}
	})
	if err != nil && !errors.Is(err, journal.ErrDropped) {
		whole = storageRefusal(err)
	}
	for i := range refusals {
		if whole != nil && refusals[i] == nil {
			refusals[i] = whole
		}
	}
}

func decideCreateACLs(tx *tx, bindings []acls.Binding, refusals []*refusal) *refusal {
	created := 0
	for i, binding := range bindings {
		if refusals[i] != nil || tx.State.ACLs.Has(binding) {
			continue
		}
		if no := roomForACL(tx.State, binding); no != nil {
			return no
		}
		if created++; created > maxACLChanges {
			return refuse(policyViolation, "Unable to perform excessively large batch operation.")
		}
		tx.Emit(&journal.AclCreated{
			Type: int8(binding.Type), Name: binding.Name, Pattern: int8(binding.Pattern.Kind), Principal: binding.Principal,
			Host: binding.Host, Operation: int8(binding.Operation), Permission: int8(binding.Permission),
		})
	}
	return nil
}

func roomForACL(state *projections.State, b acls.Binding) *refusal {
	switch {
	case state.ACLs.Len() >= maxACLs:
		return refuse(policyViolation, fmt.Sprintf("This broker holds %d ACLs, the most it takes. Delete some first.", maxACLs))
	case state.ACLs.Bytes()+projections.BytesOfACL(b) > maxACLBytes:
		return refuse(policyViolation, fmt.Sprintf("This broker holds ACLs of %d bytes and takes at most %d. Delete some first.", state.ACLs.Bytes(), int64(maxACLBytes)))
	}
	return nil
}
