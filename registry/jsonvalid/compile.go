package jsonvalid

import (
	"fmt"
	"strings"

	"doze/registry/ordered"
)

// Document is a schema that others refer to by its name.
type Document struct{ Name, Text string }

// Schema is a compiled schema.
type Schema struct{ root *schema }

// compiler makes schemas of nodes. References wait in open, so that schemas may refer to themselves.
type compiler struct {
	index
	made map[*ordered.Node]*schema
	open []open
	left int // instructions of patterns
}

// open is a reference that is to be filled in.
type open struct {
	ref   string
	in    *resource
	at    *ordered.Node
	place func(to *schema, anchor string)
}

// Compile reads a schema, and the documents that it may refer to. A schema that names no draft, or an unknown one, is of draft 7;
// a document then is of the schema's draft.
//
//fuzz:parser class=schema FuzzValidate
func Compile(text string, documents []Document) (*Schema, error) {
	c := &compiler{index: newIndex(), made: map[*ordered.Node]*schema{}, left: maxInstructions}
	root, err := c.document("", text, draft7)
	if err != nil {
		return nil, err
	}
	for _, d := range documents {
		if _, err := c.document(d.Name, d.Text, root.draft); err != nil {
			return nil, fmt.Errorf("reference %s: %w", d.Name, err)
		}
	}
	s, err := c.schema(root.root)
	if err != nil {
		return nil, err
	}
	for err == nil && (len(c.open) > 0 || len(c.index.dynamic) > 0) {
		err = c.rest()
	}
	return &Schema{s}, err
}

// rest compiles what references and dynamic anchors lead to. That may bring more of them.
func (c *compiler) rest() error {
	todo, anchors := c.open, c.index.dynamic
	c.open, c.index.dynamic = nil, nil
	for _, o := range todo {
		if err := c.follow(o); err != nil {
			return err
		}
	}
	for _, a := range anchors {
		s, err := c.schema(a.node)
		if err != nil {
			return err
		}
		if a.name == "" {
			a.in.compiled = s
			continue
		}
		if a.in.dynamic == nil {
			a.in.dynamic = map[string]*schema{}
		}
		a.in.dynamic[a.name] = s
	}
	return nil
}

