package handlers

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/credentials"
	"doze/projections"
	"doze/sasl"
)

// Bounds of users (docs/limits.md).
const (
	maxScramUsers     = 100_000
	maxScramUserBytes = 128 << 20
	maxSalt           = 1024
	// maxScramAlterations is how many users one request alters, as in Kafka, where each is a record of its metadata log.
	maxScramAlterations = 10_000
)

// scramAlteration is what a request wants of one user.
type scramAlteration struct {
	user      string
	mechanism int8
	upsert    *kmsg.AlterUserSCRAMCredentialsRequestUpsertion // nil: a deletion
	ref       credentials.Ref
	refused   *refusal
}

// scramAlterations are a request's, one for each user, deletions first.
type scramAlterations struct {
	list     []*scramAlteration
	written  []credentials.Ref // files that no event named before
	replaced []credentials.Ref // files that no event names afterwards
}

// newScramAlterations gathers a request and looks at it before the state as it is now. Who stands in it twice is refused,
// unless what came first was refused already: that answer stays.
func newScramAlterations(req *kmsg.AlterUserSCRAMCredentialsRequest, state *projections.State) *scramAlterations {
	a := &scramAlterations{}
	named := map[string]*scramAlteration{}
	add := func(one *scramAlteration) {
		if first, twice := named[one.user]; twice {
			if first.refused == nil {
				first.refused = refuse(duplicateResource, "A user credential cannot be altered twice in the same request")
			}
			return
		}
		one.refused = one.check(state)
		named[one.user] = one
		a.list = append(a.list, one)
	}
	for _, d := range req.Deletions {
		add(&scramAlteration{user: d.Name, mechanism: d.Mechanism})
	}
	for i := range req.Upsertions {
		u := &req.Upsertions[i]
		add(&scramAlteration{user: u.Name, mechanism: u.Mechanism, upsert: u})
	}
	return a
}

// check refuses what cannot be done to the state. What is refused stays so, with its first reason.
func (a *scramAlterations) check(state *projections.State) {
	users, bytes := int64(state.ScramUsers.Len()), state.ScramUsers.Bytes()
	for _, one := range a.list {
		if one.refused != nil {
			continue
		}
		if one.refused = one.check(state); one.refused != nil || one.upsert == nil {
			continue
		}
		if _, had := state.ScramUsers.Get(one.user, one.mechanism); had {
			continue
		}
		users, bytes = users+1, bytes+projections.BytesOfScramUser(one.user)
		if users > maxScramUsers || bytes > maxScramUserBytes {
			one.refused = refuse(unacceptableCredential, fmt.Sprintf("This broker holds %d credentials of users, the most it takes. Delete some first.", state.ScramUsers.Len()))
		}
	}
}

func (one *scramAlteration) check(state *projections.State) *refusal {
	switch {
	case one.user == "":
		return refuse(unacceptableCredential, "Username must not be empty")
	case sasl.Hash(one.mechanism).Mechanism() == "":
		return refuse(unsupportedSASLMechanism, "Unknown SCRAM mechanism")
	case one.upsert == nil:
		if _, known := state.ScramUsers.Get(one.user, one.mechanism); !known {
			return refuse(resourceNotFound, "Attempt to delete a user credential that does not exist")
		}
		return nil
	case one.upsert.Iterations < sasl.IterationsMin:
		return refuse(unacceptableCredential, "Too few iterations")
	case one.upsert.Iterations > sasl.IterationsMax:
		return refuse(unacceptableCredential, "Too many iterations")
	}
	return one.checkSizes()
}

// checkSizes is not Kafka's, but for the empty password, of which its code cannot make a key.
func (one *scramAlteration) checkSizes() *refusal {
	switch {
	case len(one.user) > maxName:
		return refuse(unacceptableCredential, fmt.Sprintf("A user's name has at most %d bytes", maxName))
	case len(one.upsert.Salt) > maxSalt || len(one.upsert.SaltedPassword) > maxSalt:
		return refuse(unacceptableCredential, fmt.Sprintf("Salt and salted password have at most %d bytes", maxSalt))
	case len(one.upsert.SaltedPassword) == 0:
		return &refusal{code: unknownServerError}
	}
	return nil
}

// tooMany says whether there is more to do than one request may do: then none of it is done.
func (a *scramAlterations) tooMany() bool {
	n := 0
	for _, one := range a.list {
		if one.refused == nil {
			n++
		}
	}
	return n > maxScramAlterations
}

// refuseAll refuses everything, whatever was wrong with it.
func (a *scramAlterations) refuseAll(why *refusal) {
	for _, one := range a.list {
		one.refused = why
	}
}

// fail refuses what was not refused yet.
func (a *scramAlterations) fail(why *refusal) {
	for _, one := range a.list {
		if one.refused == nil {
			one.refused = why
		}
	}
}
