package jsonschema

import (
	"crypto/md5"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"doze/registry/ordered"
)

// builder makes classes of nodes. References are filled in at the end, so that schemas may refer to themselves.
type builder struct {
	dialect   *dialect
	root      *scope
	documents map[string]*scope
	order     []*scope // the documents as they were given
	built     map[*ordered.Node]*Schema
	scopes    map[*ordered.Node]*scope
	ids       map[string]*scope // made when the first is asked for
	members   map[*ordered.Node]map[string]*ordered.Node
	open      []openReference
}

type openReference struct {
	schema *Schema
	scope  *scope
	at     string
}

func errAt(at, format string, args ...any) error {
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

func kindName(n *ordered.Node) string {
	return [...]string{"Null", "Boolean", "Boolean", "Number", "String", "JsonArray", "JsonObject"}[n.Kind]
}

// schema is the schema of a node: one per node, so that all references to it lead to the same.
func (b *builder) schema(n *ordered.Node, in *scope, at string) (*Schema, error) {
	if s := b.built[n]; s != nil {
		return s, nil
	}
	s := &Schema{node: n}
	b.built[n] = s
	switch n.Kind {
	case ordered.True:
		s.Class = True
	case ordered.False:
		s.Class = False
	case ordered.Object:
		in = b.scopeOf(n, in, "")
		if err := b.fill(s, n, in, at); err != nil {
			return nil, err
		}
	default:
		return nil, errAt(at, "expected type is one of Boolean or JsonObject, found: %s", kindName(n))
	}
	return s, nil
}

// fill makes s the class that the keywords of the object make; more than one is a combination of all of them.
func (b *builder) fill(s *Schema, n *ordered.Node, in *scope, at string) error {
	parts, err := b.parts(n, in, at)
	if err != nil {
		return err
	}
	switch len(parts) {
	case 0:
	case 1:
		*s = *parts[0]
		s.node = n
		if s.Class == Reference {
			b.replaceOpen(parts[0], s)
		}
	default:
		slices.SortStableFunc(parts, func(x, y *Schema) int { return rank(x) - rank(y) })
		*s = Schema{Class: Combined, criterion: "allOf", parts: parts, made: true, node: n}
		for _, p := range parts {
			p.key = keyOf(p, n)
		}
	}
	return b.common(s, n, at)
}

// rank puts combinations before what is not one.
func rank(s *Schema) int {
	if s.Class == Combined {
		return 0
	}
	return 1
}

func (b *builder) common(s *Schema, n *ordered.Node, at string) error {
	for _, k := range []keyword[*string]{{b.dialect.id, &s.ID}, {"title", &s.Title}, {"description", &s.About}} {
		v := n.Get(k.key)
		if v == nil {
			continue
		}
		if v.Kind != ordered.String {
			return errAt(at+"/"+k.key, "expected type: String, found: %s", kindName(v))
		}
		*k.to = &v.Text
	}
	if b.dialect.modern {
		s.ID = nil // not looked at
	}
	s.Default = n.Get("default")
	s.connectType = n.Get("connect.type").Str()
	return nil
}

// keyOf tells schemas apart that are compared as members of a set.
func keyOf(s *Schema, n *ordered.Node) [16]byte {
	b := append([]byte(classNames[s.Class]), s.criterion...)
	b = strconv.AppendBool(b, s.integer)
	return md5.Sum(n.Sorted().Append(b))
}

func (b *builder) parts(n *ordered.Node, in *scope, at string) (parts []*Schema, err error) {
	if ref := n.Get("$ref"); ref.Is(ordered.String) && !b.dialect.modern {
		return []*Schema{b.reference(ref.Text, in, at)}, nil
	}
	for _, extract := range []func(*ordered.Node, *scope, string) ([]*Schema, error){
		b.references, b.enum, b.combinations, b.negation, b.constant, b.typed, b.conditional,
	} {
		more, err := extract(n, in, at)
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	return parts, nil
}

// references of drafts in which they stand beside other keywords.
func (b *builder) references(n *ordered.Node, in *scope, at string) (parts []*Schema, err error) {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref := n.Get(key); b.dialect.modern && ref.Is(ordered.String) {
			parts = append(parts, b.reference(ref.Text, in, at))
		}
	}
	return parts, nil
}

func (b *builder) reference(ref string, in *scope, at string) *Schema {
	s := &Schema{Class: Reference, reference: ref}
	b.open = append(b.open, openReference{s, in, at})
	return s
}

func (b *builder) replaceOpen(old, s *Schema) {
	for i := len(b.open) - 1; i >= 0; i-- {
		if b.open[i].schema == old {
			b.open[i].schema = s
			return
		}
	}
}

func list(n *ordered.Node, key, at string) (*ordered.Node, error) {
	v := n.Get(key)
	if v != nil && v.Kind != ordered.Array {
		return nil, errAt(at+"/"+key, "expected type: JsonArray, found: %s", kindName(v))
	}
	return v, nil
}

func (b *builder) enum(n *ordered.Node, _ *scope, at string) ([]*Schema, error) {
	v, err := list(n, "enum", at)
	if v == nil || err != nil {
		return nil, err
	}
	return []*Schema{{Class: Enum, values: v.Items}}, nil
}

func (b *builder) combinations(n *ordered.Node, in *scope, at string) (parts []*Schema, err error) {
	for _, criterion := range []string{"allOf", "anyOf", "oneOf"} {
		v, err := list(n, criterion, at)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		s := &Schema{Class: Combined, criterion: criterion}
		for i, item := range v.Items {
			part, err := b.schema(item, in, at+"/"+criterion+"/"+strconv.Itoa(i))
			if err != nil {
				return nil, err
			}
			if b.dialect.modern && part.made {
				s.parts = append(s.parts, part.parts...) // of modern drafts they are members themselves
				continue
			}
			part.key = keyOf(part, item)
			s.parts = append(s.parts, part)
		}
		slices.SortStableFunc(s.parts, func(x, y *Schema) int { return rank(x) - rank(y) })
		parts = append(parts, s)
	}
	return parts, nil
}

func (b *builder) negation(n *ordered.Node, in *scope, at string) ([]*Schema, error) {
	v := n.Get("not")
	if v == nil {
		return nil, nil
	}
	not, err := b.schema(v, in, at+"/not")
	return []*Schema{{Class: Not, not: not}}, err
}

func (b *builder) constant(n *ordered.Node, _ *scope, _ string) ([]*Schema, error) {
	v := n.Get("const")
	if v == nil || b.dialect.draft4 {
		return nil, nil
	}
	return []*Schema{{Class: Const, values: []*ordered.Node{v}}}, nil
}

func (b *builder) conditional(n *ordered.Node, in *scope, at string) ([]*Schema, error) {
	if b.dialect.draft4 || b.dialect.draft6 || b.dialect.modern && n.Get("if") == nil {
		return nil, nil
	}
	s, any := &Schema{Class: Conditional}, false
	for i, key := range []string{"if", "then", "else"} {
		v := n.Get(key)
		if v == nil {
			continue
		}
		any = true
		var err error
		if s.condition[i], err = b.schema(v, in, at+"/"+key); err != nil {
			return nil, err
		}
	}
	if !any {
		return nil, nil
	}
	return []*Schema{s}, nil
}

// typed is the class that type names, any of the classes that it names, and those that other keywords are of.
func (b *builder) typed(n *ordered.Node, in *scope, at string) (parts []*Schema, err error) {
	done := map[Class]bool{}
	switch t := n.Get("type"); {
	case t == nil:
	case t.Kind == ordered.String:
		s, err := b.ofType(t.Text, n, in, at)
		if err != nil {
			return nil, err
		}
		done[s.Class] = true
		parts = append(parts, s)
	case t.Kind == ordered.Array:
		any := &Schema{Class: Combined, criterion: "anyOf"}
		for _, item := range t.Items {
			if item.Kind != ordered.String {
				return nil, errAt(at+"/type", "expected type: String, found: %s", kindName(item))
			}
			s, err := b.ofType(item.Text, n, in, at)
			if err != nil {
				return nil, err
			}
			done[s.Class] = true
			s.key = keyOf(s, n)
			any.parts = append(any.parts, s)
		}
		parts = append(parts, any)
	default:
		return nil, errAt(at+"/type", "expected type is one of JsonArray or String, found: %s", kindName(t))
	}
	for _, family := range []struct {
		class Class
		keys  []string
	}{{Array, b.dialect.arrays}, {Object, b.dialect.objects}, {Number, numberKeys}, {String, b.dialect.strings()}} {
		if done[family.class] || !slices.ContainsFunc(family.keys, func(k string) bool { return b.says(n, k) }) {
			continue
		}
		s := &Schema{Class: family.class, node: n}
		if err := b.keywords(s, n, in, at); err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	return parts, nil
}

// says whether the keyword makes a class: of modern drafts an object of no property does not.
func (b *builder) says(n *ordered.Node, key string) bool {
	v := n.Get(key)
	if b.dialect.modern && (key == "properties" || key == "patternProperties") {
		return v != nil && len(v.Members) > 0
	}
	return v != nil
}

var errType = errors.New("unknown type")

func (b *builder) ofType(name string, n *ordered.Node, in *scope, at string) (*Schema, error) {
	class := slices.Index(classNames[:Object+1], name)
	s := &Schema{Required: true, node: n}
	switch {
	case name == "integer":
		s.Class, s.integer = Number, true
	case class >= int(String):
		s.Class = Class(class)
	default:
		return nil, fmt.Errorf("%s: %w: [%s]", at, errType, name)
	}
	return s, b.keywords(s, n, in, at)
}

func (b *builder) keywords(s *Schema, n *ordered.Node, in *scope, at string) error {
	switch s.Class {
	case String:
		return stringKeywords(s, n, at)
	case Number:
		return b.numberKeywords(s, n, at)
	case Array:
		return b.arrayKeywords(s, n, in, at)
	case Object:
		return b.objectKeywords(s, n, in, at)
	}
	return nil
}
