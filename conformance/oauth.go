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
	"time"
)

// A scenario with SignedTokens has OAUTHBEARER beside the other mechanisms, with tokens signed by the keys below; its set of
// keys is a file. A real Kafka reads no such file unless its JVM is started with the system property
// org.apache.kafka.sasl.oauthbearer.allowed.urls: record with JAVA_TOOL_OPTIONS=-D...=URL, as JWKSURL gives it.

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
	k := &oauthKeys{rsa: r, ec: e, path: filepath.Join(os.TempDir(), "doze-conformance-jwks.json")}
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

// JWKSURL is where the keys' public halves are.
func JWKSURL() (string, error) {
	k, err := keysOnce()
	if err != nil {
		return "", err
	}
	return "file://" + k.path, nil
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
	set := oauthUnsecured()
	set[oauthPrefix+"sasl.server.callback.handler.class"] = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
	var err error
	set["sasl.oauthbearer.jwks.endpoint.url"], err = JWKSURL()
	return set, err
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
	if raw, err := hex.DecodeString(strings.TrimPrefix(text, "hex:")); err == nil && strings.HasPrefix(string(raw), "n,") {
		text = strings.ReplaceAll(string(raw), "\x01", "^A")
	}
	return compactToken.ReplaceAllString(text, "<token>")
}

// aboutNow shows a time of a token by its distance from the scenario's beginning, in tens of minutes.
func aboutNow(millis int64, now time.Time) string {
	return fmt.Sprint("now+", time.UnixMilli(millis).Sub(now).Round(10*time.Minute))
}
