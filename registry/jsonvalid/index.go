package jsonvalid

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"doze/registry/ordered"
)

// baseURL is where a schema without an id is: references are relative to it.
const baseURL = "mem://schema/"

// resource is a document, or a part of one that has an id: what "#" means to a reference in it.
type resource struct {
	url       string
	root      *ordered.Node
	draft     draft
	anchors   map[string]*ordered.Node
	dynamic   map[string]*schema // the anchors that a dynamic reference finds, once they are compiled
	recursive bool
	compiled  *schema // of root, where it is recursive
}

// index knows the resources by their URLs, and to which one each schema belongs.
type index struct {
	resources map[string]*resource
	documents map[string]*resource // by the names that references give them
	places    map[*ordered.Node]*resource
	byKey     map[*ordered.Node]map[string]*ordered.Node // members of large objects
	dynamic   []dynamicAnchor
}

type dynamicAnchor struct {
	in   *resource
	name string
	node *ordered.Node
}

func newIndex() index {
	return index{resources: map[string]*resource{}, documents: map[string]*resource{}, places: map[*ordered.Node]*resource{}, byKey: map[*ordered.Node]map[string]*ordered.Node{}}
}

func errAt(at *path, format string, args ...any) error {
	return fmt.Errorf("at '%s': %s", at, fmt.Sprintf(format, args...))
}

// document makes a text known under a name. It is of the given draft unless it names one.
func (x *index) document(name, text string, usual draft) (*resource, error) {
	n, err := ordered.Parse(text)
	if err != nil {
		return nil, err
	}
	at := name
	if !strings.Contains(at, "://") {
		at = baseURL + strings.TrimPrefix(at, "./")
	}
	d, known := draftOf(n.Get("$schema").Str())
	if !known {
		d = usual
	}
	in := &resource{url: at, root: n, draft: d, anchors: map[string]*ordered.Node{}}
	x.resources[at], x.documents[name] = in, in
	return in, x.walk(n, in, &path{})
}

// walk looks at a schema and at all within it.
func (x *index) walk(n *ordered.Node, in *resource, at *path) error {
	if n.IsBool() {
		x.places[n] = in
		return nil
	}
	if n.Kind != ordered.Object {
		return errAt(at, "%s is no schema", kindOf(n))
	}
	in, err := x.enter(n, in, at)
	if err != nil {
		return err
	}
	x.places[n] = in
	for _, m := range n.Members {
		if in.draft <= draft7 && m.Key != "$ref" && m.Key != "definitions" && n.Get("$ref").Is(ordered.String) {
			continue // hidden by the reference
		}
		if err := x.keyword(m, in, at.member(m.Key)); err != nil {
			return err
		}
	}
	return nil
}

// get is a member of an object, quickly also of one with thousands.
func (x *index) get(n *ordered.Node, key string) *ordered.Node {
	if len(n.Members) < 32 {
		return n.Get(key)
	}
	return memberOf(x.byKey, n, key)
}

// enter is the resource that a schema is in: a new one when it has an id. Its anchors are written down.
func (x *index) enter(n *ordered.Node, in *resource, at *path) (*resource, error) {
	d := in.draft
	if other, known := draftOf(n.Get("$schema").Str()); known && other.id(n) != "" {
		d = other
	}
	if id := d.id(n); id != "" {
		absolute, err := resolve(in.url, id)
		if err != nil {
			return nil, errAt(at, "%v", err)
		}
		absolute, fragment, _ := strings.Cut(absolute, "#")
		if absolute != in.url && !strings.HasPrefix(id, "#") {
			in = x.resource(absolute, n, in, d)
		}
		if fragment != "" && d <= draft7 {
			in.anchors[fragment] = n
		}
	}
	if d >= draft2019 {
		x.anchors(n, in)
	}
	if n == in.root {
		if in.recursive = d == draft2019 && n.Get("$recursiveAnchor").Is(ordered.True); in.recursive {
			x.dynamic = append(x.dynamic, dynamicAnchor{in, "", n})
		}
	}
	return in, nil
}

// resource is the one at a node: that of the document, which is known under its id too now, or a new one.
func (x *index) resource(url string, n *ordered.Node, in *resource, d draft) *resource {
	if n == in.root {
		in.url = url
	} else {
		in = &resource{url: url, root: n, draft: d, anchors: map[string]*ordered.Node{}}
	}
	if x.resources[url] == nil {
		x.resources[url] = in
	}
	return in
}

func (x *index) anchors(n *ordered.Node, in *resource) {
	if name := n.Get("$anchor").Str(); name != "" {
		in.anchors[name] = n
	}
	if name := n.Get("$dynamicAnchor").Str(); name != "" && in.draft == draft2020 {
		in.anchors[name] = n
		x.dynamic = append(x.dynamic, dynamicAnchor{in, name, n})
	}
}

