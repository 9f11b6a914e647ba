package sasl

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Lookup finds the credential of a name (a user's, or a delegation token's id), and whether there is one. It is called once
// in a login, with whatever a client sent, and must be quick.
type Lookup func(name string) (Credential, bool)

// Credential is what the broker knows of somebody who may log in by SCRAM.
type Credential struct {
	Verifier Verifier
	// Prepared is the verifier of the password after SASLprep, when that is another one: some clients prepare what they are
	// given, Kafka's own does not. Either opens. nil: there is no other.
	Prepared *Verifier
	// Who is let in by the right proof.
	Who Identity
}

// firstMessageMax bounds a client's first message, the only one that makes the broker look somebody up.
const firstMessageMax = 4096

// nonceMax bounds the client's part of the nonce by what the first message may hold.
const finalMessageMax = 4 * firstMessageMax

// SCRAM is the mechanism of RFC 5802 with one hash.
type SCRAM struct {
	Hash   Hash
	Users  Lookup // of names
	Tokens Lookup // of delegation tokens' ids (the extension tokenauth=true); nil: there are none
	Decoy  Decoy  // stands in for who is not known
}

// Name is the mechanism's name.
func (s *SCRAM) Name() string { return s.Hash.Mechanism() }

// Begin starts a login.
func (s *SCRAM) Begin() Exchange { return &scramExchange{scram: s} }

// scramExchange is a login under way: first message, then final message.
type scramExchange struct {
	scram      *SCRAM
	step       func([]byte) ([]byte, *Identity, error)
	first      clientFirst
	nonce      string // the client's and ours
	serverSays string // our first message
	credential Credential
	known      bool
}

func (x *scramExchange) Step(_ time.Time, message []byte) ([]byte, *Identity, error) {
	if x.step == nil {
		x.step = x.begin
	}
	step := x.step
	x.step = x.over
	return step(message)
}

func (x *scramExchange) over([]byte) ([]byte, *Identity, error) {
	return nil, nil, errors.New("the exchange is over")
}

// begin answers the first message: salt and iterations of the user's verifier, or of a decoy that stays the same.
func (x *scramExchange) begin(message []byte) ([]byte, *Identity, error) {
	first, err := parseClientFirst(message)
	if err != nil {
		return nil, nil, err
	}
	if first.authorization != "" && first.authorization != first.name {
		return nil, nil, &Refusal{otherIdentity}
	}
	x.first, x.nonce = first, first.nonce+rand.Text()
	x.credential, x.known = x.lookup(first)
	v := x.credential.Verifier
	x.serverSays = "r=" + x.nonce + ",s=" + base64.StdEncoding.EncodeToString(v.Salt) + ",i=" + strconv.Itoa(int(v.Iterations))
	x.step = x.finish
	return []byte(x.serverSays), nil, nil
}

// lookup works out the decoy whether it is needed or not: so much is alike for known and unknown names.
func (x *scramExchange) lookup(first clientFirst) (Credential, bool) {
	find := x.scram.Users
	if first.byToken {
		find = x.scram.Tokens
	}
	decoy := x.scram.Decoy.Credential(x.scram.Hash, first.name)
	if find == nil {
		return decoy, false
	}
	if c, known := find(first.name); known {
		return c, true
	}
	return decoy, false
}

// finish checks the final message. Nonce and channel binding are compared first: they are no secrets.
func (x *scramExchange) finish(message []byte) ([]byte, *Identity, error) {
	final, err := parseClientFinal(message)
	if err != nil {
		return nil, nil, err
	}
	if final.nonce != x.nonce {
		return nil, nil, errors.New("the nonce is not that of this exchange")
	}
	if string(final.binding) != x.first.header {
		return nil, nil, errors.New("the channel binding is not the header of the first message")
	}
	if len(final.proof) != x.scram.Hash.size() {
		return nil, nil, ErrCut
	}
	said := []byte(x.first.bare + "," + x.serverSays + "," + final.withoutProof)
	key, ok := x.verify(said, final.proof)
	if !ok || !x.known {
		return nil, nil, errors.New("the proof is wrong")
	}
	who := x.credential.Who
	signature := x.scram.Hash.mac(key, said)
	return []byte("v=" + base64.StdEncoding.EncodeToString(signature)), &who, nil
}

// verify tells whether a proof is that of the credential, and gives the server key to sign with. Both verifiers are always
// tried, and where there is one it is tried twice, so that the time says nothing.
func (x *scramExchange) verify(said, proof []byte) (serverKey []byte, ok bool) {
	plain := x.credential.Verifier
	prepared := plain
	if p := x.credential.Prepared; p != nil {
		prepared = *p
	}
	a, b := x.scram.proves(plain, said, proof), x.scram.proves(prepared, said, proof)
	if a {
		return plain.ServerKey, true
	}
	return prepared.ServerKey, b
}

// proves takes the client's key out of the proof: it is right when its hash is the stored key.
func (s *SCRAM) proves(v Verifier, said, proof []byte) bool {
	signature := s.Hash.mac(v.StoredKey, said)
	key := make([]byte, len(signature))
	subtle.XORBytes(key, signature, proof)
	return hmac.Equal(s.Hash.sum(key), v.StoredKey)
}

// EscapeName writes a name as SCRAM messages hold it.
func EscapeName(name string) string {
	return strings.NewReplacer("=", "=3D", ",", "=2C").Replace(name)
}
