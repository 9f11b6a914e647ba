package sasl

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What is taken has a token, of the letters that one may have, and no more than the message held.
func FuzzBearer(f *testing.F) {
	for _, s := range []string{
		"n,,\x01auth=Bearer abc.def.\x01\x01", "n,a=alice,\x01auth=Bearer abc==\x01key=value\x01\x01", "n,a=b=2Cb,\x01auth=bearer  x\x01\x01",
		"n,,\x01auth=Bearer \x01\x01", "n,,\x01\x01", "\x01", "y,,\x01auth=Bearer a\x01\x01", "n,,\x01auth=Bearer a\x01", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseBearer(b)
		if err != nil {
			return
		}
		if m.token == "" || strings.ContainsAny(m.token, " \x00\x01,") || !strings.Contains(string(b), m.token) || len(b) > maxBearer {
			t.Fatalf("%q is taken as %+v", b, m)
		}
		header := "n,"
		if m.authorization != "" {
			header += "a=" + m.authorization
		}
		again, err := parseBearer([]byte(header + ",\x01auth=Bearer " + m.token + "\x01\x01"))
		if err != nil || again != m {
			t.Fatalf("%q reads as %+v, then as %+v (%v)", b, m, again, err)
		}
	})
}

// Nothing that is not signed is taken for signed; what is taken unsigned is a name with an end.
func FuzzJWT(f *testing.F) {
	b64 := base64.RawURLEncoding.EncodeToString
	unsigned := b64([]byte(`{"alg":"none"}`)) + "." + b64([]byte(`{"sub":"alice","exp":9999999999}`)) + "."
	for _, s := range []string{unsigned, unsigned + "abc", "a.b.c", "..", "", strings.Repeat(".", 1000), b64([]byte(`{"alg":"RS256","crit":[]}`)) + ".e30.AAAA"} {
		f.Add(s)
	}
	f.Add(b64([]byte(strings.Repeat("[", 2000))) + "." + b64([]byte(strings.Repeat(`{"a":`, 2000))) + ".")
	set, err := ParseKeySet(testKeySet(f))
	if err != nil {
		f.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	signed, open := &SignedTokens{Keys: set}, &UnsecuredTokens{}
	f.Fuzz(func(t *testing.T, token string) {
		if len(token) > maxBearer {
			return
		}
		if who, err := signed.Validate(now, token); err == nil {
			t.Fatalf("%q is taken for a signed token of %+v", token, who)
		}
		who, err := open.Validate(now, token)
		if err == nil && (strings.TrimSpace(strings.TrimPrefix(who.Principal, "User:")) == "" || !who.Expires.After(now)) {
			t.Fatalf("%q lets in %+v", token, who)
		}
	})
}

// What is read of a set are public keys that can be used, and fewer than the set may have.
func FuzzJWKS(f *testing.F) {
	f.Add(testKeySet(f))
	for _, s := range []string{
		"", "{}", `{"keys":[]}`, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`, `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + strings.Repeat("A", 43) + `"}]}`, `{"keys":[{"kty":"oct","k":"AA"}]}`, strings.Repeat("[", 10_000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		set, err := ParseKeySet(content)
		if err != nil {
			return
		}
		if n := len(set.keys); n == 0 || n > maxJWKSKeys || !json.Valid(content) {
			t.Fatalf("%q is a set of %d keys", content, n)
		}
		for _, k := range set.keys {
			if k.public == nil {
				t.Fatalf("%q has a key that is none", content)
			}
		}
	})
}
