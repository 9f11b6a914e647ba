package ordered

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParseKeepsOrderAndNumbers(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1.50 , "a" : [ true,false , null, -0, 1E5 ] } `: `{"b":1.50,"a":[true,false,null,-0,1E5]}`,
		`{"a":1,"b":2,"a":3}`:                  `{"a":3,"b":2}`,
		`"\u00e9\ud83d\ude00\ud83d\/\u0001\n"`: `"é😀` + "\uFFFD" + `/\u0001\n"`,
		`{}`:                                   `{}`, `[]`: `[]`,
	} {
		n, err := Parse(in)
		if err != nil || n.String() != want {
			t.Errorf("%s is %v, %v", in, n, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{"", "{", "[1,]", "{a:1}", `{"a" 1}`, "01", "1.", "1e", "-", `"a`, `"\x"`, `"\u12"`, "\"\x01\"", "tru", "1 2", "[1 2]", `{"a":1,}`} {
		if n, err := Parse(in); err == nil {
			t.Errorf("%q is %s", in, n)
		}
	}
	if _, err := Parse(strings.Repeat("[", 10_000)); !errors.Is(err, ErrDeep) {
		t.Error(err)
	}
	if _, err := Parse("[" + strings.Repeat("0,", MaxNodes) + "0]"); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
}

func TestJavaNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"1e10": "1.0E10", "1.50": "1.5", "0.0001": "1.0E-4", "0.001": "0.001", "12345678.9": "1.23456789E7", "1.0": "1.0", "-0.0": "-0.0", "7": "7", "9999999.0": "9999999.0",
		"1e400": "1e400",
	} {
		if got := JavaNumber(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func TestEqualAndSorted(t *testing.T) {
	a, _ := Parse(`{"a":{"x":1,"b":[2]},"c":"d"}`)
	b, _ := Parse(`{"c":"d","a":{"b":[2],"x":1}}`)
	if !a.Equal(b) || b.Sorted().String() != `{"a":{"b":[2],"x":1},"c":"d"}` {
		t.Errorf("%s and %s", a, b.Sorted())
	}
	if c, _ := Parse(`{"c":"d"}`); a.Equal(c) {
		t.Error("equal to less")
	}
}

// What is accepted is what encoding/json accepts, and comes back the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b",null,true]}`, `"\ud800"`, "[[[[", "1e5", `{"a":1,"a":2}`, " "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(valid(text))) {
			t.Fatalf("%q is taken", text)
		}
		again, err := Parse(n.String())
		if err != nil || !again.Equal(n) {
			t.Fatalf("%q is %s, then %s, %v", text, n, again, err)
		}
	})
}
