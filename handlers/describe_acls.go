package handlers

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/wire"
)

// errUnknownACL closes the connection of who sends a number that Kafka has no name for, as Kafka does: it is then no request.
var errUnknownACL = errors.New("the request has an element that is not known: see the numbers of resource types, pattern types, operations and permissions")

// DescribeAcls (key 29), v1-v3 (KIP-140): the ACLs that a filter lets pass, by resource. The pattern type MATCH finds every ACL
// that bears on a name (KIP-290), where the others find those of just this name.
//
//	v2  flexible      v3  resources of type USER (KIP-373)
//
// Resources come in the order of type and name, where Kafka walks a hash map (docs/differences.md). Without an authorizer the
// answer is SECURITY_DISABLED.
func (b *Broker) describeACLs(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req, resp := r.Body.(*kmsg.DescribeACLsRequest), respond[*kmsg.DescribeACLsResponse](r)
	filter := filterOf(req)
	switch {
	case unreadableACL(int8(req.ResourceType), int8(req.ResourcePatternType), int8(req.Operation), int8(req.PermissionType)):
		return nil, errUnknownACL
	case b.authorizer == nil:
		resp.ErrorCode, resp.ErrorMessage = securityDisabled, text("No Authorizer is configured on the broker")
		return resp, nil
	}
	resp.ErrorMessage = text("") // where others send null
	state, _ := b.view()
	room := answerRoom(maxAnswerBytes)
	var last acls.Pattern
	state.ACLs.Each(func(binding acls.Binding) bool {
		if !filter.Matches(binding) {
			return true
		}
		if len(resp.Resources) == 0 || last != binding.Pattern {
			last = binding.Pattern
			resp.Resources = append(resp.Resources, describedPattern(last))
		}
		resource := &resp.Resources[len(resp.Resources)-1]
		resource.ACLs = append(resource.ACLs, describedEntry(binding.Entry))
		return room.take(aclAnswerBytes + int64(len(binding.Name)+len(binding.Principal)+len(binding.Host)))
	})
	if room < 0 {
		return nil, errAnswerTooLarge
	}
	return resp, nil
}

// aclAnswerBytes is what an ACL takes in an answer beside its names.
const aclAnswerBytes = 160

func describedPattern(p acls.Pattern) kmsg.DescribeACLsResponseResource {
	out := kmsg.NewDescribeACLsResponseResource()
	out.ResourceType, out.ResourceName = kmsg.ACLResourceType(p.Type), p.Name
	out.ResourcePatternType = kmsg.ACLResourcePatternType(p.Kind)
	return out
}

func describedEntry(e acls.Entry) kmsg.DescribeACLsResponseResourceACL {
	out := kmsg.NewDescribeACLsResponseResourceACL()
	out.Principal, out.Host = e.Principal, e.Host
	out.Operation, out.PermissionType = kmsg.ACLOperation(e.Operation), kmsg.ACLPermissionType(e.Permission)
	return out
}
