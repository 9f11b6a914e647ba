package doze

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// startWithMechanisms runs a broker with a registry whose first listener asks for logins by these mechanisms.
func startWithMechanisms(t *testing.T, dir, mechanisms, jaas string, users map[string]string) (b *Broker, stop func()) {
	t.Helper()
	b, err := New(Options{
		DataDir: dir, Users: users, SchemaRegistry: "127.0.0.1:0",
		Listeners: []Listener{{Address: "127.0.0.1:0", Protocol: protocolSASL}, {Address: "127.0.0.1:0", Protocol: protocolPlain}},
		Properties: map[string]string{
			"sasl.enabled.mechanisms": mechanisms, "connection.failed.authentication.delay.ms": "1",
			"listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Run(context.Background()) }()
	closed := false
	stop = func() {
		if closed {
			return
		}
		closed = true
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		<-done
	}
	t.Cleanup(stop)
	return b, stop
}

func setPassword(t *testing.T, addr, user, password string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	set := kadm.UpsertSCRAM{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password}
	if made, err := kadm.NewClient(client).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{set}); err != nil || !made.Ok() {
		t.Fatal(made, err)
	}
}

// registryOpens says whether the registry takes a name and a password.
func registryOpens(t *testing.T, b *Broker, user, password string) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Ready().Registry+"/subjects", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(user, password)
	client := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// The registry lets in who can log in at a listener, and nobody else: no password that was replaced, none of a mechanism that
// no listener has, no empty one.
func TestRegistryLetsInWhoLogsIn(t *testing.T) {
	const jaas = `m required user_nobody="" user_jaas="secret";`
	b, _ := startWithMechanisms(t, t.TempDir(), "SCRAM-SHA-256", jaas, map[string]string{"alice": "old", "bob": "bobs"})
	setPassword(t, b.Ready().Kafka[1], "alice", "new")
	check := func(b *Broker, user, password string, want bool) {
		t.Helper()
		if got := registryOpens(t, b, user, password); got != want {
			t.Errorf("%s with %q gets in: %v", user, password, got)
		}
	}
	check(b, "alice", "old", false)
	check(b, "alice", "new", true)
	check(b, "bob", "bobs", true)
	check(b, "jaas", "secret", false) // of PLAIN, which is not enabled
	plain, _ := startWithMechanisms(t, t.TempDir(), "PLAIN", jaas, map[string]string{"alice": "old"})
	setPassword(t, plain.Ready().Kafka[1], "carol", "secret")
	check(plain, "alice", "old", true)
	check(plain, "jaas", "secret", true)
	check(plain, "nobody", "", false)
	check(plain, "carol", "secret", false) // of SCRAM, likewise
}

// Who has changed a password for good has changed it: not even a damaged file brings the old one back.
func TestDamagedCredentialDoesNotBringTheOldPasswordBack(t *testing.T) {
	dir, users := t.TempDir(), map[string]string{"alice": "old"}
	b, stop := startWithMechanisms(t, dir, "SCRAM-SHA-256", "", users)
	setPassword(t, b.Ready().Kafka[1], "alice", "new")
	stop()
	files, err := filepath.Glob(filepath.Join(dir, credentialsDir, "????????????????????????????????"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(files[0], 30); err != nil {
		t.Fatal(err)
	}
	b, _ = startWithMechanisms(t, dir, "SCRAM-SHA-256", "", users)
	for _, password := range []string{"old", "new"} {
		if err := logIn(t, b.Addr(), scram.Auth{User: "alice", Pass: password}.AsSha256Mechanism()); err == nil {
			t.Errorf("%s logs in", password)
		}
		if registryOpens(t, b, "alice", password) {
			t.Errorf("the registry takes %s", password)
		}
	}
}

// The registry takes the tokens that a listener takes, from clients that send them as HTTP has it.
func TestRegistryTakesTokens(t *testing.T) {
	right, other := newSigner(t), newSigner(t)
	file := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, right.set(), 0o600); err != nil {
		t.Fatal(err)
	}
	signed := startOAuth(t, Options{SchemaRegistry: "127.0.0.1:0", Properties: map[string]string{jwksProperty: file}})
	unsigned := startOAuth(t, Options{SchemaRegistry: "127.0.0.1:0", OAuthUnsecured: true})
	for _, c := range []struct {
		what   string
		broker *Broker
		header string
		want   int
	}{
		{"a right token", signed, "Bearer " + right.token("alice"), http.StatusOK},
		{"a right token, another spelling", signed, "bearer  " + right.token("alice"), http.StatusOK},
		{"one of another signer", signed, "Bearer " + other.token("alice"), http.StatusUnauthorized},
		{"one that nobody signed", signed, "Bearer " + unsignedToken("alice"), http.StatusUnauthorized},
		{"none", signed, "Bearer", http.StatusUnauthorized},
		{"no token", signed, "Bearer a,b", http.StatusUnauthorized},
		{"one longer than headers may be", signed, "Bearer " + strings.Repeat("a", 100_000), http.StatusRequestHeaderFieldsTooLarge},
		{"nothing", signed, "", http.StatusUnauthorized},
		{"one that nobody signed, where those are taken", unsigned, "Bearer " + unsignedToken("alice"), http.StatusOK},
	} {
		if got := registryStatus(t, c.broker, c.header); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

func registryStatus(t *testing.T, b *Broker, authorization string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Ready().Registry+"/subjects", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	client := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
