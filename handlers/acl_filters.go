package handlers

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
)

// filterOf is what DescribeAcls asks for.
func filterOf(req *kmsg.DescribeACLsRequest) acls.Filter {
	return acls.Filter{
		Type: acls.ResourceType(req.ResourceType), Name: req.ResourceName, Kind: acls.PatternType(req.ResourcePatternType),
		Principal: req.Principal, Host: req.Host, Operation: acls.Operation(req.Operation), Permission: acls.Permission(req.PermissionType),
	}
}

// filterOfDeletion is one that DeleteAcls deletes by.
func filterOfDeletion(f *kmsg.DeleteACLsRequestFilter) acls.Filter {
	return acls.Filter{
		Type: acls.ResourceType(f.ResourceType), Name: f.ResourceName, Kind: acls.PatternType(f.ResourcePatternType),
		Principal: f.Principal, Host: f.Host, Operation: acls.Operation(f.Operation), Permission: acls.Permission(f.PermissionType),
	}
}

// bindingOf is the ACL that CreateAcls wants.
func bindingOf(c *kmsg.CreateACLsRequestCreation) acls.Binding {
	return acls.Binding{
		Pattern: acls.Pattern{Type: acls.ResourceType(c.ResourceType), Name: c.ResourceName, Kind: acls.PatternType(c.ResourcePatternType)},
		Entry: acls.Entry{
			Principal: c.Principal, Host: c.Host, Operation: acls.Operation(c.Operation), Permission: acls.Permission(c.PermissionType),
		},
	}
}

// unknownIn says whether a binding has a number that Kafka has no name for: it cannot read such a request.
func unknownIn(b acls.Binding) bool {
	return b.Type < acls.AnyResource || b.Type > acls.User || b.Pattern.Kind < acls.AnyPattern || b.Pattern.Kind > acls.Prefixed ||
		b.Operation < acls.AnyOperation || b.Operation > acls.TwoPhaseCommit || b.Permission < acls.AnyPermission || b.Permission > acls.Allow
}
