//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package protobuf

import (
	"fmt"
	"slices"
	"strings"
)

// typeInfo is a message or enum type by its full name.
type typeInfo struct {
	pkg     string
	from    *Import // nil: of a file that the schema does not refer to itself
	message *Message
	enum    *Enum
}

// own is the place of types of the schema itself.
var own = &Import{Version: -1}

// mapOf is the map type that a synthetic message of a map stands for.
func (t *typeInfo) mapOf() (string, bool) {
	if t == nil || t.message == nil || !t.message.mapEntry() {
		return "", false
	}
	var key, value string
	for _, f := range t.message.Fields {
		switch f.Name {
		case "key":
			key = f.Type
		case "value":
			value = f.Type
		}
	}
	return mapType(key, value), true
}

func (m *Message) mapEntry() bool {
	return slices.ContainsFunc(m.Options, func(o Option) bool { return o.Name == "map_entry" && !o.Extension && o.Text == "true" })
}

// names are the types and extensions of a schema and of what it refers to.
type names struct {
	types      map[string]*typeInfo
	extensions map[string]*Field
	pkg        string // of the schema
}

func newNames(p *Parsed) *names {
	n := &names{types: map[string]*typeInfo{}, extensions: map[string]*Field{}, pkg: p.File.Package}
	for i := range p.imports {
		from := &p.imports[i].Import
		if from.Subject == "" {
			from = nil
		}
		n.addFile(p.imports[i].file, from)
	}
	n.addFile(p.File, own)
	return n
}

func (n *names) addFile(f *File, from *Import) {
	n.addExtends(f.Package, f.Extends)
	n.add(f.Package, f.Package, f.Messages, f.Enums, from)
}

func dotted(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

func (n *names) addExtends(prefix string, extends []Extend) {
	for _, e := range extends {
		for _, f := range e.Fields {
			n.extensions[dotted(prefix, f.Name)] = f
		}
	}
}

func (n *names) add(prefix, pkg string, messages []*Message, enums []*Enum, from *Import) {
	for _, m := range messages {
		full := dotted(prefix, m.Name)
		n.types[full] = &typeInfo{pkg: pkg, from: from, message: m}
		n.addExtends(full, m.Extends)
		n.add(full, pkg, m.Messages, m.Enums, from)
	}
	for _, e := range enums {
		n.types[dotted(prefix, e.Name)] = &typeInfo{pkg: pkg, from: from, enum: e}
	}
}

func (n *names) typ(full string) *typeInfo {
	if t := n.types[full]; t != nil {
		return t
	}
	if strings.HasPrefix(full, "google.") || strings.HasPrefix(full, "confluent.") {
		return knownNames().types[full]
	}
	return nil
}

func (n *names) extension(full string) *Field {
	if f := n.extensions[full]; f != nil {
		return f
	}
	if strings.HasPrefix(full, "confluent.") {
		return knownNames().extensions[full]
	}
	return nil
}

// lookUp is the full name that a name means inside of a scope: in the innermost first.
func lookUp(name, pkg string, scope []string, is func(full string) bool) (string, bool) {
	if full, absolute := strings.CutPrefix(name, "."); absolute {
		return full, is(full)
	}
	inner := strings.Join(scope, ".")
	if pkg != "" {
		inner = strings.TrimSuffix(pkg+"."+inner, ".")
	}
	for inner != "" {
		if full := inner + "." + name; is(full) {
			return full, true
		}
		inner = inner[:max(0, strings.LastIndexByte(inner, '.'))]
	}
	return name, is(name)
}

// resolver resolves names while a file is printed in its normalised form.
type resolver struct {
	names *names
	scope []string
	err   error
}

// enter is the scope of a type; what it returns leaves it.
func (r *resolver) enter(name string) func() {
	r.scope = append(r.scope, name)
	return func() { r.scope = r.scope[:len(r.scope)-1] }
}

func (r *resolver) typ(name string) (string, *typeInfo) {
	full, found := lookUp(name, r.names.pkg, r.scope, func(full string) bool { return r.names.typ(full) != nil })
	if !found {
		return "", nil
	}
	return full, r.names.typ(full)
}

func (r *resolver) must(name string) (string, *typeInfo) {
	full, t := r.typ(name)
	if t == nil && r.err == nil {
		r.err = fmt.Errorf("Could not resolve type: %s", name)
	}
	return "." + full, t
}

func (r *resolver) isMapEntry(name string) bool {
	_, t := r.typ(name)
	_, is := t.mapOf()
	return is
}

// fieldType is the label and type of a field with names resolved; synthetic messages of maps are maps again.
func (r *resolver) fieldType(f *Field) (label, typ string) {
	label, typ = f.Label, f.Type
	_, _, isMap := splitMap(typ)
	if !isMap && !isScalar(typ) {
		full, t := r.must(typ)
		if typ = full; t != nil {
			if m, is := t.mapOf(); is {
				typ, isMap = m, true
			}
		}
	}
	if isMap {
		key, value, _ := splitMap(typ)
		if full, t := r.typ(value); t != nil {
			value = "." + full
		}
		return "", mapType(key, value)
	}
	return label, typ
}

func (p *printer) resolved(name string) string {
	if p.normal == nil {
		return name
	}
	full, _ := p.normal.must(name)
	return full
}
