package serde

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestPrefixes(t *testing.T) {
	for _, r := range []Ref{{ID: 0}, {ID: 258}, {GUID: [16]byte{9}, HasGUID: true}} {
		back, payload, err := Parse(append(Append(nil, r), 'x'))
		if err != nil || back != r || string(payload) != "x" {
			t.Errorf("%v is %v %q %v", r, back, payload, err)
		}
	}
	for _, b := range []string{"", "\x00", "\x00\x00\x00\x00", "\x01123", "{}abcdef", "\x00\xff\xff\xff\xff"} {
		if _, _, err := Parse([]byte(b)); err == nil {
			t.Errorf("%q has a prefix", b)
		}
	}
}

func TestIndexes(t *testing.T) {
	for _, indexes := range [][]int{{0}, {1}, {2, 0, 3}} {
		b := AppendIndexes(nil, indexes)
		back, rest, err := ParseIndexes(append(b, 7))
		if err != nil || !slices.Equal(back, indexes) || len(rest) != 1 {
			t.Errorf("%v is %x, %v, %v", indexes, b, back, err)
		}
	}
	if b := AppendIndexes(nil, []int{0}); !bytes.Equal(b, []byte{0}) {
		t.Errorf("the first message is %x", b)
	}
}

var schemas = map[string]struct {
	schema Schema
	value  string
	wrong  string
}{
	"avro": {
		Schema{"AVRO", `{"type":"record","name":"O","fields":[{"name":"a","type":["null","C"]},{"name":"b","type":"string"}]}`, []Reference{{"C", `{"type":"record","name":"C","fields":[{"name":"x","type":"int"}]}`}}},
		`{"a":{"x":7},"b":"y"}`, `{"a":{"x":"z"}}`,
	},
	"json": {
		Schema{"JSON", `{"type":"object","properties":{"a":{"$ref":"c.json"}},"required":["a"]}`, []Reference{{"c.json", `{"type":"integer"}`}}},
		`{"a":7}`, `{"a":"x"}`,
	},
	"protobuf": {
		Schema{"PROTOBUF", `syntax = "proto3"; import "c.proto"; import "google/protobuf/timestamp.proto"; message O { c.C a = 1; google.protobuf.Timestamp t = 2; }`, []Reference{{"c.proto", `syntax = "proto3"; package c; message C { int32 x = 1; }`}}},
		`{"a":{"x":7},"t":"2026-11-29T00:00:00Z"}`, `{"b":1}`,
	},
}

func TestCodecsThereAndBack(t *testing.T) {
	for name, s := range schemas {
		c, err := New(t.Context(), s.schema)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		payload, err := c.Payload([]byte(s.value))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := c.JSON(payload)
		if err != nil || compact(back) != compact([]byte(s.value)) {
			t.Errorf("%s: %s is %x and %s, %v", name, s.value, payload, back, err)
		}
		if _, err := c.Payload([]byte(s.wrong)); err == nil {
			t.Errorf("%s: %s is taken", name, s.wrong)
		}
		if _, err := c.JSON([]byte{0xff, 0xff, 0xff}); err == nil {
			t.Errorf("%s: ff is decoded", name)
		}
	}
}

// compact is JSON in one form.
func compact(b []byte) string {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return string(b)
	}
	b, _ = json.Marshal(v)
	return string(b)
}

func TestSchemasThatAreRefused(t *testing.T) {
	for text, kind := range map[string]string{
		`{"type":"array","items":"null"}`: "AVRO", `{"type":"array","items":{"type":"record","name":"E","fields":[]}}`: "AVRO", `"Unknown"`: "AVRO",
		`{"$ref":"http://localhost/x.json"}`: "JSON", `{"$ref":"file:///etc/passwd"}`: "JSON", `{`: "JSON", `message A { B b = 1; }`: "PROTOBUF", `x`: "XML",
	} {
		if _, err := New(t.Context(), Schema{Type: kind, Text: text}); err == nil {
			t.Errorf("%s %s is taken", kind, text)
		}
	}
}

func FuzzPrefix(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 2})
	f.Add(append([]byte{1}, make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, payload, err := Parse(b)
		if err == nil && !bytes.Equal(append(Append(nil, r), payload...), b) {
			t.Fatalf("%x is %v and %x", b, r, payload)
		}
	})
}

func FuzzIndexes(f *testing.F) {
	f.Add([]byte{0, 1})
	f.Add(AppendIndexes(nil, []int{1, 2, 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		indexes, _, err := ParseIndexes(b)
		if err != nil {
			return
		}
		if again, _, err := ParseIndexes(AppendIndexes(nil, indexes)); err != nil || !slices.Equal(again, indexes) {
			t.Fatalf("%v, then %v, %v", indexes, again, err)
		}
	})
}

// FuzzCodecs: payloads and values of any bytes under schemas that are taken.
func FuzzCodecs(f *testing.F) {
	var codecs []Codec
	for _, name := range []string{"avro", "json", "protobuf"} {
		c, err := New(f.Context(), schemas[name].schema)
		if err != nil {
			f.Fatal(err)
		}
		codecs = append(codecs, c)
		f.Add([]byte(schemas[name].value))
	}
	f.Add([]byte(strings.Repeat("\x02", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range codecs {
			if value, err := c.JSON(b); err == nil && !json.Valid(value) {
				t.Fatalf("%x is %s", b, value)
			}
			if payload, err := c.Payload(b); err == nil {
				if _, err := c.JSON(payload); err != nil {
					t.Fatalf("%s is %x: %v", b, payload, err)
				}
			}
		}
	})
}
