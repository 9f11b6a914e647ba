package walk

import (
	"bytes"
	"fmt"
	"strings"
)

// perCodec is how many records are produced with each compression.
const perCodec = 24

// Header is one header of a record; a nil Value is Kafka's null.
type Header struct {
	Key   string
	Value []byte
}

// Record is what is sent and what arrives; nil Key and Value are Kafka's null.
// Partition and Offset are set on arrival.
type Record struct {
	Key, Value []byte
	Headers    []Header
	Partition  int32
	Offset     int64
}

// NewRecord builds record i of a compression in a phase, as the README's table says.
func NewRecord(phase, codec string, i int, t Traits) Record {
	id := fmt.Sprintf("%s/%s/%d", phase, codec, i)
	r := Record{Headers: headers(id, codec, t)}
	switch key, value := fmt.Appendf(nil, "key-%d", i), []byte("value of "+id); i % 6 {
	case 0:
		r.Key, r.Value = key, value
	case 1:
		r.Value = value
	case 2:
		r.Key = key
	case 4:
		r.Key, r.Value = []byte{}, []byte{}
	case 5:
		r.Key, r.Value = key, append(value, strings.Repeat("x", 3000)...)
	}
	return r
}

func headers(id, codec string, t Traits) []Header {
	hs := []Header{{"id", []byte(id)}, {"codec", []byte(codec)}, {"empty", []byte{}}}
	if !t.NoNullHeader {
		hs = append(hs, Header{"null", nil})
	}
	return append(hs, Header{"twice", []byte("1")}, Header{"twice", []byte("2")}, Header{"bytes", []byte{0, 0xff}})
}

// ID is the record's identity in the walk, or "" when it has none.
func (r Record) ID() string {
	for _, h := range r.Headers {
		if h.Key == "id" {
			return string(h.Value)
		}
	}
	return ""
}

// Difference says how r differs from what was sent, or "".
func (r Record) Difference(sent Record, t Traits) string {
	switch {
	case !same(r.Key, sent.Key, t.EmptyIsNull):
		return fmt.Sprintf("key %s, sent %s", show(r.Key), show(sent.Key))
	case !same(r.Value, sent.Value, t.EmptyIsNull):
		return fmt.Sprintf("value %s, sent %s", show(r.Value), show(sent.Value))
	case len(r.Headers) != len(sent.Headers):
		return fmt.Sprintf("%d headers, sent %d", len(r.Headers), len(sent.Headers))
	}
	for i, h := range r.Headers {
		if want := sent.Headers[i]; h.Key != want.Key || !same(h.Value, want.Value, t.EmptyIsNull) {
			return fmt.Sprintf("header %d %q=%s, sent %q=%s", i, h.Key, show(h.Value), want.Key, show(want.Value))
		}
	}
	return ""
}

// same compares bytes and, unless the client cannot tell, null from empty.
func same(a, b []byte, emptyIsNull bool) bool {
	return bytes.Equal(a, b) && (emptyIsNull || (a == nil) == (b == nil))
}

func show(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%.60q (%d bytes)", b, len(b))
}
