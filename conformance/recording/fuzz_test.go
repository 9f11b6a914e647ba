package recording

import (
	"bytes"
	"testing"
)

func FuzzParseValue(f *testing.F) {
	f.Add([]byte(`{"b":1,"a":[null,true,"x",1.5,{}]}`))
	f.Add([]byte(`[[[[`))
	f.Add([]byte(`{"":1,"":[null,true,"",1,{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseValue(data)
		if err != nil {
			return
		}
		again, err := marshalPlain(v)
		if err != nil {
			t.Fatalf("marshal what was parsed: %v", err)
		}
		w, err := ParseValue(again)
		if err != nil {
			t.Fatalf("parse again: %v", err)
		}
		var d differ
		d.value("", v, w)
		if len(d.found) > 0 {
			t.Fatalf("parsed again it differs: %v", d.found)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name":"n","claim":"c","kafka":"4.3.1","part":1,"steps":[{"step":"s","request":{"A":1},"answer":{"B":[]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		text, err := r.Format()
		if err != nil {
			return // deeper than a message can be, once it stands in a recording
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("parse what was formatted: %v", err)
		}
		if second, err := again.Format(); err != nil || !bytes.Equal(second, text) {
			t.Fatalf("formatted again it differs (%v):\n%s\n%s", err, text, second)
		}
	})
}

func FuzzRecordsValue(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0, 0, 0, 2}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := marshalPlain(RecordsValue(data)); err != nil {
			t.Fatal(err)
		}
	})
}
