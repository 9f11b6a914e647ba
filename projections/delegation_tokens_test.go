package projections

import (
	"fmt"
	"slices"
	"testing"

	"doze/journal"
)

func tokenMade(id string) *journal.DelegationTokenCreated {
	return &journal.DelegationTokenCreated{ID: id, Owner: "User:alice", Requester: "User:bob", Renewers: []string{"User:carol"}, Issued: 1, Max: 30, Expiry: 20}
}

func TestDelegationTokensAreFolded(t *testing.T) {
	s := New()
	apply(t, s, tokenMade("b"), tokenMade("a"), &journal.DelegationTokenExpirySet{ID: "b", Expiry: 25}, &journal.DelegationTokenRemoved{ID: "a"}, tokenMade("c"))
	before := s.Clone()
	apply(t, s, &journal.DelegationTokenExpirySet{ID: "c", Expiry: 10})
	rows := func(s *State) (rows []string) {
		s.Dump("tokens", func(fields []Field) bool {
			rows = append(rows, fmt.Sprint(fields[0].Value, fields[1].Value, fields[3].Value, fields[6].Value))
			return true
		})
		return rows
	}
	if got, want := rows(s), []string{"bUser:alice[User:carol] 25", "cUser:alice[User:carol] 10"}; !slices.Equal(got, want) {
		t.Errorf("rows are %q, want %q", got, want)
	}
	if got := before.DelegationTokens.Get("c").Expiry; got != 20 {
		t.Errorf("a state that was cloned changes: %d", got)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestWhoMayDoWhatWithAToken(t *testing.T) {
	token := DelegationToken(*tokenMade("a"))
	for who, want := range map[string][2]bool{
		"User:alice": {true, true}, "User:bob": {false, true}, "User:carol": {true, true}, "User:dave": {}, "Group:alice": {},
	} {
		if got := [2]bool{token.MayRenew(who), token.Concerns(who)}; got != want {
			t.Errorf("%s: renews and sees %v, want %v", who, got, want)
		}
	}
	for now, want := range map[int64]bool{20: false, 21: true, 31: true} {
		if token.Expired(now) != want {
			t.Errorf("at %d expired: %v", now, !want)
		}
	}
}

func TestTokensThatAreNotThere(t *testing.T) {
	for _, e := range []journal.Event{&journal.DelegationTokenExpirySet{ID: "x", Expiry: 1}, &journal.DelegationTokenRemoved{ID: "x"}} {
		if err := New().Apply(1, 0, e); err == nil {
			t.Errorf("%T of a token that is not there is taken", e)
		}
	}
}

func TestBadDelegationTokensAreFound(t *testing.T) {
	for name, spoil := range map[string]func(*DelegationToken){
		"no id":             func(d *DelegationToken) { d.ID = "" },
		"no owner":          func(d *DelegationToken) { d.Owner = "" },
		"no requester":      func(d *DelegationToken) { d.Requester = "" },
		"outlives its life": func(d *DelegationToken) { d.Expiry = d.Max + 1 },
	} {
		s, token := New(), DelegationToken(*tokenMade("a"))
		spoil(&token)
		s.DelegationTokens.put(&token)
		if s.Check() == nil {
			t.Errorf("%s is not found", name)
		}
	}
	s := furnished(t)
	s.DelegationTokens.bytes++
	if s.Check() == nil {
		t.Error("a wrong count of bytes is not found")
	}
}
