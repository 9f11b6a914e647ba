package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"software.sslmate.com/src/go-pkcs12"
)

// Authority signs certificates for development.
type Authority struct {
	Certificate *x509.Certificate
	key         crypto.Signer
}

// Lifetimes. Systems of phones and browsers take no server's certificate for longer than 825 days.
const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 825 * 24 * time.Hour
	clockSkew       = time.Hour // a certificate counts from an hour ago: clocks differ
)

// Pair is a certificate with its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// NewAuthority makes a new one.
func NewAuthority(now time.Time) (*Authority, error) {
	template, err := newTemplate("doze development CA", now, authorityLife)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	c, err := x509.ParseCertificate(der)
	return &Authority{Certificate: c, key: key}, err
}

// LoadAuthority reads one that was made before.
//
//fuzz:not-a-parser the file is the operator's own, and X.509 is read by [pairOfPEM].
func LoadAuthority(p Pair) (*Authority, error) {
	pair, err := pairOfPEM(p.Certificate, p.Key)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("it is no authority's certificate")
	}
	return &Authority{Certificate: pair.Leaf, key: key}, nil
}

// PEM is the authority with its key.
func (a *Authority) PEM() (Pair, error) { return encode(a.Certificate.Raw, a.key) }

// Server makes a certificate for names and addresses of a server.
func (a *Authority) Server(hosts []string, now time.Time) (Pair, error) {
	template, err := newTemplate(hosts[0], now, certificateLife)
	if err != nil {
		return Pair{}, err
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return a.sign(template)
}

// Client makes a certificate for a client of the name, its CN.
func (a *Authority) Client(name string, now time.Time) (Pair, error) {
	template, err := newTemplate(name, now, certificateLife)
	if err != nil {
		return Pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

// Truststore is the authority's certificate in the form of Java's keytool.
func (a *Authority) Truststore(password string) ([]byte, error) {
	b, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{a.Certificate}, password)
	if err != nil {
		return nil, fmt.Errorf("make a truststore: %w", err)
	}
	return b, nil
}

func newTemplate(name string, now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choose a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(life),
	}, nil
}

func newKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

func (a *Authority) sign(template *x509.Certificate) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign a certificate for %s: %w", template.Subject.CommonName, err)
	}
	return encode(der, key)
}

func encode(der []byte, key crypto.Signer) (Pair, error) {
	b, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a key: %w", err)
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}),
	}, nil
}
