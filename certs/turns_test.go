package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a key that knows how many use it at a time.
type counted struct {
	crypto.Signer
	now, most atomic.Int32
}

func (c *counted) Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	for range 100 { // others come meanwhile, if they may
		runtime.Gosched()
	}
	defer c.now.Add(-1)
	return c.Signer.Sign(rand, digest, opts)
}

// TestKeysAreUsedInTurns: however many clients come at once, the key is at work for half of the processors, and all are served.
func TestKeysAreUsedInTurns(t *testing.T) {
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Signer: key}
	pair := inTurns(tls.Certificate{PrivateKey: c})
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if _, err := pair.PrivateKey.(crypto.Signer).Sign(rand.Reader, make([]byte, 32), crypto.SHA256); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most := int(c.most.Load()); most > max(1, runtime.GOMAXPROCS(0)/2) {
		t.Errorf("%d at a time", most)
	}
}

// TestKeysInTurnsServe: keys of both kinds, in every way in which a handshake uses them.
func TestKeysInTurnsServe(t *testing.T) {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key    crypto.Signer
		max    uint16
		suites []uint16
	}{
		"ECDSA": {e, tls.VersionTLS13, nil}, "RSA": {r, tls.VersionTLS13, nil}, "RSA of TLS 1.2": {r, tls.VersionTLS12, nil},
		"RSA that decrypts": {r, tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}},
	} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, c.key.Public(), c.key)
		if err != nil {
			t.Fatal(err)
		}
		own := inTurns(tls.Certificate{Certificate: [][]byte{der}, PrivateKey: c.key})
		server, client := net.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- Server(server, &tls.Config{Certificates: []tls.Certificate{own}, CipherSuites: c.suites}).Handshake()
		}()
		if err := tls.Client(client, &tls.Config{InsecureSkipVerify: true, MaxVersion: c.max, CipherSuites: c.suites}).Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		client.Close()
		if err := <-done; err != nil {
			t.Errorf("%s: the server: %v", name, err)
		}
	}
}
