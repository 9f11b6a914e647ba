package avro

import (
	"slices"
	"strconv"
	"strings"

	"doze/registry/ordered"
)

// Normalize brings the schema into the form that schemas of one meaning share: properties and aliases sorted, empty
// documentation of named types left away, defaults as their types write them. It changes p.
func (p *Parsed) Normalize() {
	skip := map[*Schema]bool{}
	for _, ref := range p.references {
		skip[ref] = true
	}
	_ = walk(p.Root, func(s *Schema) error {
		if !skip[s] {
			s.normalize()
		}
		return nil
	})
}

func (s *Schema) normalize() {
	if s.Doc != nil && *s.Doc == "" {
		s.Doc = nil
	}
	slices.Sort(s.Aliases)
	s.Props = sortedProps(s.Props, s.logicalKeys())
	for _, f := range s.Fields {
		slices.Sort(f.Aliases)
		f.Props = sortedProps(f.Props, nil)
		if f.Default != nil {
			f.Default = asWritten(f.Schema, f.Default).Sorted()
		}
	}
}

// sortedProps has the keys that come first in their order, then the others in theirs.
func sortedProps(props []ordered.Member, first []string) []ordered.Member {
	sorted := make([]ordered.Member, len(props))
	for i, m := range props {
		sorted[i] = ordered.Member{Key: m.Key, Value: m.Value.Sorted()}
	}
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i - len(first)
		}
		return 0
	}
	ordered.SortMembers(sorted)
	slices.SortStableFunc(sorted, func(a, b ordered.Member) int { return rank(a.Key) - rank(b.Key) })
	return sorted
}

// logicalKeys are the properties that a logical type which fits the schema puts first.
func (s *Schema) logicalKeys() []string {
	name := ""
	for _, m := range s.Props {
		if m.Key == "logicalType" {
			name = m.Value.Str()
		}
	}
	switch name {
	case "date", "time-millis":
		return when(s.Type == Int, "logicalType")
	case "time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos",
		"local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos":
		return when(s.Type == Long, "logicalType")
	case "uuid":
		return when(s.Type == String || s.Type == Fixed && s.Size == 16, "logicalType")
	case "duration":
		return when(s.Type == Fixed && s.Size == 12, "logicalType")
	case "big-decimal":
		return when(s.Type == Bytes, "logicalType")
	case "decimal":
		return when(s.decimal(), "logicalType", "precision", "scale")
	}
	return nil
}

func when(is bool, keys ...string) []string {
	if is {
		return keys
	}
	return nil
}

func (s *Schema) decimal() bool {
	precision, scale := int64(0), int64(0)
	for _, m := range s.Props {
		switch m.Key {
		case "precision":
			precision, _ = strconv.ParseInt(m.Value.Text, 10, 32)
		case "scale":
			scale, _ = strconv.ParseInt(m.Value.Text, 10, 32)
		}
	}
	return (s.Type == Bytes || s.Type == Fixed) && precision > 0 && scale >= 0 && scale <= precision
}

// asWritten is a default as its type writes it: an integer of a double has a point.
func asWritten(s *Schema, v *ordered.Node) *ordered.Node {
	switch {
	case v.Kind == ordered.Number && (s.Type == Double || s.Type == Float) && !strings.ContainsAny(v.Text, ".eE"):
		f, _ := strconv.ParseFloat(v.Text, 64)
		return &ordered.Node{Kind: ordered.Number, Text: ordered.JavaDouble(f)}
	case v.Kind == ordered.Array && s.Type == Array:
		n := &ordered.Node{Kind: ordered.Array}
		for _, item := range v.Items {
			n.Items = append(n.Items, asWritten(s.Items, item))
		}
		return n
	case v.Kind == ordered.Object && (s.Type == Map || s.Type == Record):
		n := &ordered.Node{Kind: ordered.Object}
		for _, m := range v.Members {
			of := s.Items
			if s.Type == Record {
				if f := s.Field(m.Key); f != nil {
					of = f.Schema
				} else {
					of = &Schema{Type: Null}
				}
			}
			n.Members = append(n.Members, ordered.Member{Key: m.Key, Value: asWritten(of, m.Value)})
		}
		return n
	case s.Type == Union:
		left := ordered.MaxNodes
		for _, b := range s.Branches {
			if fits(b, v, &left) {
				return asWritten(b, v)
			}
		}
	}
	return v
}
