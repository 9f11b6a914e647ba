package sasl

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"

	"github.com/xdg-go/stringprep"
)

// Hash is the hash of a SCRAM mechanism, by Kafka's numbers of mechanisms (KIP-554).
type Hash int8

// The hashes that Kafka has.
const (
	SHA256 Hash = 1
	SHA512 Hash = 2
)

// Hashes lists them.
var Hashes = []Hash{SHA256, SHA512}

// Bounds of iterations, of either hash.
const (
	IterationsMin = 4096
	IterationsMax = 16384
)

// Mechanism is the mechanism's name; "" for a number that is none.
func (h Hash) Mechanism() string {
	switch h {
	case SHA256:
		return "SCRAM-SHA-256"
	case SHA512:
		return "SCRAM-SHA-512"
	}
	return ""
}

func (h Hash) new() hash.Hash {
	if h == SHA512 {
		return sha512.New()
	}
	return sha256.New()
}

func (h Hash) size() int { return h.new().Size() }

func (h Hash) mac(key, message []byte) []byte {
	m := hmac.New(h.new, key)
	m.Write(message)
	return m.Sum(nil)
}

func (h Hash) sum(b []byte) []byte {
	s := h.new()
	s.Write(b)
	return s.Sum(nil)
}

// Verifier is what the broker keeps of a password: enough to check a proof, not enough to make one. It is a secret
// nevertheless: passwords can be guessed against it, and who has ServerKey can pass for the broker.
type Verifier struct {
	Salt       []byte
	StoredKey  []byte
	ServerKey  []byte
	Iterations int32
}

// String hides it: a verifier has no business in a log.
func (Verifier) String() string { return "(hidden)" }

// GoString hides it too.
func (Verifier) GoString() string { return "(hidden)" }

// OfSalted makes the verifier of a salted password, which is what clients send (KIP-554).
func (h Hash) OfSalted(salted, salt []byte, iterations int32) Verifier {
	return Verifier{
		Salt: salt, Iterations: iterations,
		StoredKey: h.sum(h.mac(salted, []byte("Client Key"))),
		ServerKey: h.mac(salted, []byte("Server Key")),
	}
}

// OfPassword makes the verifier of a password as it is, which costs as many hashes as it has iterations.
func (h Hash) OfPassword(password string, salt []byte, iterations int32) (Verifier, error) {
	salted, err := h.Salted(password, salt, iterations)
	if err != nil {
		return Verifier{}, err
	}
	return h.OfSalted(salted, salt, iterations), nil
}

// Salted is the salted password.
func (h Hash) Salted(password string, salt []byte, iterations int32) ([]byte, error) {
	salted, err := pbkdf2.Key(h.new, password, salt, int(iterations), h.size())
	if err != nil {
		return nil, fmt.Errorf("hash a password: %w", err)
	}
	return salted, nil
}

// OfUser makes the credential of a name and a password, and of the password after SASLprep when that is another one.
func (h Hash) OfUser(password string, salt []byte, iterations int32, who Identity) (Credential, error) {
	v, err := h.OfPassword(password, salt, iterations)
	if err != nil {
		return Credential{}, err
	}
	c := Credential{Verifier: v, Who: who}
	prepared, err := stringprep.SASLprep.Prepare(password)
	if err != nil || prepared == password {
		return c, nil // what SASLprep forbids no client that prepares can send
	}
	p, err := h.OfPassword(prepared, salt, iterations)
	c.Prepared = &p
	return c, err
}

// Decoy makes credentials for names that nobody has: the same for a name every time, so that asking again tells nothing.
type Decoy [32]byte

// Salt is the salt of a name, in the form that Kafka's tools give salts.
func (d Decoy) Salt(h Hash, name string) []byte {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	salt := SHA256.mac(d[:], []byte("salt "+h.Mechanism()+" "+name))[:26]
	for i, c := range salt {
		salt[i] = letters[int(c)%len(letters)]
	}
	return salt
}

// Credential is the decoy of a name. No proof fits it.
func (d Decoy) Credential(h Hash, name string) Credential {
	return Credential{Verifier: Verifier{
		Salt: d.Salt(h, name), Iterations: IterationsMin,
		StoredKey: h.mac(d[:], []byte("stored "+name)),
		ServerKey: h.mac(d[:], []byte("server "+name)),
	}}
}
