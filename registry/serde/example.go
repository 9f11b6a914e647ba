package serde

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	ownavro "doze/registry/avro"
)

// maxExample is how deep an example goes: a schema may refer to itself.
const maxExample = 8

// Example is a value under the schema as JSON, with something in every field: to begin from when one is written by hand. It fits
// the schema but for rules that cannot be met by construction (patterns, lengths): whoever sends it has it checked.
func Example(ctx context.Context, s Schema) ([]byte, error) {
	switch s.Type {
	case "", "AVRO":
		return avroExample(s)
	case "JSON":
		return jsonExample(s)
	case "PROTOBUF":
		return protobufExample(ctx, s)
	}
	return nil, fmt.Errorf("schema type %s is not known", s.Type)
}

// member is a field of an example, in the order of its schema.
type member struct {
	name  string
	value any
}

type members []member

// MarshalJSON writes the fields in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err1 := json.Marshal(f.name)
		value, err2 := json.Marshal(f.value)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func avroExample(s Schema) ([]byte, error) {
	opt := ownavro.Options{}
	for _, r := range s.References {
		opt.References = append(opt.References, r.Text)
	}
	parsed, err := ownavro.Parse(s.Text, opt)
	if err != nil {
		return nil, err
	}
	var schema any
	if err := json.Unmarshal([]byte(parsed.Resolved()), &schema); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return json.Marshal(avroWalk{named: map[string]any{}}.value(schema, "", 0))
}

// avroWalk knows the named types that it has met.
type avroWalk struct{ named map[string]any }

func (w avroWalk) value(schema any, space string, depth int) any {
	switch t := schema.(type) {
	case string:
		return w.named1(t, space, depth)
	case []any:
		return w.union(t, space, depth)
	case map[string]any:
		return w.complex(t, space, depth)
	}
	return nil
}

func (w avroWalk) named1(name, space string, depth int) any {
	switch name {
	case "null":
		return nil
	case "boolean":
		return true
	case "int", "long":
		return 1
	case "float", "double":
		return 1.5
	case "bytes":
		return "bytes"
	case "string":
		return "text"
	}
	for _, full := range []string{name, space + "." + name} {
		if schema, known := w.named[full]; known && depth < maxExample {
			return w.value(schema, space, depth+1)
		}
	}
	return nil
}

// union is its first branch that is not null: so the example shows what may stand there. Beyond the depth it is null if it may be.
func (w avroWalk) union(branches []any, space string, depth int) any {
	for _, b := range branches {
		if depth >= maxExample && b == "null" {
			return nil
		}
	}
	for _, b := range branches {
		if b != "null" {
			return w.value(b, space, depth)
		}
	}
	return nil
}

func (w avroWalk) complex(t map[string]any, space string, depth int) any {
	name, _ := t["name"].(string)
	if ns, ok := t["namespace"].(string); ok {
		space = ns
	}
	if name != "" {
		w.named[name], w.named[space+"."+name] = t, t
	}
	switch kind, _ := t["type"].(string); kind {
	case "record", "error":
		var made members
		fields, _ := t["fields"].([]any)
		for _, f := range fields {
			if field, ok := f.(map[string]any); ok {
				fieldName, _ := field["name"].(string)
				made = append(made, member{fieldName, w.value(field["type"], space, depth+1)})
			}
		}
		return made
	case "enum":
		if symbols, _ := t["symbols"].([]any); len(symbols) > 0 {
			return symbols[0]
		}
		return nil
	case "array":
		if depth >= maxExample {
			return []any{}
		}
		return []any{w.value(t["items"], space, depth+1)}
	case "map":
		if depth >= maxExample {
			return members{}
		}
		return members{{"key", w.value(t["values"], space, depth+1)}}
	case "fixed":
		size, _ := t["size"].(float64)
		return strings.Repeat("0", int(min(max(size, 0), 1024)))
	default:
		return w.value(t["type"], space, depth)
	}
}

