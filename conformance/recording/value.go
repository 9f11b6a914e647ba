package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Value is nil, bool, int64, float64, string, []Value or Object.
type Value any

// Field is one named value of an Object.
type Field struct {
	Name  string
	Value Value
}

// Object is a JSON object that keeps the order of its fields.
type Object []Field

// Get returns the named field, or nil.
func (o Object) Get(name string) Value {
	for _, f := range o {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// Has tells whether there is a field of this name.
func (o Object) Has(name string) bool {
	return slices.ContainsFunc(o, func(f Field) bool { return f.Name == name })
}

// MarshalJSON writes the fields in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendField(&b, f); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func appendField(b *bytes.Buffer, f Field) error {
	name, err := json.Marshal(f.Name)
	if err != nil {
		return fmt.Errorf("marshal field name %q: %w", f.Name, err)
	}
	value, err := marshalPlain(f.Value)
	if err != nil {
		return fmt.Errorf("marshal field %s: %w", f.Name, err)
	}
	b.Write(name)
	b.WriteByte(':')
	b.Write(value)
	return nil
}

// marshalPlain marshals without escaping <, > and &, which recordings are full of.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// UnmarshalJSON reads an object and keeps the order of its fields.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := ParseValue(data)
	if err != nil {
		return err
	}
	obj, ok := v.(Object)
	if !ok {
		return fmt.Errorf("parse object: found %T", v)
	}
	*o = obj
	return nil
}

// ParseValue reads one JSON value.
//
//fuzz:parser class=journal FuzzParseValue
func ParseValue(data []byte) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("parse value: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("parse value: more than one value")
	}
	return v, nil
}

// maxDepth bounds the nesting of a value; no message of Kafka comes near it.
const maxDepth = 64

func readValue(dec *json.Decoder, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return readObject(dec, depth)
		}
		return readArray(dec, depth)
	case json.Number:
		return number(t)
	default:
		return t, nil
	}
}

func number(n json.Number) (Value, error) {
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, err
	}
	return float(f), nil
}

// float gives a float as an integer where it is one, so that a value and its text are one to one.
func float(f float64) Value {
	const exact = 1 << 53
	switch {
	case f == math.Trunc(f) && math.Abs(f) < exact:
		return int64(f)
	case math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Sprint(f)
	}
	return f
}

func readArray(dec *json.Decoder, depth int) (Value, error) {
	list := []Value{}
	for dec.More() {
		v, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}

func readObject(dec *json.Decoder, depth int) (Value, error) {
	obj := Object{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("field name is %v", tok)
		}
		if obj.Has(name) {
			return nil, fmt.Errorf("field %q stands twice", name)
		}
		v, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		obj = append(obj, Field{name, v})
	}
	_, err := dec.Token()
	return obj, err
}
