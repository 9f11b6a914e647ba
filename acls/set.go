package acls

import (
	"iter"
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
	all [User + 1]names // of every principal: does any ACL name the resource?
}

// sections has what one principal's ACLs say, and an index of them for each type of resource.
type sections struct {
	bindings []Binding // ascending
	index    [User + 1]index
}

// index finds the grants of one type of resource by name.
type index struct {
	literal  map[string][]grant
	wildcard []grant
	prefixes prefixes
}

// names are those that the ACLs of one type of resource name.
type names struct {
	literal  []string // ascending
	wildcard bool
	prefixes prefixes
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

// prefixes are ascending, each once.
type prefixes []prefix

// NewSet indexes bindings; their order does not matter.
func NewSet(bindings []Binding) *Set {
	sorted := slices.Clone(bindings)
	slices.SortFunc(sorted, Binding.Compare)
	return new(Set).Next(slices.Values(sorted))
}

// Next is the set of bindings that come in order. What is the same for a principal as in this set is not indexed again: ACLs change one
// by one, and everybody who asks waits for the index.
func (s *Set) Next(bindings iter.Seq[Binding]) *Set {
	next, of := &Set{of: make(map[string]*sections, len(s.of))}, make(map[string]*gathering, len(s.of))
	for t := range next.all {
		next.all[t].literal = make([]string, 0, len(s.all[t].literal))
		next.all[t].prefixes = make(prefixes, 0, len(s.all[t].prefixes))
	}
	for b := range bindings {
		if b.Type < Topic || b.Type > User {
			continue
		}
		own := of[b.Principal]
		if own == nil {
			own = &gathering{was: s.of[b.Principal]}
			of[b.Principal] = own
		}
		own.take(b)
		next.all[b.Type].add(b.Pattern)
	}
	for principal, own := range of {
		next.of[principal] = own.sections()
	}
	for t := range next.all {
		next.all[t].prefixes.link()
	}
	return next
}

// Empty says whether there is no ACL.
func (s *Set) Empty() bool { return len(s.of) == 0 }

// gathering are the ACLs of a principal as they come.
type gathering struct {
	was  *sections // in the set before; nil: there are none
	same int       // so many of its first bindings have come again
	own  []Binding // all that came, when something else has; else nil
}

func (g *gathering) take(b Binding) {
	if g.own == nil && g.was != nil && g.same < len(g.was.bindings) && g.was.bindings[g.same] == b {
		g.same++
		return
	}
	if g.own == nil && g.was != nil {
		g.own = append(make([]Binding, 0, len(g.was.bindings)+1), g.was.bindings[:g.same]...)
	}
	g.own = append(g.own, b)
}

func (g *gathering) sections() *sections {
	if g.own == nil {
		if g.same == len(g.was.bindings) {
			return g.was
		}
		g.own = slices.Clone(g.was.bindings[:g.same])
	}
	made := &sections{bindings: g.own}
	for _, b := range g.own {
		made.index[b.Type].add(b)
	}
	for t := range made.index {
		made.index[t].prefixes.link()
	}
	return made
}

// add takes a pattern; those of one type come in order.
func (n *names) add(p Pattern) {
	switch {
	case p.Kind == Prefixed:
		n.prefixes.last(p.Name)
	case p.Name == Wildcard:
		n.wildcard = true
	case len(n.literal) == 0 || n.literal[len(n.literal)-1] != p.Name:
		n.literal = append(n.literal, p.Name)
	}
}

// covers says whether any pattern matches the name.
func (n *names) covers(name string) bool {
	if n.wildcard {
		return true
	}
	_, found := slices.BinarySearch(n.literal, name)
	return found || n.prefixes.longest(name) >= 0
}

// last is the prefix of that name, which is added unless it is the last one.
func (p *prefixes) last(name string) *prefix {
	if n := len(*p); n == 0 || (*p)[n-1].name != name {
		*p = append(*p, prefix{name: name})
	}
	return &(*p)[len(*p)-1]
}

// add takes a binding; those of one index come in order, so that prefixes are ascending.
func (x *index) add(b Binding) {
	switch {
	case b.Kind == Prefixed:
		last := x.prefixes.last(b.Name)
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

// link finds the parents. Ascending, a prefix comes before what begins with it.
func (p prefixes) link() {
	for i := range p {
		parent := i - 1
		for parent >= 0 && !strings.HasPrefix(p[i].name, p[parent].name) {
			parent = p[parent].parent
		}
		p[i].parent = parent
	}
}

// longest is the longest prefix of the name among the patterns; -1: none.
func (p prefixes) longest(name string) int {
	low, high := 0, len(p) // the first that comes after the name
	for low < high {
		mid := int(uint(low+high) >> 1)
		if p[mid].name <= name {
			low = mid + 1
		} else {
			high = mid
		}
	}
	at := low - 1
	for at >= 0 && !strings.HasPrefix(name, p[at].name) {
		at = p[at].parent
	}
	return at
}

// ask collects what the patterns that match the name say to a host.
func (x *index) ask(name, host string) (allow, deny int32) {
	var sum grant
	sum.join(x.wildcard, host)
	if x.literal != nil {
		sum.join(x.literal[name], host)
	}
	if len(x.prefixes) > 0 {
		for at := x.prefixes.longest(name); at >= 0; at = x.prefixes[at].parent {
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
