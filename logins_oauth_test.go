package doze

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// signer signs tokens.
type signer struct {
	t   *testing.T
	key *ecdsa.PrivateKey
}

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{t, key}
}

// set is the JWKS with the public half of the key.
func (s signer) set() []byte {
	point, err := s.key.PublicKey.Bytes()
	if err != nil {
		s.t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	set, err := json.Marshal(map[string]any{"keys": []map[string]string{{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return set
}

func (s signer) token(sub string) string {
	now := time.Now()
	claims := jwt.MapClaims{"sub": sub, "iat": now.Unix() - 5, "exp": now.Add(time.Hour).Unix()}
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

func unsignedToken(sub string) string {
	b64 := base64.RawURLEncoding.EncodeToString
	return b64([]byte(`{"alg":"none"}`)) + "." + b64([]byte(`{"sub":"`+sub+`","exp":9999999999}`)) + "."
}

// startOAuth runs a broker whose only listener takes OAUTHBEARER.
func startOAuth(t *testing.T, o Options) *Broker {
	t.Helper()
	o.DataDir, o.Listeners = t.TempDir(), []Listener{{Address: "127.0.0.1:0", Protocol: protocolSASL}}
	if o.Properties == nil {
		o.Properties = map[string]string{}
	}
	o.Properties["sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,OAUTHBEARER"
	o.Properties["connection.failed.authentication.delay.ms"] = "1"
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return b
}

func (s signer) logsIn(addr string) bool {
	return logIn(s.t, addr, oauth.Auth{Token: s.token("alice")}.AsMechanism()) == nil
}

func TestClientsLogInBySignedTokens(t *testing.T) {
	first, second := newSigner(t), newSigner(t)
	file := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, first.set(), 0o600); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(first.set()) }))
	defer served.Close()
	for _, keys := range []string{file, "file://" + filepath.ToSlash(file), served.URL} {
		addr := startOAuth(t, Options{Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": keys}}).Addr()
		if !first.logsIn(addr) {
			t.Errorf("%s: a right token is refused", keys)
		}
		if second.logsIn(addr) {
			t.Errorf("%s: a token of another signer lets in", keys)
		}
		if logIn(t, addr, oauth.Auth{Token: unsignedToken("alice")}.AsMechanism()) == nil {
			t.Errorf("%s: a token that nobody signed lets in", keys)
		}
	}
}

// Tokens are no less secret than passwords: what a client shows is in no log.
func TestUnsignedTokensForDevelopment(t *testing.T) {
	var log safeBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	addr := startOAuth(t, Options{OAuthUnsecured: true, Logger: logger}).Addr()
	right, wrong := unsignedToken("alice"), unsignedToken(" ")
	if err := logIn(t, addr, oauth.Auth{Token: right}.AsMechanism()); err != nil {
		t.Error(err)
	}
	if logIn(t, addr, oauth.Auth{Token: wrong}.AsMechanism()) == nil {
		t.Error("a token of nobody lets in")
	}
	text := log.String()
	for _, token := range []string{right, wrong} {
		if strings.Contains(text, token) || strings.Contains(text, strings.Split(token, ".")[1]) {
			t.Error("the log has a token")
		}
	}
	if !strings.Contains(text, "for development only") {
		t.Error("the log does not warn")
	}
}

func TestTokensMustBeCheckedSomehow(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		says string
	}{
		"nothing": {Options{}, "--oauth-jwks"},
		"both":    {Options{OAuthUnsecured: true, Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": "https://x"}}, "not both"},
		"a class": {Options{Properties: map[string]string{"listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class": "com.example.Mine"}}, "com.example.Mine"},
		"no file": {Options{Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": "nowhere.json"}}, "nowhere.json"},
		"ftp":     {Options{Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": "ftp://x/keys"}}, "neither a file nor"},
		"a user":  {Options{Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": "https://u:planted@x/keys"}}, "the URL has a user"},
		"no URL":  {Options{Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": "https://u:planted%zz@x/keys"}}, "is no URL"},
		"skew":    {Options{Properties: map[string]string{"sasl.oauthbearer.jwks.endpoint.url": "x", "sasl.oauthbearer.clock.skew.seconds": "x"}}, "skew"},
	} {
		o := c.o
		o.DataDir, o.Listeners = t.TempDir(), []Listener{{Address: "127.0.0.1:0", Protocol: protocolSASL}}
		if o.Properties == nil {
			o.Properties = map[string]string{}
		}
		o.Properties["sasl.enabled.mechanisms"] = "OAUTHBEARER"
		b, err := New(o)
		if err == nil {
			err = b.Run(t.Context())
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A delegation token of alice's logs in as her, and its secret is nowhere in what the broker writes.
func TestClientsLogInByDelegationTokens(t *testing.T) {
	b := startOAuth(t, Options{OAuthUnsecured: true, Users: map[string]string{"alice": "alice-secret"}, Properties: map[string]string{"delegation.token.secret.key": planted(1)}})
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.SASL(plain.Auth{User: "alice", Pass: "alice-secret"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	token, err := admin.CreateDelegationToken(t.Context(), kadm.CreateDelegationToken{MaxLifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	secret := base64.StdEncoding.EncodeToString(token.HMAC)
	auth := scram.Auth{User: token.TokenID, Pass: secret, IsToken: true}
	if err := logIn(t, b.Addr(), auth.AsSha256Mechanism()); err != nil {
		t.Error(err)
	}
	auth.IsToken = false
	if logIn(t, b.Addr(), auth.AsSha256Mechanism()) == nil {
		t.Error("a token logs in as a user of its id")
	}
	described, err := admin.DescribeBrokerConfigs(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ExpireDelegationToken(t.Context(), token.HMAC, -time.Millisecond); err != nil {
		t.Fatal(err)
	}
	auth.IsToken = true
	if logIn(t, b.Addr(), auth.AsSha256Mechanism()) == nil {
		t.Error("a token that was ended lets in")
	}
	for _, c := range described {
		for _, entry := range c.Configs {
			if entry.Value != nil && strings.Contains(*entry.Value, planted(1)) {
				t.Errorf("config %s shows the key", entry.Key)
			}
		}
	}
	checkNowhere(t, b.opt.DataDir, planted(1), secret, string(token.HMAC))
}

// checkNowhere looks for secrets in all files of a directory.
func checkNowhere(t *testing.T, dir string, secrets ...string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, s := range secrets {
			if bytes.Contains(content, []byte(s)) {
				t.Errorf("%s has a secret", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
