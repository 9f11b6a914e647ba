package doze

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"doze/certs"
)

// authority is a development CA with its files in a directory.
type authority struct {
	*certs.Authority
	t   testing.TB
	dir string
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	ca, err := certs.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{ca, t, t.TempDir()}
	pair, err := ca.PEM()
	a.put("ca", pair, err)
	a.server("localhost", "127.0.0.1")
	return a
}

// put writes NAME.pem, NAME-key.pem and, of both, NAME-both.pem.
func (a *authority) put(name string, p certs.Pair, err error) {
	a.t.Helper()
	err = errors.Join(err, os.WriteFile(a.file(name+"-key"), p.Key, 0o600), os.WriteFile(a.file(name), p.Certificate, 0o600),
		os.WriteFile(a.file(name+"-both"), append(bytes.Clone(p.Key), p.Certificate...), 0o600))
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name+".pem") }

func (a *authority) server(hosts ...string) {
	pair, err := a.Server(hosts, time.Now())
	a.put("server", pair, err)
}

// options are those of a broker with the authority's certificate.
func (a *authority) options() Options {
	return Options{
		DataDir: a.t.TempDir(), Listeners: []Listener{{Address: "127.0.0.1:0"}},
		TLS: TLS{CertFile: a.file("server"), KeyFile: a.file("server-key")},
	}
}

// client is what trusts the authority, and shows a certificate of the name unless it is empty.
func (a *authority) client(name string) *tls.Config {
	a.t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate)
	c := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if name != "" {
		pair, err := a.Client(name, time.Now())
		a.put(name, pair, err)
		own, err := tls.LoadX509KeyPair(a.file(name), a.file(name+"-key"))
		if err != nil {
			a.t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c
}

// log is a log that is read while it is written.
type testLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// run runs a broker until the test ends.
func run(t testing.TB, o Options) (*Broker, *testLog) {
	t.Helper()
	log := &testLog{}
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b, log
}

// ask asks for metadata over TLS.
func ask(t testing.TB, addr string, c *tls.Config, more ...kgo.Opt) error {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(addr), kgo.DialTLSConfig(c), kgo.RequestRetries(0), kgo.RetryTimeout(0), kgo.DialTimeout(20 * time.Second),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = kmsg.NewPtrMetadataRequest().RequestWith(ctx, client)
	return err
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	b, log := run(t, a.options())
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		c := a.client("")
		c.MinVersion, c.MaxVersion = version, version
		if err := ask(t, b.Addr(), c); err != nil {
			t.Errorf("TLS version %x: %v", version, err)
		}
	}
	if !strings.Contains(log.String(), "principal=User:ANONYMOUS") {
		t.Error("who shows no certificate is not anonymous")
	}
	old := a.client("")
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if err := ask(t, b.Addr(), old); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if b.opt.Listeners[0].Name != "SSL" || !strings.Contains(b.static.Text("advertised.listeners")+strings.Join(b.static.Entries("advertised.listeners"), ","), "SSL://") {
		t.Errorf("listener %+v", b.opt.Listeners[0])
	}
}

