package acls

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// naive answers as the authorizer is documented, looking at each ACL.
type naive struct {
	bindings []Binding
	rules    *Rules
}

func (n naive) authorize(who Caller, o Operation, t ResourceType, name string) bool {
	if n.rules.SuperUsers[who.Principal] {
		return true
	}
	named, allow := false, false
	for _, b := range n.bindings {
		if b.Type != t || !covers(b.Pattern, name) {
			continue
		}
		named = true
		if b.Principal != who.Principal && b.Principal != "User:*" || b.Host != who.Host && b.Host != "*" {
			continue
		}
		switch {
		case b.Permission == Deny && (b.Operation == o || b.Operation == All):
			return false
		case b.Permission == Allow && (b.Operation == o || b.Operation == All || implies(b.Operation, o)):
			allow = true
		}
	}
	return allow || !named && n.rules.AllowIfNone
}

func covers(p Pattern, name string) bool {
	if p.Kind == Prefixed {
		return strings.HasPrefix(name, p.Name)
	}
	return p.Name == name || p.Name == "*"
}

func implies(have, want Operation) bool {
	switch want {
	case Describe:
		return have == Read || have == Write || have == Delete || have == Alter
	case DescribeConfigs:
		return have == AlterConfigs
	}
	return false
}

// authorizeAny follows KIP-679: an allowed pattern counts that no denied one covers.
func (n naive) authorizeAny(who Caller, o Operation, t ResourceType) bool {
	if n.authorize(who, o, t, "hardcode") {
		return true
	}
	var allow, deny []Pattern
	for _, b := range n.bindings {
		mine := (b.Principal == who.Principal || b.Principal == "User:*") && (b.Host == who.Host || b.Host == "*")
		if b.Type != t || !mine || b.Operation != o && b.Operation != All {
			continue
		}
		if b.Permission == Deny {
			deny = append(deny, b.Pattern)
		} else {
			allow = append(allow, b.Pattern)
		}
	}
	anything := Pattern{t, "*", Literal}
	if slices.Contains(deny, anything) {
		return false
	}
	return slices.ContainsFunc(allow, func(a Pattern) bool {
		return a == anything || !slices.ContainsFunc(deny, func(d Pattern) bool {
			return d == a || d.Kind == Prefixed && strings.HasPrefix(a.Name, d.Name)
		})
	})
}

var (
	modelNames      = []string{"*", "a", "ab", "abc", "abd", "b", "ba", "hardcode", "hard", "a*", "Z", "abcd", "aa", "äb"}
	modelPrincipals = []string{"User:*", "User:alice", "User:bob", "Group:alice", "User:"}
	modelHosts      = []string{"*", "127.0.0.1", "10.0.0.1", "0:0:0:0:0:0:0:1", "!"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func randomBinding(r *rand.Rand) Binding {
	b := Binding{
		Pattern{Topic + ResourceType(r.IntN(3)), pick(r, modelNames), Literal + PatternType(r.IntN(2))},
		Entry{pick(r, modelPrincipals), pick(r, modelHosts), All + Operation(r.IntN(14)), Deny + Permission(r.IntN(2))},
	}
	if r.IntN(4) > 0 { // mostly allows, else everything is refused
		b.Permission = Allow
	}
	return b
}

// TestSetAgreesWithTheModel adds and removes ACLs, some again and again, and asks everything after each step.
func TestSetAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 7))
		rules := &Rules{SuperUsers: map[string]bool{"User:": seed%5 == 0}, AllowIfNone: seed%2 == 0}
		var have, gone []Binding
		for range 40 {
			switch {
			case len(have) > 0 && r.IntN(3) == 0:
				at := r.IntN(len(have))
				gone = append(gone, have[at])
				have = slices.Delete(have, at, at+1)
			case len(gone) > 0 && r.IntN(3) == 0:
				if b := pick(r, gone); !slices.Contains(have, b) {
					have = append(have, b)
				}
			default:
				if b := randomBinding(r); !slices.Contains(have, b) {
					have = append(have, b)
				}
			}
			agree(t, r, seed, have, rules)
		}
	}
}

