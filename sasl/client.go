package sasl

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// ClientProof is the client's side of SCRAM's second step: what is sent in answer to the broker's first message, when the
// client's first message was "n,," and bare. Tests and measurements log in with it.
func (h Hash) ClientProof(password, bare, server string) (final string, err error) {
	salted := func(salt []byte, iterations int32) ([]byte, error) { return h.Salted(password, salt, iterations) }
	return h.ProofOf(salted, bare, server)
}

// ProofOf is ClientProof of who has the salted password from somewhere.
func (h Hash) ProofOf(saltedBy func(salt []byte, iterations int32) ([]byte, error), bare, server string) (final string, err error) {
	fields := strings.Split(server, ",")
	if len(fields) < 3 {
		return "", fmt.Errorf("read the broker's first message %q: it has %d fields", server, len(fields))
	}
	salt, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(fields[1], "s="))
	if err != nil {
		return "", fmt.Errorf("read the broker's salt: %w", err)
	}
	iterations, err := strconv.ParseInt(strings.TrimPrefix(fields[2], "i="), 10, 32)
	if err != nil || iterations < 1 {
		return "", fmt.Errorf("read the broker's iterations %q", fields[2])
	}
	salted, err := saltedBy(salt, int32(iterations))
	if err != nil {
		return "", err
	}
	without := "c=" + base64.StdEncoding.EncodeToString([]byte("n,,")) + "," + fields[0]
	key := h.mac(salted, []byte("Client Key"))
	proof := h.mac(h.sum(key), []byte(bare+","+server+","+without))
	for i := range proof {
		proof[i] ^= key[i]
	}
	return without + ",p=" + base64.StdEncoding.EncodeToString(proof), nil
}
