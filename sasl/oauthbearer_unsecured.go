package sasl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// UnsecuredTokens takes tokens that nobody has signed: who can write one is whoever it says. It is for development only.
type UnsecuredTokens struct {
	PrincipalClaim string // default "sub"
	ScopeClaim     string // default "scope"
	RequiredScope  []string
	ClockSkew      time.Duration
}

// Validate gives the owner that the token names.
func (u *UnsecuredTokens) Validate(now time.Time, token string) (*Identity, error) {
	claims, err := parseUnsecured(token)
	if err != nil {
		return nil, err
	}
	scope, ok := claims.scope(or(u.ScopeClaim, "scope"))
	exp, isTime := claims.number("exp")
	name, isText := claims[or(u.PrincipalClaim, "sub")].(string)
	if !ok || !isTime || !isText || strings.TrimSpace(name) == "" {
		return nil, errToken
	}
	if _, has := claims["iat"]; has {
		iat, isTime := claims.number("iat")
		if !isTime || 1000*iat > float64(now.Add(u.ClockSkew).UnixMilli()) || exp <= iat {
			return nil, errToken
		}
	}
	if float64(now.Add(-u.ClockSkew).UnixMilli()) >= 1000*exp {
		return nil, errToken
	}
	for _, s := range u.RequiredScope {
		if !slices.Contains(scope, s) {
			return nil, &TokenError{"insufficient_scope", javaList(u.RequiredScope)}
		}
	}
	millis, ok := millisOf(exp)
	if !ok {
		return nil, errToken
	}
	return &Identity{Principal: UserPrincipal(name), Expires: time.UnixMilli(millis)}, nil
}

func or(s, otherwise string) string {
	if s = strings.TrimSpace(s); s == "" {
		return otherwise
	}
	return s
}

// unsecuredClaims are a token's as Kafka reads them: numbers, lists of texts, and texts, which anything else becomes.
type unsecuredClaims map[string]any

// number is a claim that is a number; the zero and false for another or none.
func (c unsecuredClaims) number(name string) (float64, bool) {
	n, ok := c[name].(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// scope is the claim's list; false when it is a number. A text is one scope, whatever is in it.
func (c unsecuredClaims) scope(name string) (list []string, ok bool) {
	switch v := c[name].(type) {
	case nil:
		return nil, true
	case string:
		return []string{strings.TrimSpace(v)}, true
	case []string:
		for _, s := range v {
			list = append(list, strings.TrimSpace(s))
		}
		return list, true
	}
	return nil, false
}

// parseUnsecured takes HEADER.CLAIMS. apart: base64 of JSON objects, the algorithm none, no signature.
//
//fuzz:parser class=sasl FuzzJWT
func parseUnsecured(token string) (unsecuredClaims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || strings.Contains(token, "..") {
		return nil, errToken
	}
	header, err := unsecuredPart(parts[0])
	if err != nil {
		return nil, err
	}
	claims, err := unsecuredPart(parts[1])
	if err != nil {
		return nil, err
	}
	alg, has := header["alg"]
	if !has {
		return nil, ErrCut // Kafka fails on its own error here
	}
	if alg != "none" || parts[2] != "" {
		return nil, errToken
	}
	return claims, nil
}

func unsecuredPart(part string) (unsecuredClaims, error) {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		if raw, err = base64.URLEncoding.DecodeString(part); err != nil {
			return nil, errToken
		}
	}
	fields := unsecuredClaims{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return fields, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, errToken
	}
	object, _ := v.(map[string]any)
	for name, value := range object {
		fields[name] = unsecuredValue(value)
	}
	return fields, nil
}

func unsecuredValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			list[i] = jsonText(e)
		}
		return list
	}
	return jsonText(v)
}

// jsonText is a value as text; that of lists and objects is empty.
func jsonText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		if v {
			return "true"
		}
		return "false"
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}
