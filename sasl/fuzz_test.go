package sasl

import (
	"bytes"
	"strings"
	"testing"
)

// What is taken has a name and a password, in that order in the message.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"", "\x00a\x00b", "a\x00a\x00b", "\x00\x00", "a", "\x00a\x00b\x00", "\x00\xff\x00\xfe"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parsePlain(b)
		if err != nil {
			return
		}
		if m.name == "" || m.password == "" || strings.ContainsRune(m.authorization+m.name+m.password, 0) {
			t.Fatalf("%q is taken as %+v", b, m)
		}
	})
}

// What is taken says the same when it is written again.
func FuzzSCRAMFirst(f *testing.F) {
	for _, s := range []string{"n,,n=a,r=b", "n,a=b,n=a,r=b,tokenauth=true", "n,,m=x,n=a=2C,r=b,x=y", "y,,n=a,r=b", "n,,n=a=3,r=", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseClientFirst(b)
		if err != nil {
			return
		}
		if m.name == "" || m.nonce == "" || len(b) > firstMessageMax {
			t.Fatalf("%q is taken as %+v", b, m)
		}
		again, err := parseClientFirst([]byte(m.header + m.bare))
		if err != nil || again != m {
			t.Fatalf("%q reads as %+v, then as %+v (%v)", b, m, again, err)
		}
	})
}

func FuzzSCRAMFinal(f *testing.F) {
	for _, s := range []string{"c=biws,r=x,p=AAAA", "c=biws,r=x,a=b,p=", "c=,r=x,p=AA==", "c=biws,r=x", "c=biws,r=x,p=A\n", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseClientFinal(b)
		if err != nil {
			return
		}
		if m.nonce == "" || !strings.HasPrefix(m.withoutProof, "c=") || !strings.HasSuffix(m.withoutProof, ",r="+m.nonce) {
			t.Fatalf("%q is taken as %+v", b, m)
		}
	})
}

// A name that is escaped is valid and comes back; one that is valid escapes to itself once it is read.
func FuzzSCRAMName(f *testing.F) {
	for _, s := range []string{"alice", "a=b,c", "=2C", "=3D2C", "=", "", "=2c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			return
		}
		if e := EscapeName(s); !validName(e) || UnescapeName(e) != s {
			t.Fatalf("%q is escaped as %q", s, e)
		}
		if validName(s) && EscapeName(UnescapeName(s)) != s {
			t.Fatalf("%q reads as %q", s, UnescapeName(s))
		}
	})
}

func FuzzJAAS(f *testing.F) {
	for _, s := range []string{"", `M required user_a="b";`, `M required user_a="b\"c" x=y;`, `M required user_a="b" ;`, `M required`, `M required a=;`, `M x;`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		options, err := ParseJAAS(s)
		if err != nil && strings.Contains(err.Error(), "\x00"+s) {
			t.Fatal("the error repeats the text")
		}
		for name := range options {
			if name == "" {
				t.Fatalf("%q has an option without a name", s)
			}
		}
	})
}

func FuzzVerifier(f *testing.F) {
	f.Add(Verifier{Salt: []byte("s"), StoredKey: []byte("k"), ServerKey: []byte("l"), Iterations: 4096}.Encode())
	f.Add([]byte{})
	f.Add([]byte{0x80, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeVerifier(b)
		if err != nil {
			return
		}
		again, err := DecodeVerifier(v.Encode())
		if err != nil || !bytes.Equal(again.Encode(), v.Encode()) {
			t.Fatalf("%x does not come back: %v", b, err)
		}
	})
}
