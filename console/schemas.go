package console

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/sr"

	"doze/registry/serde"
)

// schemas are the codecs of the registry's schemas that records name. A schema never changes under its id, so they are kept.
type schemas struct {
	client *sr.Client
	mu     sync.Mutex
	known  map[serde.Ref]schemaFound
}

// schemaFound is one schema with what decodes its payloads.
type schemaFound struct {
	codec serde.Codec
	kind  string // Avro, JSON Schema, Protobuf
	name  string // "Avro, schema 7"
	text  serde.Schema
}

// Bounds of what is kept and followed.
const (
	maxSchemas    = 500
	maxReferences = 200
)

func newSchemas(client *sr.Client) *schemas {
	if client == nil {
		return nil
	}
	return &schemas{client: client, known: map[serde.Ref]schemaFound{}}
}

// get asks the registry for a schema, once.
func (s *schemas) get(ctx context.Context, ref serde.Ref) (schemaFound, error) {
	s.mu.Lock()
	found, ok := s.known[ref]
	s.mu.Unlock()
	if ok {
		return found, nil
	}
	found, err := s.ask(ctx, ref)
	if err != nil {
		return found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxSchemas {
		clear(s.known)
	}
	s.known[ref] = found
	return found, nil
}

func (s *schemas) ask(ctx context.Context, ref serde.Ref) (schemaFound, error) {
	name := fmt.Sprintf("schema %d", ref.ID)
	var text sr.Schema
	var err error
	if ref.HasGUID {
		guid := fmt.Sprintf("%x-%x-%x-%x-%x", ref.GUID[:4], ref.GUID[4:6], ref.GUID[6:8], ref.GUID[8:10], ref.GUID[10:])
		name = "schema " + guid
		var of sr.SubjectSchema
		of, err = s.client.SchemaByGUID(ctx, guid)
		text = of.Schema
	} else {
		text, err = s.client.SchemaByID(ctx, int(ref.ID))
	}
	if err != nil {
		return schemaFound{}, fmt.Errorf("%s: %w", name, err)
	}
	return s.codecOf(ctx, text, name)
}

// codecOf makes the codec of a schema, its references first.
func (s *schemas) codecOf(ctx context.Context, text sr.Schema, name string) (schemaFound, error) {
	found := schemaFound{kind: schemaKind(text.Type), text: serde.Schema{Type: text.Type.String(), Text: text.Schema}}
	found.name = found.kind + ", " + name
	seen := map[string]bool{}
	if err := s.follow(ctx, text.References, &found.text, seen); err != nil {
		return found, fmt.Errorf("%s: %w", name, err)
	}
	var err error
	if found.codec, err = serde.New(ctx, found.text); err != nil {
		return found, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

// follow adds the texts that references lead to, each after those that it refers to itself.
func (s *schemas) follow(ctx context.Context, refs []sr.SchemaReference, to *serde.Schema, seen map[string]bool) error {
	for _, r := range refs {
		if seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		if len(seen) > maxReferences {
			return errors.New("the schema refers to too many others")
		}
		of, err := s.client.SchemaByVersion(ctx, r.Subject, r.Version)
		if err != nil {
			return fmt.Errorf("reference %s: %w", r.Name, err)
		}
		if err := s.follow(ctx, of.References, to, seen); err != nil {
			return err
		}
		to.References = append(to.References, serde.Reference{Name: r.Name, Text: of.Schema.Schema})
	}
	return nil
}

func schemaKind(t sr.SchemaType) string {
	switch t {
	case sr.TypeJSON:
		return "JSON Schema"
	case sr.TypeProtobuf:
		return "Protobuf"
	}
	return "Avro"
}
