package certs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"
)

func made(t testing.TB) (*Authority, Pair) {
	t.Helper()
	a, err := NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Server([]string{"localhost"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}

// A keystore as openssl and keytool make it.
func TestPKCS12Keystore(t *testing.T) {
	a, p := made(t)
	pair, err := pairOfPEM(p.Certificate, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pkcs12.Modern.Encode(pair.PrivateKey, pair.Leaf, nil, "secret")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "key.p12")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Settings{Source: Source{Keystore: Store{File: name, Password: "secret"}}}); err != nil {
		t.Error(err)
	}
	if _, err := New(Settings{Source: Source{Keystore: Store{File: name, Password: "wrong"}}}); !errors.Is(err, pkcs12.ErrIncorrectPassword) {
		t.Errorf("a wrong password: %v", err)
	}
	store, err := a.Truststore("changeit")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poolOfPKCS12(store, "changeit"); err != nil {
		t.Error(err)
	}
}

func TestAnAuthoritySignsAgain(t *testing.T) {
	a, p := made(t)
	own, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := LoadAuthority(own); err != nil || !again.Certificate.Equal(a.Certificate) {
		t.Error(err)
	}
	if _, err := LoadAuthority(p); err == nil {
		t.Error("a server's certificate passes for an authority")
	}
}

func TestFilesOfCertificatesAreBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large.pem")
	if err := os.WriteFile(name, make([]byte, fileMax+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := poolOfFile(name); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Error(err)
	}
}

func FuzzPair(f *testing.F) {
	a, p := made(f)
	own, _ := a.PEM()
	f.Add(p.Certificate, p.Key)
	f.Add(own.Certificate, own.Key)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, certificate, key []byte) {
		_, _ = pairOfPEM(certificate, key)
		if pool, err := poolOfPEM(certificate); (pool == nil) == (err == nil) {
			t.Error("neither a pool nor an error, or both")
		}
	})
}
