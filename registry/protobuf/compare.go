package protobuf

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Difference is one change between two schemas.
type Difference struct {
	Type string // as Confluent names it: FIELD_KIND_CHANGED
	Path string // "#/Message/3"
}

// Allowed says whether a schema with the difference reads what was written with the other.
func Allowed(kind string) bool {
	switch kind {
	case "MESSAGE_ADDED", "MESSAGE_MOVED", "ENUM_ADDED", "ENUM_REMOVED", "ENUM_CONST_ADDED", "ENUM_CONST_CHANGED", "ENUM_CONST_REMOVED",
		"FIELD_ADDED", "FIELD_REMOVED", "FIELD_NAME_CHANGED", "FIELD_STRING_OR_BYTES_LABEL_CHANGED",
		"ONEOF_ADDED", "ONEOF_REMOVED", "ONEOF_FIELD_ADDED", "ONEOF_FIELD_MOVED_TO_TOP_LEVEL":
		return true
	}
	return false
}

var explanations = map[string]string{
	"PACKAGE_CHANGED":                "The package at '@' in the %s schema does not match the package in the %s schema",
	"MESSAGE_REMOVED":                "The %s schema is missing a MESSAGE type at path '@' in the %s schema",
	"FIELD_KIND_CHANGED":             "The type of a field at path '@' in the %s schema does not match the %s schema",
	"FIELD_SCALAR_KIND_CHANGED":      "The kind of a SCALAR field at path '@' in the %s schema does not match its kind in the %s schema",
	"FIELD_NAMED_TYPE_CHANGED":       "The type of a MESSAGE field at path '@' in the %s schema does not match its type in the %s schema",
	"FIELD_NUMERIC_LABEL_CHANGED":    "The label for a NUMERIC field at path '@' in the %s schema does not match its label in the %s schema",
	"REQUIRED_FIELD_ADDED":           "A required field  at path '@' in the %s schema is missing in the %s schema",
	"REQUIRED_FIELD_REMOVED":         "The %s schema is missing a required field at path: '@' in the %s schema",
	"ONEOF_FIELD_REMOVED":            "The %s schema is missing a oneof field at path '@' in the %s schema",
	"MULTIPLE_FIELDS_MOVED_TO_ONEOF": "Multiple fields in the oneof at path '@' in the %s schema are outside a oneof in the %s schema",
	"FIELD_MOVED_TO_EXISTING_ONEOF":  "A field in the oneof at path '@' in the %s schema is outside an existing oneof in the %s schema",
}

// Message is the difference as clients of Confluent's registry know it. reader and writer are the words for the two schemas.
func (d Difference) Message(reader, writer string) string {
	text := strings.Replace(strings.Replace(explanations[d.Type], "%s", reader, 1), "%s", writer, 1)
	return `{errorType:"` + d.Type + `", description:"` + strings.Replace(text, "@", d.Path, 1) + `"}`
}

const (
	maxFound = 10_000
	maxBytes = 8 << 20 // of paths
	maxSteps = 200_000
)

var errSteps = errors.New("the comparison takes too many steps; give the schemas fewer messages")

// Compare says what changed from the original to the update. Those differences that are not allowed keep the update from
// reading what was written with the original. An error is a comparison without an answer.
func Compare(original, update *Parsed) (found []Difference, err error) {
	return CompareUntil(context.Background(), original, update)
}

// CompareUntil is Compare, which ends with the context's error when that is done.
func CompareUntil(ctx context.Context, original, update *Parsed) (found []Difference, err error) {
	defer func() {
		if e, own := recover().(failure); own {
			found, err = nil, e.error
		}
	}()
	s := &shared{
		ctx: ctx, original: newNames(original), update: newNames(update), active: map[*Message]bool{}, done: map[messages][]Difference{},
		found: maxFound, steps: maxSteps, bytes: maxBytes,
	}
	c := &comparison{shared: s, packages: [2]string{original.File.Package, update.File.Package}}
	if original.File.Package != update.File.Package {
		c.add("PACKAGE_CHANGED")
	}
	c.types(original.File.Messages, update.File.Messages, original.File.Enums, update.File.Enums)
	return c.differences, nil
}

// failure carries an error out of a comparison.
type failure struct{ error }

type messages struct{ original, update *Message }

type shared struct {
	ctx              context.Context
	original, update *names
	active           map[*Message]bool // messages of the original that are compared further out
	done             map[messages][]Difference
	found, steps     int
	bytes            int
}

