package jsonschema

import (
	"net/url"
	"strconv"
	"strings"

	"doze/registry/ordered"
)

// scope is a resource: what "#" means to a reference, and what other references are relative to.
type scope struct {
	root    *ordered.Node
	base    string                   // its id, or the name it was given
	anchors map[string]*ordered.Node // made when the first is asked for
	outer   *scope
}

// scopeOf is the scope inside a node: a new one when it is a document or has an id that is more than a fragment.
func (b *builder) scopeOf(n *ordered.Node, outer *scope, name string) *scope {
	id := b.get(n, b.dialect.id).Str()
	if outer != nil && (id == "" || strings.HasPrefix(id, "#") || n == outer.root) {
		return outer
	}
	if known := b.scopes[n]; known != nil {
		return known
	}
	base := name
	if outer != nil {
		base = outer.base
	}
	if id != "" {
		base = relative(base, id)
	}
	s := &scope{root: n, base: base, outer: outer}
	b.scopes[n] = s
	return s
}

// relative is a reference made absolute by a base.
func relative(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	r, err := url.Parse(ref)
	if err != nil {
		return ref
	}
	return b.ResolveReference(r).String()
}

// resolve fills in what references refer to; that may bring new references.
func (b *builder) resolve() error {
	for len(b.open) > 0 {
		open := b.open[0]
		b.open = b.open[1:]
		target, in, found := b.find(open.schema.reference, open.scope)
		if !found {
			return errAt(open.at, "cannot resolve $ref %q: it must be in the schema or one of its references", open.schema.reference)
		}
		s, err := b.schema(target, in, open.schema.reference)
		if err != nil {
			return err
		}
		open.schema.target = s
	}
	return nil
}

func (b *builder) find(ref string, in *scope) (*ordered.Node, *scope, bool) {
	document, fragment, _ := strings.Cut(ref, "#")
	if document != "" {
		if in = b.document(document, in); in == nil {
			return nil, nil, false
		}
	}
	if n, at := b.fragment(fragment, in); n != nil {
		return n, at, true
	}
	if in.outer == nil {
		return nil, nil, false
	}
	outermost := in
	for outermost.outer != nil {
		outermost = outermost.outer
	}
	n, at := b.fragment(fragment, outermost)
	return n, at, n != nil
}

// document is the scope that a reference names: a document by its name or what is relative to the base, or a resource by its id.
func (b *builder) document(name string, in *scope) *scope {
	if d := b.documents[name]; d != nil {
		return d
	}
	absolute := relative(in.base, name)
	for _, candidate := range []string{absolute, strings.TrimPrefix(name, "./")} {
		if d := b.documents[candidate]; d != nil {
			return d
		}
	}
	if found := b.withID(absolute); found != nil {
		return found
	}
	for _, d := range b.order {
		if relative(in.base, d.base) == absolute {
			return d
		}
	}
	if strings.Contains(absolute, "json-schema.org/draft") {
		return metaSchema // a schema of schemas: described as one that permits everything
	}
	return nil
}

var metaSchema = &scope{root: &ordered.Node{Kind: ordered.Object}}

// withID is the resource with the id, in the text or a document; the first one counts.
func (b *builder) withID(id string) *scope {
	if b.ids == nil {
		b.ids = map[string]*scope{}
		for _, d := range append([]*scope{b.root}, b.order...) {
			b.collectIDs(d.root, d)
		}
	}
	return b.ids[id]
}

func (b *builder) collectIDs(n *ordered.Node, in *scope) {
	if n.Kind == ordered.Object {
		in = b.scopeOf(n, in, "")
		if in.root == n && b.ids[in.base] == nil {
			b.ids[in.base] = in
		}
	}
	for _, m := range n.Members {
		b.collectIDs(m.Value, in)
	}
	for _, item := range n.Items {
		b.collectIDs(item, in)
	}
}

// get is a member of an object, quickly also of one with thousands.
func (b *builder) get(n *ordered.Node, key string) *ordered.Node {
	if len(n.Members) < 64 {
		return n.Get(key)
	}
	index := b.members[n]
	if index == nil {
		index = make(map[string]*ordered.Node, len(n.Members))
		for _, m := range n.Members {
			index[m.Key] = m.Value
		}
		b.members[n] = index
	}
	return index[key]
}

// fragment is the node that a fragment names in the scope: the root, a pointer, or an anchor.
func (b *builder) fragment(fragment string, in *scope) (*ordered.Node, *scope) {
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	switch {
	case fragment == "":
		return in.root, in
	case strings.HasPrefix(fragment, "/"):
		return b.pointer(fragment, in)
	}
	if in.anchors == nil {
		in.anchors = map[string]*ordered.Node{}
		b.collectAnchors(in.root, in.anchors)
	}
	return in.anchors[fragment], in
}

func (b *builder) collectAnchors(n *ordered.Node, into map[string]*ordered.Node) {
	for _, key := range []string{"$anchor", "$dynamicAnchor", b.dialect.id} {
		if name := strings.TrimPrefix(n.Get(key).Str(), "#"); name != "" && into[name] == nil {
			into[name] = n
		}
	}
	for _, m := range n.Members {
		b.collectAnchors(m.Value, into)
	}
	for _, item := range n.Items {
		b.collectAnchors(item, into)
	}
}

func (b *builder) pointer(pointer string, in *scope) (*ordered.Node, *scope) {
	n := in.root
	for i, part := range strings.Split(pointer[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		next := b.get(n, part)
		if next == nil && i == 0 && part == "$defs" {
			next = b.get(n, "definitions")
		} else if next == nil && i == 1 && strings.HasPrefix(pointer, "/$defs/") {
			if old := in.root.Get("definitions"); old != nil {
				next = b.get(old, part)
			}
		}
		if index, err := strconv.Atoi(part); next == nil && err == nil && n.Kind == ordered.Array && index >= 0 && index < len(n.Items) {
			next = n.Items[index]
		}
		if next == nil {
			return nil, nil
		}
		n = next
		if n.Kind == ordered.Object {
			in = b.scopeOf(n, in, "")
		}
	}
	return n, in
}
