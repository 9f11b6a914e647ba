package projections

import (
	"strings"
	"testing"

	"doze/acls"
	"doze/journal"
)

// aclEvents furnish the table of ACLs: one that comes, goes and comes again, and one that stays.
var aclEvents = []journal.Event{
	aclCreated("orders"),
	(*journal.AclDeleted)(aclCreated("orders")),
	aclCreated("orders"),
	&journal.AclCreated{Type: 3, Name: "team-", Pattern: 4, Principal: "User:bob", Host: "127.0.0.1", Operation: 2, Permission: 2},
}

func aclCreated(topic string) *journal.AclCreated {
	return &journal.AclCreated{Type: 2, Name: topic, Pattern: 3, Principal: "User:alice", Host: "*", Operation: 3, Permission: 3}
}

func TestACLsAreWhatWasCreatedAndNotDeleted(t *testing.T) {
	s := New()
	apply(t, s, aclEvents...)
	var shown []string
	s.Dump("acls", func(fields []Field) bool {
		line := ""
		for _, f := range fields {
			line += " " + f.Value.(string)
		}
		shown = append(shown, line)
		return true
	})
	want := " TOPIC orders LITERAL User:alice * READ ALLOW\n GROUP team- PREFIXED User:bob 127.0.0.1 ALL DENY"
	if got := strings.Join(shown, "\n"); got != want {
		t.Errorf("ACLs are\n%s\nwant\n%s", got, want)
	}
	if s.ACLs.Len() != 2 || s.ACLs.Bytes() != 2*aclBytes+int64(len("ordersUser:alice*")+len("team-User:bob127.0.0.1")) {
		t.Errorf("%d ACLs of %d bytes", s.ACLs.Len(), s.ACLs.Bytes())
	}
}

func TestACLEventsThatDoNotFit(t *testing.T) {
	s := New()
	apply(t, s, aclEvents...)
	bad := aclCreated("orders")
	bad.Permission = 1
	for _, c := range []struct {
		event journal.Event
		want  string
	}{
		{aclCreated("orders"), "there already"},
		{(*journal.AclDeleted)(aclCreated("other")), "not there"},
		{bad, "Invalid permissionType ANY"},
	} {
		if err := s.Clone().Apply(1, 1, c.event); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.event, err, c.want)
		}
	}
}

func TestCheckFindsBrokenACLs(t *testing.T) {
	for want, spoil := range map[string]func(s *State){
		"bytes counted: acls":       func(s *State) { s.ACLs.bytes++ },
		"Invalid resourceType ANY":  func(s *State) { s.ACLs.put(acls.Binding{Pattern: acls.Pattern{Type: acls.AnyResource, Name: "x"}}) },
		"Invalid permissionType AN": func(s *State) { b := bindingOf(aclCreated("x")); b.Permission = 1; s.ACLs.put(b) },
	} {
		s := furnished(t)
		spoil(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q not found: %v", want, err)
		}
	}
}

// TestACLsOfAClonedStateStay: a revision and a set of ACLs are a published state's own.
func TestACLsOfAClonedStateStay(t *testing.T) {
	s := New()
	apply(t, s, aclEvents...)
	before, published := s.ACLs.Revision(), s.Clone()
	apply(t, s, aclCreated("more"))
	if published.ACLs.Revision() != before || published.ACLs.Len() != 2 || s.ACLs.Revision() == before {
		t.Errorf("published: %d ACLs; working state: %d", published.ACLs.Len(), s.ACLs.Len())
	}
}
