//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"doze/registry/avro"
	"doze/registry/jsonschema"
	"doze/registry/protobuf"
	"doze/registry/tagged"
)

// model is a parsed schema of any type.
type model interface {
	canonical() string
	// normalized is the text that schemas of one meaning share; it may change the model.
	normalized() (string, error)
	// validate says what is wrong beyond the syntax; fields asks for more.
	validate(ctx context.Context, fields bool) error
	// format is the text in a format; an unknown one is the canonical text.
	format(ctx context.Context, name string) (string, error)
	// refusals says why this schema does not read what was written with the other, as messages with the words for both, and what
	// would help. Both are of one type. When the context is done there is no answer.
	refusals(ctx context.Context, lenient bool, writer model, reader, written string) (messages []string, advice string)
	hasField(name string) bool
	// entities are the records and fields with their tags; their Set changes what the canonical text says.
	entities() ([]tagged.Entity, error)
}

// parse reads a schema of the type with what it refers to.
//
//fuzz:parser class=http FuzzRequests
func parse(schemaType, text string, refs []resolved, strict bool) (model, error) {
	if schemaType != Avro && schemaType != JSON && schemaType != Protobuf {
		return nil, invalidSchema("Invalid schema type %s", schemaType)
	}
	m, err := parseModel(schemaType, text, refs, strict)
	if err != nil {
		return nil, invalid(schemaType, err)
	}
	return m, nil
}

func invalid(schemaType string, err error) *Error {
	return invalidSchema("Invalid schema of type %s, details: %v", schemaType, err)
}

//fuzz:parser class=http FuzzRequests
func parseModel(schemaType, text string, refs []resolved, strict bool) (model, error) {
	switch schemaType {
	case Avro:
		opt := avro.Options{Strict: strict}
		for _, r := range refs {
			opt.References = append(opt.References, r.text)
		}
		p, err := avro.Parse(text, opt)
		return avroModel{p}, err
	case JSON:
		documents := make([]jsonschema.Document, len(refs))
		for i, r := range refs {
			documents[i] = jsonschema.Document{Name: r.name, Text: r.text}
		}
		p, err := jsonschema.Parse(text, documents)
		return jsonModel{p}, err
	case Protobuf:
		imports := make([]protobuf.Import, len(refs))
		for i, r := range refs {
			imports[i] = protobuf.Import{Name: r.name, Text: r.text}
			if r.direct {
				imports[i].Subject, imports[i].Version = r.subject, r.version
			}
		}
		p, err := protobuf.Parse(text, imports)
		return protobufModel{p}, err
	}
	return nil, fmt.Errorf("Invalid schema type %s", schemaType)
}

func unanswered(err error) []string {
	return []string{"Unexpected exception during compatibility check: " + err.Error()}
}

type avroModel struct{ *avro.Parsed }

func (m avroModel) canonical() string                    { return m.Canonical() }
func (m avroModel) validate(context.Context, bool) error { return nil }
func (m avroModel) entities() ([]tagged.Entity, error)   { return m.Entities(), nil }
func (m avroModel) hasField(name string) bool {
	return m.Root.Type == avro.Record && m.Root.Field(name) != nil
}
func (m avroModel) normalized() (string, error) { m.Normalize(); return m.Canonical(), nil }
func (m avroModel) format(_ context.Context, name string) (string, error) {
	if strings.EqualFold(name, "resolved") {
		return m.Resolved(), nil
	}
	return m.Canonical(), nil
}

func (m avroModel) refusals(ctx context.Context, _ bool, writer model, reader, written string) (messages []string, _ string) {
	found, err := avro.CompareUntil(ctx, m.Root, writer.(avroModel).Root)
	if err != nil {
		return unanswered(err), ""
	}
	for _, d := range found {
		messages = append(messages, d.Describe(reader, written))
	}
	return messages, ""
}

type jsonModel struct{ *jsonschema.Parsed }

func (m jsonModel) canonical() string                              { return m.Canonical() }
func (m jsonModel) normalized() (string, error)                    { return m.Normalized(), nil }
func (m jsonModel) format(context.Context, string) (string, error) { return m.Canonical(), nil }
func (m jsonModel) entities() ([]tagged.Entity, error)             { return m.Entities() }
func (m jsonModel) hasField(name string) bool                      { return m.HasProperty(name) }

func (m jsonModel) validate(_ context.Context, fields bool) error {
	for _, name := range m.Properties() {
		if fields && strings.HasPrefix(name, "$$") {
			return errors.New("#/properties/" + name + ": Field names cannot start with $$ prefix")
		}
	}
	return nil
}

func (m jsonModel) refusals(ctx context.Context, lenient bool, writer model, reader, written string) (messages []string, advice string) {
	policy := jsonschema.Strict
	if lenient {
		policy = jsonschema.Lenient
	}
	found, err := jsonschema.CompareUntil(ctx, policy, writer.(jsonModel).Root, m.Root)
	if err != nil {
		return unanswered(err), ""
	}
	var refused []jsonschema.Difference
	for _, d := range found {
		if !policy.Allowed(d.Type) {
			refused = append(refused, d)
			messages = append(messages, d.Message(reader, written))
		}
	}
	return messages, jsonschema.Advice(refused)
}

type protobufModel struct{ *protobuf.Parsed }

func (m protobufModel) canonical() string                  { return m.Canonical() }
func (m protobufModel) normalized() (string, error)        { return m.Normalized() }
func (m protobufModel) entities() ([]tagged.Entity, error) { return m.Entities(), nil }

func (m protobufModel) validate(ctx context.Context, fields bool) error {
	if _, err := m.Normalized(); err != nil || !fields {
		return err
	}
	_, err := m.Link(ctx)
	return err
}

func (m protobufModel) format(ctx context.Context, name string) (string, error) {
	switch strings.ToLower(name) {
	case "serialized":
		return m.Serialized(ctx)
	case "ignore_extensions":
		return m.WithoutExtensions(), nil
	}
	return m.Canonical(), nil
}

func (m protobufModel) hasField(name string) bool {
	if len(m.File.Messages) == 0 {
		return false
	}
	for _, f := range m.File.Messages[0].Fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (m protobufModel) refusals(ctx context.Context, _ bool, writer model, reader, written string) (messages []string, _ string) {
	found, err := protobuf.CompareUntil(ctx, writer.(protobufModel).Parsed, m.Parsed)
	if err != nil {
		return unanswered(err), ""
	}
	for _, d := range found {
		if !protobuf.Allowed(d.Type) {
			messages = append(messages, d.Message(reader, written))
		}
	}
	return messages, ""
}
