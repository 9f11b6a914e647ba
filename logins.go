package doze

import (
	"fmt"
	"time"

	"doze/credentials"
	"doze/handlers"
	"doze/sasl"
	"doze/wire"
)

// gate is what stands before a listener's requests; nil where nobody logs in.
func (b *Broker) gate(l Listener) (wire.Gate, error) {
	if !b.opt.asksForLogin(l) {
		return nil, nil
	}
	reauth := map[string]time.Duration{}
	var mechanisms []sasl.Mechanism
	for _, name := range b.opt.mechanismsOf(l) {
		m, err := b.mechanism(l, name)
		if err != nil {
			return nil, err
		}
		if reauth[name], err = b.opt.maxReauth(l, name); err != nil {
			return nil, err
		}
		mechanisms = append(mechanisms, m)
	}
	return handlers.NewGate(handlers.Logins{
		Mechanisms:   mechanisms,
		MaxReauth:    func(mechanism string) time.Duration { return reauth[mechanism] },
		FailureDelay: time.Duration(b.static.Int("connection.failed.authentication.delay.ms")) * time.Millisecond,
	}), nil
}

func (b *Broker) mechanism(l Listener, name string) (sasl.Mechanism, error) {
	switch name {
	case "PLAIN":
		users, err := b.opt.plainUsers(l)
		return sasl.NewPlain(users), err
	case sasl.SHA256.Mechanism():
		return b.scram(sasl.SHA256)
	case sasl.SHA512.Mechanism():
		return b.scram(sasl.SHA512)
	}
	if name == mechanismOAuth {
		return b.oauth(l)
	}
	return nil, fmt.Errorf("mechanism %s is not known", name)
}

// scram lets in whom the journal knows, then the users that the broker was started with: who has changed a password for
// good has changed it.
func (b *Broker) scram(h sasl.Hash) (*sasl.SCRAM, error) {
	secret, err := b.secrets.Decoy()
	if err != nil {
		return nil, inDir(b.fs, err)
	}
	decoy := sasl.Decoy(secret)
	started := make(map[string]sasl.Credential, len(b.opt.Users))
	for name, password := range b.opt.Users {
		who := sasl.Identity{Principal: sasl.UserPrincipal(name)}
		if started[name], err = h.OfUser(password, decoy.Salt(h, name), sasl.IterationsMin, who); err != nil {
			return nil, err
		}
	}
	tokens := func(id string) (sasl.Credential, bool) { return b.handlers.TokenUser(h, id) }
	return &sasl.SCRAM{Hash: h, Decoy: decoy, Tokens: tokens, Users: func(name string) (sasl.Credential, bool) {
		if c, known := b.handlers.SCRAMUser(h, name); c != nil {
			return *c, true
		} else if known { // the password that it was started with is one that was replaced
			return sasl.Credential{}, false
		}
		c, known := started[name]
		return c, known
	}}, nil
}

// openCredentials reads what lets users in, and removes what a crash left that nobody is let in by.
func (b *Broker) openCredentials() error {
	store, err := credentials.Open(b.fs, credentialsDir)
	if err != nil {
		return inDir(b.fs, err)
	}
	state, _ := b.store.View()
	missing, err := handlers.SweepCredentials(state, store)
	if err != nil {
		return inDir(b.fs, err)
	}
	for _, ref := range missing {
		b.opt.Logger.Warn("a credential that the journal names is missing or damaged: nobody is let in by it; set it again", "credential", ref)
	}
	b.secrets = store
	return nil
}
