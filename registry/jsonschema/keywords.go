package jsonschema

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"doze/registry/ordered"
)

// keyword is one that has a value of a kind, and where that goes. A list of them, not a map: of several that are wrong the same
// one is told each time.
type keyword[T any] struct {
	key string
	to  *T
}

// count reads whole numbers.
func count(n *ordered.Node, at string, keywords ...keyword[*int64]) error {
	for _, k := range keywords {
		v := n.Get(k.key)
		if v == nil {
			continue
		}
		if v.Kind != ordered.Number {
			return errAt(at+"/"+k.key, "expected type: Integer, found: %s", kindName(v))
		}
		i, err := strconv.ParseInt(strings.TrimSuffix(v.Text, ".0"), 10, 32)
		if err != nil {
			return errAt(at+"/"+k.key, "expected type: Integer, found: %s", v.Text)
		}
		*k.to = &i
	}
	return nil
}

func stringKeywords(s *Schema, n *ordered.Node, at string) error {
	if v := n.Get("pattern"); v != nil {
		if v.Kind != ordered.String {
			return errAt(at+"/pattern", "expected type: String, found: %s", kindName(v))
		}
		if _, err := pattern(v.Text); err != nil {
			return errAt(at+"/pattern", "%v", err)
		}
		s.pattern = &v.Text
	}
	return count(n, at, keyword[*int64]{"minLength", &s.minLength}, keyword[*int64]{"maxLength", &s.maxLen})
}

// pattern compiles a pattern; what only Go's engine cannot do (Java's can look around and back) gives none.
func pattern(text string) (*regexp.Regexp, error) {
	if len(text) > 10_000 {
		return nil, errAt("pattern", "%d bytes are too many", len(text))
	}
	p, err := regexp.Compile(text)
	if err == nil {
		return p, nil
	}
	parse, ok := err.(*syntax.Error)
	if ok && slices.Contains([]syntax.ErrorCode{syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket}, parse.Code) {
		return nil, err
	}
	return nil, nil
}

func (b *builder) numberKeywords(s *Schema, n *ordered.Node, at string) error {
	for _, k := range []keyword[*number]{
		{"minimum", &s.minimum}, {"maximum", &s.maximum}, {"exclusiveMinimum", &s.above}, {"exclusiveMaximum", &s.below}, {"multipleOf", &s.multipleOf},
	} {
		v := n.Get(k.key)
		exclusive := strings.HasPrefix(k.key, "exclusive")
		switch {
		case v == nil || b.dialect.draft4 && exclusive && v.IsBool():
		case v.Kind != ordered.Number || b.dialect.draft4 && exclusive:
			return errAt(at+"/"+k.key, "expected type: Number, found: %s", kindName(v))
		default:
			*k.to = parseNumber(v.Text)
		}
	}
	return nil
}

func (b *builder) arrayKeywords(s *Schema, n *ordered.Node, in *scope, at string) error {
	if v := n.Get("uniqueItems"); v != nil {
		if !v.IsBool() {
			return errAt(at+"/uniqueItems", "expected type: Boolean, found: %s", kindName(v))
		}
		s.unique = v.Kind == ordered.True
	}
	if err := count(n, at, keyword[*int64]{"minItems", &s.minItems}, keyword[*int64]{"maxItems", &s.maxItems}); err != nil {
		return err
	}
	if err := b.inner(&s.contains, n, "contains", in, at); err != nil {
		return err
	}
	if b.dialect.modern {
		return b.modernItems(s, n, in, at)
	}
	return b.items(s, n, in, at)
}

// inner reads a keyword that is a schema.
func (b *builder) inner(place **Schema, n *ordered.Node, key string, in *scope, at string) (err error) {
	if v := n.Get(key); v != nil {
		*place, err = b.schema(v, in, at+"/"+key)
	}
	return err
}

func (b *builder) tupleOf(s *Schema, v *ordered.Node, in *scope, at string) error {
	s.isTuple = true
	for i, item := range v.Items {
		inner, err := b.schema(item, in, at+"/"+strconv.Itoa(i))
		if err != nil {
			return err
		}
		s.tuple = append(s.tuple, inner)
	}
	return nil
}

// items of drafts 4 to 7: one schema for all, or a list of them.
func (b *builder) items(s *Schema, n *ordered.Node, in *scope, at string) (err error) {
	if v := n.Get("items"); v.Is(ordered.Array) {
		err = b.tupleOf(s, v, in, at+"/items")
	} else if err = b.draft4Object(v, at+"/items"); err == nil {
		err = b.inner(&s.items, n, "items", in, at)
	}
	if err != nil {
		return err
	}
	err = b.closable(&s.noMoreItems, &s.moreItems, n, "additionalItems", in, at)
	s.noMoreItems = s.noMoreItems && s.items == nil // no item is beyond those that one schema is for
	return err
}

// draft4Object refuses true and false in the places where draft 4 has them not, as everit reads it: it takes them in others.
func (b *builder) draft4Object(v *ordered.Node, at string) error {
	if b.dialect.draft4 && v.IsBool() {
		return errAt(at, "expected type: JsonObject, found: %s", kindName(v))
	}
	return nil
}

// closable reads a keyword that is true, false or a schema.
func (b *builder) closable(no *bool, more **Schema, n *ordered.Node, key string, in *scope, at string) error {
	v := n.Get(key)
	if v.IsBool() {
		*no = v.Kind == ordered.False
		return nil
	}
	return b.inner(more, n, key, in, at)
}

