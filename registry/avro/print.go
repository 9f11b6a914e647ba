package avro

import (
	"strconv"

	"doze/registry/ordered"
)

// Canonical is the text that a registry stores: Java's Schema.toString, with the schemas that it refers to left as names.
func (p *Parsed) Canonical() string {
	w := writer{known: map[string]bool{}}
	for _, ref := range p.references {
		w.known[ref.FullName()] = true
	}
	w.schema(p.Root, "")
	return string(w.b)
}

// Resolved is the text with what it refers to put in.
func (p *Parsed) Resolved() string {
	w := writer{known: map[string]bool{}}
	w.schema(p.Root, "")
	return string(w.b)
}

// printable says whether the printed text can be read again.
func printable(s *Schema) bool {
	w := writer{known: map[string]bool{}, bounded: true}
	w.schema(s, "")
	return !w.deep
}

type writer struct {
	b     []byte
	known map[string]bool // full names that were written
	depth int
	// bounded stops at a text that is nested deeper than a reader takes, and says so in deep.
	bounded, deep bool
}

func (w *writer) add(s string)    { w.b = append(w.b, s...) }
func (w *writer) quote(s string)  { w.b = ordered.AppendQuoted(w.b, s) }
func (w *writer) key(name string) { w.add(`,"` + name + `":`) }

func (w *writer) schema(s *Schema, namespace string) {
	levels := 1
	if s.Type == Record {
		levels = 3 // the record, its fields, the field
	}
	w.depth += levels
	defer func() { w.depth -= levels }()
	if w.deep = w.deep || w.bounded && w.depth > ordered.MaxDepth; w.deep {
		return
	}
	switch {
	case s.Type.Named():
		w.named(s, namespace)
	case s.Type == Union:
		w.add("[")
		for i, b := range s.Branches {
			if i > 0 {
				w.add(",")
			}
			w.schema(b, namespace)
		}
		w.add("]")
	case s.Type == Array || s.Type == Map:
		w.add(`{"type":"` + s.Type.String() + `"`)
		w.key(map[Type]string{Array: "items", Map: "values"}[s.Type])
		w.schema(s.Items, namespace)
		w.props(s.Props)
		w.add("}")
	case len(s.Props) == 0:
		w.quote(s.Type.String())
	default:
		w.add(`{"type":"` + s.Type.String() + `"`)
		w.props(s.Props)
		w.add("}")
	}
}

func (w *writer) props(props []ordered.Member) {
	for _, m := range props {
		w.add(",")
		w.quote(m.Key)
		w.add(":")
		w.b = m.Value.AppendJava(w.b)
	}
}

func (w *writer) named(s *Schema, namespace string) {
	if full := s.FullName(); w.known[full] {
		w.quote(shorten(full, namespace))
		return
	} else if s.Name != "" {
		w.known[full] = true
	}
	kind := s.Type.String()
	if s.isError {
		kind = "error"
	}
	w.add(`{"type":"` + kind + `","name":`)
	w.quote(s.Name)
	if s.Namespace != namespace {
		w.key("namespace")
		w.quote(s.Namespace)
	}
	w.doc(s.Doc)
	switch s.Type {
	case Record:
		w.fields(s)
	case Enum:
		w.key("symbols")
		w.list(s.Symbols)
		if s.Default != nil {
			w.key("default")
			w.quote(*s.Default)
		}
	case Fixed:
		w.key("size")
		w.add(strconv.Itoa(int(s.Size)))
	}
	w.props(s.Props)
	if len(s.Aliases) > 0 {
		short := make([]string, len(s.Aliases))
		for i, alias := range s.Aliases {
			short[i] = shorten(alias, s.Namespace)
		}
		w.key("aliases")
		w.list(short)
	}
	w.add("}")
}

func (w *writer) doc(doc *string) {
	if doc != nil {
		w.key("doc")
		w.quote(*doc)
	}
}

func (w *writer) list(names []string) {
	w.add("[")
	for i, name := range names {
		if i > 0 {
			w.add(",")
		}
		w.quote(name)
	}
	w.add("]")
}

// shorten leaves a namespace away that is the one about it, unless a primitive has what is left as its name.
func shorten(full, namespace string) string {
	space, simple := split(full, "")
	if _, is := primitive(simple); space != namespace || is {
		return full
	}
	return simple
}

func (w *writer) fields(s *Schema) {
	w.key("fields")
	w.add("[")
	for i, f := range s.Fields {
		if i > 0 {
			w.add(",")
		}
		w.add(`{"name":`)
		w.quote(f.Name)
		w.key("type")
		w.schema(f.Schema, s.Namespace)
		w.doc(f.Doc)
		if f.Default != nil {
			w.key("default")
			w.b = f.Default.AppendJava(w.b)
		}
		if f.Order != "ascending" {
			w.key("order")
			w.quote(f.Order)
		}
		if len(f.Aliases) > 0 {
			w.key("aliases")
			w.list(f.Aliases)
		}
		w.props(f.Props)
		w.add("}")
	}
	w.add("]")
}
