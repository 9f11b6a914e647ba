package sasl

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// testKeys are keys of every kind, made once.
type testKeys struct {
	rsa            *rsa.PrivateKey
	p256, p384, p5 *ecdsa.PrivateKey
	ed             ed25519.PrivateKey
}

var madeKeys = func() func(testing.TB) testKeys {
	var k testKeys
	return func(t testing.TB) testKeys {
		if k.rsa != nil {
			return k
		}
		var errs [5]error
		k.rsa, errs[0] = rsa.GenerateKey(rand.Reader, 2048)
		k.p256, errs[1] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		k.p384, errs[2] = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		k.p5, errs[3] = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
		_, k.ed, errs[4] = ed25519.GenerateKey(rand.Reader)
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		return k
	}
}()

var b64 = base64.RawURLEncoding.EncodeToString

func ecJWK(t testing.TB, id, curve string, k *ecdsa.PrivateKey) map[string]string {
	point, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	size := len(point) / 2
	return map[string]string{"kty": "EC", "kid": id, "crv": curve, "x": b64(point[1 : 1+size]), "y": b64(point[1+size:])}
}

func rsaJWK(id string, k *rsa.PublicKey) map[string]string {
	return map[string]string{"kty": "RSA", "kid": id, "use": "sig", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
}

func jwks(t testing.TB, keys ...map[string]string) []byte {
	set, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// testKeySet has the public halves of the keys, and one that is for encryption.
func testKeySet(t testing.TB) []byte {
	k := madeKeys(t)
	enc := rsaJWK("enc", &k.rsa.PublicKey)
	enc["use"] = "enc"
	return jwks(t, enc, rsaJWK("rsa", &k.rsa.PublicKey), ecJWK(t, "p256", "P-256", k.p256), ecJWK(t, "p384", "P-384", k.p384), ecJWK(t, "p521", "P-521", k.p5),
		map[string]string{"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": b64(k.ed.Public().(ed25519.PublicKey))})
}

var atNow = time.Unix(1_700_000_000, 0)

func rightClaims() jwt.MapClaims {
	return jwt.MapClaims{"sub": "alice", "iat": atNow.Unix() - 60, "exp": atNow.Unix() + 3600}
}

func sign(t testing.TB, method jwt.SigningMethod, id string, key any, claims jwt.Claims) string {
	token := jwt.NewWithClaims(method, claims)
	if id != "" {
		token.Header["kid"] = id
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestTokensSignedByEveryKindOfKey(t *testing.T) {
	set, err := ParseKeySet(testKeySet(t))
	if err != nil {
		t.Fatal(err)
	}
	k, v := madeKeys(t), &SignedTokens{Keys: set}
	for _, c := range []struct {
		method jwt.SigningMethod
		id     string
		key    any
	}{
		{jwt.SigningMethodRS256, "rsa", k.rsa}, {jwt.SigningMethodRS384, "rsa", k.rsa}, {jwt.SigningMethodRS512, "rsa", k.rsa},
		{jwt.SigningMethodPS256, "rsa", k.rsa}, {jwt.SigningMethodPS512, "rsa", k.rsa}, {jwt.SigningMethodRS256, "", k.rsa},
		{jwt.SigningMethodES256, "p256", k.p256}, {jwt.SigningMethodES384, "p384", k.p384}, {jwt.SigningMethodES512, "p521", k.p5},
		{jwt.SigningMethodES512, "", k.p5}, {jwt.SigningMethodEdDSA, "ed", k.ed},
	} {
		who, err := v.Validate(atNow, sign(t, c.method, c.id, c.key, rightClaims()))
		if err != nil || who.Principal != "User:alice" || !who.Expires.Equal(atNow.Add(time.Hour)) {
			t.Errorf("%s by %q: %+v, %v", c.method.Alg(), c.id, who, err)
		}
	}
}

// A public key is no secret: it must not verify a MAC that anybody can make with it. Nor does a key of another kind, one that
// is for encryption, or none.
func TestTokensSignedByTheWrongKey(t *testing.T) {
	k := madeKeys(t)
	set, err := ParseKeySet(testKeySet(t))
	if err != nil {
		t.Fatal(err)
	}
	v := &SignedTokens{Keys: set}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"HMAC by the modulus": sign(t, jwt.SigningMethodHS256, "rsa", k.rsa.N.Bytes(), rightClaims()),
		"HMAC by the set":     sign(t, jwt.SigningMethodHS512, "", testKeySet(t), rightClaims()),
		"none":                sign(t, jwt.SigningMethodNone, "rsa", jwt.UnsafeAllowNoneSignatureType, rightClaims()),
		"another key":         sign(t, jwt.SigningMethodES256, "p256", other, rightClaims()),
		"key of another kind": sign(t, jwt.SigningMethodES256, "rsa", k.p256, rightClaims()),
		"for encryption":      sign(t, jwt.SigningMethodRS256, "enc", k.rsa, rightClaims()),
		"unknown id":          sign(t, jwt.SigningMethodRS256, "nobody", k.rsa, rightClaims()),
		"too long":            strings.Repeat("a", maxBearer) + ".e30.",
	} {
		if who, err := v.Validate(atNow, token); err == nil {
			t.Errorf("%s lets in %+v", name, who)
		}
	}
}

func TestKeySetsThatAreRefused(t *testing.T) {
	k := madeKeys(t)
	small := rsa.PublicKey{N: new(big.Int).Rsh(k.rsa.N, 1024), E: k.rsa.E}
	even := rsaJWK("even", &k.rsa.PublicKey)
	even["e"] = b64([]byte{1, 0, 0})
	off := ecJWK(t, "off", "P-256", k.p256)
	off["y"] = off["x"]
	for name, content := range map[string][]byte{
		"no JSON": []byte("x"), "no keys": []byte(`{"keys":[]}`), "short key": jwks(t, rsaJWK("small", &small)), "even exponent": jwks(t, even),
		"off the curve": jwks(t, off), "a secret": jwks(t, map[string]string{"kty": "oct", "k": "AAAA"}),
		"too long": []byte(strings.Repeat(" ", maxJWKS+1)), "too many": []byte(`{"keys":[` + strings.Repeat("{},", maxJWKSKeys) + `{}]}`),
	} {
		if _, err := ParseKeySet(content); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// A file of keys is read again when it has changed; damage leaves what was there.
func TestKeyFileChanges(t *testing.T) {
	k, path := madeKeys(t), filepath.Join(t.TempDir(), "keys.json")
	write := func(content []byte, age time.Duration) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	write(jwks(t, rsaJWK("first", &k.rsa.PublicKey)), time.Hour)
	f, err := OpenKeyFile(path, told(t))
	if err != nil {
		t.Fatal(err)
	}
	knows := func(alg, id string) bool { _, err := f.Key(alg, id); return err == nil }
	if !knows("RS256", "first") || knows("ES256", "second") {
		t.Fatal("the first set is not read")
	}
	write(jwks(t, ecJWK(t, "second", "P-256", k.p256)), time.Minute)
	if knows("RS256", "first") || !knows("ES256", "second") {
		t.Error("the second set is not read")
	}
	write([]byte("damaged"), time.Second)
	if !knows("ES256", "second") {
		t.Error("a damaged file takes the keys away")
	}
	if _, err := OpenKeyFile(path, told(t)); err == nil {
		t.Error("a damaged file is opened")
	}
}

// A set behind a URL is fetched at the start and in the background; no login waits for it, and a failure leaves what was there.
func TestKeysBehindAURL(t *testing.T) {
	k := madeKeys(t)
	var served, fail atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := served.Add(1)
		switch {
		case fail.Load() > 0:
			http.Error(w, "no", http.StatusInternalServerError)
		case n == 1:
			_, _ = w.Write(jwks(t, rsaJWK("first", &k.rsa.PublicKey)))
		default:
			_, _ = w.Write(jwks(t, ecJWK(t, "second", "P-256", k.p256)))
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	u, err := OpenKeyURL(ctx, server.URL, 5*time.Millisecond, time.Millisecond, 4*time.Millisecond, told(t))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, err := u.Key("ES256", "second"); return err == nil })
	fail.Store(1)
	before := served.Load()
	waitFor(t, func() bool { return served.Load() > before+5 })
	if _, err := u.Key("ES256", "second"); err != nil {
		t.Errorf("a failure takes the keys away: %v", err)
	}
	if _, err := OpenKeyURL(ctx, server.URL, time.Hour, time.Millisecond, time.Millisecond, told(t)); err == nil {
		t.Error("a URL that answers with an error is opened")
	}
	cancel()
}

// Who shows a key that is not there makes the set be fetched, now and again only.
func TestUnknownKeysAreLookedForOnce(t *testing.T) {
	k := madeKeys(t)
	var served atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = w.Write(jwks(t, rsaJWK("first", &k.rsa.PublicKey)))
	}))
	defer server.Close()
	u, err := OpenKeyURL(t.Context(), server.URL, time.Hour, time.Millisecond, time.Millisecond, told(t))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() {
		if _, err := u.Key("RS256", "unknown"); err == nil {
			t.Fatal("an unknown key is there")
		}
	}
	for range 100 {
		ask()
	}
	if n := served.Load(); n != 1 {
		t.Errorf("fetched %d times at once", n)
	}
	u.mu.Lock()
	u.fetched = time.Now().Add(-2 * expediteEvery)
	u.mu.Unlock()
	ask()
	waitFor(t, func() bool { return served.Load() == 2 })
}

// An endless set is not read to its end, and a redirect is not followed.
func TestHostileKeyServers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		for range maxJWKS/1024 + 2 {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1024))); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	for _, path := range []string{"/", "/elsewhere"} {
		if _, err := OpenKeyURL(t.Context(), server.URL+path, time.Hour, time.Millisecond, time.Millisecond, told(t)); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited for 20 s")
		}
	}
}

