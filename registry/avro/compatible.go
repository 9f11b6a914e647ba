//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package avro

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Difference is why a reader's schema cannot read what was written with a writer's.
type Difference struct {
	Type     string // NAME_MISMATCH, ...
	Location string // "/fields/0/type"
	Message  string
}

// Bounds of a comparison: two unions of thousands of branches take their product. A pair that cannot fit by its types and names
// costs one, any other some thousands.
const (
	maxSteps = 100_000
	maxLooks = 20_000_000
	maxFound = 50_000
	maxBytes = 8 << 20 // of names and symbols in messages
)

var (
	errSteps = errors.New("the comparison takes too many steps; give the schemas fewer branches of unions")
	errFound = errors.New("the schemas differ in too many places: a type that differs is reached by many ways")
)

// Compare says all differences that keep the reader from reading what was written with the writer: none when it can. An error
// is a comparison that has no answer, which counts as incompatible.
func Compare(reader, writer *Schema) (found []Difference, err error) {
	return CompareUntil(context.Background(), reader, writer)
}

// CompareUntil is Compare, which ends with the context's error when that is done.
func CompareUntil(ctx context.Context, reader, writer *Schema) (found []Difference, err error) {
	c := comparison{ctx: ctx, memo: map[pair][]Difference{}, left: maxSteps, look: maxLooks, room: maxFound, bytes: maxBytes}
	defer func() {
		if e, own := recover().(failure); own {
			found, err = nil, e.error
		}
	}()
	return c.compare(reader, writer, nil), nil
}

type pair struct{ reader, writer *Schema }

// failure carries an error out of a comparison.
type failure struct{ error }

type comparison struct {
	ctx   context.Context
	memo  map[pair][]Difference
	left  int
	look  int
	bytes int
	room  int // for differences that are said once more: those of a type that is reached by many ways
}

// spend counts what a message takes, for a long name may be said thousands of times.
func (c *comparison) spend(message string) string {
	if c.bytes -= len(message); c.bytes < 0 {
		panic(failure{errFound})
	}
	return message
}

func location(path []string) string { return "/" + strings.Join(path, "/") }

func at(path []string, more ...string) []string { return append(slices.Clip(path), more...) }

// compare remembers pairs: one that is being compared counts as compatible.
func (c *comparison) compare(r, w *Schema, path []string) []Difference {
	if c.left--; c.left < 0 {
		panic(failure{errSteps})
	}
	if c.left%256 == 0 && c.ctx.Err() != nil {
		panic(failure{c.ctx.Err()})
	}
	key := pair{r, w}
	if known, seen := c.memo[key]; seen {
		if c.room -= len(known); c.room < 0 {
			panic(failure{errFound})
		}
		return known
	}
	c.memo[key] = nil
	found := c.calculate(r, w, path)
	c.memo[key] = found
	return found
}

func (c *comparison) calculate(r, w *Schema, path []string) []Difference {
	switch {
	case r.Type == w.Type:
		return c.sameType(r, w, path)
	case w.Type == Union:
		var found []Difference
		for i, b := range w.Branches {
			found = append(found, c.compare(r, b, at(path, strconv.Itoa(i)))...)
		}
		return found
	case r.Type == Union:
		for _, b := range r.Branches {
			if !c.hopeless(b, w) && len(c.compare(b, w, path)) == 0 {
				return nil
			}
		}
		return []Difference{missingBranch(w, path)}
	case promotes(r.Type, w.Type):
		return nil
	}
	return []Difference{mismatch(r, w, path)}
}

// hopeless says whether the pair cannot fit by types and names alone, which is most pairs of branches of large unions.
func (c *comparison) hopeless(r, w *Schema) bool {
	if c.look--; c.look < 0 {
		panic(failure{errSteps})
	}
	switch {
	case r.Type == Union || w.Type == Union:
		return false
	case r.Type != w.Type:
		return !promotes(r.Type, w.Type)
	}
	return r.Type.Named() && r.Name != w.Name && !slices.Contains(r.Aliases, w.FullName())
}

func missingBranch(w *Schema, path []string) Difference {
	return Difference{"MISSING_UNION_BRANCH", location(path), "reader union lacking writer type: " + upper(w.Type)}
}

func mismatch(r, w *Schema, path []string) Difference {
	return Difference{"TYPE_MISMATCH", location(path), fmt.Sprintf("reader type: %s not compatible with writer type: %s", upper(r.Type), upper(w.Type))}
}

func upper(t Type) string { return strings.ToUpper(t.String()) }

func promotes(r, w Type) bool {
	switch r {
	case Long:
		return w == Int
	case Float:
		return w == Int || w == Long
	case Double:
		return w == Int || w == Long || w == Float
	case Bytes:
		return w == String
	case String:
		return w == Bytes
	}
	return false
}

