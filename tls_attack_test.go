package doze

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// selfMade is a certificate that no authority signed, of about as many bytes.
func selfMade(t testing.TB, size int) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bob"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtraExtensions: []pkix.Extension{{Id: []int{1, 2, 3, 4}, Value: make([]byte, size)}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// miser writes so many bytes and then none.
type miser struct {
	net.Conn
	left int
}

func (m *miser) Write(p []byte) (int, error) {
	n := min(len(p), m.left)
	m.left -= n
	if n < len(p) {
		_, _ = m.Conn.Write(p[:n])
		return n, errors.New("the rest is kept")
	}
	return m.Conn.Write(p)
}

// TestHandshakesAreBounded: clients that show a quarter of a megabyte of certificate but for its end, to a listener and to the
// registry, are closed, not waited for.
func TestHandshakesAreBounded(t *testing.T) {
	a := newAuthority(t)
	o := a.options()
	o.TLS.ClientCAFile, o.SchemaRegistry = a.file("ca"), "127.0.0.1:0"
	b, _ := run(t, o)
	large, c := selfMade(t, 250_000), a.client("")
	c.ServerName = "localhost"
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &large, nil }
	for _, addr := range []string{b.Addr(), strings.TrimPrefix(b.Ready().Registry, "https://")} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		_ = tls.Client(&miser{nc, 240_000}, c).Handshake()
		_ = nc.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err = io.Copy(io.Discard, nc); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s waits for the rest", addr)
		}
	}
}
