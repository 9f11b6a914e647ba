package doze

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// visitors come to a listener and to the registry again and again, until the returned function tells how many times they did. All must
// be served.
func visitors(t *testing.T, b *Broker, c *tls.Config) (stop func() int) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var came atomic.Int32
	visit := func(once func() error) {
		for ctx.Err() == nil {
			if err := once(); err != nil {
				t.Errorf("while the files change: %v", err)
				return
			}
			came.Add(1)
		}
	}
	all.Go(func() { visit(func() error { return ask(t, b.Addr(), c) }) })
	all.Go(func() {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}, Timeout: 20 * time.Second}
		visit(func() error {
			resp, err := client.Get(b.Ready().Registry + "/subjects")
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		})
	})
	return func() int { cancel(); all.Wait(); return int(came.Load()) }
}

// TestFilesOfTLSChangeUnderTraffic: certificate and key are written slowly and in halves, do not fit each other, are empty, a directory,
// gone; the authority too. Who comes meanwhile is served with what was there before; what comes last counts.
func TestFilesOfTLSChangeUnderTraffic(t *testing.T) {
	a := newAuthority(t)
	o := a.options()
	o.TLS.ClientCAFile, o.SchemaRegistry = a.file("ca"), "127.0.0.1:0"
	b, log := run(t, o)
	alice := a.client("alice")
	stop := visitors(t, b, alice)
	put := func(name string, content []byte) {
		if err := os.WriteFile(a.file(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := func() { // by somebody, once
		if name := shown(t, b.Addr(), alice); name != "localhost" {
			t.Errorf("%s is shown", name)
		}
	}
	for _, name := range []string{"server", "server-key", "ca"} {
		good := mustRead(t, a.file(name))
		for _, bad := range [][]byte{{}, good[:1], good[:len(good)/2], good[:len(good)-20], []byte("-----BEGIN CERTIFICATE-----\n"), mustRead(t, a.file("alice-key")), make([]byte, 5<<20)} {
			put(name, bad)
			seen()
		}
		if err := os.Remove(a.file(name)); err != nil {
			t.Fatal(err)
		}
		seen()
		if err := os.Mkdir(a.file(name), 0o700); err != nil {
			t.Fatal(err)
		}
		seen()
		if err := os.Remove(a.file(name)); err != nil {
			t.Fatal(err)
		}
		for i := range good { // a slow write
			if i%40 == 0 || i == len(good)-1 {
				put(name, good[:i+1])
				seen()
			}
		}
	}
	if n := stop(); n < 2 {
		t.Errorf("they came %d times", n)
	}
	a.server("second.test", "127.0.0.1")
	if name := shown(t, b.Addr(), alice); name != "second.test" {
		t.Errorf("in the end %s is shown", name)
	}
	other := newAuthority(t)
	put("ca", mustRead(t, other.file("ca")))
	if err := ask(t, b.Addr(), alice); err == nil {
		t.Error("a certificate of the authority that was trusted before is taken")
	}
	alice.Certificates = other.client("alice").Certificates
	if err := ask(t, b.Addr(), alice); err != nil {
		t.Errorf("one of the new authority: %v", err)
	}
	if !strings.Contains(log.String(), "the old ones go on") {
		t.Error("nothing is told")
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
