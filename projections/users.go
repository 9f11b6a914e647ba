package projections

import (
	"cmp"
	"fmt"

	"doze/journal"
)

// ScramUser is a user's credential of one SCRAM mechanism, as the journal knows it: which it is, not what is in it.
type ScramUser struct {
	User       string
	Mechanism  int8
	Iterations int32
	Ref        [16]byte
}

func (u ScramUser) compare(v ScramUser) int {
	return cmp.Or(cmp.Compare(u.User, v.User), cmp.Compare(u.Mechanism, v.Mechanism))
}

// ScramUsers are the credentials by user, then mechanism.
type ScramUsers struct {
	tree  tree[ScramUser]
	bytes int64
}

func newScramUsers() ScramUsers {
	return ScramUsers{tree: newTree(func(a, b ScramUser) bool { return a.compare(b) < 0 })}
}

func (u *ScramUsers) clone() ScramUsers { return ScramUsers{u.tree.clone(), u.bytes} }

// Get gives a user's credential of a mechanism.
func (u ScramUsers) Get(user string, mechanism int8) (ScramUser, bool) {
	return u.tree.Get(ScramUser{User: user, Mechanism: mechanism})
}

// Of yields a user's credentials.
func (u ScramUsers) Of(user string, yield func(ScramUser) bool) {
	u.tree.AscendGreaterOrEqual(ScramUser{User: user}, func(c ScramUser) bool { return c.User == user && yield(c) })
}

// Each yields all credentials.
func (u ScramUsers) Each(yield func(ScramUser) bool) { u.tree.Ascend(yield) }

// Len counts the credentials.
func (u ScramUsers) Len() int { return u.tree.Len() }

// Bytes is what they are reckoned to take.
func (u ScramUsers) Bytes() int64 { return u.bytes }

const scramUserBytes = 512 // with the credential itself, which is in memory too

// BytesOfScramUser is what a credential of a user is reckoned to take.
func BytesOfScramUser(user string) int64 { return scramUserBytes + int64(len(user)) }

func (u *ScramUsers) put(c ScramUser) {
	if _, had := u.tree.ReplaceOrInsert(c); !had {
		u.bytes += BytesOfScramUser(c.User)
	}
}

// CredentialRefs yields the reference of every credential that the state names: what is not among them is an orphan.
func (s *State) CredentialRefs(yield func(ref [16]byte) bool) {
	s.ScramUsers.Each(func(c ScramUser) bool { return yield(c.Ref) })
}

// applyOfUser folds the events of this area; known is false for others.
func (s *State) applyOfUser(event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.ScramCredentialSet:
		s.ScramUsers.put(ScramUser(*e))
		return true, nil
	case *journal.ScramCredentialDeleted:
		if _, had := s.ScramUsers.tree.Delete(ScramUser{User: e.User, Mechanism: e.Mechanism}); !had {
			return true, fmt.Errorf("user %q has no credential of mechanism %d", e.User, e.Mechanism)
		}
		s.ScramUsers.bytes -= BytesOfScramUser(e.User)
		return true, nil
	}
	return false, nil
}

func (u ScramUser) encode(w *rowWriter) {
	w.string(u.User)
	w.int(int64(u.Mechanism))
	w.int(int64(u.Iterations))
	w.id(u.Ref)
}

var scramMechanisms = map[int8]string{1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}

// Fields leave out nothing: the reference tells nobody anything.
func (u ScramUser) Fields() []Field {
	return []Field{
		{"user", u.User}, {"mechanism", scramMechanisms[u.Mechanism]}, {"iterations", int64(u.Iterations)}, {"credential", ID(u.Ref).String()},
	}
}

func eachScramUser(s *State, yield func(row) bool) {
	s.ScramUsers.Each(func(u ScramUser) bool { return yield(u) })
}

func loadScramUser(s *State, r *rowReader) {
	user, mechanism := r.string(), r.int()
	if mechanism != int64(int8(mechanism)) {
		r.fail(errRowForm)
		return
	}
	s.ScramUsers.put(ScramUser{User: user, Mechanism: int8(mechanism), Iterations: r.int32(), Ref: r.id()})
}

// checkScramUsers holds each credential to what one can be.
func (s *State) checkScramUsers() (err error) {
	bytes := int64(0)
	s.ScramUsers.Each(func(u ScramUser) bool {
		bytes += BytesOfScramUser(u.User)
		if scramMechanisms[u.Mechanism] == "" || u.User == "" || u.Iterations <= 0 {
			err = fmt.Errorf("user %q: mechanism %d with %d iterations", u.User, u.Mechanism, u.Iterations)
		}
		return err == nil
	})
	if err == nil && bytes != s.ScramUsers.bytes {
		err = fmt.Errorf("bytes counted: users %d; there are %d", s.ScramUsers.bytes, bytes)
	}
	return err
}
