package certs

import (
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What keeps a new certificate from being read need not leave a trace on its file: a permission, descriptors that ran out.
func TestFilesThatCouldNotBeReadAreReadAgain(t *testing.T) {
	a, p := made(t)
	dir := t.TempDir()
	write := func(p Pair) {
		for name, b := range map[string][]byte{"cert": p.Certificate, "key": p.Key} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(p)
	told := 0
	i, err := New(Settings{
		Source: Source{CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key")},
		Report: func(error) { told++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := a.Server([]string{"renewed.example.com"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write(renewed)
	load := i.load
	i.load = func() (*material, error) { return nil, errors.New("too many open files") }
	shown := func() string {
		c, err := x509.ParseCertificate(i.current().Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return c.DNSNames[0]
	}
	for range 3 {
		if name := shown(); name != "localhost" || told != 1 {
			t.Fatalf("the certificate of %s is shown, %d errors are told", name, told)
		}
	}
	i.load = load
	if name := shown(); name != "renewed.example.com" {
		t.Errorf("the certificate of %s is shown once the new one can be read", name)
	}
	if shown(); told != 1 {
		t.Errorf("%d errors are told", told)
	}
}
