package certs

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"

	"software.sslmate.com/src/go-pkcs12"
)

// Store is a keystore or a truststore of Kafka: a file, PEM or PKCS12, or PEM texts in the property itself.
type Store struct {
	File     string
	Password string
	// Certificates and Key are PEM texts; they count when there is no file.
	Certificates, Key string
}

func (s Store) empty() bool { return s.File == "" && s.Certificates == "" }

// Source says where certificates come from: PEM files of doze's own settings, or Kafka's stores.
type Source struct {
	CertFile, KeyFile string // what the server shows; either both or Keystore
	CAFile            string // whom it trusts; either this or Truststore
	Keystore          Store
	Truststore        Store
}

// Trusts says whether there is anything to check clients against.
func (s Source) Trusts() bool { return s.CAFile != "" || !s.Truststore.empty() }

// Shows says whether there is a certificate to show.
func (s Source) Shows() bool { return s.CertFile != "" || !s.Keystore.empty() }

func (s Source) files() []string {
	var all []string
	for _, name := range []string{s.CertFile, s.KeyFile, s.CAFile, s.Keystore.File, s.Truststore.File} {
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// material is what was read from a source.
type material struct {
	own   tls.Certificate
	trust *x509.CertPool // nil: nobody in particular
}

func (s Source) load() (*material, error) {
	var m material
	var err error
	if s.CertFile != "" {
		m.own, err = pairOfFiles(s.CertFile, s.KeyFile)
	} else {
		m.own, err = s.Keystore.pair()
	}
	if err != nil {
		return nil, err
	}
	switch {
	case s.CAFile != "":
		m.trust, err = poolOfFile(s.CAFile)
	case !s.Truststore.empty():
		m.trust, err = s.Truststore.pool()
	}
	return &m, err
}

// fileMax bounds a file of certificates.
const fileMax = 4 << 20

// readFile reads a file that may be a pipe or /dev/zero.
//
//fuzz:not-a-parser it reads bytes and looks at none.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	if err == nil && len(b) > fileMax {
		err = fmt.Errorf("%s has more than %d bytes; name a file of certificates", name, fileMax)
	}
	return b, err
}

func pairOfFiles(certFile, keyFile string) (tls.Certificate, error) {
	certs, err := readFile(certFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the certificate: %w; name a PEM file that is there, or have doze cert make one", err)
	}
	key, err := readFile(keyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the certificate's key: %w; name a PEM file that is there, or have doze cert make one", err)
	}
	pair, err := pairOfPEM(certs, key)
	if err != nil {
		return pair, fmt.Errorf("certificate %s with key %s: %w", certFile, keyFile, err)
	}
	return pair, nil
}

// pairOfPEM reads a certificate, its chain behind it, and its key.
//
//fuzz:parser class=certificate FuzzPair
func pairOfPEM(certs, key []byte) (tls.Certificate, error) {
	if bytes.Contains(key, []byte("ENCRYPTED")) {
		return tls.Certificate{}, errors.New("the key is encrypted, which doze does not read in PEM; decrypt it: openssl pkcs8 -in KEY -out PLAIN, or use a PKCS12 keystore")
	}
	return tls.X509KeyPair(certs, key)
}

func poolOfFile(name string) (*x509.CertPool, error) {
	text, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the certificates of authorities: %w", err)
	}
	pool, err := poolOfPEM(text)
	if err != nil {
		return nil, fmt.Errorf("read the certificates of authorities in %s: %w", name, err)
	}
	return pool, nil
}

// poolOfPEM reads certificates that are trusted. Unlike the pool's own reader it refuses one that cannot be read.
//
//fuzz:parser class=certificate FuzzPair
func poolOfPEM(text []byte) (*x509.CertPool, error) {
	pool, n := x509.NewCertPool(), 0
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		pool.AddCert(c)
		n++
	}
	if n == 0 {
		return nil, errors.New("there is no certificate in PEM in it")
	}
	return pool, nil
}

// What a store's file begins with.
var (
	magicJKS   = []byte{0xfe, 0xed, 0xfe, 0xed}
	magicJCEKS = []byte{0xce, 0xce, 0xce, 0xce}
)

func (s Store) read() (text []byte, isPEM bool, err error) {
	if text, err = readFile(s.File); err != nil {
		return nil, false, fmt.Errorf("read the store: %w", err)
	}
	if bytes.HasPrefix(text, magicJKS) || bytes.HasPrefix(text, magicJCEKS) {
		return nil, false, fmt.Errorf("store %s is a JKS, which doze does not read; make a PKCS12 of it: keytool -importkeystore -srckeystore %s -destkeystore NEW.p12 -deststoretype PKCS12", s.File, s.File)
	}
	return text, bytes.Contains(text, []byte("-----BEGIN ")), nil
}

func (s Store) pair() (tls.Certificate, error) {
	if s.File == "" {
		pair, err := pairOfPEM([]byte(s.Certificates), []byte(s.Key))
		if err != nil {
			return pair, fmt.Errorf("properties ssl.keystore.certificate.chain and ssl.keystore.key: %w", err)
		}
		return pair, nil
	}
	text, isPEM, err := s.read()
	if err != nil {
		return tls.Certificate{}, err
	}
	var pair tls.Certificate
	if isPEM {
		pair, err = pairOfPEM(text, text)
	} else {
		pair, err = pairOfPKCS12(text, s.Password)
	}
	if err != nil {
		return pair, fmt.Errorf("keystore %s: %w", s.File, err)
	}
	return pair, nil
}

// pairOfPKCS12 reads a keystore with one key.
func pairOfPKCS12(text []byte, password string) (tls.Certificate, error) {
	key, leaf, chain, err := pkcs12.DecodeChain(text, password)
	if err != nil {
		return tls.Certificate{}, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return tls.Certificate{}, fmt.Errorf("a %T is no key that signs", key)
	}
	pair := tls.Certificate{PrivateKey: signer, Leaf: leaf, Certificate: [][]byte{leaf.Raw}}
	for _, c := range chain {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return pair, nil
}

func (s Store) pool() (*x509.CertPool, error) {
	if s.File == "" {
		pool, err := poolOfPEM([]byte(s.Certificates))
		if err != nil {
			return nil, fmt.Errorf("property ssl.truststore.certificates: %w", err)
		}
		return pool, nil
	}
	text, isPEM, err := s.read()
	if err != nil {
		return nil, err
	}
	if isPEM {
		return poolOfFile(s.File)
	}
	pool, err := poolOfPKCS12(text, s.Password)
	if err != nil {
		return nil, fmt.Errorf("truststore %s: %w", s.File, err)
	}
	return pool, nil
}

// poolOfPKCS12 reads a truststore as Java's keytool makes it.
func poolOfPKCS12(text []byte, password string) (*x509.CertPool, error) {
	certs, err := pkcs12.DecodeTrustStore(text, password)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}