// What a client is told of a token that is not taken, and what it says then.
func TestARefusedTokenIsAcknowledged(t *testing.T) {
	m := &OAuthBearer{Validator: &UnsecuredTokens{RequiredScope: []string{"read", "write"}}}
	claims := b64([]byte(`{"sub":"alice","exp":1700003600,"scope":["read"]}`))
	message := "n,,\x01auth=Bearer " + b64([]byte(`{"alg":"none"}`)) + "." + claims + ".\x01\x01"
	x := m.Begin()
	answer, who, err := x.Step(atNow, []byte(message))
	if want := `{"status":"insufficient_scope", "scope":"[read, write]"}`; string(answer) != want || who != nil || err != nil {
		t.Fatalf("%s, %v, %v", answer, who, err)
	}
	var refusal *Refusal
	if _, _, err = x.Step(atNow, []byte("\x01")); !errors.As(err, &refusal) || refusal.Text != string(answer) {
		t.Errorf("acknowledged: %v", err)
	}
	if _, _, err = x.Step(atNow, []byte(message)); err == nil {
		t.Error("the exchange goes on")
	}
}

// A message is as long as it may be, and no longer.
func TestLongMessagesOfOAuthBearer(t *testing.T) {
	const around = len("n,,\x01auth=Bearer \x01\x01")
	for n, taken := range map[int]bool{maxBearer: true, maxBearer + 1: false} {
		m, err := parseBearer([]byte("n,,\x01auth=Bearer " + strings.Repeat("a", n-around) + "\x01\x01"))
		if (err == nil) != taken || taken && len(m.token) != n-around {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