func agree(t *testing.T, r *rand.Rand, seed uint64, have []Binding, rules *Rules) {
	t.Helper()
	set, model := NewSet(have), naive{have, rules}
	for range 60 {
		who := Caller{pick(r, modelPrincipals[1:]), pick(r, modelHosts[1:])}
		o, kind, name := Read+Operation(r.IntN(13)), Topic+ResourceType(r.IntN(3)), pick(r, modelNames)
		if got, want := set.Authorize(rules, who, o, kind, name), model.authorize(who, o, kind, name); got != want {
			t.Fatalf("seed %d: Authorize(%v, %v, %v, %q) = %v, the model says %v; ACLs %v", seed, who, o, kind, name, got, want, have)
		}
		if o == Describe || o == DescribeConfigs {
			continue // what implies them does not count for a whole type
		}
		if got, want := set.AuthorizeAny(rules, who, o, kind), model.authorizeAny(who, o, kind); got != want {
			t.Fatalf("seed %d: AuthorizeAny(%v, %v, %v) = %v, the model says %v; ACLs %v", seed, who, o, kind, got, want, have)
		}
	}
}

// TestNextIsNewSet: however ACLs come and go, the index is the one that is made at once; what did not change is not made again.
func TestNextIsNewSet(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		var have []Binding
		set := new(Set)
		for step := range 100 {
			for range 1 + r.IntN(3) {
				if b := randomBinding(r); len(have) > 0 && r.IntN(3) == 0 {
					i := r.IntN(len(have))
					have = slices.Delete(have, i, i+1)
				} else if !slices.Contains(have, b) {
					have = append(have, b)
				}
			}
			slices.SortFunc(have, Binding.Compare)
			before := set
			set = set.Next(slices.Values(have))
			if want := NewSet(have); !reflect.DeepEqual(set, want) {
				t.Fatalf("seed %d, step %d: %+v, want %+v", seed, step, set, want)
			}
			for principal, own := range set.of {
				if was := before.of[principal]; was != nil && slices.Equal(was.bindings, own.bindings) != (was == own) {
					t.Fatalf("seed %d, step %d: the ACLs of %s are the same: %v", seed, step, principal, was != own)
				}
			}
		}
	}
}

func TestPermittedIsAuthorizeOfEachOperation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var have []Binding
	for range 60 {
		have = append(have, randomBinding(r))
	}
	set, rules := NewSet(have), &Rules{}
	for _, kind := range []ResourceType{Topic, Group, Cluster} {
		for _, name := range modelNames {
			who, want := Caller{"User:alice", "127.0.0.1"}, int32(0)
			for _, o := range Operations(kind) {
				if set.Authorize(rules, who, o, kind, name) {
					want |= Bits(o)
				}
			}
			if got := set.Permitted(rules, who, kind, name); got != want {
				t.Errorf("Permitted(%v, %q) = %b, the operations one by one give %b", kind, name, got, want)
			}
		}
	}
}

// FuzzSuperUsers takes any text apart; what it takes is trimmed, not empty, and the same when it is joined again.
func FuzzSuperUsers(f *testing.F) {
	f.Add("User:a;User:b")
	f.Add(" ; Group:x:y;;")
	f.Fuzz(func(t *testing.T, value string) {
		users := SuperUsers(value)
		if again := SuperUsers(strings.Join(users, ";")); !slices.Equal(users, again) {
			t.Errorf("%q: %q, then %q", value, users, again)
		}
		if slices.Contains(users, "") {
			t.Errorf("%q has an empty user", value)
		}
	})
}

// FuzzFilter holds filters to what they are said to match, and to never failing.
func FuzzFilter(f *testing.F) {
	f.Add(int8(2), "a", int8(4), "User:a", "*", int8(3), int8(3), int8(2), "abc", int8(2), true)
	f.Fuzz(func(t *testing.T, kind int8, name string, pattern int8, principal, host string, o, permission int8, fKind int8, fName string, fPattern int8, named bool) {
		b := Binding{Pattern{ResourceType(kind), name, PatternType(pattern)}, Entry{principal, host, Operation(o), Permission(permission)}}
		filter := Filter{Type: ResourceType(fKind), Kind: PatternType(fPattern), Operation: AnyOperation, Permission: AnyPermission}
		if named {
			filter.Name = &fName
		}
		matches := filter.Matches(b)
		if b.Refusal() != "" {
			return
		}
		typed := filter.Type == AnyResource || filter.Type == b.Type
		if !named && filter.Kind <= Match && filter.Kind >= AnyPattern && matches != typed {
			t.Errorf("%v without a name matches %v: %v", filter, b, matches)
		}
		if named && filter.Kind == Match && matches != (typed && covers(b.Pattern, fName)) {
			t.Errorf("%v matches %v: %v", filter, b, matches)
		}
	})
}