// keyword refuses a value of the wrong form, and walks the schemas in it.
func (x *index) keyword(m ordered.Member, in *resource, at *path) error {
	switch v := m.Value; shapeOf(m.Key, in.draft) {
	case aSchema:
		return x.walk(v, in, at)
	case schemaOrList:
		if v.Kind != ordered.Array {
			return x.walk(v, in, at)
		}
		return x.list(v, in, at)
	case schemaList:
		if v.Kind != ordered.Array || len(v.Items) == 0 {
			return errAt(at, "it must be a list of schemas that is not empty")
		}
		return x.list(v, in, at)
	case schemaMap:
		return x.members(v, in, at, m.Key == "patternProperties")
	case dependencies:
		return x.dependencies(v, in, at)
	default:
		return checkShape(v, shapeOf(m.Key, in.draft), at)
	}
}

func (x *index) list(v *ordered.Node, in *resource, at *path) error {
	for i, item := range v.Items {
		if err := x.walk(item, in, at.item(i)); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) members(v *ordered.Node, in *resource, at *path, patterns bool) error {
	if v.Kind != ordered.Object {
		return errAt(at, "it must be an object of schemas")
	}
	for _, m := range v.Members {
		if patterns {
			if err := checkPattern(m.Key); err != nil {
				return errAt(at, "%v", err)
			}
		}
		if err := x.walk(m.Value, in, at.member(m.Key)); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) dependencies(v *ordered.Node, in *resource, at *path) error {
	if v.Kind != ordered.Object {
		return errAt(at, "it must be an object of schemas and lists of names")
	}
	for _, m := range v.Members {
		inner := at.member(m.Key)
		if m.Value.Kind == ordered.Array {
			if err := checkShape(m.Value, names, inner); err != nil {
				return err
			}
		} else if err := x.walk(m.Value, in, inner); err != nil {
			return err
		}
	}
	return nil
}

// resolve makes a reference absolute.
func resolve(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%q is no URL", clip(base, 200))
	}
	r, err := url.Parse(ref)
	if err != nil {
		return "", fmt.Errorf("%q is no URL", clip(ref, 200))
	}
	absolute := b.ResolveReference(r)
	fragment := absolute.Fragment
	absolute.Fragment, absolute.RawFragment = "", ""
	return absolute.String() + "#" + fragment, nil
}

// typeNames are the types of JSON Schema.
var typeNames = [...]string{"null", "boolean", "number", "string", "array", "object", "integer"}

// checkShape refuses values of keywords that are no schemas and have the wrong form.
func checkShape(v *ordered.Node, s shape, at *path) error {
	var ok bool
	var want string
	switch s {
	case anything:
		return nil
	case aString:
		ok, want = v.Kind == ordered.String, "a string"
	case aBool:
		ok, want = v.IsBool(), "true or false"
	case aNumber:
		ok, want = v.Kind == ordered.Number, "a number"
	case aboveZero:
		ok, want = v.Kind == ordered.Number && newDecimal(v.Text).sign() > 0, "a number above 0"
	case aCount:
		ok, want = isCount(v), "a whole number, 0 or above"
	case names:
		ok, want = areNames(v), "a list of strings, none of them twice"
	case namesMap:
		ok, want = v.Kind == ordered.Object && !slices.ContainsFunc(v.Members, func(m ordered.Member) bool { return !areNames(m.Value) }), "an object of lists of strings"
	case aType:
		ok, want = isType(v), "one of "+strings.Join(typeNames[:], ", ")+", or a list of some"
	case anArray:
		ok, want = v.Kind == ordered.Array, "an array"
	case aPattern:
		if err := checkPattern(v.Str()); err != nil {
			return errAt(at, "%v", err)
		}
		ok, want = v.Kind == ordered.String, "a string"
	}
	if !ok {
		return errAt(at, "it must be %s", want)
	}
	return nil
}

// checkPattern is a look at one pattern by itself.
func checkPattern(text string) error {
	left := maxInstructions
	_, err := parsePattern(text, &left)
	return err
}

func isCount(v *ordered.Node) bool {
	if v.Kind != ordered.Number {
		return false
	}
	d := newDecimal(v.Text)
	return d.sign() >= 0 && d.integer()
}

func areNames(v *ordered.Node) bool {
	if v.Kind != ordered.Array {
		return false
	}
	known := make(map[string]bool, len(v.Items))
	for _, item := range v.Items {
		if item.Kind != ordered.String || known[item.Text] {
			return false
		}
		known[item.Text] = true
	}
	return true
}

func isType(v *ordered.Node) bool {
	if v.Kind != ordered.Array {
		return slices.Contains(typeNames[:], v.Str())
	}
	return areNames(v) && len(v.Items) > 0 && !slices.ContainsFunc(v.Items, func(t *ordered.Node) bool { return !slices.Contains(typeNames[:], t.Text) })
}

// kindOf is the type of a value in words.
func kindOf(v *ordered.Node) string {
	switch v.Kind {
	case ordered.Null:
		return "null"
	case ordered.Number:
		return "number"
	case ordered.String:
		return "string"
	case ordered.Array:
		return "array"
	case ordered.Object:
		return "object"
	}
	return "boolean"
}
