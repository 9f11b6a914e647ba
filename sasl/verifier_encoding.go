package sasl

import (
	"encoding/binary"
	"errors"
)

// Encode writes a verifier for a file of credentials: iterations, then salt, stored key and server key behind their lengths.
func (v Verifier) Encode() []byte {
	b := binary.AppendUvarint(nil, uint64(v.Iterations))
	for _, field := range [][]byte{v.Salt, v.StoredKey, v.ServerKey} {
		b = binary.AppendUvarint(b, uint64(len(field)))
		b = append(b, field...)
	}
	return b
}

// DecodeVerifier reads what Encode wrote.
//
//fuzz:parser class=snapshot FuzzVerifier
func DecodeVerifier(b []byte) (v Verifier, err error) {
	bad := errors.New("not a verifier")
	iterations, n := binary.Uvarint(b)
	if n <= 0 || iterations > IterationsMax {
		return v, bad
	}
	v.Iterations, b = int32(iterations), b[n:]
	for _, field := range []*[]byte{&v.Salt, &v.StoredKey, &v.ServerKey} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Verifier{}, bad
		}
		*field, b = b[n:n+int(size):n+int(size)], b[n+int(size):]
	}
	if len(b) > 0 {
		return Verifier{}, bad
	}
	return v, nil
}