// schema compiles a node that the index knows; each once.
func (c *compiler) schema(n *ordered.Node) (*schema, error) {
	if s := c.made[n]; s != nil {
		return s, nil
	}
	s := &schema{in: c.places[n], never: n.Kind == ordered.False}
	c.made[n] = s
	if n.Kind != ordered.Object {
		return s, nil
	}
	if c.references(s, n) && s.in.draft <= draft7 {
		return s, nil
	}
	c.values(s, n)
	for _, part := range []func(*schema, *ordered.Node) error{c.texts, c.combined, c.array, c.object} {
		if err := part(s, n); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// references notes what is to be filled in later, and says whether there is a plain one.
func (c *compiler) references(s *schema, n *ordered.Node) bool {
	later := func(ref string, place func(*schema, string)) {
		c.open = append(c.open, open{ref, s.in, n, place})
	}
	if ref := n.Get("$ref"); ref.Is(ordered.String) {
		later(ref.Text, func(to *schema, _ string) { s.ref = to })
	}
	if ref := n.Get("$dynamicRef"); ref.Is(ordered.String) && s.in.draft == draft2020 {
		later(ref.Text, func(to *schema, anchor string) { s.more = &reference{to: to, anchor: anchor} })
	}
	if ref := n.Get("$recursiveRef"); ref.Is(ordered.String) && s.in.draft == draft2019 {
		later(ref.Text, func(to *schema, _ string) { s.more = &reference{to: to, recurs: to.in != nil && to.in.recursive} })
	}
	return n.Get("$ref").Is(ordered.String)
}

// follow fills in a reference.
func (c *compiler) follow(o open) error {
	bad := func(err error) error { return fmt.Errorf("$ref %q: %w", clip(o.ref, 200), err) }
	n, in, fragment, err := c.find(o.ref, o.in)
	if err != nil {
		return bad(err)
	}
	if n == nil {
		d, known := metaOf(o.ref)
		if !known {
			return bad(errNotFound)
		}
		o.place(&schema{meta: d}, "")
		return nil
	}
	if c.places[n] == nil {
		if err := c.walk(n, in, &path{}); err != nil {
			return bad(err)
		}
	}
	s, err := c.schema(n)
	if err != nil {
		return bad(err)
	}
	if fragment == "" || n.Get("$dynamicAnchor").Str() != fragment {
		fragment = ""
	}
	o.place(s, fragment)
	return nil
}

func (c *compiler) values(s *schema, n *ordered.Node) {
	s.types = typesOf(n.Get("type"))
	if v := n.Get("enum"); v != nil {
		s.enum = choicesOf(v.Items)
	}
	if v := n.Get("const"); v != nil && s.in.draft > draft4 {
		if s.enum != nil { // both must hold
			s.allOf = append(s.allOf, &schema{in: s.in, enum: s.enum})
		}
		s.enum = choicesOf([]*ordered.Node{v})
	}
	s.multipleOf, s.least, s.most = limit(n.Get("multipleOf")), limit(n.Get("minimum")), limit(n.Get("maximum"))
	s.above, s.below = limit(n.Get("exclusiveMinimum")), limit(n.Get("exclusiveMaximum"))
	if n.Get("exclusiveMinimum").Is(ordered.True) {
		s.least, s.above = nil, s.least
	}
	if n.Get("exclusiveMaximum").Is(ordered.True) {
		s.most, s.below = nil, s.most
	}
}

// typesOf has a bit for each type.
func typesOf(n *ordered.Node) (bits types) {
	for i, name := range typeNames {
		if n.Str() == name {
			bits |= 1 << i
		}
		for _, text := range n.Strings() {
			if text == name {
				bits |= 1 << i
			}
		}
	}
	return bits
}

func choicesOf(values []*ordered.Node) *choices {
	c := &choices{keys: make(map[string]bool, len(values))}
	var words []string
	for i, v := range values {
		c.keys[string(appendKey(nil, v))] = true
		if i < 20 {
			words = append(words, clip(string(v.AppendJava(nil)), 60))
		}
	}
	if len(values) > 20 {
		words = append(words, "...")
	}
	c.text = strings.Join(words, ", ")
	return c
}

func (c *compiler) texts(s *schema, n *ordered.Node) (err error) {
	s.minLength, s.maxLen = count(n.Get("minLength")), count(n.Get("maxLength"))
	if v := n.Get("pattern"); v != nil {
		s.pattern, err = newPattern(v.Text, &c.left)
	}
	if s.in.draft <= draft7 {
		s.format = n.Get("format").Str()
	}
	return err
}

func (c *compiler) combined(s *schema, n *ordered.Node) error {
	all, err := c.list(n.Get("allOf"))
	if err != nil {
		return err
	}
	s.allOf = append(s.allOf, all...)
	if s.anyOf, err = c.list(n.Get("anyOf")); err != nil {
		return err
	}
	if s.oneOf, err = c.list(n.Get("oneOf")); err != nil {
		return err
	}
	places := map[string]**schema{"not": &s.not}
	if s.in.draft >= draft7 && n.Get("if") != nil {
		places["if"], places["then"], places["else"] = &s.when, &s.then, &s.orElse
	}
	return c.inner(n, places)
}

// inner compiles keywords that are one schema.
func (c *compiler) inner(n *ordered.Node, places map[string]**schema) (err error) {
	for key, place := range places {
		if v := n.Get(key); v != nil && err == nil {
			*place, err = c.schema(v)
		}
	}
	return err
}

func (c *compiler) list(n *ordered.Node) ([]*schema, error) {
	if n == nil {
		return nil, nil
	}
	all := make([]*schema, len(n.Items))
	for i, item := range n.Items {
		var err error
		if all[i], err = c.schema(item); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *compiler) array(s *schema, n *ordered.Node) (err error) {
	d, r := s.in.draft, &arrayRules{}
	r.minItems, r.maxItems = count(n.Get("minItems")), count(n.Get("maxItems"))
	r.unique = n.Get("uniqueItems").Is(ordered.True)
	places := map[string]**schema{}
	switch items := n.Get("items"); {
	case d == draft2020:
		r.prefix, err = c.list(n.Get("prefixItems"))
		places["items"] = &r.rest
	case items.Is(ordered.Array):
		r.prefix, err = c.list(items)
		places["additionalItems"] = &r.rest
	default:
		places["items"] = &r.rest
	}
	if err != nil {
		return err
	}
	if d > draft4 {
		places["contains"] = &r.contains
	}
	if d >= draft2019 {
		places["unevaluatedItems"] = &r.unevaluated
		r.minContains, r.maxContains = count(n.Get("minContains")), count(n.Get("maxContains"))
	}
	if err = c.inner(n, places); err == nil && (r.minItems != nil || r.maxItems != nil || r.unique || r.prefix != nil || r.rest != nil || r.contains != nil || r.unevaluated != nil) {
		s.arrays = r
	}
	return err
}

func (c *compiler) object(s *schema, n *ordered.Node) (err error) {
	r := &objectRules{minProps: count(n.Get("minProperties")), maxProps: count(n.Get("maxProperties"))}
	if r.properties, err = c.byName(n.Get("properties")); err != nil {
		return err
	}
	r.required = n.Get("required").Strings()
	places := map[string]**schema{"additionalProperties": &r.rest}
	if s.in.draft > draft4 {
		places["propertyNames"] = &r.names
	}
	if s.in.draft >= draft2019 {
		places["unevaluatedProperties"] = &r.unevaluated
	}
	if err := c.inner(n, places); err != nil {
		return err
	}
	if err := c.patterns(r, n.Get("patternProperties")); err != nil {
		return err
	}
	if err := c.needs(s, r, n); err != nil {
		return err
	}
	for _, key := range []string{"properties", "required", "patternProperties"} {
		if n.Get(key) != nil {
			s.objects = r
		}
	}
	if r.minProps != nil || r.maxProps != nil || r.rest != nil || r.names != nil || r.needs != nil || r.unevaluated != nil {
		s.objects = r
	}
	return nil
}

func (c *compiler) byName(n *ordered.Node) (map[string]*schema, error) {
	if n == nil {
		return nil, nil
	}
	all := make(map[string]*schema, len(n.Members))
	for _, m := range n.Members {
		var err error
		if all[m.Key], err = c.schema(m.Value); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *compiler) patterns(r *objectRules, n *ordered.Node) error {
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		p, err := newPattern(m.Key, &c.left)
		if err != nil {
			return err
		}
		s, err := c.schema(m.Value)
		if err != nil {
			return err
		}
		r.patterns = append(r.patterns, patternRule{p, s})
	}
	return nil
}

// needs compiles dependencies; the newer drafts have them under two names.
func (c *compiler) needs(s *schema, r *objectRules, n *ordered.Node) error {
	keys := []string{"dependencies"}
	if s.in.draft >= draft2019 {
		keys = append(keys, "dependentRequired", "dependentSchemas")
	}
	for _, key := range keys {
		v := n.Get(key)
		if v == nil {
			continue
		}
		for _, m := range v.Members {
			made := need{of: m.Key}
			if m.Value.Kind == ordered.Array {
				made.names = m.Value.Strings()
			} else {
				var err error
				if made.schema, err = c.schema(m.Value); err != nil {
					return err
				}
			}
			r.needs = append(r.needs, made)
		}
	}
	return nil
}
