package avro

import (
	"slices"

	"doze/registry/ordered"
	"doze/registry/tagged"
)

// Entities are the records, each once, and their fields. A path is the record's full name, and the field's.
func (p *Parsed) Entities() []tagged.Entity {
	w := tagWalk{seen: map[*Schema]bool{}, foreign: map[*Schema]bool{}}
	for _, ref := range p.references {
		w.walk(ref)
	}
	w.foreign, w.seen, w.found = w.seen, map[*Schema]bool{}, nil
	w.walk(p.Root)
	return w.found
}

type tagWalk struct {
	seen, foreign map[*Schema]bool
	found         []tagged.Entity
}

func (w *tagWalk) walk(s *Schema) {
	switch {
	case s == nil || w.seen[s]:
		return
	case s.Type == Union:
		for _, b := range s.Branches {
			w.walk(b)
		}
	case s.Type == Array || s.Type == Map:
		w.walk(s.Items)
	case s.Type == Record:
		w.seen[s] = true
		w.record(s)
	}
}

func (w *tagWalk) record(s *Schema) {
	name := s.FullName()
	w.add(s, tagged.Entity{Path: name, Short: s.Name}, &s.Props)
	for _, f := range s.Fields {
		w.add(s, tagged.Entity{Path: name + "." + f.Name, Short: s.Name + "." + f.Name, Field: true}, &f.Props)
		w.walk(f.Schema)
	}
}

func (w *tagWalk) add(of *Schema, e tagged.Entity, props *[]ordered.Member) {
	e.Tags = (&ordered.Node{Members: *props}).Get(tagged.Key).Strings()
	if !w.foreign[of] {
		e.Set = func(tags []string) { *props = withTags(*props, tags) }
	}
	w.found = append(w.found, e)
}

func withTags(props []ordered.Member, tags []string) []ordered.Member {
	n := &ordered.Node{Kind: ordered.Object, Members: slices.Clone(props)}
	n.SetStrings(tagged.Key, tags)
	return n.Members
}
