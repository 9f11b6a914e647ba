package projections

import (
	"fmt"
	"slices"

	"doze/journal"
)

// DelegationToken is a token as the journal knows it: without its secret. It is immutable. Principals are TYPE:NAME, times
// milliseconds.
type DelegationToken struct {
	ID        string
	Owner     string
	Requester string
	Renewers  []string
	Issued    int64
	Max       int64
	Expiry    int64
}

// Expired says whether the token is past its end.
func (t *DelegationToken) Expired(now int64) bool { return t.Max < now || t.Expiry < now }

// MayRenew says whether a principal may renew the token and end it.
func (t *DelegationToken) MayRenew(principal string) bool {
	return t.Owner == principal || slices.Contains(t.Renewers, principal)
}

// Concerns says whether the token is a principal's in any way.
func (t *DelegationToken) Concerns(principal string) bool {
	return t.MayRenew(principal) || t.Requester == principal
}

const delegationTokenBytes = 1024 // with what is kept of it in memory to let it in

// Bytes is what the token is reckoned to take.
func (t *DelegationToken) Bytes() int64 {
	return delegationTokenBytes + int64(len(t.ID)+len(t.Owner)+len(t.Requester)) + bytesOfNames(t.Renewers)
}

// DelegationTokens are the tokens by id.
type DelegationTokens struct {
	tree  tree[*DelegationToken]
	bytes int64
}

func newDelegationTokens() DelegationTokens {
	return DelegationTokens{tree: newTree(func(a, b *DelegationToken) bool { return a.ID < b.ID })}
}

func (t *DelegationTokens) clone() DelegationTokens { return DelegationTokens{t.tree.clone(), t.bytes} }

// Get gives a token; nil when there is none.
func (t DelegationTokens) Get(id string) *DelegationToken {
	found, _ := t.tree.Get(&DelegationToken{ID: id})
	return found
}

// Each yields all tokens.
func (t DelegationTokens) Each(yield func(*DelegationToken) bool) { t.tree.Ascend(yield) }

// Len counts the tokens.
func (t DelegationTokens) Len() int { return t.tree.Len() }

// Bytes is what they are reckoned to take.
func (t DelegationTokens) Bytes() int64 { return t.bytes }

func (t *DelegationTokens) put(token *DelegationToken) {
	if old, had := t.tree.ReplaceOrInsert(token); had {
		t.bytes -= old.Bytes()
	}
	t.bytes += token.Bytes()
}

// applyOfToken folds the events of this area; known is false for others.
func (s *State) applyOfToken(event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.DelegationTokenCreated:
		token := DelegationToken(*e)
		s.DelegationTokens.put(&token)
		return true, nil
	case *journal.DelegationTokenExpirySet:
		old := s.DelegationTokens.Get(e.ID)
		if old == nil {
			return true, fmt.Errorf("there is no delegation token %q", e.ID)
		}
		token := *old
		token.Expiry = e.Expiry
		s.DelegationTokens.put(&token)
		return true, nil
	case *journal.DelegationTokenRemoved:
		old, had := s.DelegationTokens.tree.Delete(&DelegationToken{ID: e.ID})
		if !had {
			return true, fmt.Errorf("there is no delegation token %q", e.ID)
		}
		s.DelegationTokens.bytes -= old.Bytes()
		return true, nil
	}
	return false, nil
}

func (t *DelegationToken) encode(w *rowWriter) {
	w.string(t.ID)
	w.string(t.Owner)
	w.string(t.Requester)
	w.uint(uint64(len(t.Renewers)))
	for _, r := range t.Renewers {
		w.string(r)
	}
	w.int(t.Issued)
	w.int(t.Max)
	w.int(t.Expiry)
}

// Fields show the token, which is no secret.
func (t *DelegationToken) Fields() []Field {
	return []Field{
		{"token", t.ID}, {"owner", t.Owner}, {"requester", t.Requester}, {"renewers", slices.Clone(t.Renewers)},
		{"issued", t.Issued}, {"max", t.Max}, {"expiry", t.Expiry},
	}
}

func eachDelegationToken(s *State, yield func(row) bool) {
	s.DelegationTokens.Each(func(t *DelegationToken) bool { return yield(t) })
}

func loadDelegationToken(s *State, r *rowReader) {
	t := &DelegationToken{ID: r.string(), Owner: r.string(), Requester: r.string()}
	for range r.count() {
		t.Renewers = append(t.Renewers, r.string())
	}
	t.Issued, t.Max, t.Expiry = r.int(), r.int(), r.int()
	s.DelegationTokens.put(t)
}

// checkDelegationTokens holds each token to what one can be.
func (s *State) checkDelegationTokens() (err error) {
	bytes := int64(0)
	s.DelegationTokens.Each(func(t *DelegationToken) bool {
		bytes += t.Bytes()
		if t.ID == "" || t.Owner == "" || t.Requester == "" || t.Expiry > t.Max {
			err = fmt.Errorf("delegation token %q of %q: requester %q, expires at %d of %d", t.ID, t.Owner, t.Requester, t.Expiry, t.Max)
		}
		return err == nil
	})
	if err == nil && bytes != s.DelegationTokens.bytes {
		err = fmt.Errorf("bytes counted: delegation tokens %d; there are %d", s.DelegationTokens.bytes, bytes)
	}
	return err
}
