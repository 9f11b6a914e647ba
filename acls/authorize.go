package acls

// Rules are what holds beside the ACLs, from the broker's start on.
type Rules struct {
	SuperUsers  map[string]bool // principals that may do anything
	AllowIfNone bool            // what is permitted on a resource that no ACL matches: everything, or nothing
}

// Caller is who wants to do something.
type Caller struct {
	Principal string // "User:alice"
	Host      string // the address that it comes from, as Java writes it
}

// Authorize says whether the caller may do the operation (not All) on the resource of that name.
func (s *Set) Authorize(rules *Rules, who Caller, o Operation, t ResourceType, name string) bool {
	return s.permitted(rules, who, t, name)&(1<<o) != 0
}

// Permitted gives the operations of the resource's type that the caller may do, as the bit field of the protocol.
func (s *Set) Permitted(rules *Rules, who Caller, t ResourceType, name string) int32 {
	return s.permitted(rules, who, t, name) & Bits(Operations(t)...)
}

func (s *Set) permitted(rules *Rules, who Caller, t ResourceType, name string) int32 {
	if rules.SuperUsers[who.Principal] {
		return everything
	}
	var allow, deny int32
	for _, principal := range [...]string{who.Principal, AnyPrincipal} {
		if own := s.of[principal]; own != nil {
			a, d := own.index[t].ask(name, who.Host)
			allow, deny = allow|a, deny|d
		}
	}
	if rules.AllowIfNone && allow|deny == 0 && !s.all[t].covers(name) {
		return everything
	}
	return allow &^ deny
}

// AuthorizeAny says whether there is any resource of a type on which the caller may do the operation. What implies that a
// thing may be described does not count here.
func (s *Set) AuthorizeAny(rules *Rules, who Caller, o Operation, t ResourceType) bool {
	if s.Authorize(rules, who, o, t, "hardcode") { // as Kafka does: a name like any other
		return true
	}
	own, anybody := s.of[who.Principal], s.of[AnyPrincipal]
	var of []*index
	for _, section := range []*sections{own, anybody} {
		if section != nil {
			of = append(of, &section.index[t])
		}
	}
	q := question{of: of, host: who.Host, bit: 1 << o}
	switch {
	case q.anyGrant(func(x *index) []grant { return x.wildcard }, denies):
		return false
	case q.anyGrant(func(x *index) []grant { return x.wildcard }, allows):
		return true
	}
	return q.allowedSomewhere()
}

// question is one of AuthorizeAny: an operation's bit, from a host, of the indexes that concern the caller.
type question struct {
	of   []*index
	host string
	bit  int32
}

func denies(g grant) int32 { return g.deny }
func allows(g grant) int32 { return g.allow }

// anyGrant says whether one of the grants that each index gives has the bit.
func (q *question) anyGrant(grants func(*index) []grant, side func(grant) int32) bool {
	for _, x := range q.of {
		var sum grant
		sum.join(grants(x), q.host)
		if side(sum)&q.bit != 0 {
			return true
		}
	}
	return false
}

// allowedSomewhere looks for a pattern that is allowed and that no denied pattern covers as a whole.
func (q *question) allowedSomewhere() bool {
	for _, x := range q.of {
		for name, grants := range x.literal {
			if q.has(grants, allows) && !q.deniedLiteral(name) && !q.deniedPrefix(name) {
				return true
			}
		}
		for _, p := range x.prefixes {
			if q.has(p.grants, allows) && !q.deniedPrefix(p.name) {
				return true
			}
		}
	}
	return false
}

func (q *question) has(grants []grant, side func(grant) int32) bool {
	var sum grant
	sum.join(grants, q.host)
	return side(sum)&q.bit != 0
}

func (q *question) deniedLiteral(name string) bool {
	return q.anyGrant(func(x *index) []grant { return x.literal[name] }, denies)
}

// deniedPrefix says whether a denied prefix covers the name.
func (q *question) deniedPrefix(name string) bool {
	for _, x := range q.of {
		for at := x.prefixes.longest(name); at >= 0; at = x.prefixes[at].parent {
			if q.has(x.prefixes[at].grants, denies) {
				return true
			}
		}
	}
	return false
}
