package doze

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// The console is a client inside the process: it shows the broker whatever listeners there are, one of a socket only too.
func TestConsoleBesideTheBroker(t *testing.T) {
	b, err := New(Options{DataDir: t.TempDir(), Listeners: []Listener{{Address: "unix:" + t.TempDir() + "/k"}}, Console: "127.0.0.1:0", SchemaRegistry: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	url := b.Ready().Console
	if !strings.HasSuffix(b.Ready().Line(), " console="+url) || url == "" {
		t.Errorf("ready line %q", b.Ready().Line())
	}
	for path, want := range map[string]string{"/healthz": "ok\n", "/": "The broker answers", "/topics": "There is no topic yet"} {
		if got := fetch(t, url+path); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The address of a console that nobody asked for does not keep the broker from starting.
func TestConsoleAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	o := Options{DataDir: t.TempDir(), Listeners: []Listener{{Address: "127.0.0.1:0"}}, Console: ln.Addr().String()}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "give --console-addr a free address") {
		t.Fatalf("a console that was asked for: %v", err)
	}
	o.ConsoleMayLack = true
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.Ready(); r.NoConsole != o.Console || r.Console != "" || strings.Contains(r.Line(), "console") {
		t.Errorf("ready: %+v", r)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestConsoleKeepsToTheMachine(t *testing.T) {
	secured := map[string]string{"listener.security.protocol.map": "CLIENTS:SASL_SSL"}
	for _, c := range []struct {
		o       Options
		refused string
	}{
		{Options{Console: "127.0.0.1:9093", Properties: secured}, ""},
		{Options{Console: "[::1]:0", Properties: secured}, ""},
		{Options{Console: "0.0.0.0:9093", Properties: secured}, "--console-unprotected"},
		{Options{Console: ":9093", Properties: secured, Unprotected: true}, "--console-unprotected"},
		{Options{Console: "0.0.0.0:9093", Properties: secured, ConsoleUnprotected: true}, ""},
		{Options{Console: "0.0.0.0:9093"}, "the console"},
		{Options{Console: "0.0.0.0:9093", Unprotected: true}, ""},
	} {
		c.o.Listeners = []Listener{{Name: "CLIENTS", Address: "127.0.0.1:0"}}
		err := (&Broker{opt: c.o}).checkConsole()
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// With a login and ACLs on, the console still sees everything: it is a principal of its own that no user can be.
func TestConsoleOfABrokerWithLogins(t *testing.T) {
	b, err := New(Options{
		DataDir: t.TempDir(), Listeners: []Listener{{Name: "CLIENTS", Protocol: "SASL_PLAINTEXT", Address: "127.0.0.1:0"}}, Console: "127.0.0.1:0", SchemaRegistry: "127.0.0.1:0",
		Users: map[string]string{"alice": "secret"}, Properties: map[string]string{"sasl.enabled.mechanisms": "PLAIN", "allow.everyone.if.no.acl.found": "false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	page := fetch(t, b.Ready().Console+"/")
	for _, want := range []string{"The broker answers", "The schema registry answers", "SASL_PLAINTEXT"} {
		if !strings.Contains(page, want) {
			t.Errorf("the overview lacks %q: %s", want, page)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
