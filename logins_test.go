package doze

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	kgosasl "github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"doze/replay"
)

const allMechanisms = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"

// startWithLogins runs a broker in dir until the test or the returned function ends it.
func startWithLogins(t testing.TB, dir string, log *slog.Logger, users map[string]string) (*Broker, func()) {
	t.Helper()
	b, err := New(Options{
		DataDir: dir, Users: users, Logger: log,
		Listeners: []Listener{{Address: "127.0.0.1:0", Protocol: protocolSASL}, {Address: "127.0.0.1:0", Protocol: protocolPlain}},
		Properties: map[string]string{
			"sasl.enabled.mechanisms":                             allMechanisms,
			"listener.name.sasl_plaintext.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required user_jaas="jaas-planted";`,
			"connection.failed.authentication.delay.ms":           "1",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Run(context.Background()) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			<-done
		})
	}
	t.Cleanup(stop)
	return b, stop
}

// logIn asks for metadata as a user.
func logIn(t testing.TB, addr string, m kgosasl.Mechanism) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.SASL(m), kgo.RetryTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrMetadataRequest()
	_, err = req.RequestWith(ctx, client)
	return err
}

func mechanismsOf(user, password string) map[string]kgosasl.Mechanism {
	return map[string]kgosasl.Mechanism{
		"PLAIN":         plain.Auth{User: user, Pass: password}.AsMechanism(),
		"SCRAM-SHA-256": scram.Auth{User: user, Pass: password}.AsSha256Mechanism(),
		"SCRAM-SHA-512": scram.Auth{User: user, Pass: password}.AsSha512Mechanism(),
	}
}

func TestClientsLogIn(t *testing.T) {
	b, _ := startWithLogins(t, t.TempDir(), nil, map[string]string{"alice": "alice-secret", "a=b,c": "odd"})
	addr := b.Addr()
	for _, c := range []struct {
		user, password string
		open           bool
	}{{"alice", "alice-secret", true}, {"a=b,c", "odd", true}, {"alice", "wrong", false}, {"carol", "alice-secret", false}} {
		for name, m := range mechanismsOf(c.user, c.password) {
			err := logIn(t, addr, m)
			if (err == nil) != c.open {
				t.Errorf("%s as %s with %s: %v", name, c.user, c.password, err)
			}
			if !c.open && !strings.Contains(fmt.Sprint(err), kerr.SaslAuthenticationFailed.Message) {
				t.Errorf("%s as %s is refused with %v", name, c.user, err)
			}
		}
	}
	if err := logIn(t, addr, plain.Auth{User: "jaas", Pass: "jaas-planted"}.AsMechanism()); err != nil {
		t.Errorf("a user of the JAAS text: %v", err)
	}
	if err := logIn(t, addr, scram.Auth{User: "jaas", Pass: "jaas-planted"}.AsSha256Mechanism()); err == nil {
		t.Error("a user of PLAIN's JAAS text logs in by SCRAM")
	}
}

// planted is a secret that must be nowhere.
func planted(i int) string { return fmt.Sprintf("planted-secret-%02d-kzqv", i) }

// TestSecretsAreNowhere plants thirty secrets: passwords of users at the start and of users that clients make, right and wrong
// ones in logins, and a JAAS text; and looks for each, and for every verifier, in all that the broker writes or tells, but for
// the files of credentials.
func TestSecretsAreNowhere(t *testing.T) {
	dir := t.TempDir()
	var log safeBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	users := map[string]string{}
	for i := range 10 {
		users[fmt.Sprint("start", i)] = planted(i)
	}
	b, stop := startWithLogins(t, dir, logger, users)
	plainAddr := b.Ready().Kafka[1]
	ctx := context.Background()
	client, err := kgo.NewClient(kgo.SeedBrokers(plainAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	for i := 10; i < 20; i++ {
		mechanism := kadm.ScramMechanism(1 + i%2)
		made, err := admin.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{{User: fmt.Sprint("made", i), Mechanism: mechanism, Iterations: 4096, Password: planted(i)}})
		if err != nil || !made.Ok() {
			t.Fatal(err, made)
		}
	}
	for i := range 30 {
		user := fmt.Sprint("start", i)
		if i >= 10 {
			user = fmt.Sprint("made", i)
		}
		for _, m := range mechanismsOf(user, planted(i)) {
			_ = logIn(t, b.Addr(), m) // some are right, some wrong
		}
	}
	described, err := admin.DescribeBrokerConfigs(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"DescribeConfigs": fmt.Sprint(described), "options": fmt.Sprintf("%v", b.Ready())}
	state, _ := b.store.View()
	var dump bytes.Buffer
	if err := replay.Dump(&dump, state, nil, false); err != nil {
		t.Fatal(err)
	}
	places["dump"] = dump.String()
	if !strings.Contains(places["dump"], "made10") {
		t.Error("the dump does not know the users")
	}
	stop()
	places["log"] = log.String()
	secrets := []string{"jaas-planted"}
	for i := range 30 {
		secrets = append(secrets, planted(i))
	}
	addFiles(t, dir, places, &secrets, 10+1)
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the secret %q", place, secret)
			}
		}
	}
	if !strings.Contains(places["log"], "SASLAuthenticate") {
		t.Error("the log does not show the traffic, so it proves nothing")
	}
}

// addFiles reads the data directory: files of credentials give secrets, all others are places. It holds their modes too.
func addFiles(t *testing.T, dir string, places map[string]string, secrets *[]string, files int) {
	t.Helper()
	kept := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Base(filepath.Dir(path)) != credentialsDir {
			places[path] = string(text)
			return nil
		}
		kept++
		for at := 24; at+16 <= len(text)-4; at += 16 {
			*secrets = append(*secrets, string(text[at:at+16])) // a piece of salt, stored key or server key
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept != files { // the users' and the decoy's secret
		t.Errorf("%d files of credentials", kept)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// What a client sets outlasts a restart and counts over what the broker was started with.
func TestPasswordSetByAClient(t *testing.T) {
	dir := t.TempDir()
	users := map[string]string{"alice": "old"}
	b, stop := startWithLogins(t, dir, nil, users)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Ready().Kafka[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	set := kadm.UpsertSCRAM{User: "alice", Mechanism: kadm.ScramSha256, Iterations: 8192, Password: "new"}
	if _, err := kadm.NewClient(client).AlterUserSCRAMs(context.Background(), nil, []kadm.UpsertSCRAM{set}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := logIn(t, b.Addr(), scram.Auth{User: "alice", Pass: "new"}.AsSha256Mechanism()); err != nil {
			t.Errorf("the new password: %v", err)
		}
		if err := logIn(t, b.Addr(), scram.Auth{User: "alice", Pass: "old"}.AsSha256Mechanism()); err == nil {
			t.Error("the old password opens still")
		}
		stop()
		b, stop = startWithLogins(t, dir, nil, users)
	}
}
