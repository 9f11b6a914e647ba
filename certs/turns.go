package certs

import (
	"crypto"
	"crypto/tls"
	"io"
	"runtime"
)

// inTurns has a certificate's key used by half of the processors at most at a time, so that a storm of clients, of whom nobody is
// known yet, leaves the others to who is; and those of the storm come through one after the other, not all at the end.
func inTurns(pair tls.Certificate) tls.Certificate {
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return pair
	}
	s := turns{key, make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	pair.PrivateKey = s
	if d, ok := key.(crypto.Decrypter); ok { // RSA, whose oldest suites decrypt
		pair.PrivateKey = decryptingTurns{s, d}
	}
	return pair
}

// turns is a key with room for those who use it.
type turns struct {
	crypto.Signer
	room chan struct{}
}

// Sign waits for its turn. The wait is bounded by the handshake's own: who gives up is signed for in vain.
func (t turns) Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	t.room <- struct{}{}
	defer func() { <-t.room }()
	return t.Signer.Sign(rand, digest, opts)
}

type decryptingTurns struct {
	turns
	crypto.Decrypter
}

func (t decryptingTurns) Public() crypto.PublicKey { return t.turns.Public() }

func (t decryptingTurns) Decrypt(rand io.Reader, message []byte, opts crypto.DecrypterOpts) ([]byte, error) {
	t.room <- struct{}{}
	defer func() { <-t.room }()
	return t.Decrypter.Decrypt(rand, message, opts)
}
