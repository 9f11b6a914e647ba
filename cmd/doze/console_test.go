package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"doze"
	"doze/console"
)

// The console by itself logs in to a broker over TLS, and to its registry; what clients are told is the same way.
func TestConsoleLogsIn(t *testing.T) {
	dir := t.TempDir()
	if err := (&certCmd{Dir: dir}).Run(&process{stdout: io.Discard, stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	ca, secret := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broker, err := doze.New(doze.Options{
		DataDir: filepath.Join(dir, "data"), Listeners: []doze.Listener{{Address: "127.0.0.1:0", Protocol: "SASL_SSL"}}, SchemaRegistry: "127.0.0.1:0",
		Users: map[string]string{"ada": "s3cret"}, TLS: doze.TLS{CertFile: filepath.Join(dir, "server.pem"), KeyFile: filepath.Join(dir, "server-key.pem")},
		Properties: map[string]string{"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- broker.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	flags := clientFlags{Bootstrap: []string{broker.Addr()}, SchemaRegistry: broker.Ready().Registry}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-512"} {
		flags.securityFlags = securityFlags{TLSCA: ca, SASLMechanism: mechanism, Username: "ada", PasswordFile: secret, RegistryUsername: "ada", RegistryPasswordFile: secret}
		overviewHas(t, consoleCmd{clientFlags: flags}, "The broker answers", "The schema registry answers", "security.protocol=SASL_SSL", "sasl.mechanism="+mechanism)
	}
	inURL := flags
	inURL.SchemaRegistry = strings.Replace(inURL.SchemaRegistry, "https://", "https://ada:s3cret@", 1)
	inURL.RegistryUsername, inURL.RegistryPasswordFile = "", ""
	overviewHas(t, consoleCmd{clientFlags: inURL}, "The schema registry answers")
	inURL.Password, inURL.PasswordFile = "wrong", ""
	overviewHas(t, consoleCmd{clientFlags: inURL}, "The broker does not answer", "The schema registry answers")
}

// With --console-login everybody logs in at the broker as himself, and the console is nobody before.
func TestConsoleAsksForALogin(t *testing.T) {
	dir := t.TempDir()
	broker, err := doze.New(doze.Options{
		DataDir: dir, Listeners: []doze.Listener{{Address: "127.0.0.1:0", Protocol: "SASL_PLAINTEXT"}},
		Users:      map[string]string{"ada": "s3cret", "bob": "other"},
		Properties: map[string]string{"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ada", "allow.everyone.if.no.acl.found": "false", "sasl.enabled.mechanisms": "SCRAM-SHA-512"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- broker.Run(ctx) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	defer end()
	quiet := &process{stdout: io.Discard, stderr: io.Discard}
	c := consoleCmd{clientFlags: clientFlags{Bootstrap: []string{broker.Addr()}}, ConsoleAddr: "127.0.0.1:0", ConsoleLogin: true}
	if _, _, err := c.options(quiet); err == nil || !strings.Contains(err.Error(), "add --sasl-mechanism") {
		t.Error(err)
	}
	c.SASLMechanism, c.Username = "SCRAM-SHA-512", "ada"
	if _, _, err := c.options(quiet); err == nil || !strings.Contains(err.Error(), "leave --username") {
		t.Error(err)
	}
	c.Username = ""
	_, o, err := c.options(quiet)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	send := func(method, path, body string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = "127.0.0.1:9093"
		if body != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		return w
	}
	if w := send("GET", "/topics", ""); w.Code != http.StatusUnauthorized {
		t.Error(w.Code, w.Body)
	}
	if w := send("GET", "/healthz", ""); w.Code != http.StatusOK {
		t.Error(w.Code, w.Body)
	}
	if w := send("POST", "/login", "user=ada&password=other"); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 {
		t.Error(w.Code, w.Body)
	}
	ada, bob := send("POST", "/login", "user=ada&password=s3cret"), send("POST", "/login", "user=bob&password=other")
	if w := send("GET", "/security", "", ada.Result().Cookies()...); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "s3cret") {
		t.Error(w.Code, w.Body)
	}
	if w := send("GET", "/security", "", bob.Result().Cookies()...); !strings.Contains(w.Body.String(), "CLUSTER_AUTHORIZATION_FAILED") {
		t.Error(w.Code, w.Body)
	}
	end()
	if w := send("POST", "/login", "user=ada&password=s3cret"); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "Nobody could tell") {
		t.Error(w.Code, w.Body)
	}
}

func overviewHas(t *testing.T, c consoleCmd, texts ...string) {
	t.Helper()
	c.ConsoleAddr = "127.0.0.1:0"
	_, o, err := c.options(&process{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "127.0.0.1:9093"
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	for _, want := range texts {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the overview lacks %q:\n%s", want, w.Body)
		}
	}
	if strings.Contains(w.Body.String(), "s3cret") {
		t.Error("the overview shows the password")
	}
}

// A file of a Java client says how the registry is reached, for it alone where its keys begin so.
func TestRegistryAccess(t *testing.T) {
	for _, c := range []struct {
		of         clientConfig
		user, pass string
	}{
		{clientConfig{}, "", ""},
		{clientConfig{"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "a:b:c"}, "a", "b:c"},
		{clientConfig{"schema.registry.basic.auth.credentials.source": "user_info", "schema.registry.basic.auth.user.info": "a:b", "basic.auth.user.info": "x:y"}, "a", "b"},
		{clientConfig{"basic.auth.credentials.source": "SASL_INHERIT", "sasl.username": "a", "sasl.password": "b"}, "a", "b"},
	} {
		got, err := c.of.registry()
		if err != nil || got.user != c.user || got.password != c.pass {
			t.Errorf("%v: %+v, %v", c.of, got, err)
		}
	}
	if _, err := (clientConfig{"basic.auth.credentials.source": "NONE"}).registry(); err == nil {
		t.Error("a source that is none is taken")
	}
	for _, url := range []string{"localhost:8081", "ftp://x", "http://", "http://a b"} {
		if _, err := (registryAccess{url: url}).checked(); err == nil {
			t.Errorf("%s is taken", url)
		}
	}
}

// A registry that leads elsewhere does not have the password go there.
func TestRegistryPasswordStaysWithIt(t *testing.T) {
	var seen []bool
	answer := func(w http.ResponseWriter, r *http.Request) {
		_, _, given := r.BasicAuth()
		seen = append(seen, given)
	}
	other := httptest.NewServer(http.HandlerFunc(answer))
	defer other.Close()
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer own.Close()
	a, err := registryAccess{url: own.URL, user: "a", password: "b"}.checked()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := a.client().Get(a.url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if len(seen) != 2 || !seen[0] || seen[1] {
		t.Errorf("who was given the password: %v", seen)
	}
}
