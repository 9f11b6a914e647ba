package jsonschema

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"doze/registry/ordered"
	"doze/registry/tagged"
)

// maxTagSteps bounds the walk over a schema for its tags.
const maxTagSteps = 200_000

var errTooMany = errors.New("the schema has too many parts to look for tags")

// Entities are the object schemas and their properties. A path says how a schema is reached: object.NAME for a property, array for
// items, anyof.0 for a part of a combination in Confluent's order, object.definitions.NAME for a definition. What a $ref leads to
// is not reached through it.
func (p *Parsed) Entities() ([]tagged.Entity, error) {
	w := tagWalk{p: p, seen: map[string]bool{}, steps: maxTagSteps}
	w.walk(p.Root, "", false)
	if w.steps < 0 {
		return nil, errTooMany
	}
	return w.found, nil
}

type tagWalk struct {
	p     *Parsed
	seen  map[string]bool
	found []tagged.Entity
	steps int
}

func (w *tagWalk) walk(s *Schema, scope string, inField bool) {
	if w.steps--; s == nil || w.steps < 0 || len(scope) > 1<<16 {
		return
	}
	switch s.Class {
	case Combined:
		parts := slices.Clone(s.parts)
		slices.SortStableFunc(parts, w.compare)
		for i, part := range parts {
			w.walk(part, scope+strings.ToLower(s.criterion)+"."+strconv.Itoa(i)+".", false)
		}
	case Array:
		w.walk(s.items, scope+"array.", false)
	case Object:
		w.object(s, scope+"object", inField)
	case Conditional:
		for i, name := range []string{"if", "then", "else"} {
			w.walk(s.condition[i], scope+"conditional."+name+".", false)
		}
	case Not:
		w.walk(s.not, scope+"not.", false)
	}
}

func (w *tagWalk) object(s *Schema, path string, inField bool) {
	if w.seen[path] {
		return
	}
	w.seen[path] = true
	if !inField {
		w.add(s.node, path, false)
	}
	for _, prop := range s.properties {
		w.add(prop.schema.node, path+"."+prop.name, true)
		w.walk(prop.schema, path+"."+prop.name+".", true)
	}
	for _, key := range []string{"definitions", "$defs"} {
		defs := s.node.Get(key)
		if !defs.Is(ordered.Object) {
			continue
		}
		for _, m := range defs.Members {
			// What cannot be read has no tags: it is looked at only when something refers to it.
			if d, err := w.p.builder.schema(m.Value, w.p.builder.root, ""); err == nil {
				w.walk(d, path+"."+key+"."+m.Key+".", false)
			}
		}
	}
}

func (w *tagWalk) add(n *ordered.Node, path string, field bool) {
	if !n.Is(ordered.Object) {
		return
	}
	w.found = append(w.found, tagged.Entity{
		Path: path, Field: field, Tags: n.Get(tagged.Key).Strings(), Set: func(tags []string) { n.SetStrings(tagged.Key, tags) },
	})
}

// compare is the order in which parts of a combination are counted: by class, by what is said about them, by what they hold.
func (w *tagWalk) compare(a, b *Schema) int {
	if w.steps--; w.steps < 0 || a == b {
		return 0
	}
	if a == nil || b == nil {
		return cmp.Compare(presence(a), presence(b))
	}
	if c := cmp.Or(strings.Compare(classNames[a.Class], classNames[b.Class]), compareTexts(a.Title, b.Title), compareTexts(a.About, b.About), compareNodes(a.Default, b.Default)); c != 0 {
		return c
	}
	switch a.Class {
	case Const, Enum:
		return compareSets(nodeTexts(a.values), nodeTexts(b.values))
	case Combined:
		return cmp.Or(strings.Compare(strings.ToLower(a.criterion), strings.ToLower(b.criterion)), w.compareParts(a.parts, b.parts))
	case Not:
		return w.compare(a.not, b.not)
	case Conditional:
		return cmp.Or(w.compare(a.condition[0], b.condition[0]), w.compare(a.condition[1], b.condition[1]), w.compare(a.condition[2], b.condition[2]))
	case Object:
		return cmp.Or(compareSets(propertyNames(a.properties), propertyNames(b.properties)), compareSets(slices.Collect(maps.Keys(a.requires)), slices.Collect(maps.Keys(b.requires))))
	case Array:
		return w.compare(a.items, b.items)
	}
	return 0
}

func presence(s *Schema) int {
	if s == nil {
		return 0
	}
	return 1
}

func (w *tagWalk) compareParts(a, b []*Schema) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortStableFunc(a, w.compare)
	slices.SortStableFunc(b, w.compare)
	return slices.CompareFunc(a, b, w.compare)
}

// compareTexts has what is not there first.
func compareTexts(a, b *string) int {
	if a == nil || b == nil {
		return cmp.Compare(btoi(a != nil), btoi(b != nil))
	}
	return strings.Compare(*a, *b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareNodes(a, b *ordered.Node) int {
	if a == nil || b == nil {
		return cmp.Compare(btoi(a != nil), btoi(b != nil))
	}
	return strings.Compare(nodeText(a), nodeText(b))
}

func nodeText(n *ordered.Node) string {
	if n.Kind == ordered.String {
		return n.Text
	}
	return string(n.Append(nil))
}

func nodeTexts(nodes []*ordered.Node) (texts []string) {
	for _, n := range nodes {
		texts = append(texts, nodeText(n))
	}
	return texts
}

func propertyNames(properties []property) (all []string) {
	for _, p := range properties {
		all = append(all, p.name)
	}
	return all
}

func compareSets(a, b []string) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	slices.Sort(a)
	slices.Sort(b)
	return slices.Compare(a, b)
}
