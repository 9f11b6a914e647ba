package handlers

import (
	"slices"

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

// unreadableACL says whether one of the numbers of an ACL or a filter is 0, which stands for an unknown one: Kafka closes the
// connection of who sends it. Others that it does not know it takes for unknown ones, and refuses them in the answer.
func unreadableACL(numbers ...int8) bool { return slices.Contains(numbers, 0) }

// onlyInFilters says whether an ACL has a number that only filters may have: then Kafka fails, and with it the whole request.
func onlyInFilters(b acls.Binding) bool {
	return b.Type == acls.AnyResource || b.Pattern.Kind == acls.AnyPattern || b.Pattern.Kind == acls.Match ||
		b.Operation == acls.AnyOperation || b.Permission == acls.AnyPermission
}
