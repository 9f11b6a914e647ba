//go:build linux

package brokers

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files of a broker with TLS. Kafka wants key and certificate in one, doze takes two.
const (
	certificateFile   = "certificate.pem"
	keyFile           = "key.pem"
	keyAndCertificate = "key-and-certificate.pem"
)

// writeCertificate makes a certificate of the loopback address, signed by itself, and its key on the curve P-256.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return fmt.Errorf("make certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	certificatePEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	for name, text := range map[string][]byte{
		keyFile: keyPEM, certificateFile: certificatePEM, keyAndCertificate: bytes.Join([][]byte{keyPEM, certificatePEM}, nil),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return fmt.Errorf("write certificate: %w", err)
		}
	}
	return nil
}
