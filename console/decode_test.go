package console_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

// register adds a schema to the walk's registry.
func (w *walk) register(subject string, s sr.Schema) sr.SubjectSchema {
	w.t.Helper()
	c, err := sr.NewClient(sr.URLs(w.broker.Ready().Registry))
	if err != nil {
		w.t.Fatal(err)
	}
	made, err := c.CreateSchema(w.t.Context(), subject, s)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// Schemas of the three kinds, one with a reference: an example is generated, validated, encoded, and decoded again.
func TestComposeUnderASchema(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	w.register("customer", sr.Schema{Schema: `{"type":"record","name":"Customer","fields":[{"name":"name","type":"string"}]}`})
	subjects := map[string]struct {
		schema sr.Schema
		want   string
	}{
		"avro": {sr.Schema{Schema: `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"who","type":["null","Customer"]},{"name":"tags","type":{"type":"array","items":"string"}},{"name":"m","type":{"type":"map","values":"int"}},{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}},{"name":"f","type":{"type":"fixed","name":"F","size":2}}]}`,
			References: []sr.SchemaReference{{Name: "Customer", Subject: "customer", Version: 1}}}, "Avro, schema"},
		"json":  {sr.Schema{Type: sr.TypeJSON, Schema: `{"type":"object","properties":{"id":{"type":"integer","minimum":5},"at":{"type":"string","format":"date-time"},"l":{"type":"array","items":{"$ref":"#/$defs/x"}}},"required":["id","at"],"$defs":{"x":{"enum":["one"]}}}`}, "JSON Schema, schema"},
		"proto": {sr.Schema{Type: sr.TypeProtobuf, Schema: `syntax = "proto3"; message Order { int64 id = 1; Customer who = 2; repeated Customer more = 4; oneof o { string a = 5; int32 b = 6; } message Customer { string name = 1; } }`}, "Protobuf, schema"},
	}
	for subject, c := range subjects {
		w.register(subject, c.schema)
		form := w.get("/topics/orders/produce?value-subject=" + subject)
		_, text, _ := strings.Cut(form.Body, `name="value" spellcheck="false" rows="10" autofocus>`+"\n")
		text, _, _ = strings.Cut(text, "</textarea>")
		text = strings.NewReplacer("&#34;", `"`, "&#43;", "+").Replace(text)
		w.changes("/topics/orders/produce", "key-form", "text", "key", "k", "value-form", "schema", "value-subject", subject, "value", text).has(t, c.want, "id")
		w.post("/topics/orders/produce", "value-form", "schema", "value-subject", subject, "value", `{"id":"x"}`).has(t, "does not fit")
	}
	w.get("/topics/orders").has(t, "Avro", "Protobuf")
	w.get("/topics/orders/produce?value-subject=nothing").has(t, "note bad")
}

// Decodings, each with the reason when it fails.
func TestDecodings(t *testing.T) {
	w := start(t)
	w.topic("t", 1)
	made := w.register("s", sr.Schema{Schema: `{"type":"record","name":"R","fields":[{"name":"a","type":"long"}]}`})
	prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(made.ID))
	record := func(value string, headers ...kgo.RecordHeader) *kgo.Record {
		return &kgo.Record{Topic: "t", Value: []byte(value), Headers: headers}
	}
	c := w.client()
	for i, k := range []struct {
		record *kgo.Record
		as     string
		want   string
	}{
		{record(string(prefix) + "\x0e"), "", "Avro, schema"},
		{record("\x0e", kgo.RecordHeader{Key: "__value_schema_id", Value: prefix}), "", "Avro, schema"},
		{record(string(prefix) + "\x0e\xff"), "", "bytes follow the value"},
		{record("\x00\x00\x00\x77\x77\x01"), "", "schema 30583: "},
		{record("plain text"), "", "text ·"},
		{record("plain text"), "registry", "not in the wire format"},
		{record("plain text"), "json", "it is no JSON"},
		{record("\x82\xa1a\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa1b\x93\xc0\xc3\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00"), "", "18446744073709551615"},
		{record("\xd4\x01\xff"), "msgpack", "ext 1: /w=="},
		{record("\xdd\xff\xff\xff\xff"), "msgpack", "no MessagePack"},
		{record("\xa2\x61a\x1b\xff\xff\xff\xff\xff\xff\xff\xff\x61b\x80"), "cbor", "18446744073709551615"},
		{record("\x9b\xff\xff\xff\xff\xff\xff\xff\xff"), "cbor", "decode as CBOR"},
		{record("\x00\x20\x00\x00\x00\x00\x00\x01"), "number", "9007199254740993"},
		{record("\xff\xff\xff\xff"), "", "-1 (NaN)"},
		{record("abc"), "number", "has 1, 2, 4 or 8 bytes"},
		{record("\xff\xfe"), "text", "no text in UTF-8"},
		{record("\xff\xfe"), "base64", "//4="},
		{record("\xff\xfe\xfd"), "", "ff fe fd"},
		{record("abc"), "nonsense", "there is no decoding"},
	} {
		w.produce(c, k.record)
		page := w.get(fmt.Sprintf("/topics/t/message/0/%d?value=%s", i, k.as))
		if !strings.Contains(page.Body, k.want) {
			t.Errorf("%x as %q lacks %q: %s", k.record.Value, k.as, k.want, page.Body)
		}
	}
	w.produce(c, record("{\n  \"n\": 9007199254740993,\n  \"s\": \"two  spaces\"\n}"))
	w.get("/topics/t").has(t, `<code class="short">{&#34;n&#34;:9007199254740993,&#34;s&#34;:&#34;two  spaces&#34;}</code>`)
}
