package serde

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/avro"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	ownavro "doze/registry/avro"
	"doze/registry/jsonvalid"
	"doze/registry/protobuf"
)

// Schema is a schema as a registry answers it, with what it refers to, each after those that it refers to itself.
type Schema struct {
	Type       string // AVRO, JSON or PROTOBUF
	Text       string
	References []Reference
}

// Reference is the text of a schema under the name that references give it.
type Reference struct{ Name, Text string }

// Codec turns payloads into JSON and back. A payload is what follows the prefix, with the message indexes of Protobuf.
type Codec interface {
	// JSON is the value of a payload as JSON.
	JSON(payload []byte) ([]byte, error)
	// Payload is the payload of a value that is given as JSON.
	Payload(value []byte) ([]byte, error)
}

// New makes the codec of a schema.
//
//fuzz:not-a-parser schemas are read by the packages beside, which have targets; FuzzCodecs reads payloads
func New(ctx context.Context, s Schema) (Codec, error) {
	switch s.Type {
	case "", "AVRO":
		return newAvro(s)
	case "JSON":
		return newJSON(s)
	case "PROTOBUF":
		return newProtobuf(ctx, s)
	}
	return nil, fmt.Errorf("schema type %s is not known", s.Type)
}

type avroCodec struct{ schema *avro.Schema }

func newAvro(s Schema) (Codec, error) {
	opt := ownavro.Options{}
	for _, r := range s.References {
		opt.References = append(opt.References, r.Text)
	}
	parsed, err := ownavro.Parse(s.Text, opt)
	if err != nil {
		return nil, err
	}
	if parsed.Unbounded() {
		return nil, errors.New("an array or map of values without bytes can say that it has any number of them: it is not decoded")
	}
	schema, err := avro.Parse(parsed.Resolved())
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return avroCodec{schema}, nil
}

func (c avroCodec) JSON(payload []byte) ([]byte, error) {
	var v any
	rest, err := c.schema.Decode(payload, &v)
	if err != nil {
		return nil, fmt.Errorf("decode as Avro: %w", err)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("decode as Avro: %d bytes follow the value", len(rest))
	}
	return c.schema.EncodeJSON(v)
}

func (c avroCodec) Payload(value []byte) ([]byte, error) {
	var v any
	if err := c.schema.DecodeJSON(value, &v); err != nil {
		return nil, fmt.Errorf("read as JSON of the schema: %w", err)
	}
	return c.schema.Encode(v)
}

type jsonCodec struct{ schema *jsonvalid.Schema }

func newJSON(s Schema) (Codec, error) {
	var documents []jsonvalid.Document
	for _, r := range s.References {
		documents = append(documents, jsonvalid.Document{Name: r.Name, Text: r.Text})
	}
	schema, err := jsonvalid.Compile(s.Text, documents)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return jsonCodec{schema}, nil
}

// JSON is the payload itself, which must be JSON: what is written was valid for its writer.
func (c jsonCodec) JSON(payload []byte) ([]byte, error) {
	if !json.Valid(payload) {
		return nil, errors.New("the payload is no JSON")
	}
	return bytes.Clone(payload), nil
}

func (c jsonCodec) Payload(value []byte) ([]byte, error) {
	if err := c.schema.Validate(string(value)); err != nil {
		return nil, err
	}
	return bytes.Clone(value), nil
}

type protobufCodec struct{ file protoreflect.FileDescriptor }

func newProtobuf(ctx context.Context, s Schema) (Codec, error) {
	imports := make([]protobuf.Import, len(s.References))
	for i, r := range s.References {
		imports[i] = protobuf.Import{Name: r.Name, Text: r.Text}
	}
	parsed, err := protobuf.Parse(s.Text, imports)
	if err != nil {
		return nil, err
	}
	file, err := parsed.Descriptor(ctx)
	if err != nil {
		return nil, fmt.Errorf("link the schema: %w", err)
	}
	return protobufCodec{file}, nil
}

// message is the type that indexes lead to.
func (c protobufCodec) message(indexes []int) (protoreflect.MessageDescriptor, error) {
	in := c.file.Messages()
	var m protoreflect.MessageDescriptor
	for _, i := range indexes {
		if i >= in.Len() {
			return nil, fmt.Errorf("the schema has no message %v", indexes)
		}
		m = in.Get(i)
		in = m.Messages()
	}
	return m, nil
}

func (c protobufCodec) JSON(payload []byte) ([]byte, error) {
	indexes, payload, err := ParseIndexes(payload)
	if err != nil {
		return nil, err
	}
	d, err := c.message(indexes)
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(d)
	if err := (proto.UnmarshalOptions{RecursionLimit: 100, AllowPartial: true}).Unmarshal(payload, m); err != nil {
		return nil, fmt.Errorf("decode as %s: %w", d.FullName(), err)
	}
	return protojson.MarshalOptions{AllowPartial: true}.Marshal(m)
}

// Payload is of the schema's first message.
func (c protobufCodec) Payload(value []byte) ([]byte, error) {
	d, err := c.message([]int{0})
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(d)
	if err := (protojson.UnmarshalOptions{RecursionLimit: 100}).Unmarshal(value, m); err != nil {
		return nil, fmt.Errorf("read as JSON of %s: %w", d.FullName(), err)
	}
	b, err := proto.Marshal(m)
	return append(AppendIndexes(nil, []int{0}), b...), err
}
