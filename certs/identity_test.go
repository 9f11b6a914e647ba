package certs

import (
	"bytes"
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

// TestLinksThatLeadElsewhere: to another file of the same size and time, as package managers make them.
func TestLinksThatLeadElsewhere(t *testing.T) {
	a, err := NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	dir, then := t.TempDir(), time.Unix(1, 0)
	link := filepath.Join(dir, "both")
	lead := func(name string) {
		p, err := a.Server([]string{name}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		// Certificates differ by a byte in their signatures: so do not the files, by what stands behind.
		both := append(bytes.Clone(p.Key), p.Certificate...)
		both = append(both, bytes.Repeat([]byte("\n"), 4096-len(both))...)
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, both, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(link)
		if err := os.Symlink(file, link); err != nil {
			t.Fatal(err)
		}
	}
	lead("one.test")
	i, err := New(Settings{Source: Source{CertFile: link, KeyFile: link}})
	if err != nil {
		t.Fatal(err)
	}
	lead("two.test")
	c, err := x509.ParseCertificate(i.current().Certificates[0].Certificate[0])
	if err != nil || c.DNSNames[0] != "two.test" {
		t.Errorf("the certificate of %s is shown, %v", c.DNSNames, err)
	}
}
