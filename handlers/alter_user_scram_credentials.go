package handlers

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/credentials"
	"doze/journal"
	"doze/projections"
	"doze/sasl"
	"doze/wire"
)

// AlterUserScramCredentials (key 51), v0 (KIP-554): sets and deletes users' credentials of SCRAM.
//
// A user stands at most once in a request, whatever the mechanism. Each user is answered; what is valid is done though
// others are not, unless there is too much of it. The client sends the salted password. What is kept of it is written to a file before the event
// that names it: no journal holds a credential.
//
// Kafka asks for ALTER on CLUSTER; refused, every user of the request is answered CLUSTER_AUTHORIZATION_FAILED.
func (b *Broker) alterUserScramCredentials(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AlterUserSCRAMCredentialsRequest)
	resp := respond[*kmsg.AlterUserSCRAMCredentialsResponse](r)
	state, _ := b.view()
	a := newScramAlterations(req, state)
	a.check(state)
	if a.tooMany() {
		a.refuseAll(&refusal{code: unknownServerError})
	} else {
		b.alterScramUsers(ctx, r, a)
	}
	for _, one := range a.list {
		result := kmsg.NewAlterUserSCRAMCredentialsResponseResult()
		result.User = one.user
		if one.refused != nil {
			result.ErrorCode, result.ErrorMessage = one.refused.code, one.refused.message
		}
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

// alterScramUsers writes files, makes the entry that names them, and removes the files that nothing names any more.
func (b *Broker) alterScramUsers(ctx context.Context, r *wire.Request, a *scramAlterations) {
	err := a.write(b.credentials)
	if err == nil {
		err = b.update(ctx, r, a.decide)
	}
	unwanted := a.replaced
	if err != nil {
		b.log.Error("users could not be altered", "error", err)
		a.fail(storageRefusal(err))
		unwanted = a.written
	}
	if errors.Is(err, journal.ErrPoisoned) {
		return // whether the entry is on the disk is not known: the next start will see
	}
	if err := b.credentials.Remove(unwanted...); err != nil {
		b.log.Warn("credentials that are no longer used could not be removed; the next start tries again", "error", err)
	}
}

// SCRAMUser is the credential of a user of the journal, which knows the user or not. nil: its file is missing or damaged, and
// nobody is let in.
func (b *Broker) SCRAMUser(h sasl.Hash, name string) (c *sasl.Credential, known bool) {
	for tried := (credentials.Ref{}); ; {
		state, _ := b.view()
		user, known := state.ScramUsers.Get(name, int8(h))
		if !known {
			return nil, false
		}
		body, kept := b.credentials.Get(user.Ref)
		if verifier, err := sasl.DecodeVerifier(body); kept && err == nil {
			return &sasl.Credential{Verifier: verifier, Who: sasl.Identity{Principal: sasl.UserPrincipal(name)}}, true
		}
		if tried == user.Ref {
			return nil, true
		}
		tried = user.Ref // it may have been replaced since the state was looked at
	}
}

// write puts the credentials of what is not refused on the disk.
func (a *scramAlterations) write(store *credentials.Store) (err error) {
	var set []*scramAlteration
	var bodies [][]byte
	for _, one := range a.list {
		if u := one.upsert; one.refused == nil && u != nil {
			set = append(set, one)
			bodies = append(bodies, sasl.Hash(u.Mechanism).OfSalted(u.SaltedPassword, u.Salt, u.Iterations).Encode())
		}
	}
	if len(bodies) == 0 {
		return nil
	}
	a.written, err = store.PutAll(bodies)
	for i, ref := range a.written {
		set[i].ref = ref
	}
	return err
}

// decide looks again at what may have changed meanwhile, and emits what is left. Replaced are the files of what
// was there before, and those that it did not come to name.
func (a *scramAlterations) decide(tx *tx) {
	a.check(tx.State)
	a.replaced = nil
	for _, one := range a.list {
		if one.refused != nil {
			if one.ref != (credentials.Ref{}) {
				a.replaced = append(a.replaced, one.ref)
			}
			continue
		}
		if old, had := tx.State.ScramUsers.Get(one.user, one.mechanism); had {
			a.replaced = append(a.replaced, old.Ref)
		}
		if one.upsert == nil {
			tx.Emit(&journal.ScramCredentialDeleted{User: one.user, Mechanism: one.mechanism})
			continue
		}
		tx.Emit(&journal.ScramCredentialSet{User: one.user, Mechanism: one.mechanism, Iterations: one.upsert.Iterations, Ref: one.ref})
	}
}

// SweepCredentials removes files that the state does not name: a crash came before their event, or after that of their
// successor. It gives what the state names and is not there.
func SweepCredentials(state *projections.State, store *credentials.Store) (missing []credentials.Ref, err error) {
	named := map[credentials.Ref]bool{}
	state.CredentialRefs(func(ref [16]byte) bool {
		named[ref] = true
		if _, kept := store.Get(ref); !kept {
			missing = append(missing, ref)
		}
		return true
	})
	_, err = store.Sweep(named)
	return missing, err
}
