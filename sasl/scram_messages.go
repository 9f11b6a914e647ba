package sasl

import (
	"encoding/base64"
	"errors"
	"strings"
)

// clientFirst is a client's first message.
type clientFirst struct {
	header        string // "n,[a=...],": what the channel binding of the final message must be
	authorization string // as it was sent, escaped
	bare          string // n=...,r=...[,extensions]: what is signed
	name          string
	nonce         string
	byToken       bool // the extension tokenauth=true
}

// errFirst does not repeat the message: it may hold what a person typed into the wrong field.
var errFirst = errors.New("the first message is not one of SCRAM")

// parseClientFirst takes a first message apart as Kafka does: "n," only (no channel binding), an optional authorization
// id, an optional m= that is skipped and not signed, a name of ASCII, a printable nonce, extensions.
//
//fuzz:parser class=sasl FuzzSCRAMFirst
func parseClientFirst(message []byte) (clientFirst, error) {
	var f clientFirst
	if len(message) > firstMessageMax || !ascii(message) {
		return f, errFirst
	}
	rest, ok := strings.CutPrefix(string(message), "n,")
	if !ok {
		return f, errFirst
	}
	authorization, rest, ok := strings.Cut(rest, ",")
	if !ok {
		return f, errFirst
	}
	f.header = "n," + authorization + ","
	if authorization != "" {
		if f.authorization, ok = strings.CutPrefix(authorization, "a="); !ok || !validName(f.authorization) {
			return f, errFirst
		}
	}
	if reserved, after, ok := strings.Cut(rest, ","); ok && strings.HasPrefix(reserved, "m=") && len(reserved) > 2 {
		rest = after
	}
	f.bare = rest
	return f, f.parseBare()
}

func (f *clientFirst) parseBare() error {
	fields := strings.Split(f.bare, ",")
	if len(fields) < 2 {
		return errFirst
	}
	name, isName := strings.CutPrefix(fields[0], "n=")
	nonce, isNonce := strings.CutPrefix(fields[1], "r=")
	if !isName || !isNonce || !validName(name) || !printable(nonce) {
		return errFirst
	}
	f.name, f.nonce = UnescapeName(name), nonce
	for _, field := range fields[2:] {
		key, value, ok := strings.Cut(field, "=")
		if !ok || !letters(key) || value == "" {
			return errFirst
		}
		if key == "tokenauth" {
			f.byToken = strings.EqualFold(value, "true")
		}
	}
	return nil
}

// clientFinal is a client's final message.
type clientFinal struct {
	binding      []byte
	nonce        string
	proof        []byte
	withoutProof string // what is signed: binding and nonce, not the extensions, as in Kafka
}

var errFinal = errors.New("the final message is not one of SCRAM")

// parseClientFinal takes a final message apart: c=BASE64,r=NONCE[,extensions],p=BASE64.
//
//fuzz:parser class=sasl FuzzSCRAMFinal
func parseClientFinal(message []byte) (clientFinal, error) {
	var f clientFinal
	if len(message) > finalMessageMax || !ascii(message) {
		return f, errFinal
	}
	fields := strings.Split(string(message), ",")
	if len(fields) < 3 {
		return f, errFinal
	}
	last := len(fields) - 1
	binding, isBinding := strings.CutPrefix(fields[0], "c=")
	nonce, isNonce := strings.CutPrefix(fields[1], "r=")
	proof, isProof := strings.CutPrefix(fields[last], "p=")
	if !isBinding || !isNonce || !isProof || !printable(nonce) {
		return f, errFinal
	}
	for _, field := range fields[2:last] {
		if key, value, ok := strings.Cut(field, "="); !ok || !letters(key) || value == "" {
			return f, errFinal
		}
	}
	var a, b error
	f.binding, a = unbase64(binding)
	f.proof, b = unbase64(proof)
	f.nonce = nonce
	f.withoutProof = "c=" + base64.StdEncoding.EncodeToString(f.binding) + ",r=" + nonce
	return f, errors.Join(a, b)
}

// unbase64 decodes padded base64; Go's decoder would let line ends pass.
func unbase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, errFinal
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, errFinal
	}
	return b, nil
}

// UnescapeName reads a name as SCRAM messages hold it; validName holds of it.
func UnescapeName(s string) string {
	return strings.NewReplacer("=2C", ",", "=3D", "=").Replace(s)
}

// validName tells whether s is a name as messages hold it: every = begins =2C or =3D, and there is no comma.
//
//fuzz:parser class=sasl FuzzSCRAMName
func validName(s string) bool {
	if s == "" || strings.Contains(s, ",") {
		return false
	}
	for i := range len(s) {
		if s[i] == '=' && !strings.HasPrefix(s[i:], "=2C") && !strings.HasPrefix(s[i:], "=3D") {
			return false
		}
	}
	return true
}

// ascii tells whether there is nothing but U+0001 to U+007F.
func ascii(b []byte) bool {
	for _, c := range b {
		if c == 0 || c > 0x7f {
			return false
		}
	}
	return true
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e || s[i] == ',' {
			return false
		}
	}
	return s != ""
}

func letters(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}
