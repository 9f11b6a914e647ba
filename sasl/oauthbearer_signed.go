package sasl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// SignedTokens takes tokens (JWT) that one of Keys has signed. The fields are Kafka's settings sasl.oauthbearer.*.
type SignedTokens struct {
	Keys       KeySource
	Audiences  []string // expected.audience: one of them, if there are any; without, a token has none
	Issuer     string   // expected.issuer; empty: any
	ScopeClaim string   // scope.claim.name, default "scope"
	SubClaim   string   // sub.claim.name, default "sub"
	ClockSkew  time.Duration
}

// signedBy is the list of algorithms: of public keys alone, so that a public key never serves as a secret.
var signedBy = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Validate checks signature and claims.
func (s *SignedTokens) Validate(now time.Time, token string) (*Identity, error) {
	claims, err := s.verified(token)
	if err != nil {
		return nil, errToken
	}
	exp, ok := s.inTime(now, claims)
	if !ok || !s.forUs(claims) || !claims.scopeIsFine(or(s.ScopeClaim, "scope")) {
		return nil, errToken
	}
	name, isText := claims[or(s.SubClaim, "sub")].(string)
	if name = strings.TrimSpace(name); !isText || name == "" {
		return nil, errToken
	}
	return &Identity{Principal: UserPrincipal(name), Expires: time.Unix(exp, 0)}, nil
}

type signedClaims map[string]any

// verified gives the claims of a token whose signature is right.
//
//fuzz:parser class=sasl FuzzJWT
func (s *SignedTokens) verified(token string) (signedClaims, error) {
	parser := jwt.NewParser(jwt.WithValidMethods(signedBy), jwt.WithoutClaimsValidation(), jwt.WithJSONNumber())
	parsed, err := parser.ParseWithClaims(token, jwt.MapClaims{}, func(t *jwt.Token) (any, error) {
		if _, has := t.Header["crit"]; has {
			return nil, errToken // names what must be understood, and nothing is
		}
		kid, _ := t.Header["kid"].(string)
		return s.Keys.Key(t.Method.Alg(), kid)
	})
	if err != nil {
		return nil, err
	}
	claims, _ := parsed.Claims.(jwt.MapClaims)
	if !namedOnce(strings.Split(token, ".")[1]) {
		return nil, errToken
	}
	return signedClaims(claims), nil
}

// namedOnce tells whether no claim stands twice: two readers would not agree on it.
func namedOnce(part string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok || seen[name] {
			return false
		}
		seen[name] = true
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return true
}

// seconds is a claim that is a time, its fraction cut off. known is false when there is none, ok when it is no time.
func (c signedClaims) seconds(name string) (at int64, known, ok bool) {
	v := c[name]
	if v == nil {
		return 0, false, true
	}
	n, isNumber := v.(json.Number)
	if !isNumber {
		return 0, true, false
	}
	f, err := n.Float64()
	millis, fits := millisOf(float64(int64(min(max(f, -1e12), 1e12))))
	return millis / 1000, true, err == nil && fits
}

// inTime says whether the token is good now, and until when. exp and iat must be there.
func (s *SignedTokens) inTime(now time.Time, c signedClaims) (exp int64, ok bool) {
	exp, hasExp, okExp := c.seconds("exp")
	iat, hasIat, okIat := c.seconds("iat")
	nbf, hasNbf, okNbf := c.seconds("nbf")
	if !hasExp || !hasIat || !okExp || !okIat || !okNbf || exp < 0 || iat < 0 {
		return 0, false
	}
	early, late := now.Add(-s.ClockSkew).Unix(), now.Add(s.ClockSkew).Unix()
	if early >= exp || exp < iat || hasNbf && (late < nbf || exp < nbf) {
		return 0, false
	}
	return exp, true
}

// forUs looks at audience and issuer.
func (s *SignedTokens) forUs(c signedClaims) bool {
	if s.Issuer != "" && c["iss"] != s.Issuer {
		return false
	}
	if jti, has := c["jti"]; has {
		if _, isText := jti.(string); !isText {
			return false
		}
	}
	audiences, ok := texts(c["aud"])
	if !ok || len(s.Audiences) == 0 {
		return ok && len(audiences) == 0
	}
	return slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(s.Audiences, a) })
}

// texts is a claim that is a text or a list of texts.
func texts(v any) (list []string, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		for _, e := range v {
			text, isText := e.(string)
			if !isText {
				return nil, false
			}
			list = append(list, text)
		}
		return list, true
	}
	return nil, false
}

// scopeIsFine looks at the scopes, of which none is asked for: they are not blank and there are no two of a kind.
func (c signedClaims) scopeIsFine(name string) bool {
	v := c[name]
	if _, isList := v.([]any); !isList {
		if text, isText := v.(string); isText {
			return strings.TrimSpace(text) != ""
		}
		return true
	}
	list, ok := texts(v)
	seen := map[string]bool{}
	for _, s := range list {
		s = strings.TrimSpace(s)
		ok = ok && s != "" && !seen[s]
		seen[s] = true
	}
	return ok
}
