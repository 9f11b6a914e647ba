package sasl

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// KeySource has the keys that tokens are signed with.
type KeySource interface {
	// Key is the public key for an algorithm; the one with that id, when there is an id.
	Key(alg, id string) (any, error)
}

// Bounds of a set of keys.
const (
	maxJWKS     = 1 << 20
	maxJWKSKeys = 1000
	minRSABits  = 2048
	maxRSABits  = 16384
)

// KeySet is a JWKS (RFC 7517): public keys of RSA, of the curves P-256, P-384 and P-521, and Ed25519. Other keys, and those
// that are for encryption, are passed over.
type KeySet struct{ keys []jwk }

type jwk struct {
	Kty string `json:"kty"`
	ID  string `json:"kid"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	N   string `json:"n"`
	E   string `json:"e"`
	Crv string `json:"crv"`
	X   string `json:"x"`
	Y   string `json:"y"`

	public any
}

var errNoKey = errors.New("no key of the set is the token's")

// ParseKeySet reads a JWKS.
//
//fuzz:parser class=config FuzzJWKS
func ParseKeySet(content []byte) (*KeySet, error) {
	if len(content) > maxJWKS {
		return nil, fmt.Errorf("read a JWKS: it is longer than %d bytes", maxJWKS)
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(content, &set); err != nil {
		return nil, fmt.Errorf("read a JWKS: %w", err)
	}
	if len(set.Keys) > maxJWKSKeys {
		return nil, fmt.Errorf("read a JWKS: it has more than %d keys", maxJWKSKeys)
	}
	var s KeySet
	for _, k := range set.Keys {
		if k.public = k.key(); k.public != nil && (k.Use == "" || k.Use == "sig") {
			s.keys = append(s.keys, k)
		}
	}
	if len(s.keys) == 0 {
		return nil, errors.New("read a JWKS: it has no key of a kind that signs tokens (RSA of 2048 bits or more, P-256, P-384, P-521, Ed25519)")
	}
	return &s, nil
}

// Key is the first that fits.
func (s *KeySet) Key(alg, id string) (any, error) {
	for _, k := range s.keys {
		if (id == "" || k.ID == id) && (k.Alg == "" || k.Alg == alg) && k.fits(alg) {
			return k.public, nil
		}
	}
	return nil, errNoKey
}

func (k jwk) fits(alg string) bool {
	switch alg {
	case "ES256":
		return k.Crv == "P-256"
	case "ES384":
		return k.Crv == "P-384"
	case "ES512":
		return k.Crv == "P-521"
	case "EdDSA":
		return k.Crv == "Ed25519"
	}
	return k.Kty == "RSA" && (strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS"))
}

func (k jwk) key() any {
	switch k.Kty {
	case "RSA":
		n, e := k.bytes(k.N), k.bytes(k.E)
		modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
		if bits := modulus.BitLen(); len(n) > maxRSABits/8 || bits < minRSABits || len(e) > 4 || exponent.Cmp(big.NewInt(3)) < 0 || exponent.Bit(0) == 0 || exponent.BitLen() > 31 {
			return nil
		}
		return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
	case "EC":
		return k.point()
	case "OKP":
		if x := k.bytes(k.X); k.Crv == "Ed25519" && len(x) == ed25519.PublicKeySize {
			return ed25519.PublicKey(x)
		}
	}
	return nil
}

func (k jwk) point() any {
	curve, size := elliptic.P256(), 32
	switch k.Crv {
	case "P-256":
	case "P-384":
		curve, size = elliptic.P384(), 48
	case "P-521":
		curve, size = elliptic.P521(), 66
	default:
		return nil
	}
	x, y := k.bytes(k.X), k.bytes(k.Y)
	if len(x) != size || len(y) != size {
		return nil
	}
	public, err := ecdsa.ParseUncompressedPublicKey(curve, append(append([]byte{4}, x...), y...))
	if err != nil {
		return nil
	}
	return public
}

func (k jwk) bytes(s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil
	}
	return b
}