func TestCertificatesOfClients(t *testing.T) {
	a := newAuthority(t)
	o := a.options()
	o.TLS.ClientCAFile = a.file("ca")
	o.Properties = map[string]string{"ssl.principal.mapping.rules": "RULE:CN=al(.*)/$1/U,DEFAULT"}
	b, log := run(t, o)
	for name, principal := range map[string]string{"bob": `"User:CN=bob"`, "alice": "User:ICE"} {
		if err := ask(t, b.Addr(), a.client(name)); err != nil || !strings.Contains(log.String(), "principal="+principal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ask(t, b.Addr(), a.client("")); err == nil {
		t.Error("a client without a certificate is let in")
	}
	stranger, trusted := newAuthority(t).client("bob"), a.client("")
	trusted.Certificates = stranger.Certificates
	if err := ask(t, b.Addr(), trusted); err == nil {
		t.Error("a client with a certificate of another authority is let in")
	}
}

func TestNoRuleForTheCertificate(t *testing.T) {
	a := newAuthority(t)
	o := a.options()
	o.TLS.ClientCAFile = a.file("ca")
	o.Properties = map[string]string{"ssl.principal.mapping.rules": "RULE:CN=alice/a/", "ssl.client.auth": "requested"}
	b, _ := run(t, o)
	if err := ask(t, b.Addr(), a.client("bob")); err == nil {
		t.Error("a client that no rule names is let in")
	}
	if err := ask(t, b.Addr(), a.client("alice")); err != nil {
		t.Error(err)
	}
	if err := ask(t, b.Addr(), a.client("")); err != nil {
		t.Errorf("a certificate is only requested: %v", err)
	}
}

// TestLoginsOverTLS: listeners with each protocol beside each other, and the registry behind the same users.
func TestLoginsOverTLS(t *testing.T) {
	a := newAuthority(t)
	o := a.options()
	o.Users = map[string]string{"alice": "secret"}
	o.Properties = map[string]string{"sasl.enabled.mechanisms": "PLAIN"}
	o.Listeners = nil
	for _, p := range protocols {
		o.Listeners = append(o.Listeners, Listener{Address: "127.0.0.1:0", Protocol: p})
	}
	o.SchemaRegistry = "127.0.0.1:0"
	b, log := run(t, o)
	addrs := b.Ready().Kafka
	login := func(password string) kgo.Opt {
		return kgo.SASL(plain.Auth{User: "alice", Pass: password}.AsMechanism())
	}
	if err := ask(t, addrs[3], a.client(""), login("secret")); err != nil || !strings.Contains(log.String(), "principal=User:alice") {
		t.Errorf("SASL_SSL: %v", err)
	}
	if err := ask(t, addrs[3], a.client(""), login("wrong")); err == nil {
		t.Error("SASL_SSL takes a wrong password")
	}
	if err := ask(t, addrs[3], a.client("")); err == nil {
		t.Error("SASL_SSL takes no login")
	}
	if err := ask(t, addrs[1], a.client("")); err != nil {
		t.Errorf("SSL: %v", err)
	}
	checkRegistryLogin(t, b.Ready().Registry, a.client(""))
}

func checkRegistryLogin(t *testing.T, url string, c *tls.Config) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: c}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	get := func(user, password string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/subjects", nil)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			r.SetBasicAuth(user, password)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp, string(body)
	}
	if !strings.HasPrefix(url, "https://") {
		t.Fatal(url)
	}
	if resp, body := get("alice", "secret"); resp.StatusCode != 200 || body != "[]" {
		t.Errorf("with the password: %d %s", resp.StatusCode, body)
	}
	for _, wrong := range [][2]string{{"", ""}, {"alice", "wrong"}, {"alice", ""}, {"bob", "secret"}} {
		resp, body := get(wrong[0], wrong[1])
		if resp.StatusCode != 401 || !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic realm=") || body != `{"error_code":401,"message":"HTTP 401 Unauthorized"}` {
			t.Errorf("%v: %d %q %s", wrong, resp.StatusCode, resp.Header.Get("WWW-Authenticate"), body)
		}
	}
}