func (c *comparison) sameType(r, w *Schema, path []string) []Difference {
	switch r.Type {
	case Array:
		return c.compare(r.Items, w.Items, at(path, "items"))
	case Map:
		return c.compare(r.Items, w.Items, at(path, "values"))
	case Fixed:
		found := c.names(r, w, at(path, "name"))
		if r.Size != w.Size {
			found = append(found, Difference{"FIXED_SIZE_MISMATCH", location(at(path, "size")), fmt.Sprintf("expected: %d, found: %d", w.Size, r.Size)})
		}
		return found
	case Enum:
		return append(c.names(r, w, at(path, "name")), c.symbols(r, w, at(path, "symbols"))...)
	case Record:
		return append(c.names(r, w, at(path, "name")), c.fields(r, w, at(path, "fields"))...)
	case Union:
		var found []Difference
		for i, b := range w.Branches {
			if inner := at(path, strconv.Itoa(i)); len(c.compare(r, b, inner)) > 0 {
				found = append(found, missingBranch(b, inner))
			}
		}
		return found
	}
	return nil
}

func (c *comparison) names(r, w *Schema, path []string) []Difference {
	if r.Name == w.Name || slices.Contains(r.Aliases, w.FullName()) {
		return nil
	}
	return []Difference{{"NAME_MISMATCH", location(path), c.spend("expected: " + w.FullName())}}
}

func (c *comparison) symbols(r, w *Schema, path []string) []Difference {
	has := make(map[string]bool, len(r.Symbols))
	for _, symbol := range r.Symbols {
		has[symbol] = true
	}
	var missing []string
	for _, symbol := range w.Symbols {
		if !has[symbol] {
			missing = append(missing, symbol)
		}
	}
	if len(missing) == 0 || r.Default != nil && slices.Contains(r.Symbols, *r.Default) {
		return nil
	}
	slices.Sort(missing)
	return []Difference{{"MISSING_ENUM_SYMBOLS", location(path), c.spend("[" + strings.Join(missing, ", ") + "]")}}
}

func (c *comparison) fields(r, w *Schema, path []string) (found []Difference) {
	byName := make(map[string]*Field, len(w.Fields))
	for _, f := range w.Fields {
		byName[f.Name] = f
	}
	for i, f := range r.Fields {
		inner := at(path, strconv.Itoa(i))
		written := writtenAs(f, w, byName)
		switch {
		case written != nil:
			found = append(found, c.compare(f.Schema, written.Schema, at(inner, "type"))...)
		case f.Default != nil:
		case f.Schema.Type == Enum && f.Schema.Default != nil:
			found = append(found, c.compare(f.Schema, w, at(inner, "type"))...)
		default:
			found = append(found, Difference{"READER_FIELD_MISSING_DEFAULT_VALUE", location(inner), f.Name})
		}
	}
	return found
}

// writtenAs is the writer's field of the name or of one of the aliases, or nil.
func writtenAs(f *Field, w *Schema, byName map[string]*Field) *Field {
	var hits []*Field
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		if hit := byName[name]; hit != nil {
			hits = append(hits, hit) // the same one twice is two, too
		}
	}
	if len(hits) > 1 {
		panic(failure{fmt.Errorf("Reader record field %s matches multiple fields in writer record schema %s", f.Name, w.FullName())})
	}
	if len(hits) == 0 {
		return nil
	}
	return hits[0]
}

var explanations = map[string]string{
	"FIXED_SIZE_MISMATCH":                "The size of FIXED type field at path '@' in the %r schema does not match with the %w schema",
	"TYPE_MISMATCH":                      "The type (path '@') of a field in the %r schema does not match with the %w schema",
	"NAME_MISMATCH":                      "The name of the schema has changed (path '@')",
	"MISSING_ENUM_SYMBOLS":               "The %r schema is missing enum symbols '%m' at path '@' in the %w schema",
	"MISSING_UNION_BRANCH":               "The %r schema is missing a type inside a union field at path '@' in the %w schema",
	"READER_FIELD_MISSING_DEFAULT_VALUE": "The field '%m' at path '@' in the %r schema has no default value and is missing in the %w schema",
}

// Describe is the difference as clients of Confluent's registry know it. reader and writer are the words for the two schemas.
func (d Difference) Describe(reader, writer string) string {
	text := strings.NewReplacer("@", d.Location, "%r", reader, "%w", writer, "%m", d.Message).Replace(explanations[d.Type])
	return "{errorType:'" + d.Type + "', description:'" + text + "', additionalInfo:'" + d.Message + "'}"
}
