//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package avro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"doze/registry/ordered"
)

// named makes a named schema and knows it by its name from here on.
func (p *parser) named(n *ordered.Node, about string, t Type, reserved []string) (*Schema, error) {
	name := n.Get("name")
	if !name.Is(ordered.String) {
		return nil, fmt.Errorf("No name in schema: %s", brief(n))
	}
	if own := n.Get("namespace"); own.Is(ordered.String) {
		about = own.Text
	}
	s := &Schema{Type: t, Props: propsOf(n, reserved)}
	s.Namespace, s.Name = split(name.Text, about)
	if err := p.checkName(s); err != nil {
		return nil, err
	}
	if doc := n.Get("doc"); doc.Is(ordered.String) {
		s.Doc = &doc.Text
	}
	aliases, err := aliasesOf(n)
	if err != nil {
		return nil, err
	}
	for _, alias := range aliases {
		s.Aliases = append(s.Aliases, join(split(alias, s.Namespace)))
	}
	full := s.FullName()
	if p.names[full] != nil {
		return nil, fmt.Errorf("Can't redefine: %s", full)
	}
	p.names[full] = s
	return s, nil
}

// maxName bounds the full name of a type: each name in a namespace has it in front.
const maxName = 1024

func (p *parser) checkName(s *Schema) error {
	if len(s.Namespace)+len(s.Name) > maxName {
		return fmt.Errorf("the name of a type is longer than %d bytes", maxName)
	}
	if _, is := primitive(s.Name); is && s.Namespace == "" {
		return fmt.Errorf("Schemas may not be named after primitives: %s", s.Name)
	}
	if !p.strict {
		return nil
	}
	if err := strictName(s.Name); err != nil {
		return err
	}
	if s.Namespace == "" {
		return nil
	}
	for part := range strings.SplitSeq(s.Namespace, ".") {
		if err := strictName(part); err != nil {
			return fmt.Errorf("Namespace part %q is invalid: %w", part, err)
		}
	}
	return nil
}

// aliasesOf gives the aliases in order, each once.
func aliasesOf(n *ordered.Node) (aliases []string, err error) {
	list := n.Get("aliases")
	if list == nil {
		return nil, nil
	}
	if list.Kind != ordered.Array {
		return nil, fmt.Errorf("aliases not an array: %s", brief(n))
	}
	for _, item := range list.Items {
		if item.Kind != ordered.String {
			return nil, fmt.Errorf("alias not a string: %s", brief(item))
		}
		if !slices.Contains(aliases, item.Text) {
			aliases = append(aliases, item.Text)
		}
	}
	return aliases, nil
}

func (p *parser) record(n *ordered.Node, about string, isError bool) (*Schema, error) {
	s, err := p.named(n, about, Record, schemaKeys)
	if err != nil {
		return nil, err
	}
	s.isError = isError
	fields := n.Get("fields")
	if !fields.Is(ordered.Array) {
		return nil, fmt.Errorf("Record has no fields: %s", brief(n))
	}
	p.within[s] = true
	defer delete(p.within, s)
	seen := make(map[string]bool, len(fields.Items))
	for _, item := range fields.Items {
		f, err := p.field(item, s.Namespace)
		if err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, fmt.Errorf("Duplicate field %s in record %s", f.Name, s.FullName())
		}
		seen[f.Name] = true
		s.Fields = append(s.Fields, f)
	}
	return s, nil
}

func (p *parser) field(n *ordered.Node, namespace string) (f *Field, err error) {
	name, kind := n.Get("name"), n.Get("type")
	switch {
	case !name.Is(ordered.String):
		return nil, fmt.Errorf("No field name: %s", brief(n))
	case kind == nil:
		return nil, fmt.Errorf("No field type: %s", brief(n))
	}
	f = &Field{Name: name.Text, Order: "ascending", Default: n.Get("default"), Props: propsOf(n, fieldKeys)}
	if p.strict {
		if err := strictName(f.Name); err != nil {
			return nil, err
		}
	}
	if f.Schema, err = p.schema(kind, namespace); err != nil {
		return nil, err
	}
	if doc := n.Get("doc"); doc.Is(ordered.String) {
		f.Doc = &doc.Text
	}
	if order := n.Get("order"); order.Is(ordered.String) {
		f.Order = strings.ToLower(order.Text)
		if !slices.Contains([]string{"ascending", "descending", "ignore"}, f.Order) {
			return nil, fmt.Errorf("No such order of a field: %s", order.Text)
		}
	}
	if f.Default.Is(ordered.String) && (f.Schema.Type == Float || f.Schema.Type == Double) {
		f.Default = textAsNumber(f.Default)
	}
	f.Aliases, err = aliasesOf(n)
	return f, err
}

// textAsNumber makes a number of a default of float or double that was written as a string, as Java does.
func textAsNumber(n *ordered.Node) *ordered.Node {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || v != v || v > 1.7e308 || v < -1.7e308 {
		return n
	}
	return &ordered.Node{Kind: ordered.Number, Text: ordered.JavaDouble(v)}
}

func (p *parser) enum(n *ordered.Node, about string) (*Schema, error) {
	s, err := p.named(n, about, Enum, enumKeys)
	if err != nil {
		return nil, err
	}
	symbols := n.Get("symbols")
	if !symbols.Is(ordered.Array) {
		return nil, fmt.Errorf("Enum has no symbols: %s", brief(n))
	}
	seen := make(map[string]bool, len(symbols.Items))
	for _, item := range symbols.Items {
		symbol := item.Str()
		if p.strict {
			if err := strictName(symbol); err != nil {
				return nil, err
			}
		}
		if seen[symbol] {
			return nil, fmt.Errorf("Duplicate enum symbol: %s", symbol)
		}
		seen[symbol] = true
		s.Symbols = append(s.Symbols, symbol)
	}
	if d := n.Get("default"); d.Is(ordered.String) {
		if s.Default = &d.Text; !seen[d.Text] {
			return nil, fmt.Errorf("The Enum Default: %s is not in the enum symbol set: [%s]", d.Text, strings.Join(s.Symbols, ", "))
		}
	}
	return s, nil
}

func (p *parser) fixed(n *ordered.Node, about string) (*Schema, error) {
	s, err := p.named(n, about, Fixed, schemaKeys)
	if err != nil {
		return nil, err
	}
	size := n.Get("size")
	if !size.Is(ordered.Number) {
		return nil, fmt.Errorf("Invalid or no size: %s", brief(n))
	}
	v, err := strconv.ParseInt(size.Text, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("Invalid or no size: %s", brief(n))
	}
	if v < 0 {
		return nil, fmt.Errorf("Malformed data. Length is negative: %d", v)
	}
	s.Size = int32(v)
	return s, nil
}
