package certs

import (
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// keywords are the types of attributes that RFC 2253 has names for; others go by their number.
var keywords = map[string]string{
	"2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O", "2.5.4.11": "OU",
	"0.9.2342.19200300.100.1.25": "DC", "0.9.2342.19200300.100.1.1": "UID",
}

// textTags are the ASN.1 types that count as text. Java reads all of them as UTF-8, even those that are not.
var textTags = []int{asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagT61String, asn1.TagIA5String, asn1.TagGeneralString, asn1.TagBMPString}

type attribute struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

// Subject is Name of a certificate's subject.
func Subject(c *x509.Certificate) (string, error) { return Name(c.RawSubject) }

// Name is the text of a distinguished name in DER, as Kafka has it in principals: RFC 2253 as Java writes it, the last part
// first. What has no keyword is its number with the value in hexadecimal. testdata/names.txt has what Java says.
//
//fuzz:parser class=certificate FuzzName
func Name(der []byte) (string, error) {
	var sets []asn1.RawValue
	if rest, err := asn1.Unmarshal(der, &sets); err != nil || len(rest) > 0 {
		return "", errors.Join(errors.New("read a distinguished name: not what X.501 has"), err)
	}
	parts := make([]string, 0, len(sets))
	for _, set := range slices.Backward(sets) {
		part, err := relativeName(set)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ","), nil
}

// relativeName is one part: attributes of one level, in the order in which they are encoded.
func relativeName(set asn1.RawValue) (string, error) {
	if set.Tag != asn1.TagSet || !set.IsCompound {
		return "", fmt.Errorf("read a distinguished name: tag %d in place of a set", set.Tag)
	}
	var all []string
	for rest := set.Bytes; len(rest) > 0; {
		var a attribute
		var err error
		if rest, err = asn1.Unmarshal(rest, &a); err != nil {
			return "", fmt.Errorf("read a distinguished name: %w", err)
		}
		all = append(all, a.String())
	}
	return strings.Join(all, "+"), nil
}

func (a attribute) String() string {
	keyword, known := keywords[a.Type.String()]
	isText := a.Value.Class == asn1.ClassUniversal && !a.Value.IsCompound && slices.Contains(textTags, a.Value.Tag)
	switch {
	case !known:
		return a.Type.String() + "=#" + hex.EncodeToString(a.Value.FullBytes)
	case !isText:
		return keyword + "=#" + hex.EncodeToString(a.Value.FullBytes)
	}
	return keyword + "=" + escaped(string(a.Value.Bytes))
}

// escaped puts a backslash before what has a meaning in a name: separators anywhere, blanks at either end. Bytes that are
// not UTF-8 become U+FFFD.
func escaped(s string) string {
	runes := []rune(s)
	first := slices.IndexFunc(runes, func(r rune) bool { return !blank(r) })
	last := len(runes) - 1
	for last >= 0 && blank(runes[last]) {
		last--
	}
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == 0:
			b.WriteString(`\00`)
			continue
		case strings.ContainsRune(`,=+<>#;"\`, r), blank(r) && (first < 0 || i < first || i > last):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func blank(r rune) bool { return r == ' ' || r == '\r' }