// shown is the name of the certificate that a server shows.
func shown(t *testing.T, addr string, c *tls.Config) string {
	t.Helper()
	nc, err := tls.Dial("tcp", addr, c)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	return nc.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestCertificatesAreReadAgain(t *testing.T) {
	a := newAuthority(t)
	b, log := run(t, a.options())
	if n := shown(t, b.Addr(), a.client("")); n != "localhost" {
		t.Fatal(n)
	}
	a.server("second.test", "127.0.0.1")
	if n := shown(t, b.Addr(), a.client("")); n != "second.test" {
		t.Errorf("after the change: %s", n)
	}
	if err := os.WriteFile(a.file("server"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n := shown(t, b.Addr(), a.client("")); n != "second.test" {
			t.Errorf("with a broken file: %s", n)
		}
	}
	if n := strings.Count(log.String(), "the old ones go on"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
	a.server("third.test", "127.0.0.1")
	if n := shown(t, b.Addr(), a.client("")); n != "third.test" {
		t.Errorf("after the repair: %s", n)
	}
}

// TestKafkasKeystores: PEM in properties and in a store's file, of one listener alone.
func TestKafkasKeystores(t *testing.T) {
	a := newAuthority(t)
	read := func(name string) string {
		b, err := os.ReadFile(a.file(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	truststore, err := a.Truststore("changeit")
	if err != nil {
		t.Fatal(err)
	}
	p12 := filepath.Join(a.dir, "trust.p12")
	if err := os.WriteFile(p12, truststore, 0o600); err != nil {
		t.Fatal(err)
	}
	b, _ := run(t, Options{DataDir: t.TempDir(), Properties: map[string]string{
		"listeners":                                        "PLAIN://127.0.0.1:0,FILE://localhost:0,SSL://127.0.0.1:0",
		"listener.security.protocol.map":                   "PLAIN:PLAINTEXT,FILE:SSL,SSL:SSL",
		"inter.broker.listener.name":                       "PLAIN",
		"listener.name.file.ssl.keystore.location":         a.file("server-both"),
		"listener.name.file.ssl.keystore.type":             "PEM",
		"listener.name.file.ssl.truststore.location":       p12,
		"listener.name.file.ssl.truststore.password":       "changeit",
		"listener.name.file.ssl.client.auth":               "required",
		"listener.name.ssl.ssl.keystore.certificate.chain": read("server"),
		"listener.name.ssl.ssl.keystore.key":               read("server-key"),
		"listener.name.ssl.ssl.enabled.protocols":          "TLSv1.2",
		"listener.name.ssl.ssl.cipher.suites":              "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
	}})
	addrs := b.Ready().Kafka
	if err := ask(t, addrs[1], a.client("alice")); err != nil {
		t.Error(err)
	}
	if err := ask(t, addrs[1], a.client("")); err == nil {
		t.Error("a client without a certificate is let in")
	}
	if err := ask(t, addrs[2], a.client("")); err != nil {
		t.Error(err)
	}
	newest := a.client("")
	newest.MinVersion = tls.VersionTLS13
	if err := ask(t, addrs[2], newest); err == nil {
		t.Error("TLS 1.3 is spoken though it is not enabled")
	}
}

func TestTLSMistakes(t *testing.T) {
	a := newAuthority(t)
	jks := filepath.Join(a.dir, "store.jks")
	if err := os.WriteFile(jks, []byte{0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    func(*Options)
		want string
	}{
		{func(o *Options) { o.TLS = TLS{}; o.Listeners[0].Protocol = "SSL" }, "which doze cert makes"},
		{func(o *Options) { o.TLS.CertFile = "" }, "give --tls-cert too"},
		{func(o *Options) { o.TLS.CertFile = a.file("none") }, "no such file"},
		{func(o *Options) { o.TLS.KeyFile = a.file("ca-key") }, "private key does not match public key"},
		{func(o *Options) { o.TLS.ClientCAFile = a.file("server-key") }, "no certificate in PEM"},
		{func(o *Options) { o.Listeners[0].Protocol = "TLS" }, "is not one of PLAINTEXT, SSL"},
		{func(o *Options) { o.Properties = map[string]string{"ssl.client.auth": "required"} }, "trusts no authority"},
		{func(o *Options) { o.Properties = map[string]string{"ssl.keystore.location": jks} }, "set twice"},
		{func(o *Options) {
			o.TLS = TLS{}
			o.Listeners[0].Protocol = "SSL"
			o.Properties = map[string]string{"ssl.keystore.location": jks}
		}, "keytool -importkeystore"},
		{func(o *Options) { o.Properties = map[string]string{"ssl.principal.mapping.rules": "RULE:(?=a)b/c/"} }, "look-around"},
		{func(o *Options) { o.Properties = map[string]string{"ssl.enabled.protocols": "TLSv1.1"} }, "name one of them"},
		{func(o *Options) { o.Properties = map[string]string{"ssl.cipher.suites": "TLS_NULL"} }, "leave it out"},
	} {
		o := a.options()
		c.o(&o)
		b, err := New(o)
		if err == nil {
			b.Close()
			t.Errorf("%s: started", c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}

// TestSlowHandshakesHoldNobody: those who connect and say nothing, or a part of a hello.
func TestSlowHandshakesHoldNobody(t *testing.T) {
	a := newAuthority(t)
	b, _ := run(t, a.options())
	for i := range 200 {
		nc, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if i%2 == 0 {
			_, _ = nc.Write([]byte{22, 3, 1, 2, 0, 1})
		}
	}
	if err := ask(t, b.Addr(), a.client("")); err != nil {
		t.Error(err)
	}
}

// TestPlaintextOnTLS: a Kafka client without TLS is closed, not left to wait.
func TestPlaintextOnTLS(t *testing.T) {
	a := newAuthority(t)
	b, log := run(t, a.options())
	nc, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = nc.Write(kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrApiVersionsRequest(), 1))
	if _, err := io.Copy(io.Discard, nc); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it is left to wait")
	}
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), "does not speak TLS"); {
		if time.Now().After(deadline) {
			t.Fatal(log.String())
		}
		time.Sleep(time.Millisecond)
	}
}
