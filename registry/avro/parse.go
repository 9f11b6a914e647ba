//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package avro

import (
	"errors"
	"fmt"
	"slices"

	"doze/registry/ordered"
)

// Options say how strictly a schema is read: a new one must have names and defaults that fit, one that is stored was taken once.
type Options struct {
	Strict bool
	// References are the texts of the schemas that this one refers to, each after those that it refers to itself.
	References []string
}

// Parsed is a schema with what it refers to.
type Parsed struct {
	Root       *Schema
	references []*Schema
}

// Parse reads a schema.
//
//fuzz:parser class=schema FuzzParse
func Parse(text string, opt Options) (*Parsed, error) {
	p := parser{strict: opt.Strict, names: map[string]*Schema{}, within: map[*Schema]bool{}}
	parsed := &Parsed{}
	for _, ref := range opt.References {
		s, err := p.text(ref)
		if err != nil {
			return nil, fmt.Errorf("referenced schema: %w", err)
		}
		parsed.references = append(parsed.references, s)
	}
	root, err := p.text(text)
	if err != nil {
		return nil, err
	}
	parsed.Root = root
	return parsed, nil
}

type parser struct {
	strict bool
	names  map[string]*Schema
	within map[*Schema]bool // records whose fields are being read
	open   bool             // a name was used before its definition
}

func (p *parser) text(text string) (*Schema, error) {
	n, err := ordered.Parse(text)
	if errors.Is(err, ordered.ErrMore) {
		return nil, errors.New("dangling content after end of schema")
	}
	if err != nil {
		return nil, err
	}
	p.open = false
	s, err := p.schema(n, "")
	if err != nil {
		return nil, err
	}
	if p.open {
		if s, err = p.resolve(s); err != nil {
			return nil, err
		}
		// A definition is printed where its name comes first, which may nest what was written side by side.
		if !printable(s) {
			return nil, ordered.ErrDeep
		}
	}
	if p.strict {
		return s, p.checkDefaults(s)
	}
	return s, checkNames(s)
}

func (p *parser) schema(n *ordered.Node, namespace string) (*Schema, error) {
	switch n.Kind {
	case ordered.String:
		return p.name(n.Text, namespace), nil
	case ordered.Object:
		return p.object(n, namespace)
	case ordered.Array:
		return p.union(n, namespace)
	}
	return nil, fmt.Errorf("Schema not yet supported: %s", n)
}

func (p *parser) name(name, namespace string) *Schema {
	if t, is := primitive(name); is {
		return &Schema{Type: t}
	}
	space, simple := split(name, namespace)
	if s := p.names[join(space, simple)]; s != nil {
		return s
	}
	if s := p.names[name]; s != nil && !p.within[s] {
		return s // one without a namespace that is complete already
	}
	p.open = true
	return &Schema{Type: unresolved, Namespace: space, Name: simple}
}

func (p *parser) union(n *ordered.Node, namespace string) (*Schema, error) {
	u := &Schema{Type: Union}
	for _, item := range n.Items {
		b, err := p.schema(item, namespace)
		if err != nil {
			return nil, err
		}
		u.Branches = append(u.Branches, b)
	}
	return u, checkUnion(u)
}

func checkUnion(u *Schema) error {
	seen := make(map[string]bool, len(u.Branches))
	for _, b := range u.Branches {
		if b.Type == Union {
			return errors.New("Nested union: a branch of a union is a union")
		}
		if name := b.FullName(); seen[name] {
			return fmt.Errorf("Duplicate in union:%s", name)
		} else if seen[name] = true; b.Type == unresolved {
			delete(seen, name) // looked at again once it is known
		}
	}
	return nil
}

var (
	schemaKeys = []string{"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"}
	enumKeys   = append([]string{"default"}, schemaKeys...)
	fieldKeys  = []string{"default", "doc", "name", "order", "type", "aliases"}
)

func propsOf(n *ordered.Node, reserved []string) (props []ordered.Member) {
	for _, m := range n.Members {
		if !slices.Contains(reserved, m.Key) {
			props = append(props, m)
		}
	}
	return props
}

func (p *parser) object(n *ordered.Node, namespace string) (*Schema, error) {
	kind := n.Get("type")
	if !kind.Is(ordered.String) {
		return nil, fmt.Errorf("No type: %s", brief(n))
	}
	switch kind.Text {
	case "record", "error":
		return p.record(n, namespace, kind.Text == "error")
	case "enum":
		return p.enum(n, namespace)
	case "fixed":
		return p.fixed(n, namespace)
	case "array":
		return p.collection(n, namespace, Array, "items", "Array has no items type")
	case "map":
		return p.collection(n, namespace, Map, "values", "Map has no values type")
	}
	if t, is := primitive(kind.Text); is {
		return &Schema{Type: t, Props: propsOf(n, schemaKeys)}, nil
	}
	return p.name(kind.Text, namespace), nil
}

// brief is what an error shows of a node.
func brief(n *ordered.Node) string {
	s := n.String()
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

func (p *parser) collection(n *ordered.Node, namespace string, t Type, key, missing string) (*Schema, error) {
	of := n.Get(key)
	if of == nil {
		return nil, fmt.Errorf("%s: %s", missing, brief(n))
	}
	items, err := p.schema(of, namespace)
	return &Schema{Type: t, Items: items, Props: propsOf(n, schemaKeys)}, err
}