func jsonExample(s Schema) ([]byte, error) {
	var root any
	dec := json.NewDecoder(strings.NewReader(s.Text))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	w := jsonWalk{root: root, others: map[string]any{}}
	for _, r := range s.References {
		var doc any
		if err := json.Unmarshal([]byte(r.Text), &doc); err != nil {
			return nil, fmt.Errorf("read the reference %s: %w", r.Name, err)
		}
		w.others[strings.TrimPrefix(r.Name, "./")] = doc
	}
	return json.MarshalIndent(w.value(root, 0), "", "  ")
}

type jsonWalk struct {
	root   any
	others map[string]any
}

func (w jsonWalk) value(schema any, depth int) any {
	t, ok := schema.(map[string]any)
	if !ok || depth > maxExample {
		return nil
	}
	for _, key := range []string{"const", "default"} {
		if v, set := t[key]; set {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if all, _ := t[key].([]any); len(all) > 0 {
			return all[0]
		}
	}
	if ref, set := t["$ref"].(string); set {
		return w.value(w.lookup(ref), depth+1)
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if all, _ := t[key].([]any); len(all) > 0 && t["properties"] == nil {
			return w.value(firstNotNull(all), depth+1)
		}
	}
	return w.typed(t, depth)
}

func firstNotNull(all []any) any {
	for _, s := range all {
		if m, ok := s.(map[string]any); ok && m["type"] != "null" {
			return m
		}
	}
	return all[0]
}

// lookup finds what a reference within the document, or to another one, leads to.
func (w jsonWalk) lookup(ref string) any {
	doc, pointer, _ := strings.Cut(ref, "#")
	at := w.root
	if doc != "" {
		at = w.others[strings.TrimPrefix(doc, "./")]
	}
	for _, step := range strings.Split(strings.Trim(pointer, "/"), "/") {
		if step == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}

func (w jsonWalk) typed(t map[string]any, depth int) any {
	kind, _ := t["type"].(string)
	if several, _ := t["type"].([]any); len(several) > 0 {
		for _, k := range several {
			if kind, _ = k.(string); kind != "null" {
				break
			}
		}
	}
	switch kind {
	case "string":
		return map[string]string{"date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31", "uuid": "00000000-0000-4000-8000-000000000000", "email": "a@example.com", "uri": "https://example.com"}[fmt.Sprint(t["format"])]
	case "integer", "number":
		if least, set := t["minimum"]; set {
			return least
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		if t["items"] == nil {
			return []any{}
		}
		return []any{w.value(t["items"], depth+1)}
	}
	made := map[string]any{}
	properties, _ := t["properties"].(map[string]any)
	for name, p := range properties {
		made[name] = w.value(p, depth+1)
	}
	return made
}

func protobufExample(ctx context.Context, s Schema) ([]byte, error) {
	c, err := newProtobuf(ctx, s)
	if err != nil {
		return nil, err
	}
	d, err := c.(protobufCodec).message([]int{0}) //nolint:errcheck // newProtobuf makes no other
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(d)
	fillMessage(m, 0)
	return protojson.MarshalOptions{AllowPartial: true, EmitUnpopulated: true}.Marshal(m)
}

// fillMessage sets messages within, so that their fields are shown; scalars are shown as they are unset.
func fillMessage(m protoreflect.Message, depth int) {
	if depth >= 3 || strings.HasPrefix(string(m.Descriptor().FullName()), "google.protobuf.") {
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap() || f.ContainingOneof() != nil && f.ContainingOneof().Fields().Get(0) != f:
		case f.Message() != nil && strings.HasPrefix(string(f.Message().FullName()), "google.protobuf."):
		case f.Message() != nil && f.IsList():
			fillMessage(m.Mutable(f).List().AppendMutable().Message(), depth+1)
		case f.Message() != nil:
			fillMessage(m.Mutable(f).Message(), depth+1)
		case f.ContainingOneof() != nil && !f.IsList():
			m.Set(f, f.Default())
		}
	}
}