func (b *builder) modernItems(s *Schema, n *ordered.Node, in *scope, at string) error {
	if s.contains != nil {
		one := int64(1)
		s.minContains = &one
		if err := count(n, at, keyword[*int64]{"minContains", &s.minContains}, keyword[*int64]{"maxContains", &s.maxContains}); err != nil {
			return err
		}
	}
	if err := b.inner(&s.unevaluatedItems, n, "unevaluatedItems", in, at); err != nil {
		return err
	}
	prefix, items := n.Get("prefixItems"), n.Get("items")
	if items.Is(ordered.Array) { // 2019-09 has it so, but is read as 2020-12 is
		return errAt(at+"/items", "expected type is one of Boolean or JsonObject, found: %s; list the schemas of the first items in prefixItems", kindName(items))
	}
	if prefix.Is(ordered.Array) {
		if err := b.tupleOf(s, prefix, in, at+"/prefixItems"); err != nil {
			return err
		}
	}
	switch {
	case items == nil || items.Kind == ordered.True:
		return nil
	case items.Kind == ordered.False:
		s.noMoreItems = true
		return nil
	case len(s.tuple) == 0:
		return b.inner(&s.items, n, "items", in, at)
	}
	return b.inner(&s.moreItems, n, "items", in, at)
}

func (b *builder) objectKeywords(s *Schema, n *ordered.Node, in *scope, at string) (err error) {
	if s.properties, err = b.schemas(n, "properties", in, at); err != nil {
		return err
	}
	s.propertyOf = make(map[string]*Schema, len(s.properties))
	for _, p := range s.properties {
		s.propertyOf[p.name] = p.schema
	}
	if s.requires, err = names(n, "required", at); err != nil {
		return err
	}
	if err = count(n, at, keyword[*int64]{"minProperties", &s.minProps}, keyword[*int64]{"maxProperties", &s.maxProps}); err != nil {
		return err
	}
	if err = b.closable(&s.noMore, &s.more, n, "additionalProperties", in, at); err != nil {
		return err
	}
	if err = b.inner(&s.names, n, "propertyNames", in, at); err != nil {
		return err
	}
	if err = b.patternKeywords(s, n, in, at); err != nil {
		return err
	}
	return b.dependencies(s, n, in, at)
}

// schemas reads a keyword that is an object of schemas.
func (b *builder) schemas(n *ordered.Node, key string, in *scope, at string) (all []property, err error) {
	v := n.Get(key)
	if v == nil {
		return nil, nil
	}
	if v.Kind != ordered.Object {
		return nil, errAt(at+"/"+key, "expected type: JsonObject, found: %s", kindName(v))
	}
	for _, m := range v.Members {
		s, err := b.schema(m.Value, in, at+"/"+key+"/"+m.Key)
		if err != nil {
			return nil, err
		}
		all = append(all, property{m.Key, s})
	}
	return all, nil
}

// names reads a keyword that is a list of names.
func names(n *ordered.Node, key, at string) (map[string]bool, error) {
	v, err := list(n, key, at)
	if v == nil || err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(v.Items))
	for i, item := range v.Items {
		if item.Kind != ordered.String {
			return nil, errAt(at+"/"+key+"/"+strconv.Itoa(i), "expected type: String, found: %s", kindName(item))
		}
		set[item.Text] = true
	}
	return set, nil
}

func (b *builder) patternKeywords(s *Schema, n *ordered.Node, in *scope, at string) error {
	all, err := b.schemas(n, "patternProperties", in, at)
	if err != nil {
		return err
	}
	for _, p := range all {
		compiled, err := pattern(p.name)
		if err != nil {
			return errAt(at+"/patternProperties", "%v", err)
		}
		s.patterns = append(s.patterns, patternProperty{compiled, p.schema, costOf(compiled)})
	}
	return nil
}

// costOf is how many steps a pattern may take for one character: a short text may repeat much.
func costOf(p *regexp.Regexp) int {
	if p == nil {
		return 1
	}
	parsed, err := syntax.Parse(p.String(), syntax.Perl)
	if err != nil {
		return 1
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 1
	}
	return len(prog.Inst)
}

func (b *builder) dependencies(s *Schema, n *ordered.Node, in *scope, at string) (err error) {
	if b.dialect.modern {
		if err := b.inner(&s.unevaluated, n, "unevaluatedProperties", in, at); err != nil {
			return err
		}
		if s.schemaNeeds, err = b.schemas(n, "dependentSchemas", in, at); err != nil {
			return err
		}
		return b.needs(s, n.Get("dependentRequired"), at+"/dependentRequired")
	}
	v := n.Get("dependencies")
	if v == nil {
		return nil
	}
	if v.Kind != ordered.Object {
		return errAt(at+"/dependencies", "expected type: JsonObject, found: %s", kindName(v))
	}
	for _, m := range v.Members {
		if m.Value.Kind == ordered.Array {
			continue
		}
		err := b.draft4Object(m.Value, at+"/dependencies/"+m.Key)
		if err != nil {
			return err
		}
		inner, err := b.schema(m.Value, in, at+"/dependencies/"+m.Key)
		if err != nil {
			return err
		}
		s.schemaNeeds = append(s.schemaNeeds, property{m.Key, inner})
	}
	return b.needs(s, v, at+"/dependencies")
}

// needs reads the dependencies that are lists of names; an empty list is none.
func (b *builder) needs(s *Schema, v *ordered.Node, at string) error {
	if v == nil {
		return nil
	}
	for _, m := range v.Members {
		if m.Value.Kind != ordered.Array {
			continue
		}
		set, err := names(v, m.Key, at)
		if err != nil {
			return err
		}
		if len(set) > 0 {
			s.needs = append(s.needs, dependency{m.Key, set})
		}
	}
	return nil
}
