package conformance

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A scenario with SignedTokens has OAUTHBEARER beside the other mechanisms, with tokens signed by the keys below; its set of
// keys is a file. A real Kafka reads no such file unless its JVM is started with SignedTokenJava.

type oauthKeys struct {
	rsa  *rsa.PrivateKey
	ec   *ecdsa.PrivateKey
	path string
}

// keysOnce makes keys for this process and writes their public halves to a file.
var keysOnce = sync.OnceValues(func() (*oauthKeys, error) {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "doze-jwks-")
	if err != nil {
		return nil, err
	}
	keysDir.Store(&dir)
	k := &oauthKeys{rsa: r, ec: e, path: filepath.Join(dir, "jwks.json")}
	return k, os.WriteFile(k.path, k.set(), 0o644)
})

func (k *oauthKeys) set() []byte {
	b64 := base64.RawURLEncoding.EncodeToString
	point, _ := k.ec.PublicKey.Bytes() // P-256 has bytes
	set, _ := json.Marshal(map[string]any{"keys": []map[string]string{
		{"kty": "RSA", "kid": "rsa", "n": b64(k.rsa.N.Bytes()), "e": b64(big.NewInt(int64(k.rsa.E)).Bytes())},
		{"kty": "EC", "kid": "ec", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
	}})
	return set
}

func (k *oauthKeys) url() string { return "file://" + k.path }

// SignedTokenJava lets a real Kafka read the file of keys.
func SignedTokenJava() string {
	k, err := keysOnce()
	if err != nil {
		return ""
	}
	return "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + k.url()
}

// keysDir is where the file of keys is, once there is one.
var keysDir atomic.Pointer[string]

// RemoveSignedTokens removes the file of keys, if it was made.
func RemoveSignedTokens() error {
	if dir := keysDir.Load(); dir != nil {
		return os.RemoveAll(*dir)
	}
	return nil
}

const oauthPrefix = "listener.name.sasl.oauthbearer."

// oauthUnsecured are the properties of OAUTHBEARER with tokens that nobody has signed.
func oauthUnsecured() map[string]string {
	return map[string]string{
		"sasl.enabled.mechanisms":                          "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
		oauthPrefix + "sasl.jaas.config":                   "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
		oauthPrefix + "sasl.server.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
	}
}

// SignedTokenProperties are the properties of a broker whose scenario has SignedTokens.
func SignedTokenProperties() (map[string]string, error) {
	k, err := keysOnce()
	if err != nil {
		return nil, fmt.Errorf("make keys of tokens: %w", err)
	}
	set := oauthUnsecured()
	set[oauthPrefix+"sasl.server.callback.handler.class"] = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
	set["sasl.oauthbearer.jwks.endpoint.url"] = k.url()
	return set, nil
}

type object = map[string]any

// unsigned is a token that ends with its second dot.
func unsigned(header, claims any) string { return part(header) + "." + part(claims) + "." }

// part is a part of a token: text as it is, anything else as JSON.
func part(v any) string {
	raw, isText := v.(string)
	if !isText {
		b, _ := json.Marshal(v)
		raw = string(b)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(raw))
}

// signed is a token with a signature by RSA or, when alg says so, by the curve.
func (k *oauthKeys) signed(header object, claims any) string {
	said := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(said))
	var signature []byte
	if header["alg"] == "ES256" {
		r, s, _ := ecdsa.Sign(rand.Reader, k.ec, sum[:])
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	} else {
		signature, _ = rsa.SignPKCS1v15(rand.Reader, k.rsa, crypto.SHA256, sum[:])
	}
	return said + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// bearer is a client's first message.
func bearer(token string) string { return "n,,\x01auth=Bearer " + token + "\x01\x01" }

var compactToken = regexp.MustCompile(`eyJ[-_A-Za-z0-9]*(\.[-_A-Za-z0-9]*)+`)

// scrubBearer shows a message of OAUTHBEARER as text, its token by what it is.
func scrubBearer(text string) string {
	if raw, err := hex.DecodeString(strings.TrimPrefix(text, "hex:")); err == nil && strings.Contains(string(raw), "\x01auth=") {
		text = strings.ReplaceAll(string(raw), "\x01", "^A")
	}
	return compactToken.ReplaceAllString(text, "<token>")
}

// aboutNow shows a time of a token by its distance from the scenario's beginning, in tens of minutes.
func aboutNow(millis int64, now time.Time) string {
	return fmt.Sprint("now+", time.UnixMilli(millis).Sub(now).Round(10*time.Minute))
}
