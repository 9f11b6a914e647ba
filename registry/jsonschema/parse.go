//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package jsonschema

import (
	"errors"
	"fmt"

	"doze/registry/ordered"
)

// Document is a named schema that others refer to.
type Document struct{ Name, Text string }

// Parsed is a schema with the node it was read from.
type Parsed struct {
	Root    *Schema
	Node    *ordered.Node
	builder *builder
}

// Parse reads a schema. What it refers to is looked for in the text and in the documents, nowhere else.
//
//fuzz:parser class=schema FuzzParse
func Parse(text string, documents []Document) (*Parsed, error) {
	n, err := ordered.Parse(text)
	if err != nil {
		return nil, err
	}
	if n.Kind != ordered.Object && !n.IsBool() {
		return nil, errors.New("Invalid JSON schema: expected an object or boolean at the root")
	}
	b := &builder{
		dialect: dialectOf(n), documents: map[string]*scope{}, built: map[*ordered.Node]*Schema{}, scopes: map[*ordered.Node]*scope{},
		members: map[*ordered.Node]map[string]*ordered.Node{},
	}
	for _, d := range documents {
		if err := b.add(d); err != nil {
			return nil, err
		}
	}
	b.root = b.scopeOf(n, nil, "")
	s, err := b.schema(n, b.root, "#")
	if err == nil {
		err = b.resolve()
	}
	if err != nil {
		return nil, err
	}
	return &Parsed{Root: s, Node: n, builder: b}, nil
}

// add makes a document known.
func (b *builder) add(d Document) error {
	n, err := ordered.Parse(d.Text)
	if err != nil {
		return fmt.Errorf("referenced schema %s: %w", d.Name, err)
	}
	b.documents[d.Name] = b.scopeOf(n, nil, d.Name)
	b.order = append(b.order, b.documents[d.Name])
	return nil
}

// Canonical is the text that a registry stores: the members in their order, without white space.
func (p *Parsed) Canonical() string { return string(p.Node.AppendJava(nil)) }

// Normalized is the text with sorted members.
func (p *Parsed) Normalized() string { return string(p.Node.Sorted().AppendJava(nil)) }

// HasProperty says whether the schema describes a property of that name at its top.
func (p *Parsed) HasProperty(name string) bool { return p.Node.Get("properties").Get(name) != nil }

// Properties are the names of the properties at the top.
func (p *Parsed) Properties() (names []string) {
	if props := p.Node.Get("properties"); props.Is(ordered.Object) {
		for _, m := range props.Members {
			names = append(names, m.Key)
		}
	}
	return names
}
