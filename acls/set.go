package acls

import (
	"slices"
	"strings"
)

// Set is an immutable set of ACLs, indexed for Authorize.
//
// ACLs are found by principal first: however many there are for others, who asks meets only their own and those for
// anybody. Entries that differ in nothing but operation and permission are one grant of two bit fields, so that one look
// tells all operations at once.
type Set struct {
	of  map[string]*sections
	all sections // of every principal: does any ACL name the resource?
}

// sections has an index for each type of resource.
type sections [User + 1]index

// index finds the grants of one type of resource by name.
type index struct {
	literal  map[string][]grant
	wildcard []grant
	prefixes []prefix // ascending
}

// grant is what some ACLs of one pattern say to one principal on one host: bits of operations.
type grant struct {
	host        string
	allow, deny int32
}

// prefix is a pattern of type Prefixed. Its parent is the longest other one that its name begins with: every prefix of a
// name is found from the greatest that does not come after the name, upwards.
type prefix struct {
	name   string
	grants []grant
	parent int // index; -1: none
}

// NewSet indexes bindings; their order does not matter.
func NewSet(bindings []Binding) *Set {
	sorted := slices.Clone(bindings)
	slices.SortFunc(sorted, Binding.Compare)
	s := &Set{of: map[string]*sections{}}
	for _, b := range sorted {
		if b.Type < Topic || b.Type > User {
			continue
		}
		own := s.of[b.Principal]
		if own == nil {
			own = &sections{}
			s.of[b.Principal] = own
		}
		own[b.Type].add(b)
		named := b
		named.Entry = Entry{} // one grant that says nothing: only that there is an ACL
		s.all[b.Type].add(named)
	}
	for _, own := range s.of {
		own.link()
	}
	s.all.link()
	return s
}

// add takes a binding; those of one index come in order, so that prefixes are ascending.
func (x *index) add(b Binding) {
	switch {
	case b.Kind == Prefixed:
		if n := len(x.prefixes); n == 0 || x.prefixes[n-1].name != b.Name {
			x.prefixes = append(x.prefixes, prefix{name: b.Name})
		}
		last := &x.prefixes[len(x.prefixes)-1]
		last.grants = granted(last.grants, b.Entry)
	case b.Name == Wildcard:
		x.wildcard = granted(x.wildcard, b.Entry)
	default:
		if x.literal == nil {
			x.literal = map[string][]grant{}
		}
		x.literal[b.Name] = granted(x.literal[b.Name], b.Entry)
	}
}

// granted adds an entry to the grant of its host. Entries come in the order of hosts, and so grants are in it.
func granted(grants []grant, e Entry) []grant {
	if n := len(grants); n == 0 || grants[n-1].host != e.Host {
		grants = append(grants, grant{host: e.Host})
	}
	last := &grants[len(grants)-1]
	switch e.Permission {
	case Deny:
		last.deny |= denied(e.Operation)
	case Allow:
		last.allow |= allowed(e.Operation)
	}
	return grants
}

const everything = int32(1<<(TwoPhaseCommit+1) - 1<<Read)

// denied are the operations that a deny of an operation refuses: no other than that one, or all.
func denied(o Operation) int32 {
	if o == All {
		return everything
	}
	return 1 << o
}

// allowed are the operations that an allow of an operation permits: some imply that the thing may be described.
func allowed(o Operation) int32 {
	switch o {
	case All:
		return everything
	case Read, Write, Delete, Alter:
		return 1<<o | 1<<Describe
	case AlterConfigs:
		return 1<<o | 1<<DescribeConfigs
	}
	return 1 << o
}

// link finds the parents of prefixes. Ascending, a prefix comes before what begins with it.
func (s *sections) link() {
	for t := range s {
		prefixes := s[t].prefixes
		for i := range prefixes {
			parent := i - 1
			for parent >= 0 && !strings.HasPrefix(prefixes[i].name, prefixes[parent].name) {
				parent = prefixes[parent].parent
			}
			prefixes[i].parent = parent
		}
	}
}

// longest is the longest prefix of the name among the patterns; -1: none.
func (x *index) longest(name string) int {
	low, high := 0, len(x.prefixes) // the first that comes after the name
	for low < high {
		mid := int(uint(low+high) >> 1)
		if x.prefixes[mid].name <= name {
			low = mid + 1
		} else {
			high = mid
		}
	}
	at := low - 1
	for at >= 0 && !strings.HasPrefix(name, x.prefixes[at].name) {
		at = x.prefixes[at].parent
	}
	return at
}

// covers says whether any pattern matches the name.
func (x *index) covers(name string) bool {
	return len(x.wildcard) > 0 || x.literal[name] != nil || x.longest(name) >= 0
}

// ask collects what the patterns that match the name say to a host.
func (x *index) ask(name, host string) (allow, deny int32) {
	var sum grant
	sum.join(x.wildcard, host)
	if x.literal != nil {
		sum.join(x.literal[name], host)
	}
	if len(x.prefixes) > 0 {
		for at := x.longest(name); at >= 0; at = x.prefixes[at].parent {
			sum.join(x.prefixes[at].grants, host)
		}
	}
	return sum.allow, sum.deny
}

// join adds the grants that hold for a host: at most two of them, in the order of hosts.
func (g *grant) join(grants []grant, host string) {
	if len(grants) == 0 {
		return
	}
	g.joinHost(grants, Wildcard)
	if host != Wildcard {
		g.joinHost(grants, host)
	}
}

func (g *grant) joinHost(grants []grant, host string) {
	at, found := 0, len(grants) == 1 && grants[0].host == host
	if len(grants) > 1 {
		at, found = slices.BinarySearchFunc(grants, host, func(g grant, host string) int { return strings.Compare(g.host, host) })
	}
	if found {
		g.allow |= grants[at].allow
		g.deny |= grants[at].deny
	}
}
