package sasl

import (
	"errors"
	"strings"
	"time"
)

// OAuthBearer is the mechanism of RFC 7628: a token of somebody whom the broker trusts.
type OAuthBearer struct{ Validator TokenValidator }

// TokenValidator says whose a token is.
type TokenValidator interface {
	// Validate gives the token's owner; a *TokenError is told to the client. Any other error ends the login.
	Validate(now time.Time, token string) (*Identity, error)
}

// TokenError is a token that is not good, as the client is told: its status, and for insufficient_scope which it takes.
type TokenError struct{ Status, Scope string }

func (e *TokenError) Error() string { return "the token is refused: " + e.Status }

func (e *TokenError) json() string {
	s := `{"status":"` + e.Status + `"`
	if e.Scope != "" {
		s += `, "scope":"` + e.Scope + `"`
	}
	return s + "}"
}

var errToken = &TokenError{Status: "invalid_token"}

// maxBearer bounds a client's message, and so its token.
const maxBearer = 64 << 10

// Name is OAUTHBEARER.
func (m *OAuthBearer) Name() string { return "OAUTHBEARER" }

// Begin starts a login.
func (m *OAuthBearer) Begin() Exchange { return &bearerExchange{validator: m.Validator} }

// Fits names the owner of a token that came by another way than a login's message.
func (m *OAuthBearer) Fits(now time.Time, token string) (who *Identity, fits bool) {
	if letters := strings.TrimRight(token, "="); len(token) > maxBearer || letters == "" || !madeOf(letters, "-_~+/.") {
		return nil, false
	}
	who, err := m.Validator.Validate(now, token)
	return who, err == nil
}

type bearerExchange struct {
	validator TokenValidator
	told      string // the error that the client was told last, and is to acknowledge; it may send another token instead
	over      bool
}

func (x *bearerExchange) Step(now time.Time, message []byte) ([]byte, *Identity, error) {
	if x.over {
		return nil, nil, errors.New("the exchange is over")
	}
	x.over = true
	if string(message) == "\x01" && x.told != "" {
		return nil, nil, &Refusal{x.told}
	}
	first, err := parseBearer(message)
	if err != nil {
		return nil, nil, err
	}
	who, err := x.validator.Validate(now, first.token)
	var wrong *TokenError
	switch {
	case errors.As(err, &wrong):
		x.told, x.over = wrong.json(), false
		return []byte(x.told), nil, nil
	case err != nil:
		return nil, nil, err
	}
	name := strings.TrimPrefix(who.Principal, "User:")
	if first.authorization != "" && first.authorization != name {
		return nil, nil, &Refusal{"Authentication failed: Client requested an authorization id (" + first.authorization +
			") that is different from the token's principal name (" + name + ")"}
	}
	return []byte{}, who, nil
}

type bearerMessage struct {
	authorization string // as it was sent, escaped
	token         string
}

var errBearer = errors.New("the message is not one of OAUTHBEARER")

// parseBearer takes n,[a=NAME],^A(KEY=VALUE^A)*^A apart, of which the last auth=Bearer TOKEN counts. What the other keys say
// is passed over, as Kafka does unless it is told otherwise.
//
//fuzz:parser class=sasl FuzzBearer
func parseBearer(message []byte) (bearerMessage, error) {
	var m bearerMessage
	rest, ok := strings.CutPrefix(string(message), "n,")
	if !ok || len(message) > maxBearer {
		return m, errBearer
	}
	authorization, rest, ok := strings.Cut(rest, ",\x01")
	if !ok {
		return m, errBearer
	}
	if authorization != "" {
		if m.authorization, ok = strings.CutPrefix(authorization, "a="); !ok || !validName(m.authorization) || !ascii([]byte(m.authorization)) {
			return m, errBearer
		}
	}
	auth, err := bearerPairs(rest)
	if err != nil {
		return m, err
	}
	m.token, err = bearerToken(auth)
	return m, err
}

// bearerPairs looks at every pair and gives the value of the last auth.
func bearerPairs(rest string) (auth string, err error) {
	for rest != "\x01" {
		pair, after, ok := strings.Cut(rest, "\x01")
		key, value, isPair := strings.Cut(pair, "=")
		if !ok || !isPair || !letters(key) || value == "" || !bearerValue(value) {
			return "", errBearer
		}
		if key == "auth" {
			auth = value
		}
		rest = after
	}
	if auth == "" {
		return "", errBearer
	}
	return auth, nil
}

func bearerValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 || c > 0x7e) && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// bearerToken takes SCHEME TOKEN apart.
func bearerToken(auth string) (string, error) {
	scheme, token, ok := strings.Cut(auth, " ")
	token = strings.TrimLeft(token, " ")
	letters := strings.TrimRight(token, "=")
	if !ok || scheme == "" || letters == "" || !madeOf(scheme, "_") || !madeOf(letters, "-_~+/.") {
		return "", errBearer
	}
	if !strings.EqualFold(scheme, "bearer") {
		return "", ErrCut // Kafka fails on its own error here
	}
	return token, nil
}

// madeOf tells whether there is nothing but letters, digits and more.
func madeOf(s, more string) bool {
	for i := range len(s) {
		if c := s[i]; (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return true
}

// millisOf is a time of a token in milliseconds; ok is false for what is no time of any token.
func millisOf(seconds float64) (int64, bool) {
	const far = 253402300799 // the end of the year 9999
	if seconds != seconds || seconds < -far {
		return 0, false
	}
	return int64(min(seconds, far)*1000 + 0.5), true
}

// javaList is a list as Java prints it.
func javaList(list []string) string { return "[" + strings.Join(list, ", ") + "]" }
