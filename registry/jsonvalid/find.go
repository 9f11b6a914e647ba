package jsonvalid

import (
	"errors"
	"strconv"
	"strings"

	"doze/registry/ordered"
)

var errNotFound = errors.New("it leads to nothing in the schema or its references")

// find is the node that a reference leads to, the resource around it, and the reference's fragment. There is no node for a URL that
// nothing here has.
func (x *index) find(ref string, from *resource) (*ordered.Node, *resource, string, error) {
	absolute, err := resolve(from.url, ref)
	if err != nil {
		return nil, nil, "", err
	}
	at, fragment, _ := strings.Cut(absolute, "#")
	in := x.resources[at]
	if in == nil {
		name, _, _ := strings.Cut(ref, "#")
		if in = x.documents[name]; in == nil || name == "" {
			return nil, nil, "", nil
		}
	}
	var n *ordered.Node
	switch {
	case fragment == "":
		n = in.root
	case strings.HasPrefix(fragment, "/"):
		n, in = x.pointer(fragment, in)
	default:
		n = in.anchors[fragment]
	}
	if n == nil {
		return nil, nil, "", errNotFound
	}
	return n, in, fragment, nil
}

// pointer follows a JSON pointer; on its way it may come into other resources.
func (x *index) pointer(pointer string, in *resource) (*ordered.Node, *resource) {
	n := in.root
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		next := x.get(n, step)
		if n.Kind == ordered.Array {
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		if next == nil {
			return nil, nil
		}
		n = next
		if inner := x.places[n]; inner != nil {
			in = inner
		}
	}
	return n, in
}
