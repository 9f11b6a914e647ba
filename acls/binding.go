package acls

import (
	"cmp"
	"fmt"
	"strings"
)

// Pattern is which resources an ACL is about.
type Pattern struct {
	Type ResourceType
	Name string // a name, Wildcard, or with Prefixed what names begin with
	Kind PatternType
}

// Entry is whom an ACL matches, and what it says to them.
type Entry struct {
	Principal  string // "User:alice", or AnyPrincipal
	Host       string // an address as Java writes it, or Wildcard
	Operation  Operation
	Permission Permission
}

// Binding is one ACL. It is comparable: two equal bindings are the same ACL.
type Binding struct {
	Pattern
	Entry
}

// Compare orders bindings by resource, then by entry.
func (b Binding) Compare(o Binding) int {
	return cmp.Or(
		b.Pattern.Compare(o.Pattern),
		strings.Compare(b.Principal, o.Principal),
		strings.Compare(b.Host, o.Host),
		cmp.Compare(b.Operation, o.Operation),
		cmp.Compare(b.Permission, o.Permission),
	)
}

// Compare orders patterns by type, name and kind.
func (p Pattern) Compare(o Pattern) int {
	return cmp.Or(cmp.Compare(p.Type, o.Type), strings.Compare(p.Name, o.Name), cmp.Compare(p.Kind, o.Kind))
}

// Refusal says in Kafka's words why a binding cannot be an ACL; "" when it can.
func (b Binding) Refusal() string {
	switch {
	case b.Type == Cluster && b.Name != ClusterName:
		return fmt.Sprintf("The only valid name for the CLUSTER resource is %s", ClusterName)
	case b.Name == "":
		return "Invalid empty resource name"
	case b.Type < Topic || b.Type > User:
		return fmt.Sprintf("Invalid resourceType %s", b.Type)
	case b.Kind != Literal && b.Kind != Prefixed:
		return fmt.Sprintf("Invalid patternType %s", b.Kind)
	case b.Operation < All || b.Operation > TwoPhaseCommit:
		return fmt.Sprintf("Invalid operation %s", b.Operation)
	case b.Permission != Deny && b.Permission != Allow:
		return fmt.Sprintf("Invalid permissionType %s", b.Permission)
	case !strings.Contains(b.Principal, ":"):
		return fmt.Sprintf("Could not parse principal from `%s` (no colon is present separating the principal type from "+
			"the principal name)", b.Principal)
	}
	return ""
}

// Filter is which ACLs somebody asks for. A nil string matches any.
type Filter struct {
	Type       ResourceType
	Name       *string
	Kind       PatternType
	Principal  *string
	Host       *string
	Operation  Operation
	Permission Permission
}

// Refusal says in Kafka's words that one of the filter's numbers is none that it knows; "" when it knows all.
func (f Filter) Refusal() string {
	switch {
	case f.Type < AnyResource || f.Type > User || f.Kind < AnyPattern || f.Kind > Prefixed:
		return "Unknown patternFilter."
	case f.Operation < AnyOperation || f.Operation > TwoPhaseCommit || f.Permission < AnyPermission || f.Permission > Allow:
		return "Unknown entryFilter."
	}
	return ""
}

// Matches says whether the ACL is one of those asked for, whatever numbers and names a client sent.
//
//fuzz:parser class=body FuzzFilter
func (f Filter) Matches(b Binding) bool {
	return f.matchesPattern(b.Pattern) &&
		(f.Principal == nil || *f.Principal == b.Principal) &&
		(f.Host == nil || *f.Host == b.Host) &&
		(f.Operation == AnyOperation || f.Operation == b.Operation) &&
		(f.Permission == AnyPermission || f.Permission == b.Permission)
}

func (f Filter) matchesPattern(p Pattern) bool {
	switch {
	case f.Type != AnyResource && f.Type != p.Type:
		return false
	case f.Kind != AnyPattern && f.Kind != Match && f.Kind != p.Kind:
		return false
	case f.Name == nil:
		return true
	case f.Kind != Match:
		return *f.Name == p.Name
	case p.Kind == Prefixed:
		return strings.HasPrefix(*f.Name, p.Name)
	}
	return *f.Name == p.Name || p.Name == Wildcard
}
