//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package avro

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// resolve puts definitions in the place of names that were used before them.
func (p *parser) resolve(root *Schema) (*Schema, error) {
	seen := map[*Schema]bool{}
	var put func(s **Schema) error
	put = func(slot **Schema) error {
		if s := *slot; s.Type == unresolved {
			known := p.names[s.FullName()]
			if known == nil {
				return fmt.Errorf("Undefined schema: %s", s.FullName())
			}
			*slot = known
		}
		s := *slot
		if seen[s] {
			return nil
		}
		seen[s] = true
		for _, inner := range slots(s) {
			if err := put(inner); err != nil {
				return err
			}
		}
		if s.Type == Union {
			return checkUnion(s)
		}
		return nil
	}
	err := put(&root)
	return root, err
}

// slots are the places in a schema that hold another.
func slots(s *Schema) (all []**Schema) {
	for _, f := range s.Fields {
		all = append(all, &f.Schema)
	}
	for i := range s.Branches {
		all = append(all, &s.Branches[i])
	}
	if s.Items != nil {
		all = append(all, &s.Items)
	}
	return all
}

// walk visits every schema once.
func walk(root *Schema, visit func(*Schema) error) error {
	seen, todo := map[*Schema]bool{}, []*Schema{root}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		if err := visit(s); err != nil {
			return err
		}
		inner := slots(s)
		for i := len(inner) - 1; i >= 0; i-- {
			todo = append(todo, *inner[i])
		}
	}
	return nil
}
