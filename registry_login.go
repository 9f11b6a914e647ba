package doze

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"doze/certs"
	"doze/sasl"
)

// passwords checks names, passwords and tokens outside Kafka's protocol: those that open a listener, by a mechanism that it has.
type passwords struct {
	plain   []*sasl.Plain
	scram   []*sasl.SCRAM
	bearers []*sasl.OAuthBearer // tokens, which are taken instead
	working chan struct{}       // has room for the checks that are worked on at a time

	mu    sync.Mutex
	key   [32]byte
	known map[[32]byte]bool // what was right before, for a password's check takes milliseconds
}

// knownMax bounds what is remembered.
const knownMax = 1000

func (b *Broker) newPasswords() (*passwords, error) {
	p := &passwords{bearers: b.bearers, working: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), known: map[[32]byte]bool{}}
	rand.Read(p.key[:])
	enabled := map[string]bool{}
	for _, l := range b.opt.Listeners {
		if !b.opt.asksForLogin(l) {
			continue
		}
		mechanisms := b.opt.mechanismsOf(l)
		for _, name := range mechanisms {
			enabled[name] = true
		}
		if !slices.Contains(mechanisms, "PLAIN") {
			continue
		}
		users, err := b.opt.plainUsers(l)
		if err != nil {
			return nil, err
		}
		p.plain = append(p.plain, sasl.NewPlain(users))
	}
	for _, h := range sasl.Hashes {
		if !enabled[h.Mechanism()] {
			continue
		}
		m, err := b.scram(h)
		if err != nil {
			return nil, err
		}
		p.scram = append(p.scram, m)
	}
	if len(p.plain)+len(p.scram) == 0 { // no listener has a mechanism of passwords: then users are the registry's alone
		p.plain = append(p.plain, sasl.NewPlain(b.opt.Users))
	}
	return p, nil
}

// fit says whether it is the user's password. A name that nobody has costs what a wrong password does.
func (p *passwords) fit(user, password string) bool {
	for _, plain := range p.plain {
		if plain.Fits(user, password) {
			return true
		}
	}
	fits := false
	for _, m := range p.scram {
		c, known := m.Users(user)
		if !known {
			c = m.Decoy.Credential(m.Hash, user)
		}
		fits = p.proves(m.Hash, password, c.Verifier) && known || fits
	}
	return fits
}

func (p *passwords) proves(h sasl.Hash, password string, v sasl.Verifier) bool {
	m := hmac.New(sha256.New, p.key[:])
	m.Write(v.StoredKey)
	m.Write([]byte(password))
	id := [32]byte(m.Sum(nil))
	p.mu.Lock()
	remembered := p.known[id]
	p.mu.Unlock()
	if remembered {
		return true
	}
	p.working <- struct{}{}
	made, err := h.OfPassword(password, v.Salt, v.Iterations)
	<-p.working
	if err != nil || !hmac.Equal(made.StoredKey, v.StoredKey) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= knownMax {
		clear(p.known)
	}
	p.known[id] = true
	return true
}

// principalOf says who sends a request: by a name and its password, or by a token.
func (p *passwords) principalOf(r *http.Request) (principal string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") {
		return p.owner(strings.TrimSpace(token))
	}
	user, password, given := r.BasicAuth()
	return sasl.UserPrincipal(user), given && user != "" && password != "" && p.fit(user, password)
}

// owner is whose a token is that some listener would take.
func (p *passwords) owner(token string) (principal string, ok bool) {
	p.working <- struct{}{}
	defer func() { <-p.working }()
	for _, m := range p.bearers {
		if who, fits := m.Fits(time.Now(), token); fits {
			return who.Principal, true
		}
	}
	return "", false
}

// registryLogin says who sends a request to the schema registry. nil: nobody is asked.
func (b *Broker) registryLogin(rules certs.Rules, certificates bool) (func(*http.Request) (string, bool), error) {
	switch {
	case b.opt.anyLogin():
		known, err := b.newPasswords()
		return known.principalOf, err
	case certificates:
		return func(r *http.Request) (string, bool) {
			if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
				return "User:ANONYMOUS", true
			}
			principal, err := principalOf(r.TLS.PeerCertificates[0], rules)
			return principal, err == nil
		}, nil
	}
	return nil, nil
}
