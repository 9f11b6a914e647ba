package sasl

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Plain is the mechanism of RFC 4616: a name and a password as they are. Passwords are kept as MACs under a key of this
// process, so that comparing takes the same time whatever they are and no dump of memory shows them.
type Plain struct {
	key   [32]byte
	users map[string][]byte
	dummy []byte
}

// NewPlain gives the mechanism for users with their passwords.
func NewPlain(passwords map[string]string) *Plain {
	p := &Plain{users: make(map[string][]byte, len(passwords))}
	rand.Read(p.key[:])
	for name, password := range passwords {
		p.users[name] = p.mac(password)
	}
	p.dummy = p.mac(rand.Text())
	return p
}

func (p *Plain) mac(password string) []byte {
	m := hmac.New(sha256.New, p.key[:])
	m.Write([]byte(password))
	return m.Sum(nil)
}

// Name is PLAIN.
func (p *Plain) Name() string { return "PLAIN" }

// Begin starts a login.
func (p *Plain) Begin() Exchange { return &plainExchange{plain: p} }

type plainExchange struct {
	plain *Plain
	over  bool
}

func (x *plainExchange) Step(_ time.Time, message []byte) ([]byte, *Identity, error) {
	if x.over {
		return nil, nil, errors.New("the exchange is over")
	}
	x.over = true
	m, err := parsePlain(message)
	if err != nil {
		return nil, nil, err
	}
	if !x.plain.check(m.name, m.password) {
		return nil, nil, &Refusal{"Authentication failed: Invalid username or password"}
	}
	if m.authorization != "" && m.authorization != m.name {
		return nil, nil, &Refusal{otherIdentity}
	}
	return []byte{}, &Identity{Principal: UserPrincipal(m.name)}, nil
}

// Fits says whether it is the password of a user, where it comes by another way than a message of SASL.
func (p *Plain) Fits(name, password string) bool { return p.check(name, password) }

// check does the same work for who is not known.
func (p *Plain) check(name, password string) bool {
	want, known := p.users[name]
	if !known {
		want = p.dummy
	}
	return hmac.Equal(p.mac(password), want) && known
}

// UserPrincipal is the principal of a user's name.
func UserPrincipal(name string) string { return "User:" + name }

type plainMessage struct{ authorization, name, password string }

// parsePlain takes [authzid] NUL authcid NUL passwd apart. What is not UTF-8 is read as Java reads it.
//
//fuzz:parser class=sasl FuzzPlain
func parsePlain(message []byte) (plainMessage, error) {
	tokens := strings.SplitN(strings.ToValidUTF8(string(message), "\uFFFD"), "\x00", 5)
	if n := min(len(tokens), 4); n != 3 {
		return plainMessage{}, &Refusal{"Invalid SASL/PLAIN response: expected 3 tokens, got " + strconv.Itoa(n)}
	}
	m := plainMessage{tokens[0], tokens[1], tokens[2]}
	if m.name == "" {
		return m, &Refusal{"Authentication failed: username not specified"}
	}
	if m.password == "" {
		return m, &Refusal{"Authentication failed: password not specified"}
	}
	return m, nil
}