// comparison is at one place of the two schemas.
type comparison struct {
	*shared
	packages    [2]string // of the place, in the original and in the update
	path        []string
	scope       []string // the types of the path
	differences []Difference
}

func (c *comparison) add(kind string) {
	if c.found--; c.found < 0 {
		panic(failure{errSteps})
	}
	path := "#/" + strings.Join(c.path, "/")
	if c.bytes -= len(path); c.bytes < 0 {
		panic(failure{errSteps})
	}
	c.differences = append(c.differences, Difference{kind, path})
}

func (c *comparison) under(steps []string, f func()) {
	before := len(c.path)
	c.path = append(c.path, steps...)
	f()
	c.path = c.path[:before]
}

func (c *comparison) addUnder(kind string, steps ...string) { c.under(steps, func() { c.add(kind) }) }

func (c *comparison) inType(name string, f func()) {
	c.scope = append(c.scope, name)
	c.under([]string{name}, f)
	c.scope = c.scope[:len(c.scope)-1]
}

func (c *comparison) resolve(name string, side int) (string, *typeInfo) {
	n := c.original
	if side == 1 {
		n = c.update
	}
	full, found := lookUp(name, c.packages[side], c.scope, func(full string) bool { return n.typ(full) != nil })
	if !found {
		return "", nil
	}
	return full, n.typ(full)
}

func (c *comparison) types(before, after []*Message, enumsBefore, enumsAfter []*Enum) {
	c.messages(before, after)
	for _, name := range namesOf(enumsBefore, enumsAfter, func(e *Enum) string { return e.Name }) {
		x, y := named(enumsBefore, name, func(e *Enum) string { return e.Name }), named(enumsAfter, name, func(e *Enum) string { return e.Name })
		c.inType(name, func() {
			switch {
			case y == nil:
				c.add("ENUM_REMOVED")
			case x == nil:
				c.add("ENUM_ADDED")
			default:
				c.enum(*x, *y)
			}
		})
	}
}

func (c *comparison) messages(before, after []*Message) {
	index := func(all []*Message) map[string]int {
		at := make(map[string]int, len(all))
		for i, m := range all {
			at[m.Name] = i
		}
		return at
	}
	atBefore, atAfter := index(before), index(after)
	for _, name := range namesOf(before, after, func(m *Message) string { return m.Name }) {
		i, was := atBefore[name]
		j, is := atAfter[name]
		c.inType(name, func() {
			switch {
			case !is:
				c.unlessMap("MESSAGE_REMOVED", name, 0)
			case !was:
				c.unlessMap("MESSAGE_ADDED", name, 1)
			default:
				c.message(before[i], after[j])
				if i != j {
					c.add("MESSAGE_MOVED")
				}
			}
		})
	}
}

// unlessMap leaves the synthetic messages of maps out.
func (c *comparison) unlessMap(kind, name string, side int) {
	if _, t := c.resolve(name, side); t != nil {
		if _, isMap := t.mapOf(); !isMap {
			c.add(kind)
		}
	}
}

// namesOf are the names of both, those of the first first.
func namesOf[T any](before, after []T, name func(T) string) (all []string) {
	seen := map[string]bool{}
	for _, x := range slices.Concat(before, after) {
		if n := name(x); !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	return all
}

// named is the last of that name, or nil.
func named[T any](all []T, name string, of func(T) string) *T {
	for i := len(all) - 1; i >= 0; i-- {
		if of(all[i]) == name {
			return &all[i]
		}
	}
	return nil
}

func (c *comparison) enum(original, update *Enum) {
	tags := func(e *Enum) map[int64]string {
		m := make(map[int64]string, len(e.Constants))
		for _, k := range e.Constants {
			m[k.Tag] = k.Name
		}
		return m
	}
	before, after := tags(original), tags(update)
	for _, tag := range sortedKeys(before, after) {
		x, was := before[tag]
		y, is := after[tag]
		at := strconv.FormatInt(tag, 10)
		switch {
		case !is:
			c.addUnder("ENUM_CONST_REMOVED", at)
		case !was:
			c.addUnder("ENUM_CONST_ADDED", at)
		case x != y:
			c.addUnder("ENUM_CONST_CHANGED", at)
		}
	}
}

func sortedKeys[V any](a, b map[int64]V) []int64 {
	all := make([]int64, 0, len(a)+len(b))
	for k := range a {
		all = append(all, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return all
}
